//! Sentence embeddings: the text of a list that is nearest to a question.
//! `cargo run --profile quick --features ort --example embed` (after `cargo xtask setup`).
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::Limits;
use grammata_decode::EmbedderFolder;
use grammata_decode::ort::{EmbedderOptions, OrtEmbedder};
use grammata_embeddings::Embedder;
use std::path::Path;

fn main() -> grammata::Result<()> {
    let folder = EmbedderFolder::open(Path::new(".models/minilm"), &Limits::default())?;
    let mut embedder = OrtEmbedder::load(&folder, &EmbedderOptions::default())?;
    let texts = ["Will it rain tomorrow?", "weather forecast", "currency conversion", "flight search"];
    let vectors = embedder.embed(&texts)?;
    for (index, text) in texts.iter().enumerate().skip(1) {
        println!("{:.3} {text}", vectors.cosine(0, index).unwrap_or_default());
    }
    for cut in vectors.truncated() {
        println!("only {} of {} tokens of text {} were read", cut.kept, cut.tokens, cut.text);
    }
    Ok(())
}
