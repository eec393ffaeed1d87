//! Lowers productions to a grammar, with the limits and requirements on symbols as further constraints.

use super::arguments::Arguments;
use super::formula::Formula;
use super::limits::Limit;
use super::productions::Item;
use super::requirements::Requirement;
use super::separate::separate;
use super::spec::Spec;
use super::symbol::{Symbol, SymbolSet};
use super::unique::two_readings;
use super::{errors, rule_errors};
use crate::error::{Error, Result};
use crate::grammar::{ExprId, Grammar, GrammarBuilder, Member, Order, RuleId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Builds the grammar of a spec's texts. The errors are those of [`Spec::grammar`].
pub(super) fn lower(spec: &Spec) -> Result<Grammar> {
    let (document, productions, limits) = (spec.document(), spec.productions(), spec.limits());
    let symbol_limits = spec.symbol_limits();
    if document.limits.max_cost.is_some() {
        return Err(errors::cost_in_text());
    }
    let used = productions.symbols();
    let with_outcomes = used.iter().map(|&symbol| &document.symbols.0[symbol]);
    if let Some(symbol) = with_outcomes.into_iter().find(|symbol| !symbol.outcomes.is_empty()) {
        return Err(rule_errors::outcomes_in_text(&symbol.id));
    }
    let requires = used.iter().any(|&symbol| !spec.facts().rules(symbol).requires.is_always());
    let constrained = requires || !symbol_limits.is_empty();
    if constrained {
        check_texts(spec, &used)?;
    }
    let separated;
    let productions = if document.separator.is_empty() {
        productions
    } else {
        separated = separate(productions, limits)?.trimmed()?;
        &separated
    };

    let mut lowering = Lowering {
        spec,
        builder: GrammarBuilder::with_limits(limits.clone()),
        texts: FxHashMap::default(),
        rules: Vec::new(),
        error: None,
    };
    for name in &productions.names {
        let rule = lowering.builder.declare(name.as_str());
        lowering.rules.push(rule);
    }
    for (head, bodies) in productions.bodies.iter().enumerate() {
        let body = lowering.choice(bodies);
        lowering.builder.define(lowering.rules[head], body);
    }
    if let Some(error) = lowering.error {
        return Err(error);
    }
    let start = lowering.rules[productions.start];
    let letters: Vec<(usize, ExprId)> = match constrained {
        true => used.iter().map(|&symbol| (symbol, lowering.item(Item::symbol(symbol)))).collect(),
        false => Vec::new(),
    };
    let mut g = lowering.builder;
    if !constrained && document.prefix.is_empty() && document.suffix.is_empty() {
        return g.build(start);
    }
    let mut word = g.rule(start);
    if constrained {
        let constraints = Constraints { spec, limits: symbol_limits, letters: &letters };
        let operands = constraints.operands(&mut g)?;
        word = g.intersection(operands.into_iter().chain([word]));
    }
    let root = g.declare("root");
    let (prefix, suffix) = (g.text(&document.prefix), g.text(&document.suffix));
    let whole = g.sequence([prefix, word, suffix]);
    g.define(root, whole);
    g.build(root)
}

struct Lowering<'s> {
    spec: &'s Spec,
    builder: GrammarBuilder,
    /// The expressions of symbols, with and without the separator.
    texts: FxHashMap<Item, ExprId>,
    /// The rule of each nonterminal.
    rules: Vec<RuleId>,
    /// The first error of the builder that a symbol's free text caused, placed at the free text.
    error: Option<Error>,
}

impl Lowering<'_> {
    /// Builds the choice of all bodies. Bodies that differ only in their first symbol become one sequence: a choice of
    /// symbols, then the common rest. So a state of an automaton has one alternative for each successor, not for each
    /// transition.
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
                if let Some(&known) = self.texts.get(&item) {
                    return known;
                }
                let separator = if separated { self.spec.separator() } else { "" };
                let arguments = self.spec.arguments(symbol);
                let symbol = &self.spec.symbols()[symbol];
                let made = spelled(symbol, separator, arguments, &mut self.builder);
                if let (Some(_), None, Some(error)) = (&symbol.free_text, &self.error, self.builder.error()) {
                    self.error = Some(error.clone().or_at(&errors::free_text_of(&symbol.id)));
                }
                self.texts.insert(item, made);
                made
            }
        }
    }
}

