//! Tasks of the OpenAGI benchmark: the given inputs and the wanted output, found by words of a description.
//!
//! A description says what is *given* and, after a colon or `how to`, what is *wanted*: `Given a noisy image: write a
//! caption in German.` or the benchmark's own `Given noisy image, how to return the caption in German step by step?`.
//! An image is given if that part has the word `image`, and a text if it has `text`, `document`, `query` or `question`.
//! An image is wanted if that part has the word `image`, otherwise a text.

use serde_json::{Value, json};

/// Returns a task as `plan run --tasks` reads it: the description, and the parameters of `grammars/openagi`. `None` if
/// no modalities are found.
pub fn task(description: &str) -> Option<Value> {
    let Modalities { inputs, output } = modalities(description)?;
    Some(json!({ "task": description, "parameters": { "inputs": inputs.join(","), "output": output } }))
}

/// The given inputs and the wanted output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modalities {
    /// `image`, `text` or both.
    pub inputs: Vec<&'static str>,
    /// `image` or `text`.
    pub output: &'static str,
}

/// Returns the modalities of a task; `None` if the description does not have the form, or nothing is given.
pub fn modalities(description: &str) -> Option<Modalities> {
    let lower = description.to_lowercase();
    let (given, wanted) = lower.split_once(':').or_else(|| lower.split_once("how to"))?;
    let has = |part: &str, words: &[&str]| {
        part.split(|c: char| !c.is_alphanumeric()).any(|word| words.contains(&word))
    };
    let mut inputs = Vec::new();
    if has(given, &["image"]) {
        inputs.push("image");
    }
    if has(given, &["text", "document", "query", "question"]) {
        inputs.push("text");
    }
    let output = if has(wanted, &["image"]) { "image" } else { "text" };
    (!inputs.is_empty()).then_some(Modalities { inputs, output })
}
