//! A sentence encoder on ONNX Runtime.

use super::session::{Device, Loaded, load};
use crate::embedder::{EmbedderFolder, errors};
use crate::tokenizer::{PromptTokenizer, Truncated};
use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata_embeddings::{Embedder, Embeddings, Truncation};
use half::f16;
use ort::session::{Session, SessionInputValue};
use ort::value::{DynValue, Outlet, Tensor, TensorElementType, ValueType};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most texts that are tokenized before the first of them is encoded. This bounds the token ids in memory.
const TOKENIZED_TEXTS: usize = 4_096;
/// The most tokens of a batch of several texts, including padding. This bounds the activations, about 20 KB per token
/// of MiniLM. Running long texts together gains nothing; it halves the time of short texts.
const BATCH_TOKENS: usize = 1_024;

grammata_base::options! {
    /// Settings of an embedder.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct EmbedderOptions {
        /// Number of threads of one operator; 0 (the default) uses one per core.
        pub threads: usize,
        /// The device that runs the model; the CPU by default.
        pub device: Device = Device::Cpu,
        /// The most texts of one run of the model; 16 by default, and 0 counts as 1. Several texts run together only if
        /// they have at most 1,024 tokens in total, padding included. Texts of similar length run together, padded to
        /// the longest, so the vector of a text depends on the others of its batch, but only by rounding. With 1 it
        /// does not depend on them.
        pub batch: usize = 16,
        /// Limits on texts and on the tokenizer's file.
        pub limits: Limits,
    }
}

/// A sentence encoder in an ONNX file with its tokenizer.
///
/// The model returns a vector for each text (`sentence_embedding`) or for each token (`token_embeddings`,
/// `last_hidden_state`). In the latter case the embedder computes the mean over the tokens. Vectors have unit length.
#[derive(Debug)]
pub struct OrtEmbedder {
    session: Session,
    tokenizer: PromptTokenizer,
    form: Form,
    max_tokens: usize,
    options: EmbedderOptions,
    device: Device,
    notices: Vec<Diagnostic>,
    files: [PathBuf; 2],
    fingerprint: Option<[u8; 32]>,
}

/// The optional input and the output of an encoder.
#[derive(Clone, Debug)]
struct Form {
    token_types: bool,
    output: String,
    /// whether the output has a vector for each token
    per_token: bool,
    half: bool,
    dimension: usize,
}

/// A text of one call of `encode`: its index, and the ids of the tokens that the encoder reads.
struct Tokens {
    text: usize,
    ids: Vec<u32>,
}

impl OrtEmbedder {
    /// Loads the encoder of `folder`.
    ///
    /// # Errors
    /// ONNX Runtime is missing or cannot be used (`decode/ort-missing`, `decode/ort-unusable`); a file cannot be read
    /// or loaded; the model does not have the inputs and outputs of an embedder (`decode/embedder-interface`); or the
    /// maximum number of tokens leaves no room for a text (`decode/embedder-max-tokens`).
    pub fn load(folder: &EmbedderFolder, options: &EmbedderOptions) -> Result<OrtEmbedder> {
        let tokenizer = PromptTokenizer::from_file(&folder.tokenizer, &options.limits)?;
        let special = tokenizer.encode("", true)?.len();
        if folder.max_tokens <= special {
            return Err(errors::max_tokens(folder.max_tokens, special));
        }
        let Loaded { session, runtime, notices } = load(&folder.model, options.device, options.threads)?;
        let device = runtime.device;
        Ok(OrtEmbedder {
            form: Form::of(&session)?,
            session,
            tokenizer,
            max_tokens: folder.max_tokens,
            options: options.clone(),
            device,
            notices,
            files: [folder.model.clone(), folder.tokenizer.clone()],
            fingerprint: None,
        })
    }

    /// Returns the device that runs the model. It is the CPU if the requested device could not be used.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns notices from loading the model, for instance that CUDA could not be used.
    pub fn notices(&self) -> &[Diagnostic] {
        &self.notices
    }

