//! Lowering of a whole grammar.

use super::{Lowering, Pending, blame, order, parts, token_terminals};
use crate::automaton::errors;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::block::Scope;
use crate::automaton::tuning::MAX_PRODUCT_DEPTH;
use crate::diagnostic::Place;
use crate::error::{Error, Result};
use crate::grammar::analysis::Analysis;
use crate::grammar::{ExprId, Expression, Grammar, Names};
use crate::limits::Limits;
use crate::work::Budget;
use rustc_hash::FxHashMap;

impl Automaton {
    /// Lowers a grammar.
    ///
    /// # Errors
    /// `automaton/empty-language` if no word exists; instead `automaton/too-few-different` or `automaton/too-few-names`
    /// if lists that need more items or names than exist are the reason. `automaton/cyclic-lockstep` if an intersection
    /// or complement contains itself, and `automaton/distinct-in-lockstep` if it contains lists of different items or
    /// names. `automaton/token-terminal` and `automaton/bounded-part` if a token terminal or a part bounded in tokens
    /// is in a place where it is not allowed. `automaton/few-names-in-items` and `automaton/few-names-for-one` for
    /// objects with few possible names, `automaton/left-recursive-rest`, and the limits `automaton_states`,
    /// `cache_bytes`, `compile_work`, `condition_search`, `lockstep_search` and `source_depth`.
    pub fn new(grammar: &Grammar, limits: &Limits) -> Result<Automaton> {
        let root = Place::Rule(grammar.rule(grammar.root()).name.to_string());
        token_terminals::check(grammar)?;
        parts::check(grammar)?;
        lower_all(grammar, limits).map_err(|error| error.or_at(&root))
    }
}

fn lower_all(grammar: &Grammar, limits: &Limits) -> Result<Automaton> {
    // Lists that need more items or names than exist are found only by lowering. They are then excluded like other
    // expressions without words, and lowering starts again.
    let mut excluded: FxHashMap<ExprId, Error> = FxHashMap::default();
    let budget = Budget::of_compilation(limits, grammar.expressions().len());
    loop {
        let mut lowering = Lowering::new(grammar, limits);
        if !excluded.is_empty() {
            lowering.kept.productive = Analysis::productive_without(grammar, |id| excluded.contains_key(&id));
        }
        for product in order::product_order(grammar, MAX_PRODUCT_DEPTH)? {
            let place = |error: Error| error.or_at(&grammar.place_of(product));
            lowering.prepare_product(product, &budget).map_err(place)?;
        }
        let root = grammar.rule(grammar.root());
        if !lowering.kept.productive.holds(root.body) {
            let first = excluded.into_iter().min_by_key(|(id, _)| *id);
            let place = |(id, error): (ExprId, Error)| error.or_at(&grammar.place_of(id));
            let empty = || errors::empty_language(blame::without_words(grammar, &lowering.kept.productive));
            return Err(first.map_or_else(empty, place));
        }
        lowering.check_conditions()?;
        // errors that the author must see must occur now: too many states, too few different items or names, recursion
        // that cannot be removed
        lowering.kept.defers = lowering.kept.costs.all() < limits.automaton_states as u64 / 2
            && !grammar.expressions().iter().any(is_counted)
            && !order::is_left_recursive(grammar, &lowering.kept.nullable);
        let scope = Scope { rule: grammar.root(), label: None };
        let start = lowering.begin(Pending::Rule(grammar.root()), scope, None);
        lowering.order_callables(Some(start))?;
        let (automaton, lacking) = lowering.finish(start, &budget)?;
        if lacking.is_empty() {
            return Ok(automaton);
        }
        // of nested lists, each round may find only one
        budget.spend(automaton.state_count())?;
        excluded.extend(lacking);
    }
}

/// Whether the number of different items or names can be decided only with the automaton.
fn is_counted(expression: &Expression) -> bool {
    match expression {
        Expression::Distinct(list) => list.min > 1 && !list.endless,
        Expression::Name(_, names) => *names != Names::Endless,
        _ => false,
    }
}
