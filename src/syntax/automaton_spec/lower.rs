//! Productions as a grammar, with the limits on symbols beside them.

use super::document::{Direction, Document};
use super::errors;
use super::limits::Limit;
use super::productions::{Item, Productions};
use super::separate::separate;
use super::symbol::{Symbol, SymbolSet};
use super::unique::two_readings;
use crate::error::Result;
use crate::grammar::{ExprId, Grammar, GrammarBuilder, Member, Order, RuleId};
use crate::limits::Limits;
use rustc_hash::{FxHashMap, FxHashSet};

/// Builds the grammar.
pub(super) fn lower(
    document: &Document,
    productions: &Productions,
    symbol_limits: &[Limit],
    limits: &Limits,
) -> Result<Grammar> {
    if document.limits.max_cost.is_some() {
        return Err(errors::cost_in_text());
    }
    let used = productions.symbols();
    let constraints = Constraints { document, limits: symbol_limits, used: &used };
    let requires = used.iter().any(|&symbol| !document.symbols.0[symbol].requires.is_empty());
    let constrained = requires || !symbol_limits.is_empty();
    if constrained {
        constraints.check_texts(limits)?;
    }
    let separated;
    let productions = if document.separator.is_empty() {
        productions
    } else {
        separated = separate(productions, limits)?.trimmed()?;
        &separated
    };

    let mut lowering = Lowering {
        document,
        builder: GrammarBuilder::with_limits(limits.clone()),
        texts: FxHashMap::default(),
        rules: Vec::new(),
    };
    for name in &productions.names {
        let rule = lowering.builder.declare(name.as_str());
        lowering.rules.push(rule);
    }
    for (head, bodies) in productions.bodies.iter().enumerate() {
        let body = lowering.choice(bodies);
        lowering.builder.define(lowering.rules[head], body);
    }
    let start = lowering.rules[productions.start];
    let mut g = lowering.builder;
    if !constrained && document.prefix.is_empty() && document.suffix.is_empty() {
        return g.build(start);
    }
    let mut word = g.rule(start);
    if constrained {
        let operands = constraints.operands(&mut g)?;
        word = g.intersection(operands.into_iter().chain([word]));
    }
    let root = g.declare("root");
    let (prefix, suffix) = (g.text(&document.prefix), g.text(&document.suffix));
    let whole = g.sequence([prefix, word, suffix]);
    g.define(root, whole);
    g.build(root)
}

struct Lowering<'d> {
    document: &'d Document,
    builder: GrammarBuilder,
    texts: FxHashMap<Item, ExprId>,
    rules: Vec<RuleId>,
}

impl Lowering<'_> {
    /// The bodies as one choice. Bodies that differ in their first symbol only become a choice of symbols
    /// before one rest, so that an automaton's state is as wide as it has successors.
    fn choice(&mut self, bodies: &[Vec<Item>]) -> ExprId {
        let mut groups: Vec<(Vec<ExprId>, &[Item])> = Vec::new();
        let mut places: FxHashMap<&[Item], usize> = FxHashMap::default();
        let mut others = Vec::new();
        for body in bodies {
            match body.split_first() {
                Some((first @ Item::Symbol { .. }, rest)) => {
                    let next = groups.len();
                    let place = *places.entry(rest).or_insert(next);
                    if place == next {
                        groups.push((Vec::new(), rest));
                    }
                    let text = self.item(*first);
                    groups[place].0.push(text);
                }
                _ => others.push(self.sequence(body)),
            }
        }
        let mut alternatives = Vec::new();
        for (firsts, rest) in groups {
            let first = self.builder.choice(firsts);
            let rest = self.sequence(rest);
            alternatives.push(self.builder.sequence([first, rest]));
        }
        self.builder.choice(alternatives.into_iter().chain(others))
    }

    fn sequence(&mut self, items: &[Item]) -> ExprId {
        let parts: Vec<ExprId> = items.iter().map(|&item| self.item(item)).collect();
        self.builder.sequence(parts)
    }

    fn item(&mut self, item: Item) -> ExprId {
        match item {
            Item::Nonterminal(head) => self.builder.rule(self.rules[head]),
            Item::Symbol { symbol, separated } => {
                let (document, builder) = (self.document, &mut self.builder);
                *self.texts.entry(item).or_insert_with(|| {
                    let separator = if separated { document.separator.as_str() } else { "" };
                    let symbol = &document.symbols.0[symbol];
                    match (&symbol.set, symbol.text.split_once("{}")) {
                        (Some(set), Some((before, after))) => {
                            let before = builder.text(format!("{separator}{before}"));
                            let set = subset(set, builder);
                            let after = builder.text(after);
                            builder.sequence([before, set, after])
                        }
                        _ => builder.text(format!("{separator}{}", symbol.text)),
                    }
                })
            }
        }
    }
}

