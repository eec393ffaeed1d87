//! The experiment `changes`: makes plans for changed domains, and measures how often they violate the changed file and
//! what a change costs.

use super::arms::{Arm, Maker, Method};
use super::changes::{Change, Changed, changed};
use super::experiment::Arguments;
use super::experiments::{Record, arm_names, chosen, first_plans, is_right, plan, plan_report};
use crate::Query;
use crate::flow_metrics::{calls, measure};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::transitions::{Counts, Graph, TransitionSystem, minimize};
use grammata_agents::flows::{Entry, FlowAutomaton, FlowDomain, FlowOptions, Rounds};
use grammata_agents_drive::flows::{FlowScope, PlannerOptions};
use grammata_cli::args::source;
use grammata_cli::io::messages;
use grammata_report::statistics::quantile;
use grammata_report::{Journal, Report, Table};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Number of compilations; the reported time is their median.
const COMPILATIONS: usize = 9;

/// A plan of a changed domain.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ChangeRecord {
    plan: Record,
    change: String,
    /// Whether the plan is unfinished or is not a plan of any flow of the changed domain.
    violates: bool,
    /// Whether the calls are a plan of some flow of the domain before the change.
    was_plan: bool,
    /// Median of the seconds from the file to the compiled grammar.
    compile_seconds: f64,
}

/// A row of the table of changed domains.
struct Size {
    domain: String,
    change: &'static str,
    flows: usize,
    plans: String,
    states: usize,
}

/// Runs the parts of the experiment that are not in its journal, and reports it.
pub(super) fn run(arguments: &Arguments, queries: &[Query], limits: &Limits) -> Result<Report> {
    let mut loaded = arguments.model.load(limits)?;
    let mut maker = Maker::new(&mut loaded, limits);
    let mut journal = Journal::open(&arguments.journal, &arguments.settings())?;
    let mut sizes = Vec::new();
    for path in &arguments.domains {
        let text = source::text(path, limits)?;
        for change in Change::ALL {
            let Some(changed) = changed(&text, change, limits).map_err(|error| in_file(error, path))? else {
                messages::plain(&format!("{}: {}", path.display(), change.missing()));
                continue;
            };
            sizes.push(size(&changed.domain, change, limits)?);
            of_change(arguments, &mut maker, &mut journal, queries, &text, change, &changed, limits)?;
        }
    }
    Ok(report(arguments, &journal, &sizes))
}

fn in_file(error: grammata::error::Error, path: &Path) -> grammata::error::Error {
    error.in_file(&path.display().to_string())
}

#[allow(clippy::too_many_arguments)] // the parameters of one cell of the experiment
fn of_change(
    arguments: &Arguments,
    maker: &mut Maker<'_>,
    journal: &mut Journal<ChangeRecord>,
    queries: &[Query],
    text: &str,
    change: Change,
    changed: &Changed,
    limits: &Limits,
) -> Result<()> {
    let domain = &changed.domain;
    let before = FlowDomain::read(text, limits)?;
    let mut asked = queries.to_vec();
    if let (Some((first, second)), Some(flow)) = (changed.added_of, domain.flows.last()) {
        asked.extend(joined_queries(domain, first, second, &flow.id, queries));
    }
    let asked = chosen(arguments, std::slice::from_ref(domain), &asked);
    for (name, scope) in [("relevant flow", FlowScope::Relevant), ("all flows", FlowScope::All)] {
        let arm = Arm {
            name: format!("{}, {name}", change.name()),
            method: Method::Valid,
            options: PlannerOptions::default().scope(scope),
        };
        let mut times: Vec<(Option<usize>, f64)> = Vec::new();
        for (_, flow, id, query) in &asked {
            let id = format!("{}/{id}", arm.name);
            if journal.get(&id).is_some() {
                continue;
            }
            let kept = (scope == FlowScope::Relevant).then_some(*flow);
            let compile_seconds = match times.iter().find(|(known, _)| *known == kept) {
                Some((_, seconds)) => *seconds,
                None => {
                    let found = maker.compile_times(&changed.text, &arm, kept, COMPILATIONS)?;
                    let median = quantile(&found, 0.5).unwrap_or_default();
                    times.push((kept, median));
                    median
                }
            };
            let record = plan(maker, &arm, domain, *flow, query)?;
            let written = arm.options.parse(domain, &record.text);
            let names: Vec<&str> = written.calls.iter().map(|call| call.name.as_str()).collect();
            let violates = !record.finished || !keeps_a_flow(domain, &names)?;
            let was_plan = is_plan(&before, &names)?;
            let change = change.name().to_owned();
            journal.append(id, ChangeRecord { plan: record, change, violates, was_plan, compile_seconds })?;
        }
    }
    Ok(())
}

