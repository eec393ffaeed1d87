//! A language model for the commands that run one.

use crate::args::tokens::TokenizerSettings;
use std::path::PathBuf;
#[cfg(feature = "ort")]
use {
    crate::args::tokens::LoadedVocabulary,
    crate::io::errors,
    crate::io::messages::{self, Progress},
    grammata::error::Result,
    grammata::limits::Limits,
    grammata::vocabulary::Vocabulary,
    grammata_agents_drive::plan::{ModelPolicy, PromptEncoder, PromptOptions},
    grammata_decode::ort::{Device, ModelOptions, OrtModel},
    grammata_decode::{ChatTemplate, Message, ModelFolder, PromptTokenizer},
    std::path::Path,
    std::sync::Arc,
};

/// How a model is run, and its tokenizer.
#[derive(Clone, Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
pub struct ModelSettings {
    /// Threads of one operator; 0 is one for each core
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    pub(crate) threads: usize,
    /// Run on an NVIDIA device: the first one, or the one with this number
    #[arg(hide_short_help = true, long,
        value_name = "DEVICE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        help_heading = "Model"
    )]
    pub(crate) cuda: Option<u32>,
    /// The tokenizer.json; by default the one in the model's folder
    #[arg(hide_short_help = true, long, value_name = "PATH", help_heading = "Tokenizer")]
    pub(crate) tokenizer: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: TokenizerSettings,
}

/// The files and settings of a model.
#[cfg(feature = "ort")]
#[derive(Debug)]
pub struct Parts {
    /// The ONNX file.
    pub model: PathBuf,
    /// The tokenizer file.
    pub tokenizer: PathBuf,
    /// The chat template, if the folder has one.
    pub template: Option<ChatTemplate>,
    /// The ids of the tokens that end a sequence; empty if the folder names none.
    pub end_tokens: Vec<u32>,
    /// The text of the token that ends a turn, if the folder names it.
    pub end_token: Option<String>,
    /// Maximum number of tokens of a sequence, if the folder has it.
    pub context_length: Option<usize>,
}

#[cfg(feature = "ort")]
impl Parts {
    /// Finds the parts of a model at a path: a folder or an ONNX file.
    ///
    /// # Errors
    /// Nothing is at the path, the model or its tokenizer is missing, or a settings file cannot be read.
    pub fn find(model: &Path, arguments: &ModelSettings, limits: &Limits) -> Result<Parts> {
        if !model.exists() {
            return Err(errors::no_model(model));
        }
        if model.is_dir() {
            let mut folder = ModelFolder::open(model, limits)?;
            if let Some(tokenizer) = &arguments.tokenizer {
                folder.tokenizer = tokenizer.clone();
            }
            return Ok(Parts::of(folder));
        }
        let model = model.to_owned();
        // exporters put models into a subfolder `onnx` of the tokenizer's folder
        let beside = || {
            let folders = model.ancestors().skip(1).take(2);
            folders.map(|folder| folder.join("tokenizer.json")).find(|path| path.is_file())
        };
        let tokenizer = arguments.tokenizer.clone().or_else(beside);
        let tokenizer = tokenizer.ok_or_else(|| errors::no_tokenizer(&model))?;
        Ok(Parts::of(ModelFolder::of_files(model, tokenizer, limits)?))
    }

    fn of(folder: ModelFolder) -> Parts {
        Parts {
            model: folder.model,
            tokenizer: folder.tokenizer,
            template: folder.template,
            end_tokens: folder.end_tokens,
            end_token: folder.end_token,
            context_length: folder.context_length,
        }
    }

    /// Returns the vocabulary, with the end-of-sequence ids of `--eos`, otherwise of the model, otherwise the
    /// well-known ones.
    pub fn vocabulary(
        &self,
        arguments: &ModelSettings,
        tokenizer: &PromptTokenizer,
        limits: &Limits,
    ) -> Result<LoadedVocabulary> {
        let ends = (&*self.end_tokens, self.end_token.as_deref());
        arguments.settings.load_of_model(&self.tokenizer, ends, tokenizer, limits)
    }

    /// Loads the model, and shows its notices as warnings.
    pub fn load(&self, arguments: &ModelSettings) -> Result<OrtModel> {
        let device = arguments.cuda.map_or(Device::Cpu, Device::Cuda);
        let options = ModelOptions::default()
            .threads(arguments.threads)
            .device(device)
            .context_length(self.context_length);
        let progress = Progress::start("loading the model");
        let model = OrtModel::load(&self.model, &options)?;
        progress.finish();
        model.notices().iter().for_each(messages::warning);
        Ok(model)
    }
}

/// A language model for a policy, and the encoder of its prompts.
#[cfg(feature = "ort")]
pub(crate) struct PolicyModel {
    pub(crate) vocabulary: Arc<Vocabulary>,
    model: OrtModel,
    tokenizer: PromptTokenizer,
    template: Option<ChatTemplate>,
}

#[cfg(feature = "ort")]
impl PolicyModel {
    pub(crate) fn load(path: &Path, settings: &ModelSettings, limits: &Limits) -> Result<PolicyModel> {
        let mut parts = Parts::find(path, settings, limits)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, limits)?;
        let vocabulary = Arc::new(parts.vocabulary(settings, &tokenizer, limits)?.vocabulary);
        let model = parts.load(settings)?;
        Ok(PolicyModel { vocabulary, model, tokenizer, template: parts.template.take() })
    }

    /// Returns a policy that asks the model.
    pub(crate) fn policy(&mut self, options: PromptOptions) -> Result<ModelPolicy<'_>> {
        let encoder = TemplateEncoder { tokenizer: &self.tokenizer, template: self.template.as_ref() };
        ModelPolicy::new(&mut self.model, Arc::clone(&self.vocabulary), Box::new(encoder), options)
    }
}

/// Encodes prompts with the model's chat template if it has one, otherwise as they are.
#[cfg(feature = "ort")]
struct TemplateEncoder<'m> {
    tokenizer: &'m PromptTokenizer,
    template: Option<&'m ChatTemplate>,
}

#[cfg(feature = "ort")]
impl PromptEncoder for TemplateEncoder<'_> {
    fn prompt(&self, question: &str) -> Result<Vec<u32>> {
        match self.template {
            Some(template) => {
                self.tokenizer.encode(&template.render(&[Message::user(question)], true)?, false)
            }
            None => self.tokenizer.encode(question, true),
        }
    }

    fn answer(&self, text: &str) -> Result<Vec<u32>> {
        self.tokenizer.encode(text, false)
    }
}
