//! `grammata vocab`: shows the contents of a tokenizer file.

use crate::args::limits::LimitArgs;
use crate::args::tokens::{self, LoadedVocabulary, TokenizerSettings};
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output, seconds};
use crate::io::text::{hex, quoted, size};
use grammata::vocabulary::{TokenId, Vocabulary};
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A tokenizer.json, a tekken.json, a SentencePiece .model, tiktoken ranks, or a JSON list of tokens
    #[arg(value_name = "TOKENIZER", required_unless_present = "option")]
    tokenizer: Option<PathBuf>,
    /// The same, as other commands name it
    #[arg(id = "option", long = "tokenizer", value_name = "PATH", conflicts_with = "tokenizer")]
    option: Option<PathBuf>,
    #[command(flatten)]
    settings: TokenizerSettings,
    #[command(flatten)]
    limits: LimitArgs,
    /// Show this token only
    #[arg(long, value_name = "ID", conflicts_with = "encode")]
    token: Option<u32>,
    /// Split this text into tokens, taking the longest at each place
    #[arg(long, value_name = "TEXT")]
    encode: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    // one of the two is there, which the arguments require
    let path = arguments.tokenizer.as_deref().or(arguments.option.as_deref()).unwrap_or(Path::new(""));
    let loaded = arguments.settings.load(path, &arguments.limits.get())?;
    let vocabulary = &loaded.vocabulary;
    match (arguments.token, &arguments.encode) {
        (Some(id), _) => one_token(vocabulary, id, output),
        (None, Some(text)) => encode(vocabulary, text, output),
        (None, None) => summary(&loaded, output),
    }
}

fn one_token(vocabulary: &Vocabulary, id: u32, output: &mut Output) -> Result<Exit, Failure> {
    let token = TokenId::new(id);
    if token.index() >= vocabulary.width() {
        return Err(errors::no_such_token(id, vocabulary.width()).into());
    }
    if output.is_json() {
        output.report(&TokenReport { token: tokens::json(vocabulary, token) })?;
    } else {
        writeln!(output, "{id}  {}", tokens::show(vocabulary, token))?;
    }
    Ok(Exit::Done)
}

fn encode(vocabulary: &Vocabulary, text: &str, output: &mut Output) -> Result<Exit, Failure> {
    let encoded =
        vocabulary.encode_greedy(text.as_bytes()).ok_or_else(|| errors::not_encodable(text.as_bytes()))?;
    if output.is_json() {
        let tokens = encoded.iter().map(|&id| tokens::json(vocabulary, id)).collect();
        output.report(&TextReport { text, tokens })?;
    } else {
        for &id in &encoded {
            writeln!(output, "{id:>8}  {}", tokens::show(vocabulary, id))?;
        }
    }
    Ok(Exit::Done)
}

fn summary(loaded: &LoadedVocabulary, output: &mut Output) -> Result<Exit, Failure> {
    let vocabulary = &loaded.vocabulary;
    let ordinary = vocabulary.tokens().count();
    let specials: Vec<_> = vocabulary.specials().collect();
    let unused = vocabulary.width() - ordinary - specials.len();
    let duplicates = duplicates(vocabulary);
    let missing: Vec<u8> =
        (0..=255u8).filter(|&byte| vocabulary.missing_bytes()[usize::from(byte)]).collect();
    let longest = vocabulary.tokens().map(|(_, bytes)| bytes.len()).max().unwrap_or(0);
    if output.is_json() {
        output.report(&Report {
            file: &loaded.name,
            width: vocabulary.width(),
            ordinary,
            unused,
            specials: specials.iter().map(|&(id, _)| tokens::json(vocabulary, id)).collect(),
            eos: vocabulary.eos().iter().map(|id| id.get()).collect(),
            missing_bytes: missing.iter().map(|&byte| hex(&[byte])).collect(),
            duplicates,
            longest_token_bytes: longest,
            trie_nodes: vocabulary.trie().node_count(),
            fingerprint: hex(&vocabulary.fingerprint()),
            memory_bytes: vocabulary.memory_usage(),
            load_seconds: seconds(loaded.time),
        })?;
        return Ok(Exit::Done);
    }
    writeln!(output, "file         {}", loaded.name)?;
    writeln!(output, "width        {} token ids", vocabulary.width())?;
    writeln!(output, "ordinary     {ordinary}, the longest of {longest} bytes")?;
    writeln!(output, "special      {}", specials.len())?;
    writeln!(output, "not used     {unused}")?;
    let ends: Vec<String> =
        vocabulary.eos().iter().map(|&id| format!("{id} {}", vocabulary.special(id).unwrap_or(""))).collect();
    writeln!(output, "the end      {}", if ends.is_empty() { "none".to_owned() } else { ends.join(", ") })?;
    writeln!(output, "duplicates   {duplicates}")?;
    let bytes: Vec<String> = missing.iter().map(|byte| format!("{byte:02X}")).collect();
    let bytes = if bytes.is_empty() { "none: every byte has a token".to_owned() } else { bytes.join(" ") };
    writeln!(output, "missing      {bytes}")?;
    writeln!(output, "trie         {} nodes", vocabulary.trie().node_count())?;
    writeln!(output, "fingerprint  {}", hex(&vocabulary.fingerprint()))?;
    writeln!(output, "memory       {}", size(vocabulary.memory_usage()))?;
    writeln!(output, "loaded in    {:.1?}", loaded.time)?;
    if !specials.is_empty() {
        writeln!(output, "\n{:>8}  special token", "id")?;
    }
    for (id, name) in specials {
        let end = if vocabulary.is_eos(id) { "  (end of sequence)" } else { "" };
        writeln!(output, "{id:>8}  {}{end}", quoted(name.as_bytes()))?;
    }
    Ok(Exit::Done)
}

/// The report on a token (`--token`).
#[derive(Serialize)]
struct TokenReport {
    /// The id, and the bytes or the name.
    token: Value,
}

/// The report on the tokens of a text (`--encode`).
#[derive(Serialize)]
struct TextReport<'a> {
    text: &'a str,
    /// For each token its id, and its bytes or its name.
    tokens: Vec<Value>,
}

/// The report on a tokenizer file.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    width: usize,
    ordinary: usize,
    unused: usize,
    specials: Vec<Value>,
    eos: Vec<u32>,
    missing_bytes: Vec<String>,
    duplicates: usize,
    longest_token_bytes: usize,
    trie_nodes: usize,
    fingerprint: String,
    memory_bytes: usize,
    load_seconds: f64,
}

/// Counts the tokens with the same bytes as another token, less one for each group of equal tokens.
fn duplicates(vocabulary: &Vocabulary) -> usize {
    let trie = vocabulary.trie();
    let distinct = (0..trie.node_count() as u32).filter(|&node| !trie.tokens(node).is_empty()).count();
    vocabulary.tokens().count() - distinct
}
