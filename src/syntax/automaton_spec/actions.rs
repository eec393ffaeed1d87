//! The language of a spec over actions instead of texts: each action has a code of one byte, or each has one of two
//! bytes.
//!
//! Actions that are interchangeable share a code: they occur in the same places of bodies, are counted by the same
//! limits, and have the same cost, requirement and effects. A choice between such actions does not change what may
//! follow, only the number of plans. So a plan of fifteen tools, each at most once, has states for how many tools *of a
//! kind* were used, not for which.

use super::errors;
use super::facts::Assignment;
use super::formula::Formula;
use super::productions::{Item, Productions};
use super::spec::Spec;
use crate::error::Result;
use crate::grammar::{Grammar, GrammarBuilder};
use crate::limits::Limits;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A class of actions that share a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionClass {
    /// The actions of the class, by their indices among the symbols, in ascending order.
    pub members: Vec<usize>,
    /// The minimum and maximum number of occurrences of each member, if a limit of at most one occurrence applies to it
    /// alone; otherwise `None`. The maximum is 1.
    pub each: Option<(u32, u32)>,
}

/// The codes of a spec's actions.
#[derive(Clone, Debug)]
pub struct Codes {
    /// The classes of actions. The index of a class is its code.
    pub classes: Vec<ActionClass>,
    /// The index of the class of each symbol, by symbol; `None` for unused symbols.
    pub class_of: Vec<Option<usize>>,
    /// Number of bytes of a code: 1 or 2.
    pub width: usize,
}

/// Maximum number of codes: those of two bytes.
const MOST_CODES: usize = 1 << 16;

/// The properties in which two actions must agree to share a code.
#[derive(PartialEq, Eq, Hash)]
struct Signature {
    /// The places at which the action occurs: a head, and a body with a placeholder for the action.
    places: BTreeSet<(usize, Vec<Item>)>,
    /// The bounds of a limit of at most one occurrence that applies to the action alone.
    each: Option<(u32, u32)>,
    /// The other limits that count the action, by index.
    groups: Vec<usize>,
    cost: u64,
    requires: Formula,
    assigns: Vec<Assignment>,
    outcomes: Vec<Vec<Assignment>>,
    /// The action itself, if it must have a code of its own.
    own: Option<usize>,
}

impl Codes {
    /// Assigns codes to the symbols in use. This copies each body once for each symbol in it.
    ///
    /// # Errors
    /// `limit/exceeded` if the copies have more than `grammar_nodes` items in total; `automaton-spec/too-many-actions`
    /// for more than [`MOST_CODES`] codes.
    pub(super) fn new(spec: &Spec) -> Result<Codes> {
        let (symbols, symbol_limits) = (spec.symbols(), spec.symbol_limits());
        let (productions, limits, facts) = (spec.productions(), spec.limits(), spec.facts());
        let mut copied = 0usize;
        let hole = Item::symbol(usize::MAX);
        let mut places: FxHashMap<usize, BTreeSet<(usize, Vec<Item>)>> = FxHashMap::default();
        let mut alone: BTreeSet<usize> = BTreeSet::new();
        for (head, bodies) in productions.bodies.iter().enumerate() {
            for body in bodies {
                for (place, item) in body.iter().enumerate() {
                    let Item::Symbol { symbol, .. } = *item else { continue };
                    copied += body.len();
                    if copied > limits.grammar_nodes {
                        return Err(errors::long_bodies(&productions.names[head], limits.grammar_nodes));
                    }
                    let mut with_hole = body.clone();
                    with_hole[place] = hole;
                    if with_hole.contains(item) {
                        alone.insert(symbol);
                    }
                    places.entry(symbol).or_default().insert((head, with_hole));
                }
            }
        }
        // subsets and the names of outcomes belong to one action, which then needs a code of its own
        let has_own = symbols.iter().enumerate().filter(|(_, s)| s.set.is_some() || !s.outcomes.is_empty());
        alone.extend(has_own.map(|(place, _)| place));
        // for each symbol, the indices of the limits that count it
        let mut counted_by: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (number, limit) in symbol_limits.iter().enumerate() {
            limit.symbols.iter().for_each(|&symbol| counted_by.entry(symbol).or_default().push(number));
        }
        // effects on variables that no formula reads do not affect what may follow
        let read = |assigns: &[Assignment]| -> Vec<Assignment> {
            assigns.iter().copied().filter(|&(variable, _)| facts.is_read(variable)).collect()
        };
        let mut codes = Codes { classes: Vec::new(), class_of: vec![None; symbols.len()], width: 1 };
        let mut known: FxHashMap<Signature, usize> = FxHashMap::default();
        for (&symbol, places) in places.iter().collect::<std::collections::BTreeMap<_, _>>() {
            let mut each = None;
            let mut groups = Vec::new();
            for &number in counted_by.get(&symbol).into_iter().flatten() {
                let limit = &symbol_limits[number];
                if limit.is_once() { each = Some((limit.min, 1)) } else { groups.push(number) }
            }
            let signature = Signature {
                places: places.clone(),
                each,
                groups,
                cost: symbols.get(symbol).map_or(0, |symbol| symbol.cost),
                requires: facts.rules(symbol).requires.clone(),
                assigns: read(&facts.rules(symbol).assigns),
                outcomes: facts.rules(symbol).outcomes.iter().map(|outcome| read(&outcome.assigns)).collect(),
                own: alone.contains(&symbol).then_some(symbol),
            };
            let next = codes.classes.len();
            let class = *known.entry(signature).or_insert(next);
            if class == next {
                codes.classes.push(ActionClass { members: Vec::new(), each });
            }
            codes.classes[class].members.push(symbol);
            codes.class_of[symbol] = Some(class);
        }
        match codes.classes.len() {
            0..=256 => {}
            257..=MOST_CODES => codes.width = 2,
            found => return Err(errors::too_many_actions(found, MOST_CODES)),
        }
        Ok(codes)
    }