    /// Appends the vectors of `texts` to `result`. `first` is the index of the first of these texts in the call of
    /// `embed`.
    fn encode(&mut self, texts: &[&str], first: usize, result: &mut Embeddings) -> Result<()> {
        let mut tokens = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let Truncated { ids, whole } = self.tokenizer.encode_truncated(text, self.max_tokens)?;
            if ids.is_empty() {
                return Err(errors::no_tokens(first + index));
            }
            if whole > ids.len() {
                let kept = ids.len();
                result.mark_truncated(Truncation { text: first + index, tokens: whole, kept });
            }
            tokens.push(Tokens { text: index, ids });
        }
        // texts of similar length run together, to reduce padding
        tokens.sort_by_key(|tokens| tokens.ids.len());
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(self.batch_size(rest));
            self.run(batch, &mut vectors)?;
            rest = after;
        }
        vectors.iter().try_for_each(|vector| result.push(vector))
    }

    /// Returns how many of the next texts run together; at least one. `tokens` is ordered by length.
    fn batch_size(&self, tokens: &[Tokens]) -> usize {
        let fits = |&(count, tokens): &(usize, &Tokens)| count * tokens.ids.len() <= BATCH_TOKENS;
        let count = (1..).zip(tokens).take(self.options.batch).take_while(fits).count();
        count.max(1).min(tokens.len())
    }

    /// Runs the model on a batch and stores each vector at the index of its text, not yet scaled to unit length.
    fn run(&mut self, batch: &[Tokens], vectors: &mut [Vec<f32>]) -> Result<()> {
        let longest = batch.iter().map(|tokens| tokens.ids.len()).max().unwrap_or(0);
        let shape = [batch.len(), longest];
        let inputs = self.inputs(batch, shape).map_err(errors::run)?;
        let mut outputs = self.session.run(inputs).map_err(errors::run)?;
        let missing = || errors::run(format!("the model gave no output `{}`", self.form.output));
        let output = outputs.remove(self.form.output.as_str()).ok_or_else(missing)?;
        let values = self.form.values(&output, shape)?;
        let rows = values.chunks_exact((values.len() / batch.len().max(1)).max(1));
        for (tokens, row) in batch.iter().zip(rows) {
            let vector = if self.form.per_token {
                mean(row, self.form.dimension, tokens.ids.len())
            } else {
                row.to_vec()
            };
            if let Some(place) = vectors.get_mut(tokens.text) {
                *place = vector;
            }
        }
        Ok(())
    }

    fn inputs(
        &self,
        batch: &[Tokens],
        shape: [usize; 2],
    ) -> ort::Result<Vec<(Cow<'static, str>, SessionInputValue<'static>)>> {
        let padded = |value: fn(u32) -> i64| -> Vec<i64> {
            let row = |tokens: &Tokens| {
                let values = tokens.ids.iter().map(|&id| value(id)).collect::<Vec<_>>();
                values.into_iter().chain(std::iter::repeat(0)).take(shape[1])
            };
            batch.iter().flat_map(row).collect()
        };
        let mut inputs = vec![("input_ids", padded(i64::from)), ("attention_mask", padded(|_| 1))];
        if self.form.token_types {
            inputs.push(("token_type_ids", padded(|_| 0)));
        }
        let tensor = |(name, values)| Ok((Cow::Borrowed(name), Tensor::from_array((shape, values))?.into()));
        inputs.into_iter().map(tensor).collect()
    }
}

impl Embedder for OrtEmbedder {
    fn dimension(&self) -> usize {
        self.form.dimension
    }

    fn max_tokens(&self) -> Option<usize> {
        Some(self.max_tokens)
    }

