//! One conversation under a procedure: its values, the open nodes, and why the others are not open.

use super::obstacle::Obstacle;
use super::owners::Owners;
use super::pace::Pace;
use crate::procedures::automaton::automaton::StateId;
use crate::procedures::automaton::marks::Marks;
use crate::procedures::automaton::rules::{self, Mode, Rule, View};
use crate::procedures::automaton::supervisor::Supervisor;
use crate::procedures::automaton::truth::Evaluation;
use crate::procedures::language::declarations::NodeKind;
use crate::procedures::language::pdl::{Expr, ExprId};
use crate::procedures::language::status::Status;
use crate::procedures::language::value::{Scalar, Truth};
use crate::procedures::semantics::flow::PointId;
use crate::procedures::semantics::guards::{Guard, Test};
use crate::procedures::semantics::procedure::Procedure;
use serde_json::{Map, Value};

/// Arguments or results by slot.
pub type Values = Map<String, Value>;

/// An answer of an API: the arguments of the call and the values of its response.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::procedures) struct Answer {
    pub(in crate::procedures) status: Status,
    pub(in crate::procedures) arguments: Values,
    pub(in crate::procedures) response: Vec<Option<Value>>,
}

/// A pending call.
#[derive(Clone, Debug)]
struct Pending {
    api: usize,
    arguments: Values,
    /// Where the control flow continues after an error; `None` if the call was not allowed or the mode is not `strict`.
    failed: Option<Box<[PointId]>>,
}

/// The state of one conversation.
#[derive(Clone, Debug)]
pub struct Session<'p> {
    pub(in crate::procedures) procedure: &'p Procedure,
    mode: Mode,
    supervisor: Option<&'p Supervisor<'p>>,
    pub(in crate::procedures) marks: Marks<Scalar>,
    /// By node: the last answer, even if it was taken back.
    pub(in crate::procedures) answers: Vec<Option<Answer>>,
    /// The answered calls of this turn, without those that depend on an API that has given another answer since.
    pub(in crate::procedures) made: Vec<(usize, Values)>,
    pub(in crate::procedures) points: Box<[PointId]>,
    pending: Option<Pending>,
    /// The last value of each slot that calls, results, decisions or [`tell`](Session::tell) told.
    pub(in crate::procedures) known: Values,
    /// Decisions of the user that were not taken back.
    pub(in crate::procedures) decided: Values,
    /// The user's messages, the oldest first.
    pub(in crate::procedures) heard: Vec<String>,
    pub(in crate::procedures) owners: Owners,
    /// Whether somebody must have said the values of arguments.
    pub(in crate::procedures) asks_for_owners: bool,
    pub(in crate::procedures) pace: Pace,
    is_cancelled: bool,
    is_complete: bool,
}

impl<'p> Session<'p> {
    /// Creates a conversation before its first message. Only the rules of the mode bind the agent.
    pub fn new(procedure: &'p Procedure, mode: Mode) -> Session<'p> {
        Session {
            procedure,
            mode,
            supervisor: None,
            marks: Marks::new(procedure),
            answers: vec![None; procedure.nodes.len()],
            made: Vec::new(),
            points: [procedure.flow.entry()].into(),
            pending: None,
            known: Values::new(),
            decided: Values::new(),
            heard: Vec::new(),
            owners: Owners::default(),
            asks_for_owners: true,
            pace: Pace::default(),
            is_cancelled: false,
            is_complete: false,
        }
    }

    /// Creates a conversation that forbids a node if one of its outcomes leaves the supremal controllable and
    /// nonblocking set of states. In a state that the automaton lacks (for instance after a response without a slot
    /// that conditions test, or after an error that is not caught), only the rules of the mode hold.
    pub fn supervised(supervisor: &'p Supervisor<'p>) -> Session<'p> {
        let session = Session::new(supervisor.procedure(), supervisor.mode());
        Session { supervisor: Some(supervisor), ..session }
    }