    /// The bytes of the code of a class, most significant first.
    pub(crate) fn code(&self, class: usize) -> impl Iterator<Item = u8> {
        let bytes = (class as u16).to_be_bytes();
        bytes.into_iter().skip(2 - self.width)
    }

    /// Builds the grammar of `productions` over codes instead of texts.
    ///
    /// # Errors
    /// `limit/exceeded` if the grammar exceeds the limits.
    pub fn grammar(&self, productions: &Productions, limits: &Limits) -> Result<Grammar> {
        let mut g = GrammarBuilder::with_limits(limits.clone());
        let rules: Vec<_> = productions.names.iter().map(|name| g.declare(name.as_str())).collect();
        for (head, bodies) in productions.bodies.iter().enumerate() {
            // bodies that differ only in their first code become a choice of codes before one rest
            let mut groups: Vec<(Vec<_>, Vec<Item>)> = Vec::new();
            let mut known: FxHashMap<Vec<Item>, usize> = FxHashMap::default();
            let mut others = Vec::new();
            for body in bodies {
                let mut coded = body.iter().map(|&item| self.item(item));
                match coded.next() {
                    Some(Item::Symbol { symbol: class, .. }) => {
                        let rest: Vec<Item> = coded.collect();
                        let next = groups.len();
                        let place = *known.entry(rest.clone()).or_insert(next);
                        if place == next {
                            groups.push((Vec::new(), rest));
                        }
                        let code: Vec<u8> = self.code(class).collect();
                        groups[place].0.push(g.bytes(code));
                    }
                    first => {
                        let body: Vec<Item> = first.into_iter().chain(coded).collect();
                        others.push(self.sequence(&body, &rules, &mut g));
                    }
                }
            }
            let mut alternatives = Vec::new();
            for (codes, rest) in groups {
                let code = g.choice(codes);
                let rest = self.sequence(&rest, &rules, &mut g);
                alternatives.push(g.sequence([code, rest]));
            }
            let body = g.choice(alternatives.into_iter().chain(others));
            g.define(rules[head], body);
        }
        g.build(rules[productions.start])
    }

    /// The item with the class of its symbol in place of the symbol.
    fn item(&self, item: Item) -> Item {
        match item {
            Item::Symbol { symbol, .. } => {
                Item::symbol(self.class_of.get(symbol).copied().flatten().unwrap_or_default())
            }
            Item::Nonterminal(_) => item,
        }
    }

    fn sequence(
        &self,
        items: &[Item],
        rules: &[crate::grammar::RuleId],
        g: &mut GrammarBuilder,
    ) -> crate::grammar::ExprId {
        let parts: Vec<_> = items
            .iter()
            .map(|item| match *item {
                Item::Nonterminal(head) => g.rule(rules[head]),
                Item::Symbol { symbol: class, .. } => g.bytes(self.code(class).collect::<Vec<u8>>()),
            })
            .collect();
        g.sequence(parts)
    }
}

