//! Models and embedders from arguments.

use crate::args::model::ModelSettings;
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata::vocabulary::Vocabulary;
use grammata_agents_drive::retrieval::Encoder;
use grammata_decode::Model;
use grammata_embeddings::Embedder;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "ort")]
use {
    crate::args::model::Parts,
    crate::io::errors,
    crate::io::messages::{self, Progress},
    grammata_agents_drive::retrieval::TokenizerEncoder,
    grammata_decode::ort::{Device, EmbedderOptions, OrtEmbedder},
    grammata_decode::{EmbedderFolder, PromptTokenizer},
};

/// A model that writes queries.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
pub struct ModelArgs {
    /// The model that writes queries: an ONNX file, or a folder with model.onnx or onnx/model.onnx
    #[arg(long, value_name = "PATH", help_heading = "Model")]
    pub model: Option<PathBuf>,
    #[command(flatten)]
    /// How the model is run.
    pub settings: ModelSettings,
    /// Ask without the model's chat template
    #[arg(long, help_heading = "Model")]
    pub no_chat: bool,
}

/// A loaded model with its vocabulary, its encoder and its path.
pub struct LoadedModel {
    /// The language model.
    pub model: Box<dyn Model>,
    /// The vocabulary of its tokenizer.
    pub vocabulary: Arc<Vocabulary>,
    /// Encodes texts as tokens.
    pub encoder: Arc<dyn Encoder>,
    /// The ONNX file.
    pub path: PathBuf,
}

/// Returns the SHA-256 of a file in hexadecimal.
pub(super) fn file_hash(path: &Path) -> Result<String> {
    let io = |cause: std::io::Error| Error::io(path, &cause);
    let (mut file, _) = grammata_base::files::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(io)? {
            0 => return Ok(crate::io::text::hex(&hash.finalize())),
            count => hash.update(buffer.get(..count).unwrap_or_default()),
        }
    }
}

/// Lets several writers share an encoder.
pub(super) struct Shared(pub(super) Arc<dyn Encoder>);

impl Encoder for Shared {
    fn encode(&self, instruction: &str, rest: &str) -> Result<grammata_agents_drive::retrieval::Encoded> {
        self.0.encode(instruction, rest)
    }
}

#[cfg(feature = "ort")]
impl ModelArgs {
    /// Loads the model of `--model`; `None` if it is not given.
    pub(super) fn load(&self, limits: &Limits) -> Result<Option<LoadedModel>> {
        let Some(path) = &self.model else { return Ok(None) };
        let mut parts = Parts::find(path, &self.settings, limits)?;
        let tokenizer = PromptTokenizer::from_file(&parts.tokenizer, limits)?;
        let vocabulary = Arc::new(parts.vocabulary(&self.settings, &tokenizer, limits)?.vocabulary);
        let template = parts.template.take().filter(|_| !self.no_chat);
        let model = Box::new(parts.load(&self.settings)?);
        let encoder = Arc::new(TokenizerEncoder::new(tokenizer, template));
        Ok(Some(LoadedModel { model, vocabulary, encoder, path: parts.model }))
    }
}

/// Loads the embedder of a folder on the CPU, and shows its notices as warnings.
#[cfg(feature = "ort")]
pub(super) fn embedder(folder: &Path, limits: &Limits) -> Result<Box<dyn Embedder>> {
    if !folder.exists() {
        return Err(errors::no_embedder(folder));
    }
    let folder = EmbedderFolder::open(folder, limits)?;
    let options = EmbedderOptions::default().threads(0).device(Device::Cpu).batch(16).limits(limits.clone());
    let progress = Progress::start("loading the embedder");
    let embedder = OrtEmbedder::load(&folder, &options)?;
    progress.finish();
    embedder.notices().iter().for_each(messages::warning);
    Ok(Box::new(embedder))
}

#[cfg(not(feature = "ort"))]
impl ModelArgs {
    pub(super) fn load(&self, _: &Limits) -> Result<Option<LoadedModel>> {
        match self.model {
            None => Ok(None),
            Some(_) => Err(crate::io::errors::no_onnx_runtime()),
        }
    }
}

#[cfg(not(feature = "ort"))]
pub(super) fn embedder(_: &Path, _: &Limits) -> Result<Box<dyn Embedder>> {
    Err(crate::io::errors::no_onnx_runtime())
}