/// The texts of the subsets of a set, each in the order of the list: linear in the set and its greatest size.
pub(crate) fn subset(set: &SymbolSet, g: &mut GrammarBuilder) -> ExprId {
    let empty = g.text(&set.empty);
    let bounded = set.max < set.of.len() || set.min > 1;
    // `more[taken]`: the rest of the text after `taken` elements; without bounds only "some" matters. No element at
    // all is not the empty text but `empty`.
    let widths = if bounded { set.max } else { 1 };
    let (never, nothing) = (g.never(), g.empty());
    let ends = |taken: usize| taken > 0 && taken >= set.min;
    let mut more: Vec<ExprId> = (0..=widths).map(|taken| if ends(taken) { nothing } else { never }).collect();
    for element in set.of.iter().rev() {
        let texts = [g.text(element), g.text(format!("{}{element}", set.separator))];
        let mut before = Vec::with_capacity(more.len());
        for taken in 0..=widths {
            let after = if taken < widths { Some(more[taken + 1]) } else { (!bounded).then(|| more[taken]) };
            let with = after.map(|after| g.sequence([texts[taken.min(1)], after]));
            before.push(g.choice(with.into_iter().chain([more[taken]])));
        }
        more = before;
    }
    let empty = if set.min == 0 { empty } else { never };
    g.choice([empty, more[0]])
}

/// Beside the productions: what each word must be, for the limits and requirements on symbols.
struct Constraints<'s> {
    document: &'s Document,
    limits: &'s [Limit],
    used: &'s [usize],
}

