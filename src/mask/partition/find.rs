//! Finds the groups of a partition: by the loops that a residual returns to itself on, or by a walk.

use super::{OfLength, TokenGroup, TokenPartition};
use crate::automaton::{ConfigurationId, Lazy};
use crate::error::Result;
use crate::mask::strategy::loop_language::{self, Round};
use crate::mask::walk::Walk;
use crate::token_index::loops::{ByLength, LoopLanguage, TrieId};
use crate::token_index::tuning::MAX_CHARS;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashMap;

/// A residual after which more tokens continue than this has no partition.
const MOST_LEAVING: usize = 1 << 12;

/// The least number of nodes of a subtree that is tested for leading back to one configuration.
const STABLE_SUBTREE: u32 = 16;

/// Groups the tokens of a residual; `bound` gives the [bounds](TokenGroup::bound) of configurations. `None` if the
/// residual returns at too many positions, or depends on the history.
pub(in crate::mask) fn partition(
    walk: &mut Walk<'_>,
    residual: ConfigurationId,
    mut bound: impl FnMut(&mut Lazy<'_>, ConfigurationId) -> Result<Option<u32>>,
) -> Result<Option<TokenPartition>> {
    if walk.lazy.is_accepting(residual) {
        return Ok(None);
    }
    let index = walk.index;
    let vocabulary = index.vocabulary();
    let mut found = Found::new(residual);
    let candidates = walk.lazy.candidate_bytes(residual);
    let mut is_done = false;
    for (place, language) in index.loops().languages.iter().enumerate() {
        if candidates.contains(language.probe) && found.in_loop(walk, (place, language))? {
            is_done = true;
            break;
        }
    }
    if !is_done && !found.ended {
        found.walk(walk, (TrieId::ALL, residual), |_| true)?;
    }
    if found.ended || found.leaving.len() > MOST_LEAVING {
        return Ok(None);
    }
    let Found { leaving, groups: mut listed, by_length: lengths, mut others, .. } = found;
    let text = |tokens: &[TokenId]| -> Box<[u8]> {
        tokens.first().and_then(|&token| vocabulary.bytes(token)).unwrap_or_default().into()
    };
    if others.is_none() && lengths.is_empty() {
        let largest = (0..listed.len()).max_by_key(|&place| listed[place].1.len());
        if let Some((configuration, tokens)) = largest.map(|place| listed.swap_remove(place)) {
            others = Some((configuration, text(&tokens)));
        }
    }
    let mut group = |walk: &mut Walk<'_>, (configuration, text): (ConfigurationId, Box<[u8]>)| {
        bound(&mut walk.lazy, configuration).map(|bound| TokenGroup { text, bound })
    };
    let others = others.map(|others| group(walk, others)).transpose()?;
    let mut groups = Vec::with_capacity(listed.len());
    for (configuration, mut tokens) in listed {
        tokens.shrink_to_fit();
        groups.push((group(walk, (configuration, text(&tokens)))?, tokens));
    }
    let mut by_length = Vec::with_capacity(lengths.len());
    for (configuration, of) in lengths {
        let probe = index.loops().languages[of.language].probe;
        by_length.push((group(walk, (configuration, vec![probe; of.characters].into()))?, of));
    }
    Ok(Some(TokenPartition { leaving, groups, by_length, others }))
}

/// The groups found so far.
struct Found {
    residual: ConfigurationId,
    leaving: Vec<TokenId>,
    groups: Vec<(ConfigurationId, Vec<TokenId>)>,
    places: FxHashMap<ConfigurationId, usize>,
    by_length: Vec<(ConfigurationId, OfLength)>,
    others: Option<(ConfigurationId, Box<[u8]>)>,
    /// Whether there is no partition.
    ended: bool,
}

impl Found {
    fn new(residual: ConfigurationId) -> Found {
        Found {
            residual,
            leaving: Vec::new(),
            groups: Vec::new(),
            places: FxHashMap::default(),
            by_length: Vec::new(),
            others: None,
            ended: false,
        }
    }

    fn add(&mut self, configuration: ConfigurationId, tokens: &[TokenId], walk: &Walk<'_>) {
        let place = *self.places.entry(configuration).or_insert(self.groups.len());
        if place == self.groups.len() {
            self.groups.push((configuration, Vec::new()));
        }
        let is_text = |token: &TokenId| !walk.vocabulary.is_eos(*token);
        self.groups[place].1.extend(tokens.iter().copied().filter(is_text));
    }

    /// Groups the tokens if characters of the loop lead back to one configuration, or to one for each number of
    /// characters. Returns whether that is so. There is no partition if the residual returns within the loop.
    fn in_loop(&mut self, walk: &mut Walk<'_>, (place, language): (usize, &LoopLanguage)) -> Result<bool> {
        let Some(first) = loop_language::round(walk, language, self.residual)? else { return Ok(false) };
        if first.next == ConfigurationId::DEAD {
            return Ok(false);
        }
        let second = match first.next == self.residual {
            true => None,
            false => loop_language::round(walk, language, first.next)?,
        };
        let returns = match &second {
            None => first.next == self.residual,
            Some(second) => second.next == first.next && first.at[1..] == second.at[1..],
        };
        if !returns {
            return match &language.by_length {
                Some(parts) => self.counted(walk, (place, language, parts), first),
                None => Ok(false),
            };
        }
        let at = second.map_or(first.at, |second| second.at);
        if self.returns_inside(walk, &at) {
            return Ok(true);
        }
        self.others = Some((first.next, [language.probe].into()));
        self.incomplete(walk, &language.accepted)?;
        for (&suffixes, &at) in language.suffixes.iter().zip(&at) {
            if let Some(suffixes) = suffixes.filter(|_| at != ConfigurationId::DEAD) {
                self.walk(walk, (suffixes, at), |_| true)?;
            }
        }
        self.outside(walk, language)?;
        Ok(true)
    }

