//! Subtrees of the trie of all tokens that a configuration accepts as a whole.
//!
//! Inside a string that must match a pattern, or whose words and characters are counted, all letters stay alive for at
//! least some characters. A subtree that contains only letters, and paths of at most that many, needs no walk: every
//! token in it is allowed. How far the characters of some kinds stay alive is computed by a breadth-first search over
//! the configurations that they lead to.

use super::Walk;
use super::collected::Collected;
use super::partitions::KINDS;
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::mask::tuning::{
    ASKS_BEFORE_JUDGED, MOST_FOLLOWED, MOST_LOOKS, NODES_PER_ASK, NODES_PER_LOOK, STEPS_WORTH_NODES,
};
use crate::token_index::alphabet::CharKinds;
use crate::token_index::subtree_summary::SubtreeSummary;
use crate::vocabulary::TokenTrie;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The printable ASCII characters and DEL, as a range.
const ASCII: (u8, u8) = (b' ', 0x7F);

/// A configuration, the kinds of characters read there, and whether the residual must not return on the way.
type SubtreeKey = (ConfigurationId, CharKinds, bool);

/// The known results of reading characters by kind.
#[derive(Debug, Default)]
pub(in crate::mask) struct SubtreeAcceptance {
    /// The index in `steps` of a configuration; the flag says that the residual must not return there.
    places: FxHashMap<(ConfigurationId, bool), usize>,
    steps: Vec<CharSteps>,
    blocks: Blocks,
    reaches: FxHashMap<SubtreeKey, Reach>,
    /// How often a subtree was tested.
    asked: u32,
    /// The number of nodes of the subtrees that were accepted as a whole.
    taken: u32,
}

impl SubtreeAcceptance {
    /// Whether the tests so far took less time than walking the nodes that they saved, or there were too few tests to
    /// tell.
    fn pays(&self) -> bool {
        self.asked < ASKS_BEFORE_JUDGED || self.asked.saturating_mul(NODES_PER_ASK) < self.taken
    }
}

/// Where characters lead from a configuration, by kind.
#[derive(Debug, Default)]
pub(in crate::mask) struct CharSteps {
    /// The configurations that characters lead to, each with the kinds of such characters. Every character of these
    /// kinds stays alive or is dead.
    groups: SmallVec<[(CharKinds, ConfigurationId); 4]>,
    /// All kinds in [`CharSteps::groups`] or dead: the fully known ones.
    pub(in crate::mask) told: CharKinds,
    /// Kinds whose characters all stay alive.
    pub(in crate::mask) on: CharKinds,
    /// Kinds whose characters are all dead.
    pub(in crate::mask) dead: CharKinds,
}

impl CharSteps {
    /// The configurations after a character of some kinds, without duplicates and without the dead one.
    pub(in crate::mask) fn after(&self, kinds: CharKinds) -> impl Iterator<Item = ConfigurationId> {
        self.groups.iter().filter(move |group| group.0.intersects(kinds)).map(|group| group.1)
    }

    /// Classifies kinds. `ways` has each configuration that some characters lead to, with the kinds of these
    /// characters. Kinds in `unknown` may have characters that lead elsewhere. `goes_on` says whether characters stay
    /// alive in a configuration.
    fn new(
        ways: &[(ConfigurationId, CharKinds)],
        unknown: CharKinds,
        goes_on: impl Fn(ConfigurationId) -> bool,
    ) -> CharSteps {
        let (mut dead, mut on, mut others) = (CharKinds::default(), CharKinds::default(), unknown);
        for &(next, kinds) in ways {
            match next {
                ConfigurationId::DEAD => dead.add(kinds),
                next if goes_on(next) => on.add(kinds),
                _ => others.add(kinds),
            }
        }
        let of = |&(next, kinds): &(ConfigurationId, CharKinds)| (kinds.difference(others), next);
        let leads_on = |(kinds, next): &(CharKinds, ConfigurationId)| {
            *next != ConfigurationId::DEAD && *kinds != CharKinds::default()
        };
        CharSteps {
            groups: ways.iter().map(of).filter(leads_on).collect(),
            told: dead.union(on).difference(others),
            on: on.difference(dead).difference(others),
            dead: dead.difference(on).difference(others),
        }
    }
}

/// Sets of kinds that no configuration examined so far distinguishes.
#[derive(Debug)]
struct Blocks(Vec<CharKinds>);

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks(vec![CharKinds::ALL])
    }
}

