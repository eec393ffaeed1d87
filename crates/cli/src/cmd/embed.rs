//! `grammata embed`: the vectors of texts, and how similar texts are.

use crate::args::limits::LimitArgs;
use crate::io::output::{Exit, Failure, Output};
use std::path::PathBuf;

/// Writes one JSON object a text: `text`, `vector` (of unit length), and `tokens` where the model read only the
/// beginning of the text.
#[derive(Debug, clap::Args)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
pub(crate) struct Arguments {
    #[command(flatten)]
    texts: Texts,
    /// The folder of a sentence encoder: model.onnx or onnx/model.onnx, tokenizer.json and its settings
    #[arg(long, value_name = "FOLDER", help_heading = "Model")]
    embedder: PathBuf,
    /// Threads of one operator; 0 is one for each core
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    threads: usize,
    /// Texts in one run of the model; with 1 a vector does not depend on other texts
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Model")]
    batch: usize,
    /// Run on an NVIDIA device: the first one, or the one with this number
    #[arg(
        long,
        value_name = "DEVICE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0",
        help_heading = "Model"
    )]
    cuda: Option<u32>,
    /// Instead of vectors, the cosine between the first text and each other one, the most similar first
    #[arg(long)]
    similarity: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
#[cfg_attr(not(feature = "ort"), allow(dead_code))] // read with the feature `ort` only
struct Texts {
    /// Texts
    #[arg(value_name = "TEXT")]
    given: Vec<String>,
    /// A file with further texts, one a line; `-` for standard input
    #[arg(long, value_name = "FILE")]
    texts: Option<PathBuf>,
}

#[cfg(not(feature = "ort"))]
pub(crate) fn run(_: &Arguments, _: &mut Output) -> Result<Exit, Failure> {
    Err(crate::io::errors::no_onnx_runtime().into())
}

#[cfg(feature = "ort")]
pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    with_model::run(arguments, output)
}

#[cfg(feature = "ort")]
mod with_model {
    use super::{Arguments, Exit, Failure, Output, Texts};
    use crate::args::source;
    use crate::io::errors;
    use crate::io::messages::{self, Progress};
    use crate::io::text::quoted;
    use grammata::diagnostic::Place;
    use grammata::error::{Error, Result};
    use grammata::limits::Limits;
    use grammata_decode::EmbedderFolder;
    use grammata_decode::ort::{Device, EmbedderOptions, OrtEmbedder};
    use grammata_embeddings::{Embedder, Embeddings};
    use serde::Serialize;
    use std::io::{self, Write};

    /// Number of texts whose vectors are written before the next ones are computed.
    const CHUNK: usize = 256;

    /// The vector of a text: a line of text output, an item of the member `vectors` in JSON.
    #[derive(Serialize)]
    struct VectorReport<'a> {
        text: &'a str,
        /// Of unit length.
        vector: &'a [f32],
        /// Number of tokens of the whole text, special ones included. Left out if the model read all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<usize>,
    }

    /// How similar a text is to the first one, in JSON.
    #[derive(Serialize)]
    struct SimilarityReport<'a> {
        text: &'a str,
        /// The cosine, from -1 to 1.
        similarity: f64,
    }

    pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
        let limits = arguments.limits.get();
        let texts = arguments.texts.read(&limits)?;
        let mut embedder = load(arguments, limits)?;
        if arguments.similarity {
            similarities(&mut embedder, &texts, output)?;
        } else {
            vectors(&mut embedder, &texts, output)?;
        }
        Ok(Exit::Done)
    }

    impl Texts {
        fn read(&self, limits: &Limits) -> Result<Vec<String>> {
            let mut texts = self.given.clone();
            if let Some(path) = &self.texts {
                texts.extend(source::text(path, limits)?.lines().map(str::to_owned));
            }
            Ok(texts)
        }
    }

    fn load(arguments: &Arguments, limits: Limits) -> Result<OrtEmbedder> {
        if !arguments.embedder.exists() {
            return Err(errors::no_embedder(&arguments.embedder));
        }
        let folder = EmbedderFolder::open(&arguments.embedder, &limits)?;
        let device = arguments.cuda.map_or(Device::Cpu, Device::Cuda);
        let options = EmbedderOptions::default()
            .threads(arguments.threads)
            .device(device)
            .batch(arguments.batch)
            .limits(limits);
        let progress = Progress::start("loading the model");
        let embedder = OrtEmbedder::load(&folder, &options)?;
        progress.finish();
        embedder.notices().iter().for_each(messages::warning);
        Ok(embedder)
    }

    fn vectors(embedder: &mut OrtEmbedder, texts: &[String], output: &mut Output) -> Result<(), Failure> {
        if output.is_json() {
            output.list("vectors")?;
        }
        for (number, chunk) in texts.chunks(CHUNK).enumerate() {
            let found = embed(embedder, chunk, number * CHUNK)?;
            let mut cut = found.truncated().iter().peekable();
            for (index, (text, vector)) in chunk.iter().zip(found.rows()).enumerate() {
                let truncation = cut.next_if(|truncation| truncation.text == index);
                let tokens = truncation.map(|truncation| truncation.tokens);
                let line = VectorReport { text, vector, tokens };
                match output.is_json() {
                    true => output.item(&line)?,
                    false => writeln!(output, "{}", serde_json::to_string(&line).map_err(io::Error::from)?)?,
                }
            }
            output.flush()?;
        }
        Ok(())
    }

    fn similarities(
        embedder: &mut OrtEmbedder,
        texts: &[String],
        output: &mut Output,
    ) -> Result<(), Failure> {
        let found = embed(embedder, texts, 0)?;
        let cosine = |index| found.cosine(0, index).unwrap_or_default();
        let mut others: Vec<(f64, &String)> =
            texts.iter().enumerate().skip(1).map(|(index, text)| (cosine(index), text)).collect();
        // a stable sort, so that equals stay in the order given
        others.sort_by(|(first, _), (second, _)| second.total_cmp(first));
        if output.is_json() {
            output.list("similarities")?;
        }
        for (cosine, text) in others {
            if output.is_json() {
                output.item(&SimilarityReport { text, similarity: cosine })?;
            } else {
                writeln!(output, "{cosine:>7.4}  {}", quoted(text.as_bytes()))?;
            }
        }
        Ok(())
    }

    /// Returns the vectors of texts, and warns about truncated ones. `first` is the index of the first of these texts
    /// among all texts, for messages.
    fn embed(embedder: &mut OrtEmbedder, texts: &[String], first: usize) -> Result<Embeddings> {
        let list: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = embedder.embed(&list).map_err(|error| moved(error, first))?;
        for truncation in found.truncated() {
            messages::warning(&errors::text_cut(first + truncation.text, truncation.tokens, truncation.kept));
        }
        Ok(found)
    }

    /// Adds `first` to the index of the text in an error's place.
    fn moved(error: Error, first: usize) -> Error {
        error.map(|diagnostic| {
            let index = match diagnostic.place() {
                Place::Pointer(pointer) => pointer.trim_start_matches('/').parse::<usize>().ok(),
                _ => None,
            };
            match index {
                Some(index) => diagnostic.at(Place::Pointer(format!("/{}", first + index))),
                None => diagnostic,
            }
        })
    }
}
