//! A language model and an embedder for the commands that make plans of flows.

use crate::cli::model::ModelSettings;
use std::path::PathBuf;
#[cfg(feature = "ort")]
use {
    crate::cli::errors,
    crate::cli::model::Parts,
    crate::decode::ort::{Device, EmbedderOptions, OrtEmbedder, OrtModel},
    crate::decode::{ChatTemplate, EmbedderFolder, Message, PromptTokenizer},
    crate::error::Result,
    crate::flows::FlowPrompt,
    crate::limits::Limits,
    crate::vocabulary::Vocabulary,
    std::sync::Arc,
};

/// The models of a command.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read where a model can run
pub(super) struct ModelArgs {
    /// The model's folder or ONNX file
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub(super) model: PathBuf,
    /// The folder of a sentence encoder, for similarities of texts
    #[arg(long, value_name = "FOLDER", help_heading = "Model")]
    pub(super) embedder: Option<PathBuf>,
    /// Ask with the model's chat template, the prelude as the beginning of its answer
    #[arg(long, help_heading = "Model")]
    pub(super) chat: bool,
    #[command(flatten)]
    pub(super) settings: ModelSettings,
}

/// What was loaded.
#[cfg(feature = "ort")]
pub(super) struct Loaded {
    pub(super) model: OrtModel,
    pub(super) vocabulary: Arc<Vocabulary>,
    pub(super) embedder: Option<OrtEmbedder>,
    pub(super) encoder: Encoder,
}

/// Writes prompts in tokens.
#[cfg(feature = "ort")]
pub(super) struct Encoder {
    tokenizer: PromptTokenizer,
    template: Option<ChatTemplate>,
}

#[cfg(feature = "ort")]
impl ModelArgs {
    pub(super) fn load(&self, limits: &Limits) -> Result<Loaded> {
        let mut parts = Parts::find(&self.model, &self.settings, limits)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, limits)?;
        let vocabulary = Arc::new(parts.vocabulary(&self.settings, &tokenizer, limits)?.vocabulary);
        let template = match self.chat {
            true => Some(parts.template.take().ok_or_else(|| errors::no_chat_template(&self.model))?),
            false => None,
        };
        let model = parts.load(&self.settings)?;
        let embedder = self.embedder.as_ref().map(|folder| {
            if !folder.exists() {
                return Err(errors::no_embedder(folder));
            }
            let device = self.settings.cuda.map_or(Device::Cpu, Device::Cuda);
            let threads = self.settings.threads;
            let options = EmbedderOptions { threads, device, batch: 16, limits: limits.clone() };
            OrtEmbedder::load(&EmbedderFolder::open(folder, limits)?, &options)
        });
        let encoder = Encoder { tokenizer, template };
        Ok(Loaded { model, vocabulary, embedder: embedder.transpose()?, encoder })
    }
}

#[cfg(feature = "ort")]
impl Encoder {
    /// A prompt in tokens.
    pub(super) fn prompt(&self, prompt: &FlowPrompt) -> Result<Vec<u32>> {
        match &self.template {
            None => self.tokenizer.encode(&prompt.raw(), true),
            Some(template) => {
                let turn = template.render(&[Message::user(&prompt.question)], true)?;
                self.tokenizer.encode(&format!("{turn}{}", prompt.answer), false)
            }
        }
    }

    /// A text after a prompt.
    pub(super) fn text(&self, text: &str) -> Result<Vec<u32>> {
        self.tokenizer.encode(text, false)
    }
}
