//! Productions as a grammar, with the limits on symbols beside them.

use super::document::Document;
use super::errors;
use super::finite::symbol_names;
use super::productions::{Item, Productions};
use super::separate::separate;
use super::unique::two_readings;
use crate::error::Result;
use crate::grammar::{ExprId, Grammar, GrammarBuilder, Member, Order, RuleId};
use crate::limits::Limits;
use rustc_hash::FxHashMap;

/// Builds the grammar.
pub(super) fn lower(document: &Document, productions: Productions, limits: &Limits) -> Result<Grammar> {
    let productions = productions.trimmed()?;
    let limited = limited(document, &productions, limits)?;
    let productions = if document.separator.is_empty() {
        productions
    } else {
        separate(&productions, limits)?.trimmed()?
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
    if limited.is_none() && document.prefix.is_empty() && document.suffix.is_empty() {
        return g.build(start);
    }
    let mut word = g.rule(start);
    if let Some(limited) = limited {
        let members = limited.members(document, &mut g);
        word = g.intersection([word, members]);
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
                    builder.text(format!("{separator}{}", document.symbols.0[symbol].1))
                })
            }
        }
    }
}

/// The symbols in use, with those under limits first.
struct Limited {
    members: Vec<(usize, bool)>,
    rest: Vec<usize>,
}

impl Limited {
    fn members(&self, document: &Document, g: &mut GrammarBuilder) -> ExprId {
        let text = |symbol: usize| document.symbols.0[symbol].1.as_str();
        let value = g.empty();
        let members: Vec<Member> = self
            .members
            .iter()
            .map(|&(symbol, required)| Member { key: text(symbol).as_bytes().into(), value, required })
            .collect();
        let rest: Vec<ExprId> = self.rest.iter().map(|&symbol| g.text(text(symbol))).collect();
        let rest = g.choice(rest);
        let separator = g.text(&document.separator);
        g.members(Order::Any, members, Some(rest), separator)
    }
}

/// Reads the limits, and checks that it is clear from a text which symbols it consists of.
fn limited(document: &Document, productions: &Productions, limits: &Limits) -> Result<Option<Limited>> {
    let lists = [
        ("at_most_once", &document.limits.at_most_once, false),
        ("exactly_once", &document.limits.exactly_once, true),
    ];
    let numbers = document.symbol_numbers();
    let mut required: FxHashMap<usize, bool> = FxHashMap::default();
    let used = productions.symbols();
    for (list, names, exactly) in lists {
        for (i, name) in names.iter().enumerate() {
            let place = || format!("/limits/{list}/{i}");
            let Some(&symbol) = numbers.get(name.as_str()) else {
                return Err(errors::undefined("symbol", name, place(), symbol_names(document)));
            };
            if required.insert(symbol, exactly).is_some() {
                return Err(errors::limited_twice(name, place()));
            }
            if exactly && used.binary_search(&symbol).is_err() {
                return Err(errors::required_but_unused(name, place()));
            }
        }
    }
    let mut result = Limited { members: Vec::new(), rest: Vec::new() };
    for &symbol in &used {
        match required.get(&symbol) {
            Some(&exactly) => result.members.push((symbol, exactly)),
            None => result.rest.push(symbol),
        }
    }
    if result.members.is_empty() {
        return Ok(None);
    }
    check_texts(document, &used, limits)?;
    Ok(Some(result))
}

fn check_texts(document: &Document, used: &[usize], limits: &Limits) -> Result<()> {
    let mut by_text: FxHashMap<&str, &str> = FxHashMap::default();
    for &symbol in used {
        let (name, text) = &document.symbols.0[symbol];
        if text.is_empty() {
            return Err(errors::empty_text(name));
        }
        if let Some(other) = by_text.insert(text, name) {
            return Err(errors::equal_texts(other, name, text));
        }
    }
    let words: Vec<Vec<u8>> = used
        .iter()
        .map(|&symbol| format!("{}{}", document.separator, document.symbols.0[symbol].1).into_bytes())
        .collect();
    match two_readings(&words, limits)? {
        None => Ok(()),
        Some(readings) => {
            let names = readings.map(|reading| {
                reading.into_iter().map(|word| document.symbols.0[used[word]].0.as_str()).collect::<Vec<_>>()
            });
            Err(errors::ambiguous_texts(&names))
        }
    }
}