impl Blocks {
    /// Splits the blocks so that no block contains both some of these kinds and others.
    fn refine(&mut self, kinds: CharKinds) {
        for place in 0..self.0.len() {
            let block = self.0[place];
            if block.intersects(kinds) && !block.is_subset(kinds) {
                self.0[place] = block.intersection(kinds);
                self.0.push(block.difference(kinds));
            }
        }
    }

    /// The union of the blocks that intersect some kinds.
    fn cover(&self, kinds: CharKinds) -> CharKinds {
        let mut all = CharKinds::default();
        self.0.iter().filter(|block| block.intersects(kinds)).for_each(|&block| all.add(block));
        all
    }
}

/// How far the characters of some kinds stay alive.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// At least this many characters stay alive.
    characters: u32,
    /// No more can be found unless more than this many configurations may be examined.
    looks: u32,
}

impl Walk<'_> {
    /// Whether all tokens below a node are allowed, given the configuration at the node. False if this cannot be
    /// decided without a walk, for instance because the residual may return below.
    pub(in crate::mask) fn accepts_subtree(
        &mut self,
        trie: &TokenTrie,
        node: u32,
        configuration: ConfigurationId,
        out: &Collected,
    ) -> Result<bool> {
        let quiet = out.target.notes_returns();
        let Some(subtree) = self.index.loops().subtrees.get(node) else { return Ok(false) };
        let nodes = trie.subtree_end(node) - node;
        // a walk with a bounded budget should test anyway: otherwise it may be given up
        if nodes < STEPS_WORTH_NODES && !out.is_limited(self.vocabulary.trie()) && !self.acceptance.pays() {
            return Ok(false);
        }
        // computing where characters lead takes as long as walking some nodes
        if !self.acceptance.places.contains_key(&(configuration, quiet)) {
            let candidates = self.lazy.candidate_bytes(configuration);
            if nodes < STEPS_WORTH_NODES || !subtree.kinds.is_subset(CharKinds::of_bytes(candidates.iter())) {
                return Ok(false);
            }
        }
        let takes = self.accepts_all_over((configuration, quiet), subtree, nodes)?;
        self.acceptance.asked += 1;
        self.acceptance.taken += if takes { nodes } else { 0 };
        Ok(takes)
    }

    /// Whether the characters of a subtree of `nodes` nodes stay alive from a configuration, whichever they are and in
    /// any order. False if deciding it needs too many lookups.
    pub(in crate::mask) fn accepts_all_over(
        &mut self,
        (configuration, quiet): (ConfigurationId, bool),
        SubtreeSummary { kinds, characters }: SubtreeSummary,
        nodes: u32,
    ) -> Result<bool> {
        if let Some(stays) = self.is_stable((configuration, quiet), kinds, characters)? {
            return Ok(stays);
        }
        // kinds that were not distinguished so far are tested together, so that the result serves later tests
        let place = (configuration, self.acceptance.blocks.cover(kinds), quiet);
        let looks = (1 + nodes / NODES_PER_LOOK).min(MOST_LOOKS);
        let characters = u32::from(characters);
        match self.acceptance.reaches.get(&place) {
            Some(reach) if reach.characters >= characters => Ok(true),
            Some(reach) if reach.looks >= looks => Ok(false),
            _ => self.follow(place, characters, looks, MOST_FOLLOWED.min(8 + nodes as usize / 4)),
        }
    }

    /// Whether up to `characters` characters of some kinds stay alive from a configuration; `None` if undecided.
    /// Decides if the first or second character may die, if at most two characters are read, or if the characters lead
    /// back to the configuration or to configurations that lead back to themselves or to it.
    fn is_stable(
        &mut self,
        (at, quiet): (ConfigurationId, bool),
        kinds: CharKinds,
        characters: u16,
    ) -> Result<Option<bool>> {
        let place = self.steps_of(at, quiet)?;
        let steps = &self.acceptance.steps[place];
        if !kinds.is_subset(steps.on) || characters <= 1 {
            return Ok(Some(kinds.is_subset(steps.on)));
        }
        let after: SmallVec<[ConfigurationId; 4]> = steps.after(kinds).filter(|&next| next != at).collect();
        for next in after {
            let place = self.steps_of(next, quiet)?;
            let steps = &self.acceptance.steps[place];
            if !kinds.is_subset(steps.on) {
                return Ok(Some(false));
            }
            if characters > 2 && !steps.after(kinds).all(|second| second == next || second == at) {
                return Ok(None);
            }
        }
        Ok(Some(true))
    }

    /// Whether `characters` characters of the kinds of `start` stay alive; false if deciding it needs more than
    /// `most_looks` configurations whose steps are unknown, or more than `most_come_to` configurations.
    fn follow(
        &mut self,
        start: SubtreeKey,
        characters: u32,
        most_looks: u32,
        most_come_to: usize,
    ) -> Result<bool> {
        let (_, kinds, quiet) = start;
        let mut looks = 0;
        let mut seen = FxHashSet::from_iter([start.0]);
        // each configuration with the number of characters read before it
        let mut order = vec![(start.0, 0)];
        let mut done = 0;
        while let Some(&(at, read)) = order.get(done).filter(|&&(_, read)| read < characters) {
            done += 1;
            self.lazy.work.spend(1)?;
            let is_known = self.acceptance.places.contains_key(&(at, quiet));
            if order.len() > most_come_to || !is_known && looks == most_looks {
                self.note(start, &order, Reach { characters: read, looks: most_looks });
                return Ok(false);
            }
            looks += u32::from(!is_known);
            let place = self.steps_of(at, quiet)?;
            let steps = &self.acceptance.steps[place];
            if !kinds.is_subset(steps.on) {
                // examining more configurations cannot change this result
                self.note(start, &order, Reach { characters: read, looks: u32::MAX });
                return Ok(false);
            }
            order.extend(steps.after(kinds).filter(|&next| seen.insert(next)).map(|next| (next, read + 1)));
        }
        let characters = if done == order.len() { u32::MAX } else { characters };
        self.note(start, &order, Reach { characters, looks: 0 });
        Ok(true)
    }

    /// Stores how far characters stay alive from the start and from the configurations reached.
    fn note(&mut self, start: SubtreeKey, order: &[(ConfigurationId, u32)], reach: Reach) {
        let (_, kinds, quiet) = start;
        for &(at, read) in order {
            // characters that were known to stay alive from the start stay alive from here, less those read before
            let characters = reach.characters.saturating_sub(read);
            let known =
                self.acceptance.reaches.entry((at, kinds, quiet)).or_insert(Reach { characters, looks: 0 });
            known.characters = known.characters.max(characters);
        }
        self.acceptance.reaches.insert(start, reach);
    }

    /// Where characters lead from a configuration, given the index that [`steps_of`](Walk::steps_of) returned.
    pub(in crate::mask) fn steps(&self, place: usize) -> &CharSteps {
        &self.acceptance.steps[place]
    }

    /// The index of the steps of a configuration. If `quiet` is set, the residual must not return there.
    pub(in crate::mask) fn steps_of(&mut self, at: ConfigurationId, quiet: bool) -> Result<usize> {
        let key = (at, quiet);
        if let Some(&known) = self.acceptance.places.get(&key) {
            return Ok(known);
        }
        let steps = self.new_steps(at, quiet)?;
        self.acceptance.blocks.refine(steps.dead);
        self.acceptance.blocks.refine(steps.on);
        steps.groups.iter().for_each(|group| self.acceptance.blocks.refine(group.0));
        self.acceptance.steps.push(steps);
        self.acceptance.places.insert(key, self.acceptance.steps.len() - 1);
        Ok(self.acceptance.steps.len() - 1)
    }

    fn new_steps(&mut self, at: ConfigurationId, quiet: bool) -> Result<CharSteps> {
        // if the configuration depends on the history, characters of one kind do not all behave alike
        if !at.is_ordinary() || self.lazy.is_history_dependent(at) {
            return Ok(CharSteps::default());
        }
        let mut after = self.lazy.after_characters(at, &KINDS)?;
        let unknown = CharKinds::of_groups(after.unknown);
        if unknown.intersects(CharKinds::ASCII) {
            let (mut byte, end) = ASCII;
            while byte <= end {
                let (next, last) = self.lazy.step_run(at, byte)?;
                let kinds = CharKinds::of_bytes(byte..=last.min(end)).intersection(unknown);
                after.add(next, kinds.groups());
                byte = last.min(end) + 1;
            }
        }
        let ways: SmallVec<[(ConfigurationId, CharKinds); 4]> =
            after.all.iter().map(|&(next, groups)| (next, CharKinds::of_groups(groups))).collect();
        Ok(CharSteps::new(&ways, unknown.difference(CharKinds::ASCII), |next| self.goes_on(next, quiet)))
    }

    /// Whether a configuration allows something and, if `quiet` is set, the residual does not return there.
    fn goes_on(&self, at: ConfigurationId, quiet: bool) -> bool {
        at.is_ordinary() && !(quiet && self.lazy.is_accepting(at))
    }
}