/// Builds the texts of a symbol, its token, or its free text, each after `separator`, which may be empty. `arguments`
/// are those of the symbol, if it has any.
pub fn spelled(
    symbol: &Symbol,
    separator: &str,
    arguments: Option<&Arguments>,
    g: &mut GrammarBuilder,
) -> ExprId {
    if let Some(token) = &symbol.token {
        let (separator, token) = (g.text(separator), g.token(token.clone()));
        return g.sequence([separator, token]);
    }
    if let Some(text) = &symbol.free_text {
        let (separator, words) = (g.text(separator), text.words(g));
        return g.sequence([separator, words]);
    }
    let Some((before, after)) = symbol.text.split_once("{}") else {
        return g.text(format!("{separator}{}", symbol.text));
    };
    let inner = match (&symbol.set, arguments) {
        (Some(set), _) => subset(set, g),
        (None, Some(arguments)) => g.import(arguments.grammar()),
        (None, None) => return g.text(format!("{separator}{}", symbol.text)),
    };
    let before = g.text(format!("{separator}{before}"));
    let after = g.text(after);
    g.sequence([before, inner, after])
}

/// Builds the texts of the subsets of a set within its bounds, each with its elements in the order of the list. The
/// size of the expression is linear in the number of elements times the maximum; without bounds, in the number of
/// elements.
pub fn subset(set: &SymbolSet, g: &mut GrammarBuilder) -> ExprId {
    let empty = g.text(&set.empty);
    let bounded = set.max < set.of.len() || set.min > 1;
    // `more[taken]` is the rest of the text after `taken` elements were chosen. Without bounds it only matters whether
    // any element was chosen.
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

/// The constraints on words in addition to the productions: the limits and requirements on symbols.
struct Constraints<'s> {
    spec: &'s Spec,
    limits: &'s [Limit],
    /// The symbols in use, in ascending order, each with the expression of its texts without a separator.
    letters: &'s [(usize, ExprId)],
}

impl Constraints<'_> {
    /// Builds the languages to which all words must belong. The size of each is the number of symbols in use, times the
    /// number of reachable combinations of values of a formula's variables.
    fn operands(&self, g: &mut GrammarBuilder) -> Result<Vec<ExprId>> {
        let spend =
            |g: &GrammarBuilder| g.work().spend(8 * self.letters.len()).map_err(|e| errors::at_limits(&e));
        let mut operands = Vec::new();
        if self.limits.iter().any(Limit::is_once) {
            operands.push(self.once(g));
        }
        for limit in self.limits.iter().filter(|limit| !limit.is_once()) {
            spend(g)?;
            operands.push(self.with_gaps(g, &limit.symbols, limit.min, limit.max));
        }
        let mut formulas: Vec<(Formula, Vec<usize>)> = Vec::new();
        let mut places: FxHashMap<Formula, usize> = FxHashMap::default();
        for &(symbol, _) in self.letters {
            for formula in self.spec.facts().rules(symbol).requires.conjuncts() {
                let next = formulas.len();
                let place = *places.entry(formula.clone()).or_insert(next);
                if place == next {
                    formulas.push((formula, Vec::new()));
                }
                formulas[place].1.push(symbol);
            }
        }
        let requirement = Requirement {
            facts: self.spec.facts(),
            direction: self.spec.direction(),
            letters: self.letters,
            separator: self.spec.separator(),
        };
        for (formula, symbols) in &formulas {
            operands.push(requirement.words(formula, symbols, g).map_err(|e| errors::at_limits(&e))?);
        }
        Ok(operands)
    }

    /// Builds the constraint of all symbols that may occur at most once: a single list of members.
    fn once(&self, g: &mut GrammarBuilder) -> ExprId {
        let value = g.empty();
        let mut once = FxHashSet::default();
        let mut members = Vec::new();
        for limit in self.limits.iter().filter(|limit| limit.is_once()) {
            for &symbol in &limit.symbols {
                let text = self.spec.symbols()[symbol].text.as_str();
                let (key, value) = match self.spec.arguments(symbol) {
                    None => (text, value),
                    Some(arguments) => {
                        let (before, after) = text.split_once("{}").unwrap_or((text, ""));
                        let parts = [g.import(arguments.grammar()), g.text(after)];
                        (before, g.sequence(parts))
                    }
                };
                let key = key.as_bytes().into();
                members.push(Member { key, value, required: limit.min == 1 });
                once.insert(symbol);
            }
        }
        let rest = self.one_of(g, |symbol| !once.contains(&symbol));
        let separator = g.text(self.spec.separator());
        g.members(Order::Any, members, Some(rest), separator)
    }

    /// The choice of the symbols in use for which `is_wanted` is true.
    fn one_of(&self, g: &mut GrammarBuilder, is_wanted: impl Fn(usize) -> bool) -> ExprId {
        let wanted = self.letters.iter().filter(|(symbol, _)| is_wanted(*symbol)).map(|&(_, letter)| letter);
        g.choice(wanted)
    }

    /// Builds the words in which `symbols` occur at least `min` and at most `max` times in total, with the separator
    /// between any two symbols. `None` means no bound; `symbols` must be in ascending order.
    ///
    /// Every symbol except the first of a word is written with the separator before it.
    fn with_gaps(&self, g: &mut GrammarBuilder, symbols: &[usize], min: u32, max: Option<u32>) -> ExprId {
        let is_counted = |symbol: usize| symbols.binary_search(&symbol).is_ok();
        let (others, counted) = (self.one_of(g, |symbol| !is_counted(symbol)), self.one_of(g, is_counted));
        let separator = g.text(self.spec.separator());
        let other = g.sequence([separator, others]);
        let gap = g.star(other);
        let one = g.sequence([separator, counted]);
        let one = g.sequence([one, gap]);
        // a word begins with an uncounted symbol or with a counted one
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
}