    /// As [`in_loop`](Found::in_loop), for a loop whose characters are counted.
    fn counted(
        &mut self,
        walk: &mut Walk<'_>,
        (language, loops, parts): (usize, &LoopLanguage, &ByLength),
        first: Round,
    ) -> Result<bool> {
        let mut rounds = vec![first];
        while let Some(last) = rounds.last().filter(|last| last.next != ConfigurationId::DEAD)
            && rounds.len() <= MAX_CHARS
        {
            let Some(round) = loop_language::round(walk, loops, last.next)? else { return Ok(false) };
            rounds.push(round);
        }
        if rounds.iter().any(|round| self.returns_inside(walk, &round.at)) {
            return Ok(true);
        }
        for (place, round) in rounds.iter().enumerate().skip(1) {
            self.by_length.push((round.at[0], OfLength { language, characters: place }));
        }
        self.incomplete(walk, &parts.words)?;
        for (suffixes, Round { at, .. }) in parts.suffixes.iter().zip(&rounds) {
            for (&suffixes, &at) in suffixes.iter().zip(at) {
                if let Some(suffixes) = suffixes.filter(|_| at != ConfigurationId::DEAD) {
                    self.walk(walk, (suffixes, at), |_| true)?;
                }
            }
        }
        if let Some(longer) = parts.longer {
            self.walk(walk, (longer, self.residual), |_| true)?;
        }
        self.outside(walk, loops)?;
        Ok(true)
    }

    /// Whether the residual returns in a state of a loop. Then there is no partition.
    fn returns_inside(&mut self, walk: &Walk<'_>, at: &[ConfigurationId]) -> bool {
        let returns = |at: &ConfigurationId| *at != ConfigurationId::DEAD && walk.lazy.is_accepting(*at);
        self.ended |= at.iter().any(returns);
        self.ended
    }

    /// Groups those of the given tokens that end inside a character.
    fn incomplete(&mut self, walk: &mut Walk<'_>, words: &[u32]) -> Result<()> {
        let has = |token: &TokenId| words[token.index() / 32] >> (token.get() % 32) & 1 == 1;
        for &token in walk.index.incomplete().iter().filter(|token| has(token)) {
            let bytes = walk.vocabulary.bytes(token).unwrap_or_default();
            walk.lazy.work.spend(bytes.len())?;
            let mut at = self.residual;
            for &byte in bytes {
                at = walk.step(at, byte)?;
            }
            match at {
                ConfigurationId::DEAD => {}
                ConfigurationId::UNKNOWN => self.ended = true,
                at => self.add(at, &[token], walk),
            }
        }
        Ok(())
    }

    /// Groups the tokens that do not begin in a loop.
    fn outside(&mut self, walk: &mut Walk<'_>, language: &LoopLanguage) -> Result<()> {
        self.walk(walk, (TrieId::ALL, self.residual), |byte| !language.first_bytes[usize::from(byte)])
    }

    /// Groups the tokens of a trie that begin with a wanted byte, given the configuration at its root.
    fn walk(
        &mut self,
        walk: &mut Walk<'_>,
        (id, from): (TrieId, ConfigurationId),
        wanted: impl Fn(u8) -> bool,
    ) -> Result<()> {
        let index = walk.index;
        let trie = index.trie_of(id);
        let mut open = vec![(trie.root(), from)];
        while let Some((node, at)) = open.pop() {
            let children = trie.steps(node);
            walk.lazy.work.spend(children.len())?;
            let row = walk.row(at);
            for child in children.iter().filter(|child| node != trie.root() || wanted(child.byte)) {
                let known = row.and_then(|row| row.step(walk.lazy.automaton, child.byte));
                let next = match known {
                    Some(next) => next,
                    None => walk.step(at, child.byte)?,
                };
                if !next.is_ordinary() {
                    self.ended |= next == ConfigurationId::UNKNOWN;
                    continue;
                }
                let tokens = trie.tokens(child.node);
                if !tokens.is_empty() {
                    self.add(next, tokens, walk);
                }
                if child.is_leaf {
                    continue;
                }
                if walk.lazy.is_accepting(next) || walk.lazy.transitions().is_named(next) {
                    let is_text = |token: &TokenId| !walk.vocabulary.is_eos(*token);
                    let below = trie.subtree_tokens(child.node).iter().copied().filter(is_text);
                    self.leaving.extend(below.filter(|token| !tokens.contains(token)));
                } else if id == TrieId::ALL && is_stable(walk, child.node, next)? {
                    self.add(next, trie.tokens_below(child.node), walk);
                } else {
                    open.push((child.node, next));
                }
            }
            if self.ended || self.leaving.len() > MOST_LEAVING {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Whether all characters below a node of the trie of all tokens lead from a configuration back to it.
fn is_stable(walk: &mut Walk<'_>, node: u32, at: ConfigurationId) -> Result<bool> {
    let index = walk.index;
    let Some(subtree) = index.loops().subtrees.get(node) else { return Ok(false) };
    if index.vocabulary().trie().subtree_end(node) - node < STABLE_SUBTREE {
        return Ok(false);
    }
    let place = walk.steps_of(at, true)?;
    let steps = walk.steps(place);
    Ok(subtree.kinds.is_subset(steps.on) && steps.after(subtree.kinds).all(|next| next == at))
}
