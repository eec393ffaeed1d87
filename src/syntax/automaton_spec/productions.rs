//! Productions over numbered symbols, to which every kind of spec is converted, and the removal of useless productions.

use super::errors;
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use rustc_hash::FxHashSet;

/// An item of the body of a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// A symbol of the spec.
    Symbol {
        /// The symbol, by its index among the spec's symbols.
        symbol: usize,
        /// Whether the separator is written before the symbol.
        separated: bool,
    },
    /// A nonterminal, by its index in [`Productions::names`].
    Nonterminal(usize),
}

impl Item {
    /// A symbol without the separator before it.
    pub(super) fn symbol(symbol: usize) -> Item {
        Item::Symbol { symbol, separated: false }
    }
}

/// A context-free grammar over the spec's symbols.
#[derive(Clone, Debug)]
pub struct Productions {
    /// The name of each nonterminal.
    pub names: Vec<String>,
    /// The bodies of each nonterminal's productions.
    pub bodies: Vec<Vec<Vec<Item>>>,
    /// The nonterminal that derives the language, by its index.
    pub start: usize,
    /// The number of nonterminals, productions and items added so far.
    items: usize,
    limit: usize,
}

impl Productions {
    /// An empty set of productions with nonterminal 0 as its start. The number of added items, productions and
    /// nonterminals together may be at most `grammar_nodes`.
    pub(super) fn new(limits: &Limits) -> Productions {
        Productions { names: Vec::new(), bodies: Vec::new(), start: 0, items: 0, limit: limits.grammar_nodes }
    }

    /// Adds a nonterminal without productions and returns its number.
    ///
    /// # Errors
    /// `limit/exceeded` for more than `grammar_nodes` items, productions and nonterminals.
    pub(super) fn nonterminal(&mut self, name: String) -> Result<usize> {
        self.count(1)?;
        self.names.push(name);
        self.bodies.push(Vec::new());
        Ok(self.names.len() - 1)
    }

    /// Adds a production to a nonterminal.
    ///
    /// # Errors
    /// `limit/exceeded` for more than `grammar_nodes` items, productions and nonterminals.
    pub(super) fn production(&mut self, head: usize, body: Vec<Item>) -> Result<()> {
        self.count(body.len() + 1)?;
        self.bodies[head].push(body);
        Ok(())
    }

    fn count(&mut self, items: usize) -> Result<()> {
        self.items += items;
        if self.items > self.limit {
            return Err(Limits::exceeded(LimitKind::GrammarNodes, self.limit, "more productions"));
        }
        Ok(())
    }

    /// For each nonterminal, whether it derives a word, which may be empty, whose symbols all satisfy `usable`.
    pub(super) fn derive(&self, usable: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut derives = vec![false; self.bodies.len()];
        // for each production, the number of items not yet known to derive a word; for each nonterminal, its
        // occurrences
        let mut open: Vec<Vec<usize>> = Vec::with_capacity(self.bodies.len());
        let mut places: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.bodies.len()];
        let mut ready = Vec::new();
        for (head, bodies) in self.bodies.iter().enumerate() {
            let mut counts = Vec::with_capacity(bodies.len());
            for (number, body) in bodies.iter().enumerate() {
                let mut count = 0;
                for item in body {
                    match *item {
                        Item::Symbol { symbol, .. } => count += usize::from(!usable(symbol)),
                        Item::Nonterminal(inner) => {
                            places[inner].push((head, number));
                            count += 1;
                        }
                    }
                }
                if count == 0 {
                    ready.push(head);
                }
                counts.push(count);
            }
            open.push(counts);
        }
        while let Some(head) = ready.pop() {
            if std::mem::replace(&mut derives[head], true) {
                continue;
            }
            for &(outer, number) in &places[head] {
                open[outer][number] -= 1;
                if open[outer][number] == 0 {
                    ready.push(outer);
                }
            }
        }
        derives
    }

    /// For each nonterminal, whether it is reachable from the start.
    pub(super) fn reachable(&self) -> Vec<bool> {
        let mut reached = vec![false; self.bodies.len()];
        let mut open = vec![self.start];
        while let Some(head) = open.pop() {
            if !std::mem::replace(&mut reached[head], true) {
                let inner = self.bodies[head].iter().flatten().filter_map(|item| match item {
                    Item::Nonterminal(inner) => Some(*inner),
                    Item::Symbol { .. } => None,
                });
                open.extend(inner);
            }
        }
        reached
    }

    /// Returns the same language without useless parts: without productions that derive no word, nonterminals that the
    /// start does not reach, and duplicate productions. The remaining nonterminals keep their order but are renumbered.
    ///
    /// # Errors
    /// `automaton-spec/empty-language` if the start derives no word.
    pub(super) fn trimmed(mut self) -> Result<Productions> {
        let derives = self.derive(|_| true);
        if !derives[self.start] {
            return Err(errors::empty_language());
        }
        for bodies in &mut self.bodies {
            let mut seen = FxHashSet::default();
            bodies.retain(|body| {
                body.iter().all(|item| match item {
                    Item::Nonterminal(inner) => derives[*inner],
                    Item::Symbol { .. } => true,
                }) && seen.insert(body.clone())
            });
        }
        let reached = self.reachable();
        let mut numbers = vec![0; reached.len()];
        for (new, (number, _)) in
            numbers.iter_mut().zip(&reached).filter(|(_, reached)| **reached).enumerate()
        {
            *number = new;
        }
        let mut keep = reached.iter();
        self.names.retain(|_| *keep.next().unwrap_or(&false));
        let mut keep = reached.iter();
        self.bodies.retain(|_| *keep.next().unwrap_or(&false));
        for item in self.bodies.iter_mut().flatten().flatten() {
            if let Item::Nonterminal(inner) = item {
                *inner = numbers[*inner];
            }
        }
        self.start = numbers[self.start];
        Ok(self)
    }

    /// The symbols that occur in bodies, in ascending order without duplicates.
    pub fn symbols(&self) -> Vec<usize> {
        let set: std::collections::BTreeSet<usize> = self
            .bodies
            .iter()
            .flatten()
            .flatten()
            .filter_map(|item| match item {
                Item::Symbol { symbol, .. } => Some(*symbol),
                Item::Nonterminal(_) => None,
            })
            .collect();
        set.into_iter().collect()
    }
}