/// Checks that every text can be split into symbols in only one way, and that the constraints on words support all
/// symbols in use.
///
/// For this check, JSON objects are replaced by the marker 0xFF, which is in no text. If a symbol has arguments, no
/// text may contain `{`. So each `{` begins the arguments of a symbol, and their end does not depend on what follows.
///
/// # Errors
/// `automaton-spec/token-under-limits`, `automaton-spec/free-text-under-limits`, `automaton-spec/plans-only` for a set;
/// `automaton-spec/ambiguous-texts`; `automaton-spec/arguments` for arguments in which names or items must differ;
/// `limit/exceeded`.
fn check_texts(spec: &Spec, used: &[usize]) -> Result<()> {
    const OBJECT: char = '{';
    let symbols = spec.symbols();
    let with_arguments = used.iter().any(|&symbol| symbols[symbol].arguments.is_some());
    let mut by_text: FxHashMap<&str, &str> = FxHashMap::default();
    let mut words: Vec<Vec<u8>> = Vec::with_capacity(used.len());
    for &symbol in used {
        let Symbol { id, text, token, free_text, set, arguments, .. } = &symbols[symbol];
        if token.is_some() {
            return Err(errors::token_under_limits(id));
        }
        if free_text.is_some() {
            return Err(errors::free_text_under_limits(id));
        }
        if set.is_some() {
            return Err(errors::set_under_limits(id));
        }
        if text.is_empty() {
            return Err(errors::empty_text(id));
        }
        let (before, after) = match arguments {
            Some(_) => text.split_once("{}").unwrap_or((text, "")),
            None => (text.as_str(), ""),
        };
        if let Some(other) = by_text.insert(before, id) {
            return Err(errors::equal_texts(other, id, before));
        }
        let separator = spec.separator();
        if with_arguments && [separator, before, after].iter().any(|text| text.contains(OBJECT)) {
            return Err(rule_errors::brace_in_text(id));
        }
        let mut word = format!("{separator}{before}").into_bytes();
        if let Some(arguments) = spec.arguments(symbol) {
            if !arguments.is_object() {
                return Err(rule_errors::arguments_under_limits(id));
            }
            if arguments.is_open() {
                return Err(rule_errors::open_arguments(id));
            }
            word.push(0xff);
            word.extend(after.bytes());
        }
        words.push(word);
    }
    match two_readings(&words, spec.limits())? {
        None => Ok(()),
        Some(readings) => {
            let names = readings.map(|reading| {
                reading.into_iter().map(|word| symbols[used[word]].id.as_str()).collect::<Vec<_>>()
            });
            Err(errors::ambiguous_texts(&names))
        }
    }
}
