//! One session: turns of the user and the agent until the user leaves.

use super::controllers::{Memory, REFUSAL_CAP};
use super::decision::{self, CANCEL, DecisionRequest};
use super::nearest::nearest;
use super::options::{AgentOptions, Mask};
use super::record::{Ending, Entry, Record};
use super::user::{Reply, Said, User};
use super::{Agent, Situation, errors};
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata::syntax::automaton_spec::{self, Options, Spec};
use grammata_agents::plan::{Environment, Step};
use grammata_agents::procedures::{
    Act, Arguments, Conversation, Mode, NodeKind, Obstacle, Offer, Procedure, Resolved, Session, Status,
    Turns, Values, Workflow,
};
use serde_json::{Value, json};

grammata_base::options! {
    /// Bounds of a session.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct RunOptions {
        /// The most messages of the user; 0 counts as 1. 20 by default.
        pub user_messages: usize = 20,
        /// The maximum number of acts of the agent in one turn, unless the controllers have a bound of their own. 6 by
        /// default.
        pub acts: usize = 6,
        /// The number of unreadable steps in one turn at which a fixed reply ends the turn; 0 counts as 1. Without
        /// controllers it also bounds refused acts, counted separately. 3 by default.
        pub tries: usize = 3,
        /// Limits on the size of grammars and prompts and on the work to build them.
        pub limits: Limits,
    }
}

/// The reply that ends a turn in which the agent used up its acts or its tries.
const NO_REPLY: &str = "Sorry, I cannot go on with that. Could you say it in other words?";
/// The reply that ends a stalled conversation.
const STALLED: &str = "I can do no more for you here. Goodbye.";
/// The reply if the session cannot continue.
const FAILED: &str = "Sorry, something went wrong here, and I cannot go on.";

/// Runs a session: the first workflow is the user's, the others may interrupt it.
///
/// # Errors
/// - `procedure/none` if there are no workflows.
/// - `procedure/result` if the data of an observation is neither an object nor null.
/// - `procedure/refusals` if 50 acts of one turn are refused and no smaller bound ends the turn.
/// - `procedure/call-format` if the call format of the options has no turns with text.
/// - Failures of the agent, of the user and of the environment. `environment/failed` and `environment/timeout` are no
///   such failures: the procedure sees them as the result of the call.
/// - Unsupported schemas of slots, invalid patterns of claims (`regex/…`), and limits.
pub fn run(
    workflows: &[Workflow<'_>],
    binding: &AgentOptions,
    agent: &mut dyn Agent,
    user: &mut dyn User,
    environment: &mut dyn Environment,
    options: &RunOptions,
) -> Result<Record> {
    let conversation = Conversation::new(workflows).ok_or_else(errors::no_workflow)?;
    let conversation = conversation.provenance(binding.provenance && binding.narrow);
    let mut specs = Vec::with_capacity(workflows.len());
    for workflow in workflows {
        specs.push(spec_of(workflow.procedure(), &options.limits)?);
    }
    let record = Record::new(conversation.session().procedure().name());
    let memory = Memory::default();
    let mut driver = Driver { conversation, record, memory, specs, binding, agent, environment, options };
    driver.run(user)?;
    driver.record.usage = driver.agent.usage();
    driver.record.is_complete = driver.conversation.is_complete();
    Ok(driver.record)
}

/// Returns a spec whose actions are the APIs of a procedure; `None` if it has none.
fn spec_of(procedure: &Procedure, limits: &Limits) -> Result<Option<Spec>> {
    let session = Session::new(procedure, Mode::Graph);
    let mut symbols = Values::new();
    for (api, node) in procedure.nodes().iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Api) {
        let schema = Arguments::plain(&session, api).schema();
        symbols
            .insert(node.name.clone(), json!({ "text": format!("{} {{}}", node.name), "arguments": schema }));
    }
    if symbols.is_empty() {
        return Ok(None);
    }
    let names: Vec<&String> = symbols.keys().collect();
    let text = json!({
        "kind": "dfa",
        "symbols": symbols,
        "start": "session",
        "accepting": ["session"],
        "transitions": [{ "from": "session", "input": names, "to": "session" }],
    });
    let format = automaton_spec::Format::Json;
    let options = Options::default().format(format).limits(limits.clone());
    Spec::read(&text.to_string(), &options).map(Some)
}

