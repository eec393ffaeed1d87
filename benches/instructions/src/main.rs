//! Work whose instructions `cargo xtask instructions` counts. Without arguments the program lists the names of the
//! work. With a name it does that work once; only instructions within [`measured`] are counted.

#![allow(clippy::print_stdout)]

#[path = "../../support/mod.rs"]
mod support;

use grammata::syntax::{Source, parse};
use grammata::{CompiledGrammar, Compiler, Vocabulary};
use serde_json::{Value, json};
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use support::{Shipped, shipped, walk};

const NAMES: [&str; 6] = ["vocabulary", "read", "lower", "first-masks", "masks-again", "tools"];

/// Runs `work`. Callgrind counts instructions only inside this function.
#[inline(never)]
fn measured<R>(work: impl FnOnce() -> R) -> R {
    black_box(work())
}

/// Returns a compiler with the prepared index of the vocabulary.
fn prepared(vocabulary: Vocabulary) -> Compiler {
    let compiler = Compiler::new(Arc::new(vocabulary));
    compiler.prepare().expect("within the limits");
    compiler
}

fn main() {
    let Some(name) = std::env::args().nth(1) else {
        NAMES.iter().for_each(|name| println!("{name}"));
        return;
    };
    let here = &Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tokenizer = here.join("tests/data/smollm2/tokenizer.json");
    let load = || Vocabulary::from_file(&tokenizer, &Default::default()).expect("the vocabulary loads");
    if name == "vocabulary" {
        drop(measured(|| prepared(load())));
        return;
    }
    let compiler = prepared(load());
    let grammars = shipped(&here.join("grammars")).expect("the grammars are there");
    let read = |source: &Source| parse(source).expect("the grammar is sound").grammar;
    let compile = |source: &Source| compiler.compile(&read(source)).expect("the grammar compiles");
    let masks = |all: &[(&Shipped, CompiledGrammar)]| {
        for (grammar, compiled) in all {
            let mut words = vec![0; compiled.vocabulary().mask_words()];
            for example in &grammar.examples {
                let walked = walk(compiled, example, &mut words, |matcher, words| matcher.fill_mask(words));
                walked.unwrap_or_else(|error| panic!("{}: {error}", grammar.name));
            }
        }
    };
    let compiled =
        || grammars.iter().map(|grammar| (grammar, compile(&grammar.source))).collect::<Vec<(_, _)>>();
    match name.as_str() {
        "read" => drop(measured(|| grammars.iter().map(|g| read(&g.source)).collect::<Vec<_>>())),
        "lower" => {
            let all: Vec<_> = grammars.iter().map(|grammar| read(&grammar.source)).collect();
            drop(measured(|| all.iter().map(|grammar| compiler.compile(grammar)).collect::<Vec<_>>()));
        }
        "first-masks" => {
            let all = compiled();
            measured(|| masks(&all));
        }
        "masks-again" => {
            let all = compiled();
            masks(&all);
            measured(|| masks(&all));
        }
        "tools" => {
            let source = Source::json_schema(tools(32).to_string());
            measured(|| compile(&source).matcher().mask().expect("a mask"));
        }
        other => panic!("unknown work `{other}`: there are {}", NAMES.join(", ")),
    }
}

/// Returns the schema of a call of one of `count` tools.
fn tools(count: usize) -> Value {
    let tool = |n: usize| {
        json!({
            "type": "object",
            "properties": {
                "name": {"const": format!("tool_{n}")},
                "arguments": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "integer", "minimum": 0},
                        format!("field_{n}"): {"type": "string", "maxLength": 40 + n},
                        "when": {"type": "string", "format": "date"},
                        "tags": {"type": "array", "items": {"enum": ["red", "green"]}, "maxItems": 4},
                    },
                    "required": ["id"],
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        })
    };
    json!({"anyOf": (0..count).map(tool).collect::<Vec<_>>()})
}
