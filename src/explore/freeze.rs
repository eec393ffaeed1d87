//! What was explored, as a mask file.

use super::walk::Explorer;
use crate::automaton::{Automaton, ConfigurationId};
use crate::error::Result;
use crate::mask::MaskCache;
use crate::mask_file::{MaskDrafts, MaskFile, StateDraft, Target, write};
use crate::work::Budget;

impl Explorer<'_> {
    /// A mask file of what was explored so far. What the tables hold beside it is left out: it depends on who has used them.
    ///
    /// # Errors
    /// None but those of defects.
    pub(super) fn freeze(mut self) -> Result<MaskFile> {
        let compiled = self.compiled;
        let vocabulary = compiled.vocabulary();
        let mut masks = MaskDrafts::new(vocabulary.width());
        let mut words = vec![0; vocabulary.mask_words()];
        let mut states = Vec::with_capacity(self.order.len());
        let (order, index) = (std::mem::take(&mut self.order), std::mem::take(&mut self.index));
        for (state, &at) in order.iter().enumerate() {
            let target = |to: ConfigurationId| match index.get(&to) {
                Some(&state) => Target::State(state),
                None if to == ConfigurationId::DEAD => Target::Dead,
                None => Target::Unexplored,
            };
            let mut mask = None;
            if self.masked.contains(state) {
                let made = |cache: &mut MaskCache| cache.mask(compiled.automaton(), compiled.index(), at);
                // a mask that was made is kept in the tables
                if let Some(made) = self.with_tables(made) {
                    made?.write_to(&mut words)?;
                    mask = Some(masks.add(&words));
                }
            }
            let edges = self.token_edges.get(&(state as u32));
            let token_edges = edges.into_iter().flatten().map(|(&token, &to)| (token, target(to))).collect();
            let draft = self.with_tables(|cache| {
                let transitions = cache.tables.transitions();
                let (facts, named) = (transitions.facts(at), transitions.is_named(at));
                StateDraft {
                    accepting: facts.is_accepting,
                    is_final: facts.is_final,
                    named,
                    tokens: facts.has_tokens,
                    token_edges,
                    mask,
                    runs: runs(compiled.automaton(), cache, at, target),
                }
            });
            states.extend(draft);
        }
        let about = format!("grammata {}\nbudget {}\n", env!("CARGO_PKG_VERSION"), self.budget);
        MaskFile::from_bytes(write(compiled.grammar(), vocabulary, &states, masks, &about))
    }
}

/// Where each run of bytes leads.
fn runs(
    automaton: &Automaton,
    cache: &mut MaskCache,
    at: ConfigurationId,
    target: impl Fn(ConfigurationId) -> Target,
) -> Vec<(u8, Target)> {
    cache.tables.work = Budget::of_mask(automaton.limits());
    let wanted = cache.lazy(automaton).candidate_bytes(at);
    let mut runs: Vec<(u8, Target)> = Vec::new();
    let mut of_class: Vec<Option<Target>> = vec![None; automaton.class_count()];
    for byte in 0..=255u8 {
        let to = match wanted.contains(byte) {
            false => Target::Dead,
            true => *of_class[automaton.class_of(byte)].get_or_insert_with(|| {
                // past a limit it is left to the engine
                cache.lazy(automaton).step(at, byte).map_or(Target::Unexplored, &target)
            }),
        };
        if runs.last().is_none_or(|last| last.1 != to) {
            runs.push((byte, to));
        }
    }
    runs
}
