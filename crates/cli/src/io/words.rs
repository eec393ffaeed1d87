//! Words of grammars in output.

use crate::io::output::{Failure, Output};
use crate::io::text::{json_bytes, quoted};
use grammata::automaton::words::{self, Letter};
use grammata::grammar::Grammar;
use serde::Serialize;
use serde_json::Value;
use std::io::Write;

/// Writes a word: as an item of the report, or in a line. With `raw`, the line is the word itself.
pub(crate) fn write(
    grammar: &Grammar,
    word: &[Letter],
    raw: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    if output.is_json() {
        output.item(&WordReport::new(grammar, word))?;
    } else if raw {
        for part in parts(grammar, word) {
            output.write_all(&part.into_bytes())?;
        }
        output.write_all(b"\n")?;
    } else {
        let shown: Vec<String> = parts(grammar, word).into_iter().map(Part::shown).collect();
        writeln!(output, "{}", shown.join(" "))?;
    }
    Ok(())
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
