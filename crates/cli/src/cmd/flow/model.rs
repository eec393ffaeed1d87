//! A language model and an embedder for the commands that write plans of flows.

use crate::args::model::ModelSettings;
use crate::args::tokens;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::vocabulary::Vocabulary;
use grammata_agents_drive::flows::{FlowPlanner, FlowPrompt, PromptEncoder};
use grammata_decode::{ChatTemplate, Message, Model, PromptTokenizer, RandomLogits};
use grammata_embeddings::Embedder;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The models of a command.
#[derive(Debug, clap::Args)]
pub struct ModelArgs {
    /// The model's folder or ONNX file
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub model: Option<PathBuf>,
    /// No model: any token that the mask allows, each as likely as another; tokens are bytes without `--tokenizer`
    #[arg(long, conflicts_with_all = ["model", "chat"], help_heading = "Model")]
    pub random_logits: bool,
    /// Equal seeds give equal random logits
    #[arg(
        hide_short_help = true,
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "random_logits",
        help_heading = "Model"
    )]
    pub seed: u64,
    /// The folder of a sentence encoder, for similarities of texts
    #[arg(long, value_name = "FOLDER", help_heading = "Model")]
    pub embedder: Option<PathBuf>,
    /// Ask with the model's chat template, the prelude as the beginning of its answer
    #[arg(long, help_heading = "Model")]
    pub chat: bool,
    #[command(flatten)]
    /// How the model is run.
    pub settings: ModelSettings,
}

/// The loaded models, and the encoder of prompts.
pub struct Loaded {
    model: Box<dyn Model>,
    vocabulary: Arc<Vocabulary>,
    embedder: Option<Box<dyn Embedder>>,
    encoder: Encoder,
}

/// Encodes prompts as tokens.
struct Encoder {
    /// `None` if tokens are bytes.
    tokenizer: Option<PromptTokenizer>,
    template: Option<ChatTemplate>,
}

impl ModelArgs {
    /// Loads the model, its tokenizer and, if one is named, the sentence encoder.
    ///
    /// # Errors
    /// No model is named, a file is missing or cannot be read, the model has no chat template for `--chat`, or this
    /// build has no ONNX Runtime.
    pub fn load(&self, limits: &Limits) -> Result<Loaded> {
        let embedder = self.load_embedder(limits)?;
        match &self.model {
            None if self.random_logits => self.load_random(embedder, limits),
            None => Err(crate::io::errors::needs_model()),
            #[cfg(feature = "ort")]
            Some(path) => self.load_model(path, embedder, limits),
            #[cfg(not(feature = "ort"))]
            Some(_) => Err(crate::io::errors::no_onnx_runtime()),
        }
    }

    /// Returns the entry of a journal with the name of the experiment and its model: its file name and whether it is
    /// asked by chat, or the seed and the tokenizer of random logits.
    pub fn settings(&self, experiment: &str) -> Value {
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let model = self.model.as_ref().and_then(name);
        if model.is_some() {
            return json!({ "experiment": experiment, "model": model, "chat": self.chat });
        }
        let tokenizer = self.settings.tokenizer.as_ref().and_then(name);
        json!({ "experiment": experiment, "random_logits": self.seed, "tokenizer": tokenizer })
    }

    fn load_random(&self, embedder: Option<Box<dyn Embedder>>, limits: &Limits) -> Result<Loaded> {
        let (vocabulary, tokenizer) = match &self.settings.tokenizer {
            None => (tokens::bytes()?.vocabulary, None),
            Some(path) => {
                let tokenizer = PromptTokenizer::from_file(path, limits)?;
                (self.settings.settings.load(path, limits)?.vocabulary, Some(tokenizer))
            }
        };
        let model = Box::new(RandomLogits::new(vocabulary.width(), self.seed));
        let encoder = Encoder { tokenizer, template: None };
        Ok(Loaded { model, vocabulary: Arc::new(vocabulary), embedder, encoder })
    }

    #[cfg(not(feature = "ort"))]
    fn load_embedder(&self, _: &Limits) -> Result<Option<Box<dyn Embedder>>> {
        match self.embedder {
            None => Ok(None),
            Some(_) => Err(crate::io::errors::no_onnx_runtime()),
        }
    }

    #[cfg(feature = "ort")]
    fn load_embedder(&self, limits: &Limits) -> Result<Option<Box<dyn Embedder>>> {
        use grammata_decode::EmbedderFolder;
        use grammata_decode::ort::{Device, EmbedderOptions, OrtEmbedder};

        let Some(folder) = &self.embedder else { return Ok(None) };
        if !folder.exists() {
            return Err(crate::io::errors::no_embedder(folder));
        }
        let device = self.settings.cuda.map_or(Device::Cpu, Device::Cuda);
        let threads = self.settings.threads;
        let options =
            EmbedderOptions::default().threads(threads).device(device).batch(16).limits(limits.clone());
        Ok(Some(Box::new(OrtEmbedder::load(&EmbedderFolder::open(folder, limits)?, &options)?)))
    }

    #[cfg(feature = "ort")]
    fn load_model(
        &self,
        path: &std::path::Path,
        embedder: Option<Box<dyn Embedder>>,
        limits: &Limits,
    ) -> Result<Loaded> {
        let mut parts = crate::args::model::Parts::find(path, &self.settings, limits)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, limits)?;
        let vocabulary = Arc::new(parts.vocabulary(&self.settings, &tokenizer, limits)?.vocabulary);
        let template = match self.chat {
            true => Some(parts.template.take().ok_or_else(|| crate::io::errors::no_chat_template(path))?),
            false => None,
        };
        let model = Box::new(parts.load(&self.settings)?);
        let encoder = Encoder { tokenizer: Some(tokenizer), template };
        Ok(Loaded { model, vocabulary, embedder, encoder })
    }
}

impl Loaded {
    /// Creates a planner with these models.
    pub fn planner(&mut self, limits: &Limits) -> FlowPlanner<'_> {
        let Loaded { model, vocabulary, embedder, encoder } = self;
        let embedder = embedder.as_mut().map(|embedder| &mut **embedder as &mut dyn Embedder);
        FlowPlanner::new(&mut **model, vocabulary, encoder, embedder, limits)
    }
}

impl PromptEncoder for Encoder {
    fn prompt(&self, prompt: &FlowPrompt) -> Result<Vec<u32>> {
        match &self.template {
            None => self.encode(&prompt.raw(), true),
            Some(template) => {
                let turn = template.render(&[Message::user(&prompt.question)], true)?;
                self.encode(&format!("{turn}{}", prompt.answer), false)
            }
        }
    }

    fn text(&self, text: &str) -> Result<Vec<u32>> {
        self.encode(text, false)
    }
}

impl Encoder {
    fn encode(&self, text: &str, is_whole: bool) -> Result<Vec<u32>> {
        match &self.tokenizer {
            Some(tokenizer) => tokenizer.encode(text, is_whole),
            None => Ok(text.bytes().map(u32::from).collect()),
        }
    }
}