    /// Returns a copy of the conversation without its supervisor: only the rules of the mode bind the agent.
    pub fn unsupervised(&self) -> Session<'p> {
        Session { supervisor: None, ..self.clone() }
    }

    /// Sets whether values of arguments must have been said: in a message of the user, a result, a decision of the
    /// user, or as a default of the file. Nothing is required before the first message. On by default.
    #[must_use]
    pub fn provenance(mut self, is_on: bool) -> Session<'p> {
        self.asks_for_owners = is_on;
        self
    }

    /// Returns whether somebody must have said the values of arguments now; false before the user's first message.
    pub(in crate::procedures) fn asks_for_owners(&self) -> bool {
        self.asks_for_owners && !self.owners.messages.is_empty()
    }

    /// Returns the mode whose rules bind the agent.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the last value of each slot that calls, results, decisions or [`tell`](Session::tell) told.
    pub fn known(&self) -> &Map<String, Value> {
        &self.known
    }

    /// Returns the last value of a slot: `slot`, or `API.slot` and `API-slot` for the response of an API. `None` if no
    /// value is known.
    pub fn value(&self, name: &str) -> Option<&Value> {
        let of_result = name.split_once(['.', '-']).and_then(|(api, slot)| {
            let api = self.procedure.node(api)?;
            let place = self.procedure.nodes[api].response.iter().position(|known| known == slot)?;
            self.answers[api].as_ref()?.response.get(place)?.as_ref()
        });
        of_result.or_else(|| self.known.get(name))
    }

    /// Sets a value that is known before the conversation, such as one from a procedure that this one interrupts. The
    /// value counts as said for this slot.
    pub fn tell(&mut self, slot: &str, value: Value) {
        self.owners.given(slot, value.clone());
        self.known.insert(slot.to_owned(), value);
    }

    /// Records a message of the user, which begins a turn. Arguments may quote it.
    pub fn hear(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.made.clear();
        let procedure = self.procedure;
        let requested = procedure.nodes.iter().flat_map(|node| &node.request);
        let declared = procedure.slots.iter().map(|slot| &slot.name);
        let names: Vec<&str> = declared.chain(requested).map(String::as_str).collect();
        self.owners.hear(&text, &names);
        let rank = self.rank();
        self.pace.hear(&text, rank);
        self.heard.push(text);
    }

    /// Returns the smallest number of acts up to and including a closing answer; `None` without a supervisor, and in
    /// states that its automaton lacks or from which it does not guarantee a closing answer.
    fn rank(&self) -> Option<u32> {
        self.supervisor?.rank_of(&self.marks, &self.points)
    }

    /// Returns whether some outcome of a node has a lower rank than each state since the user last said or decided
    /// something new. True if there is no supervisor, or if none of these states has a rank.
    pub fn may_lower(&self, node: usize) -> bool {
        let Some(supervisor) = self.supervisor else { return true };
        let Some(lowest) = self.pace.lowest else { return true };
        supervisor.least_rank_after(&self.marks, &self.points, node).is_some_and(|rank| rank < lowest)
    }

    /// Returns whether acts that do not bring a closing answer nearer are bounded: if there is a supervisor, until a
    /// closing answer is said.
    pub fn has_pace(&self) -> bool {
        self.supervisor.is_some() && !self.is_complete
    }

    /// Returns whether the pace allows a node: always, until acts that do not bring a closing answer nearer are used
    /// up.
    pub(in crate::procedures) fn keeps_pace(&self, node: usize) -> bool {
        if !self.has_pace() {
            return true;
        }
        match self.procedure.nodes[node].kind {
            NodeKind::Api => !self.pace.is_over() && (!self.pace.is_pressed() || self.may_lower(node)),
            NodeKind::Request => true,
            NodeKind::OutOfWorkflow => !self.pace.is_idle(),
            NodeKind::Inform | NodeKind::Courtesy => {
                !self.pace.is_idle() || self.procedure.is_closing(node) || self.may_lower(node)
            }
        }
    }

    /// Returns whether the conversation should end: too many turns without news that did not bring a closing answer
    /// nearer. False without a supervisor, and once a closing answer was said.
    pub fn is_stalled(&self) -> bool {
        self.has_pace() && self.pace.is_stalled()
    }

    /// Returns the user's messages, the oldest first.
    pub fn heard(&self) -> &[String] {
        &self.heard
    }

    /// Records that the user drops the request: no call that changes something in the world is allowed any more.
    pub fn cancel(&mut self) {
        self.is_cancelled = true;
    }

    /// Returns whether the user dropped the request.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// Returns an outcome of a node after which results or decisions can prevent every closing answer; `None` if there
    /// is no such outcome or no supervisor, or if its automaton lacks the current state.
    fn leaving(&self, node: usize) -> Option<Obstacle> {
        let outcome = self.supervisor?.leaving_by(&self.marks, &self.points, node)?;
        Some(Obstacle::Blocking(outcome.text(self.procedure)))
    }

    /// Returns the procedure that the conversation follows.
    pub fn procedure(&self) -> &'p Procedure {
        self.procedure
    }

    /// Returns whether a closing answer was said when it was allowed.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the status of a node, by its index; [`Status::No`] for unknown indices.
    pub fn status(&self, node: usize) -> Status {
        self.marks.done.get(node).copied().unwrap_or_default()
    }

    /// Evaluates the conditions with the values of `told` for slots that are not set.
    pub(in crate::procedures) fn evaluation_with(&self, told: &Values) -> Evaluation {
        let mut marks = self.marks.clone();
        for (value, register) in marks.values.iter_mut().zip(&self.procedure.registers) {
            if value.is_none() {
                *value = told.get(&register.slot).map(Scalar::of);
            }
        }
        Evaluation::of(self.procedure, &marks)
    }

    fn view(&self) -> View {
        View::of(self.procedure, self.mode, &self.marks, &self.points)
    }

    /// Returns the indices of the open nodes, in ascending order. Arguments are not checked, but an API is left out if
    /// the calls on which it builds disagree about a slot of its request that is not in `rebind`.
    pub fn open(&self) -> Vec<usize> {
        let view = self.view();
        (0..self.procedure.nodes.len()).filter(|&node| self.blocked(&view, node).is_none()).collect()
    }

    /// Returns why a node is not open, or why a call with these arguments is not allowed; `None` if nothing forbids the
    /// act. If `arguments` is `None`, arguments are not checked. An unknown index is [`Obstacle::Unknown`].
    pub fn obstacle(&self, node: usize, arguments: Option<&Values>) -> Option<Obstacle> {
        if node >= self.procedure.nodes.len() {
            return Some(Obstacle::Unknown);
        }
        let view = self.view();
        let rule = self.rule(&view, node);
        match rule {
            // the control flow is checked last, so wrong arguments come first
            None | Some(Obstacle::Order) => {
                let wrong = arguments.and_then(|arguments| self.wrong_arguments(node, arguments));
                wrong.or(rule).or_else(|| self.leaving(node))
            }
            rule => rule,
        }
    }

    /// Returns lines with the open nodes and their descriptions (`open:`), and the other nodes with their obstacles
    /// (`blocked:`). While the values of arguments must have been said, a call that can have no arguments is blocked.
    pub fn feedback(&self) -> String {
        let view = self.view();
        let (mut open, mut blocked) = (String::from("open:\n"), String::from("blocked:\n"));
        for (index, node) in self.procedure.nodes.iter().enumerate() {
            match self.blocked(&view, index).or_else(|| self.lacking(index)) {
                None if node.description.is_empty() => open.push_str(&format!("  {}\n", node.name)),
                None => open.push_str(&format!("  {}: {}\n", node.name, node.description)),
                Some(obstacle) => blocked.push_str(&format!("  {}: {obstacle}\n", node.name)),
            }
        }
        open + &blocked
    }

    /// Returns why no arguments of a call are possible, if provenance is on and the user has said something. Returns
    /// `None` otherwise, for nodes that are not APIs, and if arguments are possible.
    pub fn lacking(&self, node: usize) -> Option<Obstacle> {
        let is_api = self.procedure.nodes[node].kind == NodeKind::Api;
        (is_api && self.asks_for_owners()).then(|| self.arguments(node).err()).flatten()
    }

    fn blocked(&self, view: &View, node: usize) -> Option<Obstacle> {
        match self.rule(view, node) {
            None | Some(Obstacle::Order) if self.conflict(node).is_some() => self.conflict(node),
            None => self.leaving(node),
            rule => rule,
        }
    }

    fn rule(&self, view: &View, node: usize) -> Option<Obstacle> {
        let procedure = self.procedure;
        let declared = &procedure.nodes[node];
        if self.is_cancelled && declared.writes {
            return Some(Obstacle::Cancelled);
        }
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

    /// Returns the outermost test that keeps the first call of a node closed.
    fn closed_guard(&self, view: &View, node: usize) -> Obstacle {
        let procedure = self.procedure;
        let guard = procedure.sites_of[node].first().and_then(|&site| procedure.sites[site].guard);
        let fails = |guard: &&Guard| {
            let truth = view.evaluation.test(procedure, &self.marks, &guard.test);
            matches!(truth, Truth::False | Truth::Closed)
        };
        let name = |api: &usize| procedure.nodes[*api].name.as_str();
        // the path begins with the innermost guard
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

    /// Returns the condition that contains an expression, as written.
    fn condition(&self, expression: ExprId) -> String {
        let conditions = &self.procedure.program.expressions.conditions;
        let place = conditions.partition_point(|condition| condition.root < expression);
        conditions.get(place).map(|condition| condition.text.clone()).unwrap_or_default()
    }

    /// Returns the values that the condition of an expression reads, joined by commas: `NAME = VALUE`, or `NAME is not
    /// known`. The name is `slot`, or `API.slot` for the result of an API.
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

    /// Returns the arguments of the last answered calls of those APIs that a node directly requires and that are done,
    /// each with the index of the API.
    pub(in crate::procedures) fn bases(&self, node: usize) -> impl Iterator<Item = (usize, &Values)> {
        self.procedure.preconditions[node].iter().filter_map(|precondition| {
            let is_done = self.marks.done[precondition.node] != Status::No;
            let answer = self.answers[precondition.node].as_ref().filter(|_| is_done)?;
            Some((precondition.node, &answer.arguments))
        })
    }

    /// Returns an obstacle if two calls on which a call builds disagree about a slot of its request that is not in
    /// `rebind`.
    pub(in crate::procedures) fn conflict(&self, node: usize) -> Option<Obstacle> {
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

    /// Records a call of the agent and returns its obstacle, if there is one. Arguments are checked only with
    /// `judge_arguments`. The call waits for [its result](Session::result) even if there is an obstacle, because wrong
    /// acts are followed too; only a call of an unknown node or of a node that is not an API has no result. An earlier
    /// call that still waits is dropped.
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
        self.known.extend(arguments.clone());
        self.pending = Some(Pending { api, arguments, failed });
        obstacle
    }

    /// Applies the result of the pending call. The call failed if the result has a member `error` other than null,
    /// false and the empty text. Without a pending call nothing happens.
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
        if is_new && self.marks.done[api] != Status::No {
            self.procedure.dependents(api).for_each(|node| self.forget(node));
        }
        self.marks.answered(self.procedure, api, status, is_new);
        for &register in &self.procedure.writes[api] {
            let slot = &self.procedure.registers[register as usize].slot;
            self.marks.values[register as usize] = result.get(slot).map(Scalar::of);
        }
        let told = self.procedure.nodes[api]
            .response
            .iter()
            .filter_map(|slot| Some((slot.clone(), result.get(slot)?.clone())));
        self.known.extend(told);
        self.owners.told(result);
        self.answers[api] = Some(answer);
        if is_new {
            let procedure = self.procedure;
            self.made.retain(|(made, _)| !procedure.depends_on(*made, api));
        }
        if !self.procedure.nodes[api].repeat {
            self.made.push((api, arguments));
        }
        if let Some(failed) = failed.filter(|_| is_error) {
            self.points = failed;
        }
        let rank = self.rank();
        self.pace.act(true, rank);
    }

    /// Records an answer of the agent and returns its obstacle, if there is one. The answer counts as said even if it
    /// is not allowed, unless the node is unknown or an API.
    pub fn say(&mut self, answer: usize) -> Option<Obstacle> {
        self.say_text(answer, "", &[])
    }

    /// Like [`say`](Session::say), with the text of the answer and the slots that it asks for; without slots, those
    /// that the node declares. If the user agrees to the text by a decision, its values count as said by the user.
    pub fn say_text(&mut self, answer: usize, text: &str, asks: &[String]) -> Option<Obstacle> {
        self.made.clear();
        let declared = self.procedure.nodes.get(answer).map_or(&[][..], |node| node.asks.as_slice());
        let asks = if asks.is_empty() { declared } else { asks };
        let is_question = self.procedure.nodes.get(answer).is_some_and(|node| node.kind == NodeKind::Request);
        self.owners.answered(text, asks, is_question);
        let kind = self.procedure.nodes.get(answer).map(|node| node.kind);
        let obstacle = match kind {
            None | Some(NodeKind::Api) => return Some(Obstacle::Unknown),
            Some(_) => self.obstacle(answer, None),
        };
        if obstacle.is_none() && kind == Some(NodeKind::Inform) {
            self.advance(answer);
        }
        self.forget(answer);
        self.marks.said(self.procedure, answer);
        self.is_complete |= obstacle.is_none() && self.procedure.is_closing(answer);
        let rank = self.rank();
        self.pace.act(false, rank);
        obstacle
    }

    /// Records a reply that is not a node. If the procedure has no node that asks for slots, the reply counts as a
    /// question for all slots.
    pub fn free(&mut self) {
        self.made.clear();
        let has_question = self.procedure.nodes.iter().any(|node| node.kind == NodeKind::Request);
        self.owners.answered("", &[], !has_question);
    }

    /// Takes back the decisions after an answer.
    fn forget(&mut self, node: usize) {
        self.procedure.targets[node].iter().for_each(|slot| drop(self.decided.remove(slot)));
    }

    /// Records a decision of the user on a slot. Unless the value is null or false, the text of the last answer then
    /// counts as said by the user.
    pub fn decide(&mut self, slot: &str, value: &Value) {
        self.made.clear();
        self.owners.decided(value);
        self.decided.insert(slot.to_owned(), value.clone());
        self.known.insert(slot.to_owned(), value.clone());
        for register in 0..self.procedure.registers.len() {
            if self.procedure.register_name(register as u32) == slot {
                self.marks.values[register] = Some(Scalar::of(value));
            }
        }
        let rank = self.rank();
        self.pace.decide(slot, value, rank);
    }

    /// Moves the control flow past a node in the mode `strict`. Returns where it continues after an error; `None` in
    /// other modes, and if no call of the node is reached.
    fn advance(&mut self, node: usize) -> Option<Box<[PointId]>> {
        if self.mode != Mode::Strict {
            return None;
        }
        let step = self.procedure.flow.step(&self.view().calls, node)?;
        self.points = step.answered;
        Some(step.failed)
    }
}

impl Supervisor<'_> {
    /// Returns the state of a session. Returns `None` if the automaton lacks it.
    pub fn state_of(&self, session: &Session<'_>) -> Option<StateId> {
        self.automaton().find(&session.marks, &session.points)
    }
}
