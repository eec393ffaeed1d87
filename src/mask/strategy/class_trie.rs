//! Masks in strings whose characters are not all treated alike: a walk over tokens by the kinds of their characters.
//!
//! A pattern distinguishes some kinds of characters, and few characters of one kind. So the tokens of JSON strings are
//! walked in the trie of their spellings in kinds. Only tokens that contain a kind with characters leading to different
//! configurations are read byte by byte. The tokens that leave the string, and those that do not begin in one, are
//! walked. The result is the same as for a full walk, bit by bit.

use super::task::{Needs, Outcome, Strategy, Task};
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::mask::token_set::TokenSet;
use crate::mask::tuning::{
    CLASS_SUBTREE, CLASS_TRIE_BYTES, SPELLING_CONFIGURATIONS, TOKENS_LEFT, TOKENS_READ,
};
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Collected, Limit, NodeBudget, Target};
use crate::mask::walk::sweep::WideConfiguration;
use crate::token_index::alphabet::CharKinds;
use crate::token_index::class_trie::kind;
use crate::token_index::subtree_summary::SubtreeSummary;
use crate::vocabulary::{ChildStep, TokenId};
use smallvec::{SmallVec, smallvec};

/// The row of [`STRATEGIES`](super::STRATEGIES).
pub(super) const STRATEGY: Strategy =
    Strategy { name: "class-trie", needs: Needs::Nothing, is_budgeted: false, try_compute };

/// Configurations without duplicates; up to four are stored inline.
type Several = SmallVec<[ConfigurationId; 4]>;

/// The tokens of a configuration. Not applicable if the configuration is not wide, if the tokens depend on the history,
/// if a residual may return inside a token, or if too many tokens would have to be read.
pub(super) fn try_compute(walk: &mut Walk<'_>, task: &Task<'_>, budget: NodeBudget) -> Result<Outcome> {
    let configuration = task.configuration;
    if task.candidates.len() < CLASS_TRIE_BYTES || walk.lazy.is_history_dependent(configuration) {
        return Ok(Outcome::NotApplicable);
    }
    let known = match task.begun {
        Some(known) => Some(known.clone()),
        None => inside(walk, configuration, task.target.notes_returns())?,
    };
    let Some(known) = known else { return Ok(Outcome::NotApplicable) };
    let mut out = Collected::new(task.target, budget).with(known);
    run_outside(walk, configuration, &mut out)?;
    Ok(match out.limit(&walk.lazy) {
        // the tokens inside a string stay valid; only those that leave it must be examined again
        Some(Limit::Stale) => Outcome::Begun(out.tokens),
        _ => Outcome::of(out, walk),
    })
}

/// Completes the tokens allowed in a configuration, given some of them; `None` if too many are undecided, or if they
/// depend on the history.
pub(in crate::mask) fn complete(
    walk: &mut Walk<'_>,
    configuration: ConfigurationId,
    allowed: &TokenSet,
) -> Result<Option<Collected>> {
    if walk.lazy.is_history_dependent(configuration) {
        return Ok(None);
    }
    let inside = &walk.index.loops().string().accepted;
    let words = allowed.bits(inside.len());
    let left = || inside.iter().zip(&*words).map(|(inside, allowed)| inside & !allowed);
    if left().map(|word| word.count_ones() as usize).sum::<usize>() > TOKENS_LEFT {
        return Ok(None);
    }
    let mut more = Vec::new();
    let mut reader = Reader::new(walk, configuration, false);
    for (place, mut word) in (0..).zip(left()) {
        while word != 0 {
            let token = place * 32 + word.trailing_zeros();
            word &= word - 1;
            match reader.reads(walk, TokenId::new(token))? {
                Some(true) => more.push(token),
                Some(false) => {}
                None => return Ok(None),
            }
        }
    }
    let mut all = Collected::new(Target::Whole, NodeBudget::UNLIMITED).with(TokenSet::of_words(words));
    more.into_iter().for_each(|token| all.tokens.push(token));
    run_outside(walk, configuration, &mut all)?;
    Ok(Some(all))
}

/// Adds the tokens that leave strings, and those that do not begin in one.
fn run_outside(walk: &mut Walk<'_>, configuration: ConfigurationId, out: &mut Collected) -> Result<()> {
    let language = walk.index.loops().string();
    walk.run_escaping(language, configuration, out)?;
    walk.run_outside(language, configuration, out)
}

/// Tokens of strings under construction. Either forbidden tokens are removed from all tokens, or allowed tokens are
/// added to none, whichever is likely to need fewer changes.
enum Tokens {
    All(Vec<u32>),
    None(TokenSet),
}

impl Tokens {
    #[inline]
    fn allow(&mut self, tokens: &[TokenId]) {
        if let Tokens::None(allowed) = self {
            allowed.extend(tokens);
        }
    }

    #[inline]
    fn forbid(&mut self, tokens: &[TokenId]) {
        if let Tokens::All(words) = self {
            tokens.iter().for_each(|token| words[token.index() / 32] &= !(1 << (token.index() % 32)));
        }
    }
}

