//! Token indices with false content: bytes that are read as the index of a vocabulary, and masks made with it.

use super::fuzz_limits::limits;
use super::generate::Choices;
use super::mask_files::{DIGEST, index_that_lies, walk_through, with_digest};
use grammata::syntax::{Source, parse};
use grammata::vocabulary::{TokenId, Vocabulary, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler};
use std::sync::{Arc, LazyLock};

/// A vocabulary with a small index: tokens inside strings, some that leave them, and an end token.
static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let tokens = ["a", "b", "ab", "\"", "\\", "ab\"", "\"ab", " ", " a", "1", "12", "\u{e9}", "\\n", "\n"];
    let end = TokenId::new(tokens.len() as u32);
    let built = VocabularyBuilder::from_tokens(tokens).special(end, "<end>").eos([end]).build();
    Arc::new(built.unwrap_or_else(|error| unreachable!("a good vocabulary: {error}")))
});

fn compiler() -> Compiler {
    Compiler::new(Arc::clone(&VOCABULARY)).limits(limits())
}

/// The seed of the fuzz target: a good index without its digest.
pub fn seed() -> Vec<u8> {
    let index = compiler().token_index().unwrap_or_else(|error| unreachable!("a good vocabulary: {error}"));
    [&[0], &index[DIGEST..]].concat()
}

/// Loads `content` as a token index, with the right digest added; `None` if it is refused.
pub fn prepared(content: &[u8]) -> Option<CompiledGrammar> {
    let compiler = compiler();
    compiler.prepare_from(&with_digest(&VOCABULARY, content)).ok()?;
    let source = Source::json_schema(r#"{"type": ["string", "integer"]}"#);
    compiler.compile(&parse(&source).ok()?.grammar).ok()
}

/// Fuzzes token indices and some masks made with them: arbitrary bytes with a right digest, or the index of a larger
/// vocabulary with some words changed.
pub fn token_index(bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let mut choices = Choices::new(&rest[rest.len().saturating_sub(64)..]);
    match first % 4 {
        3 => index_that_lies(&mut Choices::new(rest)),
        _ => {
            if let Some(compiled) = prepared(rest) {
                walk_through(&compiled, &mut choices);
            }
        }
    }
}
