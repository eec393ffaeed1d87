//! Computes the mask near a border of sections and names, by a traversal of the token trie.
//!
//! Tokens inside of a section are taken from the mask of its matcher. Tokens that cross a border are found along the
//! trie. At a hole of a section the walk continues with the names, and at the end of a name with the text after it. The
//! arguments of a tool are compiled only if a token reaches into them.

use super::names::Spot;
use super::turn::{At, Calls, Rules, Thread, Threads};
use crate::tools::format::HOLE;
use grammata::error::Result;
use grammata::mask::TokenMask;
use grammata::matcher::Matcher;
use grammata::vocabulary::{TokenId, TokenTrie, Vocabulary};
use grammata_base::work::Budget;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The state of the walk at a node of the trie.
enum Place {
    /// A position in a section; all tokens that the section allows are wanted.
    Section(At),
    /// A position in a section whose own tokens are known; only paths that reach its hole are wanted.
    ToHole(At),
    Name {
        spot: Spot,
        calls: Calls,
    },
    /// Between the name of this rank and its arguments. The walk reached the end of the name at node `from`.
    Link {
        rank: u32,
        calls: Calls,
        link: Matcher,
        from: u32,
    },
}

pub(super) struct Walk<'r> {
    rules: &'r Rules,
    vocabulary: Arc<Vocabulary>,
    words: Vec<u32>,
    open: Vec<(Place, u32)>,
    /// The tokens of the current section that may cross into a name.
    crossing: Arc<[u32]>,
    /// Names whose arguments are walked: the rank, the number of calls before the name, and the node at which the name
    /// ends.
    lowered: FxHashSet<(u32, usize, u32)>,
    budget: Budget,
}

