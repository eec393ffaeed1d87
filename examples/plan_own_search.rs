//! A search of one's own: `cargo run --example plan_own_search`.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::syntax::automaton_spec::{Options, Spec};
use grammata_agents::plan::policy::RandomPolicy;
use grammata_agents::plan::search::{Offered, Outcome, Problem, Search, SearchOptions};
use grammata_agents::plan::{PlanAutomaton, Questions};

/// The cheapest of a number of plans that the policy makes, each without going back.
struct Restarts(usize);

impl Search for Restarts {
    fn run(&self, problem: &mut Problem<'_>) -> grammata::Result<Outcome> {
        let mut best: Option<(u64, Outcome)> = None;
        for _ in 0..self.0 {
            let (mut partial, mut decisions) = (problem.start(), Vec::new());
            loop {
                let choices = problem.choices(&partial, Offered::Live)?;
                if choices.is_empty() {
                    return Ok(problem.outcome());
                }
                let chosen = problem.choose(&partial, choices)?;
                decisions.extend(chosen.decision);
                let Some(successor) = chosen.choice.successor else { break };
                decisions.extend(problem.extend(&mut partial, successor)?);
            }
            let cost = partial.position().cost;
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                let outcome = problem.outcome();
                best = Some((cost, Outcome { plan: Some(partial.into_plan()), decisions, ..outcome }));
            }
        }
        Ok(best.map(|(_, outcome)| outcome).unwrap_or_default())
    }
}

fn main() -> grammata::Result<()> {
    let spec = "kind = 'cfg'\nstart = 's'\nrules = { s = ['taxi', 'walk bus', 'walk walk walk'] }\nseparator = ', '\n\
        symbols = { taxi = { cost = 30 }, bus = { cost = 3 }, walk = { cost = 0 } }";
    let mut plans = PlanAutomaton::new(Spec::read(spec, &Options::default())?)?;
    let questions = Questions::new(plans.spec(), None)?;
    let (mut policy, options) = (RandomPolicy::new(7), SearchOptions::default());
    let outcome = Restarts(20).run(&mut Problem::new(&mut plans, &mut policy, &questions, &options))?;
    let plan = outcome.plan.expect("there is a plan");
    println!("{} for {}", plan.word(plans.spec()), plan.cost(plans.spec()));
    Ok(())
}
