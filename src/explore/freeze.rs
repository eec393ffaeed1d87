//! Writing the explored places to a mask file.

use super::ExploreBudget;
use super::walk::Explorer;
use crate::automaton::{Automaton, ConfigurationId};
use crate::error::Result;
use crate::limits::LimitKind;
use crate::mask::MaskCache;
use crate::mask_file::{MaskDrafts, MaskFile, StateDraft, Target, about, write};
use crate::work::Budget;
use std::time::Instant;

/// The remaining budget for the missing steps of places. A place has up to as many steps as there are byte classes, and
/// documents lead through places whose other steps have not been computed.
struct Left {
    work: u64,
    /// Maximum size of the tables in bytes.
    bytes: usize,
    end: Option<Instant>,
}

impl Left {
    fn is_used_up(&self, cache: &MaskCache) -> bool {
        let is_late = || self.end.is_some_and(|end| Instant::now() >= end);
        self.work == 0 || is_late() || cache.memory_usage() > self.bytes
    }

    /// The destination of a byte; `None` if it is unknown and the budget is used up or a limit was exceeded.
    fn step(
        &mut self,
        automaton: &Automaton,
        cache: &mut MaskCache,
        at: ConfigurationId,
        byte: u8,
    ) -> Option<ConfigurationId> {
        let known = cache.tables.transitions().step(automaton, at, byte);
        if known.is_some() || self.is_used_up(cache) {
            return known;
        }
        let work = Budget::of_exploring(self.work, automaton.limits());
        let all = work.limit() as u64;
        cache.tables.work = work;
        let next = cache.lazy(automaton).step(at, byte);
        // a step that is refused for its work counts as nothing spent, so the whole budget of the step is charged
        let is_too_much = next.as_ref().is_err_and(|error| error.limit() == Some(LimitKind::MaskWork));
        let spent = if is_too_much { all } else { cache.tables.work.spent() };
        self.work = self.work.saturating_sub(1 + spent);
        next.ok()
    }
}

impl Explorer<'_> {
    /// The budget for freezing. Work: what exploring has left, but at least a quarter of the whole. Bytes and time: a
    /// quarter more than for exploring, which may have used up its own.
    fn left(&self) -> Left {
        let ExploreBudget { work, bytes, time, .. } = *self.budget;
        let bytes = bytes.min(self.compiled.automaton().cache_bytes());
        Left {
            work: work.saturating_sub(self.spent).max(work / 4),
            bytes: bytes.saturating_add(bytes / 4),
            end: self.deadline.zip(time).and_then(|(end, time)| end.checked_add(time / 4)),
        }
    }

    /// Writes the places explored so far as a mask file. Other configurations in the tables are left out, since they
    /// depend on earlier users of the tables.
    ///
    /// # Errors
    /// Errors occur only if the engine has a defect.
    pub(super) fn freeze(self) -> Result<MaskFile> {
        let left = self.left();
        self.freeze_within(left)
    }

    fn freeze_within(mut self, mut left: Left) -> Result<MaskFile> {
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
                // a computed mask is still in the tables
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
                    runs: runs(compiled.automaton(), cache, at, &mut left, target),
                }
            });
            states.extend(draft);
        }
        let about = about(&self.budget, vocabulary);
        MaskFile::from_bytes(write(compiled.grammar(), vocabulary, &states, masks, &about))
    }
}

/// The first byte of each run of bytes with one destination, and the destination. Steps that are not computed within
/// `left` are unexplored.
fn runs(
    automaton: &Automaton,
    cache: &mut MaskCache,
    at: ConfigurationId,
    left: &mut Left,
    target: impl Fn(ConfigurationId) -> Target,
) -> Vec<(u8, Target)> {
    let wanted = cache.lazy(automaton).candidate_bytes(at);
    let mut runs: Vec<(u8, Target)> = Vec::new();
    let mut of_class: Vec<Option<Target>> = vec![None; automaton.class_count()];
    for byte in 0..=255u8 {
        let to = match wanted.contains(byte) {
            false => Target::Dead,
            true => *of_class[automaton.class_of(byte)].get_or_insert_with(|| {
                // steps that were not computed are left to the engine
                left.step(automaton, cache, at, byte).map_or(Target::Unexplored, &target)
            }),
        };
        if runs.last().is_none_or(|last| last.1 != to) {
            runs.push((byte, to));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::walk::Tables;
    use crate::grammar::GrammarBuilder;
    use crate::vocabulary::{TokenId, VocabularyBuilder};
    use crate::{CompiledGrammar, Compiler};
    use std::sync::Arc;

    /// A grammar of texts without the same letter twice in a row, and a document of one token that leads through all
    /// places with one step from each.
    fn explored() -> (CompiledGrammar, Vec<TokenId>) {
        let mut g = GrammarBuilder::new();
        let rules: Vec<_> =
            ('a'..='j').map(|letter| (letter, g.declare(format!("after {letter}")))).collect();
        let root = g.declare("root");
        let mut after = |last: Option<char>| {
            let mut ways: Vec<_> = last.map(|_| g.empty()).into_iter().collect();
            for &(letter, rule) in rules.iter().filter(|(letter, _)| Some(*letter) != last) {
                let (letter, rest) = (g.text(letter.to_string()), g.rule(rule));
                ways.push(g.sequence([letter, rest]));
            }
            g.choice(ways)
        };
        let bodies: Vec<_> = rules.iter().map(|&(letter, rule)| (rule, after(Some(letter)))).collect();
        let first = after(None);
        bodies.into_iter().chain([(root, first)]).for_each(|(rule, body)| g.define(rule, body));
        let grammar = g.build(root).unwrap();
        let vocabulary =
            VocabularyBuilder::from_tokens([b"abcdefghij".as_slice(), b"a", b"b"]).build().unwrap();
        let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap();
        (compiled, vec![TokenId::new(0)])
    }

    /// The file frozen with the budget `left`, or with what the explorer has left, and the number of bytes in it whose
    /// destination is unexplored.
    fn frozen(budget: &ExploreBudget, left: Option<Left>) -> (MaskFile, usize) {
        let (compiled, document) = explored();
        let tables = Tables::Own(Box::new(compiled.own_cache()));
        let mut explorer = Explorer::new(&compiled, budget, tables);
        explorer.start().unwrap();
        explorer.run(&[document]);
        let left = left.unwrap_or_else(|| explorer.left());
        let file = explorer.freeze_within(left).unwrap();
        let states = (0..file.state_count()).filter_map(|id| file.state(id as u32));
        let unknown =
            states.map(|state| (0..=255).filter(|&byte| file.after_byte(state, byte).is_none()).count());
        let unknown = unknown.sum();
        (file, unknown)
    }

    #[test]
    fn freezing_keeps_to_the_budget() {
        let budget = ExploreBudget::default().work(1_000);
        let left = |work: u64| Left { work, bytes: usize::MAX, end: None };
        let unknown = |left: Left| frozen(&budget, Some(left)).1;
        let all: Vec<usize> = [0, 40, 300, u64::MAX].map(|work| unknown(left(work))).to_vec();
        assert!(all.is_sorted_by(|more, less| more > less), "{all:?}");
        assert_eq!(unknown(Left { bytes: 0, ..left(u64::MAX) }), all[0]);
        assert_eq!(unknown(Left { end: Some(Instant::now()), ..left(u64::MAX) }), all[0]);
        let (file, of_budget) = frozen(&budget, None);
        assert!((all[3]..all[0]).contains(&of_budget), "{of_budget} of {all:?}");
        let again = frozen(&budget, None).0;
        assert_eq!(file.as_bytes(), again.as_bytes());
    }
}
