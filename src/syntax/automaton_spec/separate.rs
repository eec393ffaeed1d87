//! Inserts the separator between the symbols of words.
//!
//! Every symbol except the first of a word gets the separator before it. If nonterminals that may derive the empty word
//! precede a symbol in a body, it is not known whether the symbol is the first. So each nonterminal `A` gets a twin
//! `A…`, which derives the non-empty words of `A` at the start of a whole word; `A` itself derives its words at all
//! other places. The result is at most quadratic in the longest body, and only if many nonterminals before a symbol may
//! be empty.

use super::productions::{Item, Productions};
use crate::error::Result;
use crate::limits::Limits;
use rustc_hash::FxHashMap;

/// Converts productions without separators to productions with separators.
///
/// # Errors
/// `limit/exceeded` if the result exceeds `grammar_nodes`.
pub(super) fn separate(plain: &Productions, limits: &Limits) -> Result<Productions> {
    let nullable = plain.derive(|_| false);
    let mut out = Productions::new(limits);
    for (head, name) in plain.names.iter().enumerate() {
        out.nonterminal(name.clone())?;
        for body in &plain.bodies[head] {
            out.production(head, body.iter().copied().map(separated).collect())?;
        }
    }
    let mut twins = Twins { of: FxHashMap::default(), open: Vec::new() };
    out.start = out.nonterminal("word".to_owned())?;
    if nullable[plain.start] {
        out.production(out.start, Vec::new())?;
    }
    let first = twins.of(plain.start, plain, &mut out)?;
    out.production(out.start, vec![Item::Nonterminal(first)])?;
    while let Some((head, twin)) = twins.open.pop() {
        for body in &plain.bodies[head] {
            for (i, &item) in body.iter().enumerate() {
                let first = match item {
                    Item::Symbol { .. } => item,
                    Item::Nonterminal(inner) => Item::Nonterminal(twins.of(inner, plain, &mut out)?),
                };
                let rest = body[i + 1..].iter().copied().map(separated);
                out.production(twin, std::iter::once(first).chain(rest).collect())?;
                if !matches!(item, Item::Nonterminal(inner) if nullable[inner]) {
                    break;
                }
            }
        }
    }
    Ok(out)
}

/// The twins of nonterminals: by nonterminal, and those that have no productions yet.
struct Twins {
    of: FxHashMap<usize, usize>,
    open: Vec<(usize, usize)>,
}

impl Twins {
    fn of(&mut self, head: usize, plain: &Productions, out: &mut Productions) -> Result<usize> {
        if let Some(&twin) = self.of.get(&head) {
            return Ok(twin);
        }
        let twin = out.nonterminal(format!("{}…", plain.names[head]))?;
        self.of.insert(head, twin);
        self.open.push((head, twin));
        Ok(twin)
    }
}

fn separated(item: Item) -> Item {
    match item {
        Item::Symbol { symbol, .. } => Item::Symbol { symbol, separated: true },
        Item::Nonterminal(_) => item,
    }
}