impl Constraints<'_> {
    fn text(&self, symbol: usize) -> &str {
        self.document.symbols.0[symbol].text.as_str()
    }

    /// The languages in which the words must be. Each is as large as the number of symbols in use.
    fn operands(&self, g: &mut GrammarBuilder) -> Result<Vec<ExprId>> {
        let spend =
            |g: &GrammarBuilder| g.work().spend(8 * self.used.len()).map_err(|e| errors::at_limits(&e));
        let mut operands = Vec::new();
        if self.limits.iter().any(Limit::is_once) {
            operands.push(self.once(g));
        }
        for limit in self.limits.iter().filter(|limit| !limit.is_once()) {
            spend(g)?;
            operands.push(self.with_gaps(g, &limit.symbols, limit.min, limit.max));
        }
        for &symbol in self.used {
            for required in &self.document.symbols.0[symbol].requires {
                spend(g)?;
                let required = self.used.iter().find(|&&r| self.document.symbols.0[r].id == *required);
                operands.push(self.requirement(g, symbol, required.copied()));
            }
        }
        Ok(operands)
    }

    /// Symbols each of which comes once: a register for all of them.
    fn once(&self, g: &mut GrammarBuilder) -> ExprId {
        let value = g.empty();
        let mut once = FxHashSet::default();
        let mut members = Vec::new();
        for limit in self.limits.iter().filter(|limit| limit.is_once()) {
            for &symbol in &limit.symbols {
                let key = self.text(symbol).as_bytes().into();
                members.push(Member { key, value, required: limit.min == 1 });
                once.insert(symbol);
            }
        }
        let rest: Vec<usize> = self.used.iter().copied().filter(|symbol| !once.contains(symbol)).collect();
        let rest = self.one_of(g, &rest);
        let separator = g.text(&self.document.separator);
        g.members(Order::Any, members, Some(rest), separator)
    }

    fn one_of(&self, g: &mut GrammarBuilder, symbols: &[usize]) -> ExprId {
        let texts: Vec<ExprId> = symbols.iter().map(|&symbol| g.text(self.text(symbol))).collect();
        g.choice(texts)
    }

    /// All symbols in use but some, which are in rising order.
    fn all_but(&self, symbols: &[usize]) -> Vec<usize> {
        self.used.iter().copied().filter(|symbol| symbols.binary_search(symbol).is_err()).collect()
    }

    /// Words of `parts`, each a number of symbols, with the separator between any two symbols.
    ///
    /// With a separator the word is written as if one stood before each symbol; the first is taken off by the words
    /// being the rests of `separator word`.
    fn with_gaps(&self, g: &mut GrammarBuilder, symbols: &[usize], min: u32, max: Option<u32>) -> ExprId {
        let others = self.all_but(symbols);
        let (others, counted) = (self.one_of(g, &others), self.one_of(g, symbols));
        let separator = g.text(&self.document.separator);
        let other = g.sequence([separator, others]);
        let gap = g.star(other);
        let one = g.sequence([separator, counted]);
        let one = g.sequence([one, gap]);
        // the word begins with an uncounted symbol, or with a counted one
        let more = g.repeat(one, min, max);
        let begins_other = g.sequence([others, gap, more]);
        let mut alternatives = vec![begins_other];
        if max != Some(0) {
            let more = g.repeat(one, min.saturating_sub(1), max.map(|max| max - 1));
            alternatives.push(g.sequence([counted, gap, more]));
        }
        if min == 0 {
            alternatives.push(g.empty());
        }
        g.choice(alternatives)
    }

    /// Words in which `required` stands before (built backwards: after) each `symbol`.
    fn requirement(&self, g: &mut GrammarBuilder, symbol: usize, required: Option<usize>) -> ExprId {
        let mut both: Vec<usize> = required.into_iter().chain([symbol]).collect();
        both.sort_unstable();
        let (neither, all) = (self.all_but(&both), self.used.to_vec());
        let separator = g.text(&self.document.separator);
        let (neither, all) = (self.one_of(g, &neither), self.one_of(g, &all));
        let required = match required {
            Some(required) => g.text(self.text(required)),
            None => g.never(),
        };
        let next_neither = g.sequence([separator, neither]);
        let next_any = g.sequence([separator, all]);
        let (free, any) = (g.star(next_neither), g.star(next_any));
        let empty = g.empty();
        match self.document.direction {
            Direction::Forward => {
                let after = g.sequence([separator, required, any]);
                let after = g.optional(after);
                let late = g.sequence([neither, free, after]);
                let early = g.sequence([required, any]);
                g.choice([empty, late, early])
            }
            Direction::Backward => {
                let last = g.sequence([all, any, separator, required, free]);
                let first = g.sequence([required, free]);
                let none = g.sequence([neither, free]);
                g.choice([empty, last, first, none])
            }
        }
    }

    /// Checks that it is clear from a text which symbols it consists of.
    fn check_texts(&self, limits: &Limits) -> Result<()> {
        let symbols = &self.document.symbols.0;
        let mut by_text: FxHashMap<&str, &str> = FxHashMap::default();
        for &symbol in self.used {
            let Symbol { id, text, set, .. } = &symbols[symbol];
            if set.is_some() {
                return Err(errors::set_under_limits(id));
            }
            if text.is_empty() {
                return Err(errors::empty_text(id));
            }
            if let Some(other) = by_text.insert(text, id) {
                return Err(errors::equal_texts(other, id, text));
            }
        }
        let words: Vec<Vec<u8>> = self
            .used
            .iter()
            .map(|&symbol| format!("{}{}", self.document.separator, self.text(symbol)).into_bytes())
            .collect();
        match two_readings(&words, limits)? {
            None => Ok(()),
            Some(readings) => {
                let names = readings.map(|reading| {
                    reading.into_iter().map(|word| symbols[self.used[word]].id.as_str()).collect::<Vec<_>>()
                });
                Err(errors::ambiguous_texts(&names))
            }
        }
    }
}
