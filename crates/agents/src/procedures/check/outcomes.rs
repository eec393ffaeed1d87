//! Static checks that need the automaton: blocking, unreachable nodes, and outcomes without a continuation.

use super::checks;
use crate::procedures::automaton::automaton::{Outcome, StateId};
use crate::procedures::automaton::bounds::Bounds;
use crate::procedures::automaton::rules::Mode;
use crate::procedures::automaton::supervisor::{Size, Supervisor};
use crate::procedures::language::declarations::NodeKind;
use crate::procedures::language::errors::{self, Findings};
use crate::procedures::semantics::procedure::Procedure;
use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_base::work::Budget;
use rustc_hash::FxHashSet;

/// The maximum number of outcomes that a finding names.
const NAMED: usize = 3;

/// Checks the automaton in the mode `guarded`. Returns its size without numbers of calls, and the bounds of a session;
/// there are no bounds if the text says no inform, or if results or decisions can block the procedure from the start.
///
/// # Errors
/// The limits `plan_states` and `compile_work`.
pub(in crate::procedures) fn check(
    procedure: &Procedure,
    limits: &Limits,
    findings: &mut Findings,
) -> Result<(Size, Option<Bounds>)> {
    let supervisor = Supervisor::without_counts(procedure, Mode::Guarded, limits)?;
    let budget = Budget::of_compilation(limits, 0);
    let is_inform =
        |node: usize| procedure.nodes[node].kind == NodeKind::Inform && !procedure.sites_of[node].is_empty();
    let has_informs = (0..procedure.nodes.len()).any(is_inform);
    let reached = after_outcomes(&supervisor, has_informs, &budget, findings)?;
    let mut bounds = None;
    if has_informs {
        let has_counts = procedure.nodes.iter().any(|node| node.max_calls.is_some());
        let counted =
            if has_counts { Some(Supervisor::new(procedure, Mode::Guarded, limits)?) } else { None };
        let blocking = counted.as_ref().unwrap_or(&supervisor);
        bounds = blocking.bounds();
        if blocking.is_blocking() {
            let leaving: Vec<String> =
                blocking.leaving(0).iter().take(NAMED).map(|letter| letter.text(procedure)).collect();
            let found = if leaving.is_empty() { "no choice".to_owned() } else { leaving.join("; ") };
            findings.error(errors::blocking(closing_place(procedure), &found));
        }
    } else {
        findings.note(errors::no_closing_answer(closing_place(procedure)));
    }
    for (index, node) in procedure.nodes.iter().enumerate() {
        if !reached.contains(index) && !procedure.sites_of[index].is_empty() {
            let place = procedure.sites[procedure.sites_of[index][0]].place.clone();
            findings.warn(errors::unreachable_node(place, &node.name));
        }
    }
    Ok((supervisor.size(), bounds))
}

/// Returns the place of the first call of the text; the whole file if there is none.
fn closing_place(procedure: &Procedure) -> grammata::Place {
    procedure.sites.first().map(|site| site.place.clone()).unwrap_or_default()
}

/// Returns the nodes that are open in some state. If `warns`, also warns of outcomes of calls after which, in some
/// state, no other API and no inform of the text is open that requires the call directly, or whose conditions test its
/// result or its error.
fn after_outcomes(
    supervisor: &Supervisor<'_>,
    warns: bool,
    budget: &Budget,
    findings: &mut Findings,
) -> Result<FixedBitSet> {
    let (procedure, automaton) = (supervisor.procedure(), supervisor.automaton());
    let nodes = procedure.nodes.len();
    let before = checks::before(procedure, &FxHashSet::default(), budget)?;
    let states = automaton.len();
    let mut arrivals: Vec<Vec<(usize, &Outcome)>> = vec![Vec::new(); states];
    for from in 0..states {
        for choice in supervisor.moves(from as StateId) {
            if procedure.nodes[choice.node].kind == NodeKind::Api {
                for (outcome, to) in &choice.outcomes {
                    arrivals[*to as usize].push((choice.node, outcome));
                }
            }
        }
    }
    let mut reached = FixedBitSet::with_capacity(nodes);
    let mut silent: FxHashSet<(usize, &Outcome)> = FxHashSet::default();
    let mut found = Vec::new();
    for (state, arrivals) in arrivals.into_iter().enumerate() {
        let view = automaton.view(state as StateId)?;
        let open: Vec<usize> =
            (0..nodes).filter(|&node| automaton.is_open(state as StateId, &view, node)).collect();
        reached.extend(open.iter().copied());
        let arrivals: FxHashSet<(usize, &Outcome)> = arrivals.into_iter().collect();
        for (api, outcome) in arrivals {
            budget.spend(open.len())?;
            let builds_on = |&node: &usize| {
                let is_step = match procedure.nodes[node].kind {
                    NodeKind::Api => node != api,
                    NodeKind::Inform => !procedure.sites_of[node].is_empty(),
                    _ => false,
                };
                let speaks = |&site: &usize| {
                    let guard = procedure.sites[site].guard;
                    view.evaluation.is_open(guard)
                        && guard.is_some_and(|guard| {
                            let before = &before[guard as usize];
                            before.apis.contains(&api) || before.raised.contains(&api)
                        })
                };
                is_step
                    && (procedure.preconditions[node].iter().any(|required| required.node == api)
                        || procedure.sites_of[node].iter().any(speaks))
            };
            if warns && !open.iter().any(builds_on) && silent.insert((api, outcome)) {
                found.push((api, outcome.text(procedure)));
            }
        }
    }
    found.sort();
    for (api, outcome) in found {
        let node = &procedure.nodes[api];
        let outcome = if outcome.is_empty() { "any answer".to_owned() } else { outcome };
        findings.warn(errors::silent_outcome(node.place.clone(), &node.name, &outcome));
    }
    Ok(reached)
}
