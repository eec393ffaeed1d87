//! The words of a compiled grammar.

use grammata::automaton::Automaton;
use grammata::automaton::samples::{Distribution, samples};
use grammata::automaton::words::{self, Count, Letter};
use grammata::{CompiledGrammar, Result};
use js_sys::{Array, Uint8Array};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use wasm_bindgen::JsValue;

pub(crate) type Words = Vec<Vec<Letter>>;

/// The automaton over bytes. That of the compiled grammar may have been changed for the vocabulary.
fn automaton(compiled: &CompiledGrammar) -> Result<Automaton> {
    Automaton::new(compiled.grammar(), compiled.automaton().limits())
}

/// The number of words as JavaScript reads a large one: `0x` and hexadecimal digits, which take time linear in their
/// number; `None` if there are infinitely many.
pub(crate) fn count(compiled: &CompiledGrammar) -> Result<Option<String>> {
    Ok(match words::count(&automaton(compiled)?)? {
        Count::Finite(number) => Some(format!("{number:#x}")),
        Count::Infinite => None,
    })
}

/// Lists words in order.
pub(crate) fn enumerate(compiled: &CompiledGrammar, limit: usize, offset: usize) -> Result<Words> {
    let automaton = automaton(compiled)?;
    let mut words = words::enumerate(&automaton)?;
    words.by_ref().take(offset).try_for_each(|word| word.map(drop))?;
    words.take(limit).collect()
}

/// Draws random words.
pub(crate) fn sample(
    compiled: &CompiledGrammar,
    count: usize,
    seed: u32,
    most: usize,
    is_uniform: bool,
) -> Result<Words> {
    let automaton = automaton(compiled)?;
    let distribution = if is_uniform { Distribution::Uniform } else { Distribution::Walk };
    let mut samples = samples(&automaton, distribution, most)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed.into());
    (0..count).map(|_| samples.draw(&mut random)).collect()
}

/// A part of a word.
#[derive(Debug, PartialEq)]
enum Part {
    Bytes(Vec<u8>),
    Terminal(String),
}

/// The parts of a word: runs of bytes, and token terminals as the grammar writes them.
fn parts(compiled: &CompiledGrammar, word: &[Letter]) -> Vec<Part> {
    let mut parts = Vec::new();
    for letter in word {
        match (*letter, parts.last_mut()) {
            (Letter::Byte(byte), Some(Part::Bytes(bytes))) => bytes.push(byte),
            (Letter::Byte(byte), _) => parts.push(Part::Bytes(vec![byte])),
            (Letter::Token(terminal), _) => {
                parts.push(Part::Terminal(words::terminal_text(compiled.grammar(), terminal)));
            }
        }
    }
    parts
}

/// The words as values of JavaScript: bytes, or an array of bytes and texts of token terminals.
pub(crate) fn array(compiled: &CompiledGrammar, words: Words) -> Array {
    let value = |part: &Part| match part {
        Part::Bytes(bytes) => JsValue::from(Uint8Array::from(&bytes[..])),
        Part::Terminal(text) => JsValue::from_str(text),
    };
    let list = words.iter().map(|word| match &parts(compiled, word)[..] {
        [] => value(&Part::Bytes(Vec::new())),
        [part @ Part::Bytes(_)] => value(part),
        several => several.iter().map(value).collect::<Array>().into(),
    });
    list.collect()
}

#[cfg(test)]
mod tests {
    use super::{Part, count, enumerate, parts, sample};
    use grammata::syntax::{Source, parse};
    use grammata::vocabulary::{TokenId, VocabularyBuilder};
    use grammata::{CompiledGrammar, Compiler};
    use std::sync::Arc;

    fn compiled(source: &Source) -> CompiledGrammar {
        let builder = VocabularyBuilder::from_tokens(["a", "b", ""]).special(TokenId::new(2), "<end>");
        let vocabulary = builder.eos([TokenId::new(2)]).build().unwrap();
        Compiler::new(Arc::new(vocabulary)).compile(&parse(source).unwrap().grammar).unwrap()
    }

    #[test]
    fn words_are_counted_listed_and_drawn() {
        let finite = compiled(&Source::regex("[ab]{1,2}"));
        assert_eq!(count(&finite).unwrap().as_deref(), Some("0x6"));
        assert_eq!(count(&compiled(&Source::regex("a*"))).unwrap(), None);
        let list = enumerate(&finite, 2, 1).unwrap();
        let bytes: Vec<Vec<Part>> = list.iter().map(|word| parts(&finite, word)).collect();
        assert_eq!(bytes, [vec![Part::Bytes(b"aa".to_vec())], vec![Part::Bytes(b"ab".to_vec())]]);
        let drawn = sample(&finite, 20, 3, 2, true).unwrap();
        assert_eq!(drawn, sample(&finite, 20, 3, 2, true).unwrap());
        assert_ne!(drawn, sample(&finite, 20, 4, 2, true).unwrap());
    }

    #[test]
    fn token_terminals_are_parts_of_their_own() {
        let grammar = compiled(&Source::gbnf("root ::= \"a\" <[2]> \"b\" \"b\""));
        let list = enumerate(&grammar, 2, 0).unwrap();
        assert_eq!(list.len(), 1);
        let found = parts(&grammar, &list[0]);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], Part::Bytes(b"a".to_vec()));
        assert!(matches!(&found[1], Part::Terminal(text) if text.contains('2')), "{found:?}");
        assert_eq!(found[2], Part::Bytes(b"bb".to_vec()));
    }
}
