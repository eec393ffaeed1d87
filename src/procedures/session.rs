//! One conversation under a procedure: values as they came, which nodes may come next, and why others may not.

use super::declarations::NodeKind;
use super::flow::PointId;
use super::guards::{Guard, Test};
use super::marks::{Marks, Status};
use super::pdl::{Expr, ExprId};
use super::procedure::Procedure;
use super::rules::{self, Mode, Rule, View};
use super::value::{Scalar, Truth};
use serde_json::{Map, Value};
use std::fmt;

/// Arguments or results by slot.
type Values = Map<String, Value>;

/// Why a node may not come: the first rule that it breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// No node has the name.
    Unknown,
    /// A precondition is not met: its name, with the outcome that it must have, if any.
    Precondition(String),
    /// The API was called `max_calls` times.
    Limit(u32),
    /// No call of the text is open: a condition of the first one, with the values that it reads.
    Guard {
        /// The condition as written, with `not` if it must not hold.
        condition: String,
        /// `slot = value` for what it reads; a slot without a value is `not known`.
        values: String,
    },
    /// The control flow of the text is elsewhere (mode `strict`).
    Order,
    /// A value is not that of a call which the call builds on.
    Stale {
        /// The call that it builds on.
        api: String,
        /// The slot.
        slot: String,
    },
    /// A required slot of the request is missing.
    Argument(String),
    /// The last act was the same call with the same arguments.
    Repeat,
}

impl Obstacle {
    /// The kind of the obstacle in one word.
    pub fn code(&self) -> &'static str {
        match self {
            Obstacle::Unknown => "unknown",
            Obstacle::Precondition(_) => "precondition",
            Obstacle::Limit(_) => "limit",
            Obstacle::Guard { .. } => "guard",
            Obstacle::Order => "order",
            Obstacle::Stale { .. } => "stale",
            Obstacle::Argument(_) => "argument",
            Obstacle::Repeat => "repeat",
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())?;
        match self {
            Obstacle::Unknown | Obstacle::Order | Obstacle::Repeat => Ok(()),
            Obstacle::Precondition(name) => write!(f, " {name}"),
            Obstacle::Limit(most) => write!(f, " {most}"),
            Obstacle::Guard { condition, values } if values.is_empty() => write!(f, " {condition}"),
            Obstacle::Guard { condition, values } => write!(f, " {condition} ({values})"),
            Obstacle::Stale { api, slot } => write!(f, " {api}.{slot}"),
            Obstacle::Argument(slot) => write!(f, " {slot}"),
        }
    }
}

/// An answer of an API: what it was asked and what it said of the slots of its response.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    status: Status,
    arguments: Values,
    response: Vec<Option<Value>>,
}

/// A call that waits for its answer.
#[derive(Clone, Debug)]
struct Pending {
    api: usize,
    arguments: Values,
    /// Where the flow goes on after an error, if the call was in order.
    failed: Option<Box<[PointId]>>,
}

/// The state of one conversation.
#[derive(Clone, Debug)]
pub struct Session<'p> {
    procedure: &'p Procedure,
    mode: Mode,
    marks: Marks<Scalar>,
    /// By node: the last answer, also of what was taken back.
    answers: Vec<Option<Answer>>,
    last: Option<(usize, Values)>,
    points: Box<[PointId]>,
    pending: Option<Pending>,
    is_complete: bool,
}

impl<'p> Session<'p> {
    /// A conversation before its first message.
    pub fn new(procedure: &'p Procedure, mode: Mode) -> Session<'p> {
        Session {
            procedure,
            mode,
            marks: Marks::new(procedure),
            answers: vec![None; procedure.nodes.len()],
            last: None,
            points: [procedure.flow.entry()].into(),
            pending: None,
            is_complete: false,
        }
    }

    /// The procedure.
    pub fn procedure(&self) -> &'p Procedure {
        self.procedure
    }

    /// Whether a closing answer was said.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// What is known of a node, by its index.
    pub fn status(&self, node: usize) -> Status {
        self.marks.done.get(node).copied().unwrap_or_default()
    }

    fn view(&self) -> View {
        View::of(self.procedure, self.mode, &self.marks, &self.points)
    }

    /// The nodes that may come, by their indices. Arguments are not asked for, but an API is left out if the calls that it
    /// builds on disagree about a slot of its request.
    pub fn open(&self) -> Vec<usize> {
        let view = self.view();
        (0..self.procedure.nodes.len()).filter(|&node| self.blocked(&view, node).is_none()).collect()
    }

    /// Why a node may not come, with these arguments or whatever they are. `None` if it may.
    pub fn obstacle(&self, node: usize, arguments: Option<&Values>) -> Option<Obstacle> {
        if node >= self.procedure.nodes.len() {
            return Some(Obstacle::Unknown);
        }
        let view = self.view();
        let rule = self.rule(&view, node);
        match rule {
            // the order is the last of all rules
            None | Some(Obstacle::Order) => {
                arguments.and_then(|arguments| self.wrong_arguments(node, arguments)).or(rule)
            }
            rule => rule,
        }
    }

