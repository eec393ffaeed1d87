//! A planner in the loop of an agent: `cargo run --example plan_agent_loop`.
//!
//! The planner says what may come, a policy chooses (here at random; a language model is asked the same way), and an
//! environment of one's own carries each step out.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::syntax::automaton_spec::{Options, Spec};
use grammata_agents::plan::policy::RandomPolicy;
use grammata_agents::plan::{Environment, Observation, PlanAutomaton, Planner, Questions, Step};
use serde_json::json;

const SPEC: &str = r#"
kind = "dfa"
start = "open"
accepting = ["closed"]
[symbols]
search = { arguments = { type = "object", required = ["words"], properties = { words = { enum = ["kettle", "lamp"] } }, additionalProperties = false }, outcomes = { found = { set = "item" }, nothing = {} } }
buy = { requires = "item" }
leave = { requires = "search" }
[limits]
at_most = { search = 3 }
[[transitions]]
from = "open"
input = "search"
to = "open"
[[transitions]]
from = "open"
input = ["buy", "leave"]
to = "closed"
"#;

/// A shop that has lamps only.
struct Shop {
    searches: usize,
}

impl Environment for Shop {
    fn execute(&mut self, spec: &Spec, step: &Step) -> grammata::Result<Observation> {
        if spec.symbols()[step.action].id != "search" {
            return Ok(Observation::default());
        }
        self.searches += 1;
        let is_there = step.arguments.as_ref().is_some_and(|arguments| arguments["words"] == "lamp");
        Ok(Observation {
            outcome: Some(if is_there { "found" } else { "nothing" }.to_owned()),
            data: json!({ "searches": self.searches }),
            ..Observation::default()
        })
    }
}

fn main() -> grammata::Result<()> {
    let plans = PlanAutomaton::new(Spec::read(SPEC, &Options::default())?)?;
    let questions = Questions::new(plans.spec(), Some("Get something for the kitchen."))?;
    let mut planner = Planner::new(plans)?;
    let (mut policy, mut shop) = (RandomPolicy::new(1), Shop { searches: 0 });
    while let Some(step) = planner.choose(&mut policy, &questions)? {
        let observation = planner.execute(&mut shop, step)?.clone();
        let step = planner.plan().steps.last().map(|step| step.line(planner.spec()));
        println!("{} {}", step.unwrap_or_default(), observation.data);
    }
    Ok(())
}