impl<'r> Walk<'r> {
    pub(super) fn new(rules: &'r Rules) -> Walk<'r> {
        let vocabulary = Arc::clone(rules.tools.compiler().compiler().vocabulary());
        Walk {
            rules,
            words: vec![0; vocabulary.mask_words()],
            vocabulary,
            open: Vec::new(),
            crossing: Arc::new([]),
            lowered: FxHashSet::default(),
            budget: Budget::of_mask(&rules.tools.schema_options().limits),
        }
    }

    /// Returns the mask of the tokens that some thread accepts.
    pub(super) fn mask(mut self, threads: &mut Threads) -> Result<TokenMask> {
        let root = self.vocabulary.trie().root();
        for thread in threads {
            match thread {
                Thread::Section(at) => self.section(at)?,
                Thread::Name { spot, calls } => {
                    self.open.push((Place::Name { spot: *spot, calls: calls.clone() }, root));
                    if let Some(rank) = self.rules.complete(*spot) {
                        let mut link = self.rules.tools.link()?.matcher();
                        self.add(&*link.mask()?)?;
                        self.open.push((Place::Link { rank, calls: calls.clone(), link, from: root }, root));
                    }
                }
            }
            self.run()?;
        }
        for &token in self.rules.tools.compiler().hole_tokens() {
            self.words[token as usize / 32] &= !(1 << (token % 32));
        }
        let width = self.vocabulary.width();
        Ok(TokenMask::near(self.words.into(), Vec::new(), Vec::new(), width))
    }

    fn add(&mut self, mask: &TokenMask) -> Result<()> {
        let mut words = vec![0; self.words.len()];
        mask.write_to(&mut words)?;
        self.words.iter_mut().zip(words).for_each(|(word, more)| *word |= more);
        Ok(())
    }

    /// Adds the tokens of a section, and the paths to its hole.
    fn section(&mut self, at: &mut At) -> Result<()> {
        let mut inside = vec![0; self.words.len()];
        at.inside.fill_mask(&mut inside)?;
        if let Some(over) = &mut at.over {
            let mut crossing = vec![0; self.words.len()];
            over.fill_mask(&mut crossing)?;
            crossing.iter_mut().zip(&inside).for_each(|(word, inside)| *word &= !inside);
            if crossing.iter().any(|&word| word != 0) {
                self.crossing = crossing.into();
                self.open.push((Place::ToHole(at.clone()), self.vocabulary.trie().root()));
            }
        }
        self.words.iter_mut().zip(inside).for_each(|(word, more)| *word |= more);
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let vocabulary = Arc::clone(&self.vocabulary);
        let trie = vocabulary.trie();
        while let Some((place, node)) = self.open.pop() {
            self.budget.spend(1 + trie.children(node).len())?;
            match place {
                Place::Section(at) => self.in_section(trie, &at, node, false)?,
                Place::ToHole(at) => self.in_section(trie, &at, node, true)?,
                Place::Name { spot, calls } => self.in_name(trie, spot, calls, node)?,
                Place::Link { rank, calls, link, from } => {
                    self.in_link(trie, (rank, &calls, from), &link, node)?;
                }
            }
        }
        Ok(())
    }

    fn in_section(&mut self, trie: &TokenTrie, at: &At, node: u32, only_to_hole: bool) -> Result<()> {
        for child in trie.children(node) {
            let byte = trie.byte(child);
            if at.over.is_some() && byte == HOLE || only_to_hole && !self.crosses(trie.subtree_tokens(child))
            {
                continue;
            }
            let mut next = at.clone();
            if !next.inside.try_accept_bytes(&[byte])? {
                continue;
            }
            if !only_to_hole {
                self.allow(trie.tokens(child));
            }
            if trie.children(child).len() == 0 {
                continue;
            }
            if next.is_at_hole()? {
                let spot = self.rules.tools.ranked().start();
                self.open.push((Place::Name { spot, calls: at.calls.clone() }, child));
            }
            let place = if only_to_hole { Place::ToHole(next) } else { Place::Section(next) };
            self.open.push((place, child));
        }
        Ok(())
    }

    fn in_name(&mut self, trie: &TokenTrie, spot: Spot, calls: Calls, node: u32) -> Result<()> {
        let rules = self.rules;
        if node != trie.root()
            && let Some(rank) = rules.complete(spot)
        {
            let link = rules.tools.link()?.matcher();
            self.open.push((Place::Link { rank, calls: calls.clone(), link, from: node }, node));
        }
        for branch in rules.tools.ranked().branches(spot, rules.subset.bits()) {
            let Some(child) = trie.child(node, branch.byte) else { continue };
            self.allow(trie.tokens(child));
            if trie.children(child).len() > 0 {
                self.open.push((Place::Name { spot: branch.spot, calls: calls.clone() }, child));
            }
        }
        Ok(())
    }

    fn in_link(
        &mut self,
        trie: &TokenTrie,
        (rank, calls, from): (u32, &Calls, u32),
        link: &Matcher,
        node: u32,
    ) -> Result<()> {
        for child in trie.children(node) {
            let byte = trie.byte(child);
            let mut next = link.clone();
            if byte == HOLE || !next.try_accept_bytes(&[byte])? {
                continue;
            }
            self.allow(trie.tokens(child));
            if trie.children(child).len() == 0 {
                continue;
            }
            if next.accepts_prefix(&[HOLE])? {
                // tokens may extend into the arguments
                if self.lowered.insert((rank, calls.len(), from)) {
                    // the position in the turn where the name ended does not affect a mask
                    self.open.push((Place::Section(self.rules.after_name(rank, 0, calls)?), from));
                }
            }
            self.open.push((Place::Link { rank, calls: calls.clone(), link: next, from }, child));
        }
        Ok(())
    }

    fn allow(&mut self, tokens: &[TokenId]) {
        for token in tokens {
            self.words[token.index() / 32] |= 1 << (token.get() % 32);
        }
    }

    fn crosses(&self, tokens: &[TokenId]) -> bool {
        tokens.iter().any(|token| self.crossing[token.index() / 32] >> (token.get() % 32) & 1 == 1)
    }
}