    /// Lines that say what may come and why the rest may not: `open:` with the description of each node, and `blocked:`
    /// with the obstacle of each.
    pub fn feedback(&self) -> String {
        let view = self.view();
        let (mut open, mut blocked) = (String::from("open:\n"), String::from("blocked:\n"));
        for (index, node) in self.procedure.nodes.iter().enumerate() {
            match self.blocked(&view, index) {
                None if node.description.is_empty() => open.push_str(&format!("  {}\n", node.name)),
                None => open.push_str(&format!("  {}: {}\n", node.name, node.description)),
                Some(obstacle) => blocked.push_str(&format!("  {}: {obstacle}\n", node.name)),
            }
        }
        open + &blocked
    }

    fn blocked(&self, view: &View, node: usize) -> Option<Obstacle> {
        match self.rule(view, node) {
            None | Some(Obstacle::Order) if self.conflict(node).is_some() => self.conflict(node),
            rule => rule,
        }
    }

    fn rule(&self, view: &View, node: usize) -> Option<Obstacle> {
        let procedure = self.procedure;
        let declared = &procedure.nodes[node];
        Some(match rules::broken(procedure, self.mode, &self.marks, view, node)? {
            Rule::Precondition(place) => {
                let precondition = &procedure.preconditions[node][place];
                let name = &procedure.nodes[precondition.node].name;
                let is_done = self.marks.done[precondition.node] != Status::No;
                Obstacle::Precondition(match precondition.status.filter(|_| is_done) {
                    Some(Status::Error) => format!("{name}!error"),
                    Some(_) => format!("{name}!ok"),
                    None => name.clone(),
                })
            }
            Rule::Limit => Obstacle::Limit(declared.max_calls.unwrap_or_default()),
            Rule::Guard => self.closed_guard(view, node),
            Rule::Order => Obstacle::Order,
        })
    }

    /// The outermost test that keeps the first call of a node closed.
    fn closed_guard(&self, view: &View, node: usize) -> Obstacle {
        let procedure = self.procedure;
        let guard = procedure.sites_of[node].first().and_then(|&site| procedure.sites[site].guard);
        let fails = |guard: &&Guard| {
            let truth = view.evaluation.test(procedure, &self.marks, &guard.test);
            matches!(truth, Truth::False | Truth::Closed)
        };
        let name = |api: &usize| procedure.nodes[*api].name.as_str();
        // the path begins with the innermost one
        let (condition, values) = match procedure.guards.path(guard, None).filter(fails).last() {
            None => (String::new(), String::new()),
            Some(guard) => match &guard.test {
                Test::Condition { expr, wanted: true } => (self.condition(*expr), self.values(*expr)),
                Test::Condition { expr, .. } => {
                    (format!("not ({})", self.condition(*expr)), self.values(*expr))
                }
                Test::NoError(api) => (format!("no error of {}", name(api)), String::new()),
                Test::Raised { of, wanted } => {
                    let names: Vec<&str> = procedure.guards.tries[*of].iter().map(name).collect();
                    let article = if *wanted { "an" } else { "no" };
                    (format!("{article} error of {}", names.join(" or ")), String::new())
                }
                Test::NotAll { from, .. } => match procedure.guards.list[*from as usize].test {
                    Test::Condition { expr, .. } => {
                        (format!("not ({})", self.condition(expr)), self.values(expr))
                    }
                    _ => (String::new(), String::new()),
                },
            },
        };
        Obstacle::Guard { condition, values }
    }

    /// The condition that an expression is part of, as written.
    fn condition(&self, expression: ExprId) -> String {
        let conditions = &self.procedure.program.expressions.conditions;
        let place = conditions.partition_point(|condition| condition.root < expression);
        conditions.get(place).map(|condition| condition.text.clone()).unwrap_or_default()
    }

    /// The values that the condition of an expression reads.
    fn values(&self, expression: ExprId) -> String {
        let expressions = &self.procedure.program.expressions;
        let place = expressions.conditions.partition_point(|condition| condition.root < expression);
        let Some(condition) = expressions.conditions.get(place) else { return String::new() };
        let mut texts = Vec::new();
        for id in condition.first..=condition.root {
            if let Expr::Slot { register: Some(register), .. } | Expr::Call { register: Some(register), .. } =
                expressions.get(id)
            {
                let name = self.procedure.register_name(*register);
                texts.push(match &self.marks.values[*register as usize] {
                    Some(value) => format!("{name} = {value}"),
                    None => format!("{name} is not known"),
                });
            }
        }
        texts.join(", ")
    }

    /// The arguments of the last answered call of a precondition of a node, with its index.
    fn bases(&self, node: usize) -> impl Iterator<Item = (usize, &Values)> {
        self.procedure.preconditions[node].iter().filter_map(|precondition| {
            let is_done = self.marks.done[precondition.node] != Status::No;
            let answer = self.answers[precondition.node].as_ref().filter(|_| is_done)?;
            Some((precondition.node, &answer.arguments))
        })
    }