/// The allowed tokens that stay inside a string; `None` if the residual may return inside a token, if tokens depend on
/// the history, or if too many tokens would have to be read.
fn inside(walk: &mut Walk<'_>, configuration: ConfigurationId, quiet: bool) -> Result<Option<TokenSet>> {
    let (index, vocabulary) = (walk.index, walk.vocabulary);
    let class_trie = &index.loops().class_trie;
    let trie = &class_trie.trie;
    let place = walk.steps_of(configuration, quiet)?;
    let dead = walk.steps(place).dead;
    let is_dead = |child: &&ChildStep| CharKinds::of(kind(child.byte)).is_subset(dead);
    let dead_tokens =
        trie.steps(trie.root()).iter().filter(is_dead).map(|child| trie.subtree_tokens(child.node).len());
    let mut result = match dead_tokens.sum::<usize>() * 2 > trie.subtree_tokens(trie.root()).len() {
        true => Tokens::None(TokenSet::default()),
        false => Tokens::All(index.loops().string().accepted.to_vec()),
    };
    // tokens to be read once it is known that there are not too many
    let (mut unread, mut count): (Vec<&[TokenId]>, usize) = (Vec::new(), 0);
    // nodes, each with the configurations that its spelling leads to, and whether some spelling may be dead
    let mut open: Vec<(u32, Several, bool)> = vec![(trie.root(), smallvec![configuration], false)];
    while let Some((node, at, in_doubt)) = open.pop() {
        let mut places: SmallVec<[usize; 4]> = SmallVec::new();
        walk.lazy.work.spend(at.len() * trie.steps(node).len())?;
        for &at in &at {
            places.push(walk.steps_of(at, quiet)?);
        }
        for child in trie.steps(node) {
            let kind = CharKinds::of(kind(child.byte));
            let steps = places.iter().map(|&place| walk.steps(place));
            let tokens = trie.subtree_tokens(child.node);
            if steps.clone().all(|steps| kind.is_subset(steps.dead)) {
                result.forbid(tokens);
                continue;
            }
            let in_doubt = in_doubt || !steps.clone().all(|steps| kind.is_subset(steps.on));
            if !in_doubt && child.is_leaf {
                result.allow(tokens);
                continue;
            }
            let mut next = Several::new();
            if !child.is_leaf && steps.clone().all(|steps| kind.is_subset(steps.told)) {
                for after in steps.flat_map(|steps| steps.after(kind)) {
                    if !next.contains(&after) {
                        next.push(after);
                    }
                }
            }
            let to_read = if !next.is_empty() && next.len() <= SPELLING_CONFIGURATIONS {
                let below = class_trie.below(child.node);
                let nodes = trie.subtree_end(child.node) - child.node;
                if !in_doubt && all_accept(walk, (&next, quiet), below, nodes)? {
                    result.allow(tokens);
                    continue;
                }
                let here = trie.tokens(child.node);
                open.push((child.node, next, in_doubt));
                if !in_doubt {
                    result.allow(here);
                    continue;
                }
                here
            } else {
                tokens
            };
            count += to_read.len();
            if count > TOKENS_READ {
                return Ok(None);
            }
            unread.push(to_read);
        }
        if let Tokens::None(allowed) = &mut result
            && allowed.is_large()
        {
            allowed.compact(vocabulary.width());
        }
    }
    let mut reader = Reader::new(walk, configuration, quiet);
    for token in unread.into_iter().flatten() {
        match reader.reads(walk, *token)? {
            Some(true) => result.allow(&[*token]),
            Some(false) => result.forbid(&[*token]),
            None => return Ok(None),
        }
    }
    Ok(Some(match result {
        Tokens::All(words) => TokenSet::of_words(words.into()),
        Tokens::None(allowed) => allowed,
    }))
}

/// Whether the characters of a subtree of `nodes` nodes stay alive from all given configurations. False also if the
/// subtree is small, or if deciding it needs too many lookups.
fn all_accept(
    walk: &mut Walk<'_>,
    (all, quiet): (&Several, bool),
    below: SubtreeSummary,
    nodes: u32,
) -> Result<bool> {
    if nodes < CLASS_SUBTREE {
        return Ok(false);
    }
    for &at in all {
        if !walk.accepts_all_over((at, quiet), below, nodes)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reads tokens that are nearly sorted, each from the start, reusing common prefixes.
struct Reader<'a> {
    start: PathStep<'a>,
    /// Whether the residual must not return inside a token.
    quiet: bool,
    /// The configurations after the bytes of the last token, up to the dead one.
    path: Vec<PathStep<'a>>,
    last: Vec<u8>,
}

/// A configuration, and its successors if it is wide.
#[derive(Clone, Copy)]
struct PathStep<'a> {
    configuration: ConfigurationId,
    level: Option<WideConfiguration<'a>>,
}

impl<'a> Reader<'a> {
    fn new(walk: &mut Walk<'a>, start: ConfigurationId, quiet: bool) -> Reader<'a> {
        let start = PathStep { configuration: start, level: walk.wide(start) };
        Reader { start, quiet, path: Vec::new(), last: Vec::new() }
    }

    /// Whether a token is allowed; `None` if the residual may return inside it, or if it depends on the history.
    fn reads(&mut self, walk: &mut Walk<'a>, token: TokenId) -> Result<Option<bool>> {
        let bytes = walk.vocabulary.bytes(token).unwrap_or_default();
        walk.lazy.work.spend(bytes.len())?;
        let common = self.last.iter().zip(bytes).take_while(|(last, byte)| last == byte).count();
        if common > self.path.len() {
            // the last token died within the prefix that both share
            return Ok(Some(false));
        }
        self.path.truncate(common);
        self.last.truncate(common);
        self.last.extend_from_slice(&bytes[common..]);
        let mut at = self.path.last().copied().unwrap_or(self.start);
        for &byte in &bytes[common..] {
            let next = walk.step_from(at.configuration, at.level.as_ref(), byte)?;
            if next == ConfigurationId::DEAD {
                return Ok(Some(false));
            }
            if next != at.configuration {
                at = PathStep { configuration: next, level: walk.wide(next) };
            }
            if next == ConfigurationId::UNKNOWN || self.quiet && walk.lazy.is_accepting(next) {
                return Ok(None);
            }
            self.path.push(at);
        }
        Ok(Some(true))
    }
}