struct Driver<'w, 'r> {
    conversation: Conversation<'w>,
    record: Record,
    memory: Memory,
    specs: Vec<Option<Spec>>,
    binding: &'r AgentOptions,
    agent: &'r mut dyn Agent,
    environment: &'r mut dyn Environment,
    options: &'r RunOptions,
}

/// A reply of the agent: its text, its node, the slots that it asks for, and the slots that the user decides after it.
struct Spoken {
    text: String,
    node: Option<usize>,
    asks: Vec<String>,
    decisions: Vec<String>,
}

impl Driver<'_, '_> {
    fn run(&mut self, user: &mut dyn User) -> Result<()> {
        let mut reply = user.open()?;
        let mut spoken: Option<Spoken> = None;
        for messages in 1.. {
            let Reply::Message { text, kind, tells } = reply else {
                self.record.ending = Ending::Left;
                return Ok(());
            };
            self.conversation.hear(&text);
            self.note(Entry::User { text: text.clone(), kind, tells });
            if let Some(spoken) = &spoken {
                self.decide(spoken, &text)?;
            }
            let is_bound = self.binding.progress && matches!(self.binding.mask, Mask::Open(_));
            if is_bound && self.conversation.is_stalled() {
                self.say_instead(STALLED);
                self.record.ending = Ending::Stalled;
                return Ok(());
            }
            let said = self.turn()?;
            if matches!(self.record.ending, Ending::Failed(_)) {
                return Ok(());
            }
            let procedure = self.conversation.session().procedure();
            let node = said.node.filter(|&node| procedure.nodes()[node].kind != NodeKind::OutOfWorkflow);
            reply = user.reply(&Said {
                text: &said.text,
                node: node.map(|node| procedure.nodes()[node].name.as_str()),
                asks: &said.asks,
                decisions: &said.decisions,
                is_closing: self.conversation.is_complete()
                    && node.is_some_and(|node| procedure.is_closing(node)),
            })?;
            // a reply out of the workflow leaves the decision open
            spoken = match spoken.filter(|_| node.is_none()) {
                Some(before) if self.is_undecided(&before) => Some(before),
                _ => Some(said),
            };
            if messages >= self.options.user_messages && reply != Reply::End {
                self.record.ending = Ending::Turns;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns whether a decision of the user is missing after an answer that was not taken back.
    fn is_undecided(&self, spoken: &Spoken) -> bool {
        let session = self.conversation.session();
        let is_said = spoken.node.is_some_and(|node| session.status(node) == Status::Ok);
        is_said && spoken.decisions.iter().any(|slot| !session.is_decided(slot))
    }

    fn note(&mut self, entry: Entry) {
        self.record.entries.push((self.conversation.depth() - 1, entry));
    }

    /// Asks the agent what the user decided with a reply to an answer, and records the decisions. A decision to drop
    /// the request ends the questions.
    fn decide(&mut self, spoken: &Spoken, reply: &str) -> Result<()> {
        let Some(node) = spoken.node else { return Ok(()) };
        for slot in &spoken.decisions {
            let mut choices = decision::choices(&self.conversation, node, slot, reply);
            choices.push((CANCEL.to_owned(), Value::Null));
            let procedure = self.conversation.session().procedure();
            let declared = procedure.slot(slot);
            let request = DecisionRequest {
                slot,
                description: declared.map_or("", |slot| slot.description.as_str()),
                said: &spoken.text,
                reply,
                choices,
            };
            match self.agent.decide(&request)? {
                Some(Value::Null) => {
                    self.conversation.session_mut().cancel();
                    self.note(Entry::Cancel);
                    return Ok(());
                }
                value => {
                    if let Some(value) = &value {
                        self.conversation.decide(slot, value);
                    }
                    self.note(Entry::Decide { slot: slot.clone(), value });
                }
            }
        }
        Ok(())
    }

    /// Runs the agent until it says something. If a bound is reached or the session cannot continue, the result is a
    /// fixed reply.
    fn turn(&mut self) -> Result<Spoken> {
        let mut refusals: Vec<String> = Vec::new();
        let (mut acts, mut unread, mut refused) = (0, 0, 0);
        loop {
            let quirks = self.binding.controllers.map(|controllers| controllers.quirks);
            if acts >= quirks.and_then(|quirks| quirks.acts_in_turn).unwrap_or(self.options.acts) {
                return Ok(self.say_instead(NO_REPLY));
            }
            let offers = match self.binding.mask {
                // a call in a call format is read with the tools that may be called
                Mask::None if self.binding.calls.is_none() => Vec::new(),
                Mask::None | Mask::Form | Mask::Open(_) => self.conversation.offers(&self.binding.offering()),
            };
            let offers = match self.binding.nearest {
                Some(most) => nearest(offers, self.conversation.session(), most, &self.options.limits)?,
                None => offers,
            };
            let written = self.agent.write(&Situation {
                conversation: &self.conversation,
                record: &self.record,
                offers: &offers,
                binding: self.binding,
                refusals: &refusals,
            })?;
            let Some(act) = self.read(&written, &offers)? else {
                self.record.refusals += 1;
                unread += 1;
                refusals.push("that was no step in the form asked for".to_owned());
                self.note(Entry::Unread(written));
                if unread >= self.options.tries {
                    return Ok(self.say_instead(NO_REPLY));
                }
                continue;
            };
            let act = self.conversation.resolve(act);
            if let Some(reason) = self.refusal(&act) {
                self.record.refusals += 1;
                refused += 1;
                refusals.push(reason.clone());
                self.note(Entry::Refused {
                    written: grammata_agents::procedures::one_line(&written),
                    reason,
                });
                let is_bounded = !quirks.is_some_and(|quirks| quirks.unbounded_refusals);
                let most =
                    self.binding.controllers.map_or(self.options.tries, |controllers| controllers.most_tries);
                if is_bounded && refused >= most {
                    return Ok(self.say_instead(NO_REPLY));
                }
                if refused >= REFUSAL_CAP {
                    return Err(errors::refusals(refused));
                }
                continue;
            }
            acts += 1;
            self.memory.carried_out(&act);
            if let Some(spoken) = self.act(act)? {
                return Ok(spoken);
            }
            refusals.clear();
        }
    }

    /// Parses what the agent wrote. Returns `None` if it is not an act.
    fn read(&self, written: &str, offers: &[Offer]) -> Result<Option<Act>> {
        let Some(format) = &self.binding.calls else { return Ok(Act::read(written, self.binding.format)) };
        let procedure = self.conversation.session().procedure();
        let options = self.binding.step_options(&self.options.limits);
        Turns::new(procedure, offers, format, &options)?.read(written)
    }

    /// Returns why an act is not carried out; `None` if it is. If there are controllers, they alone decide. Otherwise,
    /// under a mask of open steps, an act with an obstacle is refused; obstacles of arguments do not count if arguments
    /// are not narrowed. Under other masks, only a call of an unknown name is refused.
    fn refusal(&mut self, act: &Resolved) -> Option<String> {
        if let Some(controllers) = &self.binding.controllers {
            let procedure = self.conversation.session().procedure();
            return self.memory.judge(procedure, controllers, act);
        }
        match (self.binding.mask, act) {
            (Mask::Open(_), _) => {
                let obstacle = self.conversation.obstacle(act);
                // plain schemas do not enforce consistent arguments
                let is_lenient = !self.binding.narrow;
                let is_argument = |obstacle: &Obstacle| {
                    matches!(
                        obstacle,
                        Obstacle::Stale { .. }
                            | Obstacle::Argument(_)
                            | Obstacle::Schema { .. }
                            | Obstacle::Unsaid(_)
                            | Obstacle::Again
                    )
                };
                obstacle
                    .filter(|obstacle| !(is_lenient && is_argument(obstacle)))
                    .map(|obstacle| obstacle.to_string())
            }
            (_, Resolved::Unknown(name)) => Some(format!("there is no API {name}")),
            _ => None,
        }
    }

    fn say_instead(&mut self, text: &str) -> Spoken {
        self.conversation.take(&Resolved::Free { kind: "free", text: text.to_owned() });
        self.note(Entry::Free { kind: "free".to_owned(), text: text.to_owned() });
        Spoken { text: text.to_owned(), node: None, asks: Vec::new(), decisions: Vec::new() }
    }

    /// Carries out an act. Returns the reply, if it ends the turn.
    fn act(&mut self, act: Resolved) -> Result<Option<Spoken>> {
        let procedure = self.conversation.session().procedure();
        let name = |node: usize| procedure.nodes()[node].name.clone();
        match &act {
            Resolved::Call { api, arguments } => {
                let (api, arguments) = (*api, arguments.clone());
                self.note(Entry::Call { api: name(api), arguments: arguments.clone() });
                self.conversation.take(&act);
                return self.answer(api, arguments);
            }
            Resolved::Say { node, asks, text } => {
                self.note(Entry::Say { node: name(*node), text: text.clone(), asks: asks.clone() });
                let spoken = Spoken {
                    text: text.clone(),
                    node: Some(*node),
                    asks: asks.clone(),
                    decisions: procedure.decisions(*node).to_vec(),
                };
                let depth = self.conversation.depth();
                self.conversation.take(&act);
                let is_over = self.conversation.depth() < depth;
                let spoken =
                    if is_over { Spoken { node: None, decisions: Vec::new(), ..spoken } } else { spoken };
                return Ok(Some(spoken));
            }
            Resolved::Free { kind, text } => {
                self.note(Entry::Free { kind: (*kind).to_owned(), text: text.clone() });
                self.conversation.take(&act);
                let text = text.clone();
                return Ok(Some(Spoken { text, node: None, asks: Vec::new(), decisions: Vec::new() }));
            }
            Resolved::Switch(_) => {
                self.conversation.take(&act);
                let name = self.conversation.session().procedure().name().to_owned();
                self.record.entries.push((self.conversation.depth() - 2, Entry::Switch(name)));
            }
            Resolved::Return => {
                self.note(Entry::Return);
                self.conversation.take(&act);
            }
            Resolved::Unknown(_) => {}
        }
        Ok(None)
    }

    /// Carries out a call and applies its result. Returns a fixed reply if the session cannot continue, and `None`
    /// otherwise.
    fn answer(&mut self, api: usize, arguments: Values) -> Result<Option<Spoken>> {
        let (result, failure) = self.execute(api, arguments)?;
        let session = self.conversation.session();
        let procedure = session.procedure();
        let name = &procedure.nodes()[api].name;
        let problem = session.foreign(api, &result);
        self.note(Entry::Result(result.clone()));
        self.conversation.result(&result);
        if let Some((found, allowed)) = problem {
            self.record.ending = Ending::Failed(errors::result(name, &found, &allowed));
            return Ok(Some(self.say_instead(FAILED)));
        }
        let is_error = self.conversation.session().status(api) == Status::Error;
        if is_error && !procedure.catches(api) {
            let error = failure.unwrap_or_else(|| {
                let text = result.get("error").map(ToString::to_string).unwrap_or_default();
                let allowed = "a result, or an `except` in the procedure that catches the error";
                errors::result(name, &text, allowed)
            });
            self.record.ending = Ending::Failed(error);
            return Ok(Some(self.say_instead(FAILED)));
        }
        Ok(None)
    }

    /// Returns the result of a call. If the environment failed (`environment/failed`, `environment/timeout`), also
    /// returns the failure; the result is then the error that the procedure sees.
    fn execute(&mut self, api: usize, arguments: Values) -> Result<(Values, Option<Error>)> {
        let procedure = self.conversation.session().procedure();
        let name = procedure.nodes()[api].name.clone();
        let Some(spec) = &self.specs[self.conversation.workflow()] else {
            return Ok(Default::default());
        };
        let Some(action) = spec.symbols().iter().position(|symbol| symbol.id == name) else {
            return Ok(Default::default());
        };
        let named = |result: Values| match procedure.nodes()[api].tool.as_deref() {
            Some(tool) => tool.result(result),
            None => result,
        };
        let step = Step { arguments: Some(Value::Object(arguments)), ..Step::of(action) };
        match self.environment.execute(spec, &step) {
            Ok(observation) => match observation.data {
                Value::Object(result) => Ok((named(result), None)),
                Value::Null => Ok(Default::default()),
                other => {
                    Err(errors::result(&name, &other.to_string(), "an object from slots to values as `data`"))
                }
            },
            Err(error) if matches!(error.code(), "environment/failed" | "environment/timeout") => {
                let text = error.diagnostic().message().to_owned();
                Ok((Values::from_iter([("error".to_owned(), Value::from(text))]), Some(error)))
            }
            Err(error) => Err(error),
        }
    }
}
