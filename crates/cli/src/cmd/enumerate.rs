//! `grammata enumerate`: lists words.

use crate::args::source::{self, Origin, SourceArgs};
use crate::io::errors;
use crate::io::messages::{self, Progress};
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::{json_bytes, quoted};
use grammata::automaton::words;
use grammata::automaton::words::Letter;
use grammata::grammar::Grammar;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;

/// Each word is a line: in quotes, escaped as a JSON string; bytes that are no UTF-8 are shown as `\xNN`. A token terminal stands
/// between texts as the grammar writes it.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    /// The most words to list; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// How many words to pass over first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Write the words as they are, each with a line end
    #[arg(long)]
    raw: bool,
}

/// The head of the report. The members `words` and `more` follow.
#[derive(Serialize)]
struct Report<'a> {
    grammar: &'a Origin,
    offset: usize,
}

/// The end of the report.
#[derive(Serialize)]
struct End {
    /// Whether there are more words after those that are listed.
    more: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let loaded = source::load(&arguments.source, &limits)?;
    loaded.warn();
    let progress = Progress::start("searching words");
    let automaton = loaded.automaton(&limits)?;
    let locate = |error| loaded.locate(error);
    let mut words = words::enumerate(&automaton).map_err(locate)?;
    for _ in 0..arguments.offset {
        match words.next() {
            Some(word) => drop(word.map_err(locate)?),
            None => break,
        }
    }
    progress.finish();
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    if output.is_json() {
        output.report(&Report { grammar: &loaded.origin, offset: arguments.offset })?;
        output.list("words")?;
    }
    let mut listed = 0;
    for word in words.by_ref().take(most) {
        listed += 1;
        let word = word.map_err(locate)?;
        if output.is_json() {
            output.item(&WordReport::new(&loaded.grammar, &word))?;
        } else if arguments.raw {
            for part in parts(&loaded.grammar, &word) {
                output.write_all(&part.into_bytes())?;
            }
            output.write_all(b"\n")?;
        } else {
            let parts = parts(&loaded.grammar, &word);
            let shown: Vec<String> = parts.into_iter().map(Part::shown).collect();
            writeln!(output, "{}", shown.join(" "))?;
        }
    }
    let more = words.next().transpose().map_err(locate)?.is_some();
    if output.is_json() {
        output.report(&End { more })?;
    } else if more {
        output.flush()?;
        messages::note(&format!("there are more words after these {most} (--limit 0 lists all)"));
    }
    if listed == 0 && arguments.offset > 0 {
        output.flush()?;
        messages::warning(&errors::nothing_after("words", arguments.offset));
    }
    Ok(Exit::Done)
}

/// A part of a word.
enum Part {
    Text(Vec<u8>),
    /// A token terminal, as in the grammar.
    Token(String),
}

impl Part {
    fn shown(self) -> String {
        match self {
            Part::Text(text) => quoted(&text),
            Part::Token(terminal) => terminal,
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        match self {
            Part::Text(text) => text,
            Part::Token(terminal) => terminal.into_bytes(),
        }
    }
}

/// Splits a word into texts and token terminals. The empty word is one empty text.
fn parts(grammar: &Grammar, word: &[Letter]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = Vec::new();
    for letter in word {
        match *letter {
            Letter::Byte(byte) => text.push(byte),
            Letter::Token(terminal) => {
                if !text.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut text)));
                }
                parts.push(Part::Token(words::terminal_text(grammar, terminal)));
            }
        }
    }
    if !text.is_empty() || parts.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

/// A word in JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum WordReport {
    /// A word without token terminals.
    Text(Value),
    /// Texts and token terminals, in their order.
    Parts(Vec<PartReport>),
}

/// A part of a word, in JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum PartReport {
    Text(Value),
    Token {
        /// The token terminal, as in the grammar.
        token: String,
    },
}

impl WordReport {
    fn new(grammar: &Grammar, word: &[Letter]) -> WordReport {
        let parts = parts(grammar, word);
        if let [Part::Text(text)] = &parts[..] {
            return WordReport::Text(json_bytes(text));
        }
        let parts = parts.into_iter().map(|part| match part {
            Part::Text(text) => PartReport::Text(json_bytes(&text)),
            Part::Token(token) => PartReport::Token { token },
        });
        WordReport::Parts(parts.collect())
    }
}
