//! Mask files: what exploring has found out about a grammar, for another process to begin with.

use crate::arguments::Bytes;
use grammata::explore::{ExploreBudget, suggested_documents};
use grammata::{CompiledGrammar, MaskFile, Result};

/// How far to explore, and along what first.
#[derive(Default)]
pub(crate) struct Exploring {
    pub(crate) documents: Vec<Bytes>,
    pub(crate) states: Option<usize>,
    pub(crate) work: Option<u64>,
}

impl Exploring {
    /// The mask file of a grammar: explored along the documents, those that the grammar suggests, and what is near to them.
    /// Documents that no tokens spell are left out.
    ///
    /// # Errors
    /// The first configuration exceeds a limit.
    pub(crate) fn run(&self, compiled: &CompiledGrammar) -> Result<MaskFile> {
        let budget = ExploreBudget::default();
        let budget = self.states.map_or(budget.clone(), |states| budget.states(states));
        let budget = self.work.map_or(budget.clone(), |work| budget.work(work));
        let suggested = suggested_documents(compiled.grammar());
        let given = self.documents.iter().map(AsRef::as_ref);
        let all = given.chain(suggested.iter().map(Vec::as_slice));
        let documents: Vec<_> = all.filter_map(|text| compiled.vocabulary().encode_greedy(text)).collect();
        compiled.explore(&budget, &documents)
    }
}
