//! Free generation with a chat template (after `cargo xtask setup`):
//! `cargo run --profile quick --features ort --example decode_smoke -- "Why is the sky blue?"`.
#![allow(clippy::print_stdout)]

use grammata::Limits;
use grammata_decode::ort::{ModelOptions, OrtModel, library_info};
use grammata_decode::{
    Decoder, Detokenizer, Event, GenerationOptions, Message, Model, ModelFolder, PromptTokenizer,
    SamplingParams,
};
use std::io::Write;
use std::path::Path;

/// The bytes of the tokens of a byte-level tokenizer, in whose token texts each character represents a byte.
struct ByteLevel(Vec<Vec<u8>>);

impl ByteLevel {
    fn read(path: &Path) -> Result<ByteLevel, Box<dyn std::error::Error>> {
        let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        let vocabulary = file["model"]["vocab"].as_object().ok_or("no vocabulary")?;
        let mut bytes = vec![Vec::new(); vocabulary.len()];
        for (text, id) in vocabulary {
            let slot = id.as_u64().and_then(|id| bytes.get_mut(id as usize)).ok_or("an id out of range")?;
            // ids of special tokens stay empty
            if !text.starts_with("<|") {
                *slot = text.chars().filter_map(byte_of).collect();
            }
        }
        Ok(ByteLevel(bytes))
    }
}

/// Returns the byte that a character represents in GPT-2's table. Printable Latin-1 characters represent themselves;
/// the other bytes are represented by the characters from U+0100 on, in order.
fn byte_of(c: char) -> Option<u8> {
    let printable = |b: u32| matches!(b, 33..=126 | 161..=172 | 174..=255);
    match c as u32 {
        b if printable(b) => Some(b as u8),
        b => (0..=255).filter(|&x| !printable(x)).nth((b as usize).checked_sub(256)?).map(|x| x as u8),
    }
}

impl Detokenizer for ByteLevel {
    fn token_count(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self, token: u32) -> &[u8] {
        self.0.get(token as usize).map_or(&[], Vec::as_slice)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args().nth(1).unwrap_or_else(|| "Write a short poem about the sea.".to_owned());
    let folder = Path::new(".models/smollm2");
    let limits = Limits::default();
    println!("{}", library_info()?);
    let start = std::time::Instant::now();
    let files = ModelFolder::open(folder, &limits)?;
    let options = ModelOptions::default().context_length(files.context_length);
    let mut model = OrtModel::load(&files.model, &options)?;
    println!(
        "loaded in {:.2?}: {} layers, context {:?}",
        start.elapsed(),
        model.signature().layers(),
        model.context_length()
    );
    let tokenizer = PromptTokenizer::from_file(&files.tokenizer, &limits)?;
    let template = files.template.ok_or("the model has no chat template")?;
    let prompt = template.render(&[Message::user(question)], true)?;
    let tokens = tokenizer.encode(&prompt, false)?;
    let options = GenerationOptions::default()
        .max_tokens(120)
        .sampling(SamplingParams::default().temperature(0.7).top_p(0.95).seed(1))
        .end_tokens(files.end_tokens);
    let words = ByteLevel::read(&files.tokenizer)?;
    let mut decoder = Decoder::new(&mut model, &words, None, &tokens, &options)?;
    loop {
        match decoder.next(&mut model)? {
            Event::Text(text) => {
                print!("{text}");
                std::io::stdout().flush()?;
            }
            Event::Token(_) => {}
            Event::Finished(_) => break,
        }
    }
    let generation = decoder.close(&mut model);
    println!("\n[{}]\n[{}]", generation.finish, generation.timings);
    Ok(())
}