    /// Two calls that a call builds on and that do not agree about a slot.
    fn conflict(&self, node: usize) -> Option<Obstacle> {
        let declared = &self.procedure.nodes[node];
        for slot in declared.request.iter().filter(|slot| !declared.rebind.contains(slot)) {
            let mut known: Option<Scalar> = None;
            for (api, arguments) in self.bases(node) {
                let Some(value) = arguments.get(slot).map(Scalar::of) else { continue };
                if known.as_ref().is_some_and(|known| *known != value) {
                    let api = self.procedure.nodes[api].name.clone();
                    return Some(Obstacle::Stale { api, slot: slot.clone() });
                }
                known = Some(value);
            }
        }
        None
    }

    fn wrong_arguments(&self, node: usize, arguments: &Values) -> Option<Obstacle> {
        let declared = &self.procedure.nodes[node];
        if declared.kind != NodeKind::Api {
            return None;
        }
        let given = |slot: &String| arguments.get(slot).filter(|value| !value.is_null());
        for (api, base) in self.bases(node) {
            let request = &self.procedure.nodes[api].request;
            let shared = declared.request.iter().filter(|slot| request.contains(slot));
            for slot in shared.filter(|slot| !declared.rebind.contains(slot)) {
                let before = base.get(slot).filter(|value| !value.is_null());
                if let (Some(before), Some(now)) = (before, given(slot))
                    && Scalar::of(before) != Scalar::of(now)
                {
                    let api = self.procedure.nodes[api].name.clone();
                    return Some(Obstacle::Stale { api, slot: slot.clone() });
                }
            }
        }
        let required = |slot: &&String| !declared.optional.contains(slot) && !arguments.contains_key(*slot);
        if let Some(slot) = declared.request.iter().find(required) {
            return Some(Obstacle::Argument(slot.clone()));
        }
        let is_last = self.last.as_ref().is_some_and(|(api, last)| *api == node && last == arguments);
        is_last.then_some(Obstacle::Repeat)
    }

    /// The agent calls an API. The call waits for [its result](Session::result) even if there is an obstacle, which is given:
    /// what a session did is followed whether it was right or not.
    pub fn call(&mut self, api: usize, arguments: Values, judge_arguments: bool) -> Option<Obstacle> {
        let obstacle = match self.procedure.nodes.get(api).map(|node| node.kind) {
            Some(NodeKind::Api) => self.obstacle(api, Some(&arguments).filter(|_| judge_arguments)),
            _ => Some(Obstacle::Unknown),
        };
        if obstacle == Some(Obstacle::Unknown) {
            self.pending = None;
            return obstacle;
        }
        let failed = if obstacle.is_none() { self.advance(api) } else { None };
        self.pending = Some(Pending { api, arguments, failed });
        obstacle
    }

    /// The system answers the call that waits; `error` in the result says that it failed. Without a call that waits nothing
    /// happens.
    pub fn result(&mut self, result: &Values) {
        let Some(Pending { api, arguments, failed }) = self.pending.take() else { return };
        let is_error = result.get("error").is_some_and(|error| match error {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty(),
            _ => true,
        });
        let status = if is_error { Status::Error } else { Status::Ok };
        let response = self.procedure.nodes[api].response.iter().map(|slot| result.get(slot).cloned());
        let answer = Answer { status, arguments: arguments.clone(), response: response.collect() };
        let is_new = self.answers[api].as_ref() != Some(&answer);
        self.marks.answered(self.procedure, api, status, is_new);
        for &register in &self.procedure.writes[api] {
            let slot = &self.procedure.registers[register as usize].slot;
            self.marks.values[register as usize] = result.get(slot).map(Scalar::of);
        }
        self.answers[api] = Some(answer);
        self.last = Some((api, arguments));
        if let Some(failed) = failed.filter(|_| is_error) {
            self.points = failed;
        }
    }

    /// The agent says an answer; an obstacle is given, and the answer counts as said all the same.
    pub fn say(&mut self, answer: usize) -> Option<Obstacle> {
        self.last = None;
        let kind = self.procedure.nodes.get(answer).map(|node| node.kind);
        let obstacle = match kind {
            None | Some(NodeKind::Api) => return Some(Obstacle::Unknown),
            Some(_) => self.obstacle(answer, None),
        };
        if obstacle.is_none() && kind == Some(NodeKind::Inform) {
            self.advance(answer);
        }
        self.marks.said(self.procedure, answer);
        self.is_complete |= obstacle.is_none() && self.procedure.is_closing(answer);
        obstacle
    }

    /// The agent says what is no node.
    pub fn free(&mut self) {
        self.last = None;
    }

    /// The user decides a slot.
    pub fn decide(&mut self, slot: &str, value: &Value) {
        for register in 0..self.procedure.registers.len() {
            if self.procedure.register_name(register as u32) == slot {
                self.marks.values[register] = Some(Scalar::of(value));
            }
        }
    }

    /// Moves the control flow past a node. Gives where it goes on after an error.
    fn advance(&mut self, node: usize) -> Option<Box<[PointId]>> {
        if self.mode != Mode::Strict {
            return None;
        }
        let step = self.procedure.flow.step(&self.view().calls, node)?;
        self.points = step.answered;
        Some(step.failed)
    }
}
