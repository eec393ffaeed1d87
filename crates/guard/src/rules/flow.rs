//! A domain of flows as the rules of an agent. Each API is a tool of the server, except the API that ends a plan: it is
//! a tool of the guard.

use super::observed::{failure, outcome, step_line};
use super::{Open, OwnTool, Rules, Values};
use crate::outcome::Outcome;
use crate::schema::Checker;
use grammata::error::Result as Fallible;
use grammata::transitions::{Transition, TransitionSystem};
use grammata_agents::flows::{FlowAutomaton, FlowCall, FlowDomain, FlowOptions, FlowState};
use serde_json::{Value, json};
use std::collections::VecDeque;

const END: &str = "end";
/// Maximum number of stored values of one datum. If there are more, the oldest is dropped.
const MOST_VALUES: usize = 100;

/// The rules of a domain of flows, with the current state of a plan.
#[derive(Debug)]
pub struct FlowRules<'d> {
    domain: &'d FlowDomain,
    automaton: FlowAutomaton<'d>,
    /// The calls that may follow once the prelude is complete.
    next: Vec<Transition<FlowState, FlowCall>>,
    /// The APIs of the prelude that must still be called, in this order.
    prelude: VecDeque<usize>,
    /// The API that was called and whose result must be recorded next.
    pending: Option<usize>,
    /// The values of each datum in the results so far, without duplicates, oldest first.
    values: Vec<Vec<Value>>,
    checker: Checker,
}

impl<'d> FlowRules<'d> {
    /// Creates the rules at the beginning of a plan.
    ///
    /// # Errors
    /// Errors of [`FlowAutomaton::new`]; a limit was exceeded.
    pub fn new(domain: &'d FlowDomain, options: FlowOptions) -> Fallible<FlowRules<'d>> {
        let automaton = FlowAutomaton::new(domain, options.by_step(false))?;
        let start = automaton.start();
        let mut rules = FlowRules {
            domain,
            automaton,
            next: Vec::new(),
            prelude: domain.prelude_apis().iter().copied().collect(),
            pending: None,
            values: vec![Vec::new(); domain.data.len()],
            checker: Checker::default(),
        };
        rules.enter(start)?;
        Ok(rules)
    }

    fn enter(&mut self, state: FlowState) -> Fallible<()> {
        let mut next = Vec::new();
        self.automaton.successors(&state, &mut next)?;
        self.next = next;
        Ok(())
    }

    /// Returns the APIs that may be called now, without the API that ends the plan. During the prelude, only the next
    /// API of the prelude may be called.
    fn apis(&self) -> Vec<usize> {
        if let Some(&first) = self.prelude.front() {
            return vec![first];
        }
        let mut apis: Vec<usize> = self.next.iter().map(|next| next.label.api).collect();
        apis.dedup();
        apis.retain(|&api| api != self.domain.end);
        apis
    }

    fn end(&self) -> Option<&Transition<FlowState, FlowCall>> {
        let is_open = self.prelude.is_empty();
        self.next.iter().find(|next| is_open && next.label.api == self.domain.end)
    }

    /// Returns, for each input datum of an API, its name and a schema that allows the values in the results so far.
    /// Data without such a value are omitted.
    fn known(&self, api: usize) -> Values {
        let inputs = self.domain.apis[api].inputs.iter().flat_map(|input| input.any_of.iter());
        let known = inputs.filter(|&&data| !self.values[data].is_empty());
        known.map(|&data| (self.domain.data[data].clone(), json!({ "enum": self.values[data] }))).collect()
    }

    /// Continues the plan with a successful result of an API. Returns the text of the call.
    ///
    /// # Errors
    /// A reason in one line: the result names no declared outcome, no plan continues after the result, or a limit was
    /// exceeded.
    fn follow(&mut self, api: usize, data: &Value) -> Result<String, String> {
        let declared = &self.domain.apis[api];
        let names = || declared.outcomes.iter().map(|outcome| outcome.name.as_str());
        let named = outcome(data, names());
        let number = names().position(|name| Some(name) == named);
        if number.is_none() && !declared.outcomes.is_empty() {
            let names: Vec<&str> = names().collect();
            return Err(format!("the result does not say which outcome it is: {}", names.join(", ")));
        }
        let label = FlowCall { api, step: None, outcome: number };
        if self.prelude.front() == Some(&api) {
            self.prelude.pop_front();
        } else {
            let next = self.next.iter().find(|next| (next.label.api, next.label.outcome) == (api, number));
            let to = next.map(|next| next.to).ok_or("no plan continues after this result")?;
            self.enter(to).map_err(|error| error.diagnostic().message().to_owned())?;
        }
        for made in declared.makes(number) {
            let value = data.get(&self.domain.data[made]);
            if let Some(value) = value.filter(|value| !self.values[made].contains(value)) {
                if self.values[made].len() == MOST_VALUES {
                    self.values[made].remove(0);
                }
                self.values[made].push(value.clone());
            }
        }
        Ok(label.text(self.domain))
    }
}

impl Rules for FlowRules<'_> {
    fn about(&self) -> String {
        format!(
            "You are held to the flows of `{}`. Only tools that may be called now are listed, with the values that are \
             known; list them again after each call. A call that no flow has here is not carried out, and its result \
             says why and what may come instead.",
            self.domain.name
        )
    }

    fn tools(&self) -> Vec<(String, Vec<String>)> {
        let apis = self.domain.apis.iter().enumerate().filter(|(api, _)| *api != self.domain.end);
        apis.map(|(_, api)| (api.name.clone(), Vec::new())).collect()
    }

    fn open(&self) -> Vec<Open> {
        let open = |api: usize| Open {
            tool: self.domain.apis[api].name.clone(),
            properties: self.known(api),
            required: Vec::new(),
        };
        self.apis().into_iter().map(open).collect()
    }

    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String> {
        let api = self.domain.api(tool).ok_or("unknown: no API has this name")?;
        if !self.apis().contains(&api) {
            return Err("order: no flow has this call here".to_owned());
        }
        let known = self.known(api);
        if let Some((name, _)) = self.checker.wrong(&known, arguments) {
            return Err(format!("argument {name}: it must be a value that a result had"));
        }
        self.pending = Some(api);
        Ok(())
    }

    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)> {
        let Some(api) = self.pending.take() else { return Ok(Values::new()) };
        match outcome {
            // a failed call is not a step of the plan
            Outcome::Error(text) => Ok(failure(&text)),
            Outcome::Data(data) => match self.follow(api, &data) {
                Ok(line) => Ok(Values::from_iter([("step".to_owned(), line.into())])),
                Err(text) => Err((failure(&text), text)),
            },
        }
    }

    fn own(&self) -> Vec<OwnTool> {
        let tool = |_| OwnTool {
            name: END,
            description: "Call this when nothing is left to do for the user.".to_owned(),
            schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        };
        self.end().map(tool).into_iter().collect()
    }

    fn own_names(&self) -> Vec<&'static str> {
        vec![END]
    }

    fn act(&mut self, _: &str, _: &Values) -> Result<(Vec<Value>, String), String> {
        let end = self.end().map(|next| (next.label, next.to));
        let (label, to) = end.ok_or("order: the plan may not end here")?;
        self.enter(to).map_err(|error| error.diagnostic().message().to_owned())?;
        Ok((vec![json!(["end", { "step": label.text(self.domain) }])], "The plan is complete.".to_owned()))
    }

    fn line(&self, event: &Value) -> Option<String> {
        step_line(event)
    }
}