impl Productions {
    /// Productions for the words that have a derivation that can be pumped by symbols of `free` alone: a part of it can
    /// be repeated any number of times, which adds only free symbols. `None` if no word has one.
    ///
    /// A nonterminal `A` can be pumped if `A` derives `u A v` where `u v` has only free symbols, and at least one. In
    /// the result, each nonterminal has a twin that derives its words by way of a nonterminal that can be pumped.
    ///
    /// # Errors
    /// `limit/exceeded` if the result exceeds `grammar_nodes`.
    pub fn pumpable(&self, free: impl Fn(usize) -> bool, limits: &Limits) -> Result<Option<Productions>> {
        let derives = self.derive(&free);
        let spells = self.spells(&free, &derives);
        // an edge A -> B for each body `x B y` of A in which x and y can be words of free symbols; the edge is long if
        // x y can be non-empty
        let mut edges: Vec<Vec<(usize, bool)>> = vec![Vec::new(); self.names.len()];
        for (head, bodies) in self.bodies.iter().enumerate() {
            for body in bodies {
                let usable = |item: &Item| match *item {
                    Item::Symbol { symbol, .. } => free(symbol),
                    Item::Nonterminal(inner) => derives[inner],
                };
                let long = |item: &Item| match *item {
                    Item::Symbol { .. } => true,
                    Item::Nonterminal(inner) => spells[inner],
                };
                let unusable = body.iter().filter(|item| !usable(item)).count();
                let lengths = body.iter().filter(|item| usable(item) && long(item)).count();
                for item in body {
                    let Item::Nonterminal(inner) = *item else { continue };
                    if unusable == usize::from(!usable(item)) {
                        let own = usize::from(usable(item) && long(item));
                        edges[head].push((inner, lengths > own));
                    }
                }
            }
        }
        let component = components(&edges);
        let mut pumps = vec![false; self.names.len()];
        for (head, targets) in edges.iter().enumerate() {
            for &(inner, long) in targets {
                if long && component[head] == component[inner] {
                    pumps[component[head]] = true;
                }
            }
        }
        let pumpable: Vec<bool> = component.iter().map(|&c| pumps[c]).collect();
        if !pumpable.contains(&true) {
            return Ok(None);
        }
        let count = self.names.len();
        let mut out = Productions::new(limits);
        for name in self.names.iter().cloned().chain(self.names.iter().map(|name| format!("{name}…"))) {
            out.nonterminal(name)?;
        }
        for (head, bodies) in self.bodies.iter().enumerate() {
            for body in bodies {
                out.production(head, body.clone())?;
                if pumpable[head] {
                    out.production(count + head, body.clone())?;
                    continue;
                }
                for (place, item) in body.iter().enumerate() {
                    if let Item::Nonterminal(inner) = *item {
                        let mut twin = body.clone();
                        twin[place] = Item::Nonterminal(count + inner);
                        out.production(count + head, twin)?;
                    }
                }
            }
        }
        out.start = count + self.start;
        Ok(if out.derive(|_| true)[out.start] { Some(out.trimmed()?) } else { None })
    }

    /// For each nonterminal, whether it derives a non-empty word of `free` symbols.
    fn spells(&self, free: &impl Fn(usize) -> bool, derives: &[bool]) -> Vec<bool> {
        let mut spells = vec![false; self.names.len()];
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.names.len()];
        let mut open = Vec::new();
        for (head, bodies) in self.bodies.iter().enumerate() {
            for body in bodies {
                let usable = body.iter().all(|item| match *item {
                    Item::Symbol { symbol, .. } => free(symbol),
                    Item::Nonterminal(inner) => derives[inner],
                });
                for item in body.iter().filter(|_| usable) {
                    match *item {
                        Item::Symbol { .. } => open.push(head),
                        Item::Nonterminal(inner) => users[inner].push(head),
                    }
                }
            }
        }
        while let Some(head) = open.pop() {
            if !std::mem::replace(&mut spells[head], true) {
                open.extend(&users[head]);
            }
        }
        spells
    }
}

/// The number of each node's strongly connected component (Tarjan 1972, with an explicit stack instead of recursion).
fn components(edges: &[Vec<(usize, bool)>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = edges.len();
    let (mut index, mut low, mut component) = (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let (mut next, mut found, mut stack) = (0, 0, Vec::new());
    for root in 0..count {
        if index[root] != NONE {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (node, ref mut place)) = path.last_mut() {
            if *place == 0 && index[node] == NONE {
                index[node] = next;
                low[node] = next;
                next += 1;
                stack.push(node);
            }
            if let Some(&(target, _)) = edges[node].get(*place) {
                *place += 1;
                if index[target] == NONE {
                    path.push((target, 0));
                } else if component[target] == NONE {
                    low[node] = low[node].min(index[target]);
                }
                continue;
            }
            if low[node] == index[node] {
                while let Some(member) = stack.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
        }
    }
    component
}
