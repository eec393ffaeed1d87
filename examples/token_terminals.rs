//! Tokens by their ids: a thought between special tokens, then an answer. `cargo run --example token_terminals`.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::syntax::gbnf;
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{Compiler, Result};
use std::sync::Arc;

fn main() -> Result<()> {
    let [open, close, end] = [4, 5, 6].map(TokenId::new);
    let vocabulary = VocabularyBuilder::from_tokens(["y", "n", "es", "o"])
        .special(open, "<think>")
        .special(close, "</think>")
        .special(end, "<end>")
        .eos([end])
        .build()?;

    // any tokens but the end of the thought, then "yes" or "no"
    let source = r#"root ::= <think> !</think>* </think> ("yes" | "no")"#;
    let grammar = gbnf::compile(source, &gbnf::Options::default())?.grammar;
    let mut matcher = Compiler::new(Arc::new(vocabulary)).compile(&grammar)?.matcher();
    assert_eq!(matcher.forced_tokens()?, [open]);
    matcher.accept_token(open)?;
    matcher.accept_token(TokenId::new(3))?;
    matcher.accept_token(close)?;

    let allowed: Vec<u32> = matcher.mask()?.iter().map(TokenId::get).collect();
    assert_eq!(allowed, [0, 1]);
    // special tokens have no bytes
    assert_eq!(matcher.bytes(), b"o");
    println!("after the thought the model may write \"y\" or \"n\"");
    Ok(())
}
