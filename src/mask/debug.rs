//! One line of sizes in place of tables, for logs.

use super::compiled::{CompiledGrammar, Compiler};
use super::token_mask::TokenMask;
use std::fmt;

impl fmt::Debug for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiler").field("vocabulary", self.vocabulary()).finish_non_exhaustive()
    }
}

impl fmt::Debug for CompiledGrammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledGrammar")
            .field("states", &self.automaton().state_count())
            .field("tokens", &self.vocabulary().len())
            .field("bytes", &self.memory_usage())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TokenMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let mut ids: Vec<u32> = self.iter().take(SHOWN + 1).map(|token| token.get()).collect();
        let has_more = ids.len() > SHOWN;
        ids.truncate(SHOWN);
        let mut mask = f.debug_struct("TokenMask");
        mask.field("tokens", &self.len()).field("first", &ids);
        if has_more { mask.finish_non_exhaustive() } else { mask.finish() }
    }
}
