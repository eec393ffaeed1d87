//! End tokens given to the matcher: the vocabulary declares others, and the oracle knows only the given ones.

use super::fuzz_limits::small_limits;
use super::generate::{Choices, RandomVocabulary};
use super::outcome::Step;
use grammata::{CompiledGrammar, Compiler, TokenId};
use std::sync::Arc;

/// Compiles the grammar of a case for a vocabulary with other end-of-sequence tokens, and supplies those of the case.
/// Some of them may be text in that vocabulary. If no id is free for other end tokens, the case is left as it is.
pub(super) fn given(
    compiled: &CompiledGrammar,
    vocabulary: &RandomVocabulary,
    has_token_terminals: bool,
    choices: &mut Choices<'_>,
) -> Step<CompiledGrammar> {
    let RandomVocabulary { tokens, eos, names, width } = vocabulary;
    let has_bytes = |id: u32| tokens.get(id as usize).is_some_and(Option::is_some);
    let is_free = |id: &u32| !has_bytes(*id) && !names.iter().any(|(named, _)| named == id);
    let free: Vec<u32> = (0..*width as u32).filter(is_free).collect();
    if free.is_empty() {
        return Ok(compiled.clone());
    }
    let mut other = vocabulary.clone();
    other.eos = (0..=choices.below(3)).map(|_| *choices.pick(&free)).collect();
    // the name of an ordinary token may equal its text
    if !has_token_terminals && choices.chance(40) {
        let texts: Vec<Vec<u8>> = tokens.iter().flatten().cloned().collect();
        for &id in eos.iter().filter(|id| !other.eos.contains(id)) {
            other.tokens[id as usize] = Some(choices.pick(&texts).clone());
        }
    }
    let compiler = Compiler::new(Arc::new(other.build()?)).limits(small_limits());
    let compiled = compiler.compile(compiled.grammar())?;
    Ok(compiled.with_end_tokens(eos.iter().map(|&id| TokenId::new(id)))?)
}