    /// Hashes the maximum number of tokens, the model file and the tokenizer file. The files are read at the first
    /// call; the result is stored. External weights in further files are not included.
    fn fingerprint(&mut self) -> Result<[u8; 32]> {
        if let Some(known) = self.fingerprint {
            return Ok(known);
        }
        let mut hash = Sha256::new();
        hash.update((self.max_tokens as u64).to_le_bytes());
        for path in &self.files {
            hash.update(file_hash(path)?);
        }
        Ok(*self.fingerprint.insert(hash.finalize().into()))
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Embeddings> {
        errors::check_texts(texts, &self.options.limits)?;
        let mut result = Embeddings::new(self.form.dimension);
        for (number, chunk) in texts.chunks(TOKENIZED_TEXTS).enumerate() {
            self.encode(chunk, number * TOKENIZED_TEXTS, &mut result)?;
        }
        Ok(result)
    }
}

impl Form {
    /// Reads the inputs and outputs of a session, and checks that they are those of an embedder.
    fn of(session: &Session) -> Result<Form> {
        let (inputs, outputs) = (session.inputs(), session.outputs());
        let names = |outlets: &[Outlet]| outlets.iter().map(Outlet::name).collect::<Vec<_>>().join(", ");
        let listed = || format!("inputs {}; outputs {}", names(inputs), names(outputs));
        for name in ["input_ids", "attention_mask"] {
            if !inputs.iter().any(|input| input.name() == name) {
                return Err(errors::interface(format!("the model has no input `{name}`"), listed()));
            }
        }
        for input in inputs {
            let name = input.name();
            if !["input_ids", "attention_mask", "token_type_ids"].contains(&name) {
                return Err(errors::interface(format!("the model has an unknown input `{name}`"), listed()));
            }
            match input.dtype() {
                ValueType::Tensor { ty: TensorElementType::Int64, shape, .. } if shape.len() == 2 => {}
                other => {
                    let what = format!("the input `{name}` is of another type");
                    return Err(errors::interface(what, other.to_string()));
                }
            }
        }
        let preferred = ["sentence_embedding", "token_embeddings", "last_hidden_state"];
        let find = |name: &&str| outputs.iter().find(|output| output.name() == *name);
        let Some(output) = preferred.iter().find_map(find) else {
            return Err(errors::interface("the model has no output of an embedder", listed()));
        };
        let token_types = inputs.iter().any(|input| input.name() == "token_type_ids");
        Form::of_output(output, token_types)
    }

    fn of_output(output: &Outlet, token_types: bool) -> Result<Form> {
        let name = output.name();
        let wrong = || {
            let what = format!("the output `{name}` is of another type or shape");
            errors::interface(what, output.dtype().to_string())
        };
        let ValueType::Tensor { ty, shape, .. } = output.dtype() else { return Err(wrong()) };
        let half = match ty {
            TensorElementType::Float32 => false,
            TensorElementType::Float16 => true,
            _ => return Err(wrong()),
        };
        let per_token = name != "sentence_embedding";
        let size = match (per_token, &shape[..]) {
            (false, [_, size]) | (true, [_, _, size]) => usize::try_from(*size).ok().filter(|&size| size > 0),
            _ => None,
        };
        let dimension = size.ok_or_else(wrong)?;
        Ok(Form { token_types, output: name.to_owned(), per_token, half, dimension })
    }

    /// Returns the floats of an output. Its shape must be that of the declared output for this number of texts and
    /// tokens per text.
    fn values<'a>(&self, output: &'a DynValue, [texts, tokens]: [usize; 2]) -> Result<Cow<'a, [f32]>> {
        let expected: Vec<usize> =
            if self.per_token { vec![texts, tokens, self.dimension] } else { vec![texts, self.dimension] };
        let shape = output.dtype().tensor_shape().map_or(&[][..], |shape| &shape[..]);
        if !shape.iter().copied().eq(expected.iter().map(|&n| n as i64)) {
            let what = format!("the model gave `{}` of another shape", self.output);
            return Err(errors::interface(what, format!("{shape:?} instead of {expected:?}")));
        }
        if self.half {
            let (_, values) = output.try_extract_tensor::<f16>().map_err(errors::run)?;
            return Ok(values.iter().map(|x| x.to_f32()).collect());
        }
        let (_, values) = output.try_extract_tensor::<f32>().map_err(errors::run)?;
        Ok(Cow::Borrowed(values))
    }
}

/// Returns the mean of the first `count` rows of `rows`, each of `dimension` coordinates.
fn mean(rows: &[f32], dimension: usize, count: usize) -> Vec<f32> {
    let mut sums = vec![0.0_f64; dimension];
    for row in rows.chunks_exact(dimension.max(1)).take(count) {
        sums.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    sums.into_iter().map(|sum| (sum / count.max(1) as f64) as f32).collect()
}

fn file_hash(path: &Path) -> Result<[u8; 32]> {
    let file_error = |e: std::io::Error| Error::io(path, &e);
    let (mut file, _) = grammata_base::files::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer).map_err(file_error)?;
        if count == 0 {
            return Ok(hash.finalize().into());
        }
        hash.update(buffer.get(..count).unwrap_or_default());
    }
}
