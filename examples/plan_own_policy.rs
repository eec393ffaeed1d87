//! A policy of one's own under every search: `cargo run --example plan_own_policy`.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::syntax::automaton_spec::{Options, Spec};
use grammata_agents::plan::policy::{Answer, Policy};
use grammata_agents::plan::search::{STRATEGIES, SearchOptions};
use grammata_agents::plan::{PlanAutomaton, Problem, Question, Questions};

/// Prefers short labels.
struct Terse;

impl Policy for Terse {
    fn choose(&mut self, question: &Question) -> grammata::Result<Answer> {
        let shortest = (0..question.choices.len()).min_by_key(|&place| question.choices[place].label.len());
        Ok(Answer::one(shortest.unwrap_or(0)))
    }

    fn scores(&mut self, question: &Question) -> grammata::Result<Vec<f64>> {
        Ok(question.choices.iter().map(|choice| -(choice.label.len() as f64)).collect())
    }
}

fn main() -> grammata::Result<()> {
    let spec = "kind = 'cfg'\nsymbols = ['walk', 'bus', 'rest']\nstart = 's'\n\
        rules = { s = ['walk rest', 'bus'] }";
    let mut plans = PlanAutomaton::new(Spec::read(spec, &Options::default())?)?;
    let questions = Questions::new(plans.spec(), None)?;
    for (name, _, make) in STRATEGIES {
        let (mut policy, options) = (Terse, SearchOptions::default());
        let mut problem = Problem::new(&mut plans, &mut policy, &questions, &options);
        let plan = make(4).run(&mut problem)?.plan.expect("there is a plan");
        println!("{name}: {}", plan.word(plans.spec()));
    }
    Ok(())
}