/// Returns queries for a flow that was joined from two: each is a query of the first flow followed by one of the
/// second.
fn joined_queries(
    domain: &FlowDomain,
    first: usize,
    second: usize,
    id: &str,
    queries: &[Query],
) -> Vec<Query> {
    let of = |flow: usize| {
        let flow = domain.flows[flow].id.clone();
        queries.iter().filter(move |query| query.domain == domain.name && query.flow == flow)
    };
    let joined = of(first).zip(of(second)).map(|(first, second)| Query {
        domain: domain.name.clone(),
        flow: id.to_owned(),
        text: format!("{} {}", first.text, second.text),
    });
    joined.collect()
}

/// Returns whether a plan is a plan of some flow by definition: steps in order, the APIs of a step in any order, and
/// each call after those that make its inputs. It uses automata only for flows with optional, repeated or alternative
/// steps, or steps whose order the file states (`after`).
fn keeps_a_flow(domain: &FlowDomain, names: &[&str]) -> Result<bool> {
    let plan: Vec<Option<usize>> = names.iter().map(|name| domain.api(name)).collect();
    for (place, flow) in domain.flows.iter().enumerate() {
        let once = |entry: &Entry| matches!(entry, Entry::Step { rounds: Rounds::ONCE, after: None, .. });
        let keeps = match flow.body.iter().all(once) {
            false => is_right(domain, place, names)?,
            true => {
                let has_data = measure(domain, place, &calls(domain, names.iter().copied()));
                has_data.inconsistent_apis == 0.0 && has_steps(domain, &flow.steps[1..], &plan)
            }
        };
        if keeps {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether calls are the APIs of the steps, one step after the other.
fn has_steps(domain: &FlowDomain, steps: &[usize], mut plan: &[Option<usize>]) -> bool {
    for &step in steps {
        let mut apis: Vec<Option<usize>> = domain.steps[step].apis.iter().copied().map(Some).collect();
        let Some((of_step, rest)) = plan.split_at_checked(apis.len()) else { return false };
        let mut of_step = of_step.to_vec();
        apis.sort_unstable();
        of_step.sort_unstable();
        if apis != of_step {
            return false;
        }
        plan = rest;
    }
    plan.is_empty()
}

/// Returns whether calls are a plan of some flow.
fn is_plan(domain: &FlowDomain, names: &[&str]) -> Result<bool> {
    for flow in 0..domain.flows.len() {
        if is_right(domain, flow, names)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn size(domain: &FlowDomain, change: Change, limits: &Limits) -> Result<Size> {
    let options = FlowOptions::default().limits(limits.clone());
    let mut automaton = FlowAutomaton::new(domain, options)?;
    let start = automaton.start();
    let plans = Counts::default().count(&mut automaton, &start)?.to_string();
    let states = minimize(&Graph::of(&mut automaton, usize::MAX, |_| {})?).nodes.len();
    Ok(Size { domain: domain.name.clone(), change: change.name(), flows: domain.flows.len(), plans, states })
}

fn report(arguments: &Arguments, journal: &Journal<ChangeRecord>, sizes: &[Size]) -> Report {
    let all: Vec<&ChangeRecord> = journal.records().map(|(_, record)| record).collect();
    let records: Vec<&Record> = all.iter().map(|record| &record.plan).collect();
    let mut report = plan_report(arguments, &records);
    let columns = ["", "plans", "that violate the domain", "that the domain had before, %"];
    let mut table = Table { columns: columns.map(str::to_owned).into(), rows: Vec::new() };
    for name in arm_names(&records) {
        let of_arm: Vec<&&ChangeRecord> = all.iter().filter(|record| record.plan.arm == name).collect();
        let count = |is: fn(&ChangeRecord) -> bool| of_arm.iter().filter(|record| is(record)).count();
        let had = count(|record| record.was_plan) as f64 / of_arm.len().max(1) as f64;
        table.rows.push(vec![
            name.to_owned(),
            of_arm.len().to_string(),
            count(|record| record.violates).to_string(),
            format!("{:.1}", 100.0 * had),
        ]);
    }
    report.heading("What plans keep").table(table);
    let columns =
        ["", "change", "flows", "plans", "states", "all flows: compiled in ms", "one flow: compiled in ms"];
    let mut table = Table { columns: columns.map(str::to_owned).into(), rows: Vec::new() };
    for size in sizes {
        let median = |which: &str| {
            let of_cell = all.iter().filter(|record| {
                record.plan.domain == size.domain
                    && record.change == size.change
                    && record.plan.arm.ends_with(which)
            });
            let times: Vec<f64> = of_cell.map(|record| 1e3 * record.compile_seconds).collect();
            quantile(&times, 0.5).map_or_else(String::new, |median| format!("{median:.2}"))
        };
        table.rows.push(vec![
            size.domain.clone(),
            size.change.to_owned(),
            size.flows.to_string(),
            size.plans.clone(),
            size.states.to_string(),
            median("all flows"),
            median("relevant flow"),
        ]);
    }
    report.heading("What a change costs");
    report.text(
        "From the file to the compiled grammar of level 6, medians of nine; states of the least automaton.",
    );
    report.table(table);
    first_plans(&mut report, &records);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUND: &str = include_str!("../../../../tests/cases/flows/refund.toml");
    const TRIPS: &str = include_str!("../../../../grammars/flows/trip-booking.toml");

    fn names(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn plans_that_break_a_changed_domain_are_found() {
        let limits = Limits::default();
        let old = "FindRentalCar Confirm CreateTrip GetCarInsuranceDiscount UpdateTrip GetPaymentInformation OrderTrip Finish";
        let new = "FindRentalCar Confirm CreateTrip GetPaymentInformation OrderTrip GetCarInsuranceDiscount UpdateTrip Finish";
        let of = |change| changed(TRIPS, change, &limits).unwrap().unwrap().domain;
        let keeps = |domain: &FlowDomain, plan: &str| {
            let keeps = keeps_a_flow(domain, &names(plan)).unwrap();
            assert_eq!(keeps, is_plan(domain, &names(plan)).unwrap(), "{plan}");
            keeps
        };
        let (before, swapped, renamed) =
            (of(Change::None), of(Change::StepsSwapped), of(Change::ApisRenamed));
        assert!(keeps(&before, old) && !keeps(&before, new));
        assert!(!keeps(&swapped, old) && keeps(&swapped, new));
        assert!(!keeps(&renamed, old) && !keeps(&renamed, new));
        assert!(renamed.apis.iter().all(|api| api.aliases.is_empty() && before.api(&api.name).is_none()));
        let added = of(Change::FlowAdded);
        let both = "GetAirports FindFlight FindRentalCar Confirm CreateTrip GetCarInsuranceDiscount UpdateTrip \
                    GetPaymentInformation OrderTrip Finish";
        assert!(keeps(&added, old) && keeps(&added, both) && !keeps(&before, both));
        for wrong in [
            "Finish",
            "",
            "FindFlight Finish",
            &old.replace("Finish", ""),
            &old.replace("OrderTrip", "Order"),
        ] {
            assert!(!keeps(&before, wrong), "{wrong}");
        }
    }

    #[test]
    fn flows_with_alternatives_are_judged_by_their_automata() {
        let domain = FlowDomain::read(REFUND, &Limits::default()).unwrap();
        assert!(keeps_a_flow(&domain, &names("FindOrder CheckRefund PayBack Finish")).unwrap());
        assert!(!keeps_a_flow(&domain, &names("FindOrder PayBack CheckRefund Finish")).unwrap());
        // the only flow cannot be joined with another, and its steps depend on each other
        for change in [Change::StepsSwapped, Change::FlowAdded] {
            assert!(changed(REFUND, change, &Limits::default()).unwrap().is_none(), "{}", change.missing());
        }
    }
}
