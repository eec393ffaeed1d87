//! A procedure as the rules of an agent.

use super::observed::{INTERRUPTED, failure};
use super::reasons::{Reasons, SAY, wrong_argument};
use super::response::slots;
use super::{Ask, ClientNames, Field, Open, OwnTool, Question, Reply, Rules, Values};
use crate::errors;
use crate::outcome::Outcome;
use crate::schema::{self, Checker};
use grammata::diagnostic::{excerpt, visible_lines};
use grammata::error::{Error, Result as Fallible};
use grammata_agents::procedures::{
    Arguments, Event, Node, NodeKind, Obstacle, Origin, Procedure, Session, Status, follow, verify,
};
use serde_json::{Map, Value, json};

const DECIDE: &str = "decide";
const USER: &str = "user";
/// The reason why nothing is decided with [`Ask::Refuse`].
const NO_DECISIONS: &str = "this guard takes no decisions (`--ask refuse`)";

/// Maximum bytes of all messages of the user; further messages are refused. The bound is needed because arguments may
/// quote any sequence of words of the messages.
const MOST_HEARD: usize = 20_000;
/// Maximum number of values that a schema lists when it is shown to the agent. Calls are checked against all values in
/// any case.
const MOST_LISTED: usize = 100;

/// Options of [`ProcedureRules`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcedureOptions {
    /// Whether the guard has a tool with which the agent reports the user's messages. Arguments whose source is the
    /// user must then quote these messages. If `false`, open their sources with `Procedure::open_sources`. False by
    /// default.
    pub hears_user: bool,
    /// Who decides the slots that the user decides. By default the guard asks the user.
    pub ask: Ask,
}

/// The rules of a procedure, with the current state of a conversation.
#[derive(Debug)]
pub struct ProcedureRules<'p> {
    session: Session<'p>,
    options: ProcedureOptions,
    /// The API that was called and whose result must be recorded next.
    pending: Option<usize>,
    /// The question that the last call has raised.
    question: Option<Question>,
    /// The slots of the question whose reply must be recorded next.
    asked: Vec<&'p str>,
    checker: Checker,
    names: ClientNames,
}

impl<'p> ProcedureRules<'p> {
    /// Creates the rules of a session.
    ///
    /// # Errors
    /// `guard/schema` for a slot whose schema is not a valid JSON Schema.
    pub fn new(session: Session<'p>, options: ProcedureOptions) -> Fallible<ProcedureRules<'p>> {
        for slot in session.procedure().slots() {
            let schema = slot.schema.as_ref().unwrap_or(&Value::Bool(true));
            schema::validator(schema).map_err(|cause| errors::schema(&slot.name, &cause))?;
        }
        Ok(ProcedureRules {
            session,
            options,
            pending: None,
            question: None,
            asked: Vec::new(),
            checker: Checker::default(),
            names: ClientNames::default(),
        })
    }

    /// Replays the events of an earlier session. If the last call has no result, it counts as failed, and the event of
    /// that result is returned for the log; otherwise `None`.
    ///
    /// # Errors
    /// `guard/trace` for a trace that violates the procedure.
    pub fn resume(&mut self, trace: &[Event]) -> Result<Option<Value>, Error> {
        let (verdict, _) = verify(self.procedure(), self.session.mode(), trace, true);
        if let Some(wrong) = verdict.violations.first() {
            return Err(errors::trace(wrong.event + 1, &wrong.node, &wrong.obstacle.to_string()));
        }
        trace.iter().for_each(|event| follow(&mut self.session, event));
        let last = trace.iter().rev().find(|event| !matches!(event, Event::Guide | Event::User(_)));
        if !matches!(last, Some(Event::Call(..))) {
            return Ok(None);
        }
        let result = failure(INTERRUPTED);
        self.session.result(&result);
        Ok(Some(json!(["result", result])))
    }

    fn procedure(&self) -> &'p Procedure {
        self.session.procedure()
    }

    /// Formats the obstacle of a node as a reason in one line.
    fn reason(&self, node: usize, obstacle: &Obstacle) -> String {
        Reasons { session: &self.session, names: &self.names }.text(node, obstacle)
    }

    /// Returns the nodes of the answers that the agent may give now.
    fn answers(&self) -> Vec<usize> {
        let nodes = self.procedure().nodes();
        let mut open = self.session.open();
        open.retain(|&node| nodes[node].kind != NodeKind::Api);
        open
    }

    /// Returns the slots that the user may decide now: those of answers that were given and were not taken back since.
    fn decisions(&self) -> Vec<&'p str> {
        let procedure = self.procedure();
        let mut slots: Vec<&str> = Vec::new();
        for node in (0..procedure.nodes().len()).filter(|&node| self.session.status(node) == Status::Ok) {
            for slot in procedure.decisions(node) {
                if procedure.nodes()[node].kind != NodeKind::Api && !slots.contains(&slot.as_str()) {
                    slots.push(slot);
                }
            }
        }
        slots
    }

    fn has_answers(&self) -> bool {
        self.procedure().nodes().iter().any(|node| node.kind != NodeKind::Api)
    }

    fn has_decisions(&self) -> bool {
        let procedure = self.procedure();
        let nodes = procedure.nodes().iter().enumerate();
        nodes
            .into_iter()
            .any(|(index, node)| node.kind != NodeKind::Api && !procedure.decisions(index).is_empty())
    }

    fn slot_schema(&self, slot: &str) -> Value {
        let declared = self.procedure().slot(slot).and_then(|slot| slot.schema.clone());
        declared.unwrap_or_else(|| json!({ "type": ["string", "number", "boolean"] }))
    }

    /// Returns the text of an answer with its values; without a text, its name in words.
    fn text(&self, node: usize) -> String {
        let (text, _) = self.session.fill(node);
        if !text.is_empty() { text } else { self.procedure().nodes()[node].name.replace('_', " ") }
    }

    fn say(&mut self, arguments: &Values) -> Result<String, String> {
        let name = arguments.get("answer").and_then(Value::as_str).ok_or("`answer` must be a text")?;
        let procedure = self.procedure();
        let node = procedure.node(name).filter(|&node| procedure.nodes()[node].kind != NodeKind::Api);
        let node = node.ok_or_else(|| format!("the procedure has no answer `{}`", excerpt(name)))?;
        if let Some(obstacle) = self.session.obstacle(node, None) {
            return Err(self.reason(node, &obstacle));
        }
        let declared = &procedure.nodes()[node];
        let (text, _) = self.session.fill(node);
        self.session.say(node);
        let mut told = match declared.kind {
            _ if !text.is_empty() => format!("Tell the user: {text}"),
            NodeKind::Request => "Ask the user for what you need.".to_owned(),
            NodeKind::OutOfWorkflow => "Answer the user; this is outside of the procedure.".to_owned(),
            _ => format!("Tell the user: {}.", self.text(node)),
        };
        let decisions = procedure.decisions(node);
        if !decisions.is_empty() {
            let slots = decisions.join(", ");
            match self.options.ask {
                Ask::Agent => told.push_str(&format!(" Then the user decides: {slots}.")),
                Ask::Refuse => told.push_str(&format!(" {slots}: {}.", NO_DECISIONS)),
                Ask::Elicit => self.raise(node, decisions.iter().map(String::as_str).collect()),
            }
        }
        if procedure.is_closing(node) && self.session.is_complete() {
            told.push_str(" The procedure is complete.");
        }
        Ok(told)
    }

    /// Raises the question for slots that the user decides after the answer `node`.
    fn raise(&mut self, node: usize, slots: Vec<&'p str>) {
        let field = |&slot: &&str| {
            let declared = self.procedure().slot(slot);
            let description = declared.map(|slot| slot.description.clone()).unwrap_or_default();
            Field { name: slot.to_owned(), schema: self.slot_schema(slot), description }
        };
        let text = visible_lines(&self.text(node)).into_owned();
        self.question = Some(Question { text, fields: slots.iter().map(field).collect() });
        self.asked = slots;
    }

    /// Records what the agent says that the user has decided: a value for each slot in `arguments`.
    fn decide(&mut self, arguments: &Values) -> Result<(Vec<Value>, String), String> {
        let open = self.decisions();
        if let Some(slot) = arguments.keys().find(|slot| !open.contains(&slot.as_str())) {
            return Err(format!("`{}` is not for the user to decide now", excerpt(slot)));
        }
        if arguments.is_empty() {
            return Err(format!("the arguments must have one of {}, with its value", open.join(", ")));
        }
        self.decided(arguments.iter())
    }

    /// Asks the user again for the slot in `arguments`.
    fn ask_again(&mut self, arguments: &Values) -> Result<(Vec<Value>, String), String> {
        let slot = arguments.get("slot").and_then(Value::as_str).ok_or("`slot` must be a text")?;
        let procedure = self.procedure();
        let open = self.decisions();
        let known = open.into_iter().find(|known| *known == slot);
        let known = known.ok_or_else(|| format!("`{}` is not for the user to decide now", excerpt(slot)))?;
        if arguments.len() > 1 {
            return Err("the user decides the value: give only `slot`".to_owned());
        }
        let asks = |&node: &usize| {
            procedure.nodes()[node].kind != NodeKind::Api
                && self.session.status(node) == Status::Ok
                && procedure.decisions(node).iter().any(|decision| decision == known)
        };
        if let Some(node) = (0..procedure.nodes().len()).rev().find(asks) {
            self.raise(node, vec![known]);
        }
        Err("the user has not decided".to_owned())
    }

    /// Records values that the user decided, if the schemas of their slots allow all of them.
    fn decided<'v>(
        &mut self,
        values: impl Iterator<Item = (&'v String, &'v Value)> + Clone,
    ) -> Result<(Vec<Value>, String), String> {
        for (slot, value) in values.clone() {
            let schema = self.slot_schema(slot);
            if !self.checker.allows(&schema, value) {
                return Err(format!("the value of `{slot}` is not of the schema {schema}"));
            }
        }
        let (mut events, mut told) = (Vec::new(), Vec::new());
        for (slot, value) in values {
            self.session.decide(slot, value);
            events.push(json!(["slot", slot, value]));
            told.push(format!("{slot}: {value}"));
        }
        Ok((events, format!("The user decided {}.", told.join(", "))))
    }

    /// Returns the tool with which the agent reports the user's decisions, or has the guard ask for them again.
    fn decide_tool(&self, decisions: &[&str]) -> OwnTool {
        if self.options.ask == Ask::Elicit {
            return OwnTool {
                name: DECIDE,
                description:
                    "Call this to ask the user again for a decision. The user answers the guard, not you."
                        .to_owned(),
                schema: json!({
                    "type": "object",
                    "properties": { "slot": { "type": "string", "enum": decisions } },
                    "required": ["slot"],
                    "additionalProperties": false,
                }),
            };
        }
        let required: &[&str] = if decisions.len() == 1 { decisions } else { &[] };
        let property = |slot: &&str| {
            let mut schema = self.slot_schema(slot);
            let description = self.procedure().slot(slot).map_or("", |slot| slot.description.as_str());
            if let Some(schema) = schema.as_object_mut().filter(|_| !description.is_empty()) {
                schema.entry("description").or_insert_with(|| description.into());
            }
            ((*slot).to_owned(), schema)
        };
        OwnTool {
            name: DECIDE,
            description:
                "Call this when the user has answered, with what the user decided; never decide for the user."
                    .to_owned(),
            schema: json!({
                "type": "object",
                "properties": decisions.iter().map(property).collect::<Values>(),
                "required": required,
                "additionalProperties": false,
            }),
        }
    }

    fn hear(&mut self, arguments: &Values) -> Result<String, String> {
        let text = arguments.get("text").and_then(Value::as_str).ok_or("`text` must be a text")?;
        let heard: usize = self.session.heard().iter().map(String::len).sum();
        if heard + text.len() > MOST_HEARD {
            return Err(format!("all messages of the user may have {MOST_HEARD} bytes"));
        }
        self.session.hear(text);
        Ok("Arguments may quote this now.".to_owned())
    }
}

/// Returns the name of the tool's argument for a slot of an API's request.
fn argument<'n>(node: &'n Node, slot: &'n str) -> &'n str {
    node.tool.as_ref().map_or(slot, |tool| tool.parameter(slot))
}

/// Returns the schemas of arguments by name, as shown to the agent: a list of more than [`MOST_LISTED`] values is
/// replaced by a description.
fn properties(arguments: &Arguments) -> Values {
    let mut schema = arguments.schema();
    let properties = schema.get_mut("properties").map(Value::take);
    let mut properties = match properties {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    for slot in &arguments.slots {
        let listed = match &slot.origin {
            Origin::Words(words) => words.len(),
            Origin::Told(values) => values.len(),
            Origin::Fixed(_) | Origin::Schema => 0,
        };
        if listed > MOST_LISTED {
            let known = "one of the values that the user or a result gave, as it was written there";
            properties.insert(slot.slot.clone(), json!({ "description": known }));
        }
    }
    properties
}

impl Rules for ProcedureRules<'_> {
    fn about(&self) -> String {
        let procedure = self.procedure();
        let mut text = format!("You are held to the procedure `{}`.", procedure.name());
        if !procedure.description().is_empty() {
            text.push_str(&format!(" {}", procedure.description()));
        }
        text.push_str(
            " Only tools that may be called now are listed, with the values that are known; list them again after \
             each call. A call that breaks the procedure is not carried out: its result says why, and which tools are \
             open.",
        );
        text
    }

    fn tools(&self) -> Vec<(String, Vec<String>)> {
        let apis = self.procedure().nodes().iter().filter(|node| node.kind == NodeKind::Api);
        let bound = |node: &Node| node.request.iter().map(|slot| argument(node, slot).to_owned()).collect();
        apis.map(|node| (node.name.clone(), bound(node))).collect()
    }

    fn server_name(&self, tool: &str) -> Option<&str> {
        let procedure = self.procedure();
        let node = procedure.nodes().get(procedure.node(tool)?)?;
        node.tool.as_ref().map(|tool| tool.tool.name.as_str())
    }

    fn use_names(&mut self, names: ClientNames) {
        self.names = names;
    }

    fn open(&self) -> Vec<Open> {
        let procedure = self.procedure();
        let mut open = Vec::new();
        for api in self.session.open() {
            let node = &procedure.nodes()[api];
            let Some(arguments) = Some(api)
                .filter(|_| node.kind == NodeKind::Api)
                .and_then(|api| self.session.arguments(api).ok())
            else {
                continue;
            };
            let describe = |(slot, mut schema): (String, Value)| {
                let description = procedure.slot(&slot).map_or("", |slot| slot.description.as_str());
                if let Some(schema) = schema.as_object_mut().filter(|_| !description.is_empty()) {
                    schema.entry("description").or_insert_with(|| description.into());
                }
                (argument(node, &slot).to_owned(), schema)
            };
            let properties = properties(&arguments).into_iter().map(describe).collect();
            let required = arguments.slots.iter().filter(|slot| slot.is_required);
            let required = required.map(|slot| argument(node, &slot.slot).to_owned()).collect();
            open.push(Open { tool: node.name.clone(), properties, required });
        }
        open
    }

    fn governs(&self, tool: &str, argument: &str) -> bool {
        let procedure = self.procedure();
        let node = procedure.node(tool).and_then(|node| procedure.nodes().get(node));
        // a slot whose argument has another name is governed too, so that a call with its name is refused
        node.is_none_or(|node| {
            node.request.iter().any(|slot| slot == argument || self::argument(node, slot) == argument)
        })
    }

    fn remarks(&self) -> Vec<String> {
        let procedure = self.procedure();
        let who = match self.options.ask {
            Ask::Elicit => "decided by the user, whom the guard asks through the client".to_owned(),
            Ask::Agent => {
                let decide = self.names.own(DECIDE);
                format!("decided by the user, as the agent reports with {decide}; the guard cannot check it")
            }
            Ask::Refuse => "never decided (`--ask refuse`)".to_owned(),
        };
        let nodes = procedure.nodes().iter().enumerate();
        let answers = nodes.filter(|(_, node)| node.kind != NodeKind::Api);
        let decided = answers.map(|(index, node)| (node, procedure.decisions(index)));
        let decided = decided.filter(|(_, slots)| !slots.is_empty());
        decided.map(|(node, slots)| format!("{who}, after {}: {}", node.name, slots.join(", "))).collect()
    }

    fn named(&self, tool: &str, arguments: Values) -> Result<Values, String> {
        let procedure = self.procedure();
        let node = procedure.node(tool).and_then(|node| procedure.nodes().get(node));
        let Some((node, tool)) = node.and_then(|node| Some((node, node.tool.as_ref()?))) else {
            return Ok(arguments);
        };
        // a slot whose argument has another name is not an argument itself
        let is_slot = |name: &&String| tool.slot(name) == name.as_str() && node.request.contains(name);
        match arguments.keys().filter(is_slot).find(|slot| tool.parameter(slot) != slot.as_str()) {
            Some(slot) => {
                Err(format!("argument {slot}: the tool calls it {}", excerpt(tool.parameter(slot))))
            }
            None => Ok(tool.slots(&arguments)),
        }
    }

    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String> {
        let procedure = self.procedure();
        let api = procedure.node(tool).unwrap_or(usize::MAX);
        let tool = procedure.nodes().get(api).and_then(|node| node.tool.as_deref());
        if let Some(obstacle) = self.session.obstacle(api, Some(arguments)) {
            return Err(self.reason(api, &obstacle));
        }
        let known = self.session.arguments(api).map_err(|obstacle| self.reason(api, &obstacle))?;
        let mut schema = known.schema();
        let allowed = schema.get_mut("properties").map(Value::take).unwrap_or_default();
        let wrong = allowed.as_object().and_then(|allowed| self.checker.wrong(allowed, arguments));
        if let Some((name, schema)) = wrong {
            return Err(wrong_argument(tool.map_or(name, |tool| tool.parameter(name)), schema));
        }
        if let Some(obstacle) = self.session.call(api, arguments.clone(), true) {
            return Err(self.reason(api, &obstacle));
        }
        self.pending = Some(api);
        Ok(())
    }

    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)> {
        let Some(api) = self.pending.take() else { return Ok(Map::new()) };
        let node = &self.procedure().nodes()[api];
        let (result, problem) = match outcome {
            Outcome::Error(text) => (failure(&text), None),
            Outcome::Data(data) => {
                let data = match (node.tool.as_deref(), data) {
                    (Some(tool), Value::Object(data)) => Value::Object(tool.slots_of_result(&data)),
                    (_, data) => data,
                };
                let slots = slots(&node.response, data);
                match self.session.foreign(api, &slots) {
                    None => (slots, None),
                    Some((found, allowed)) => {
                        let text = format!("the procedure cannot follow {found}; it knows {allowed}");
                        (failure(&text), Some(text))
                    }
                }
            }
        };
        self.session.result(&result);
        match problem {
            None => Ok(result),
            Some(problem) => Err((result, problem)),
        }
    }

    fn own(&self) -> Vec<OwnTool> {
        let procedure = self.procedure();
        let mut tools = Vec::new();
        let answers = self.answers();
        if !answers.is_empty() {
            let line = |&node: &usize| match self.session.fill(node).0 {
                text if text.is_empty() => format!("\n- {}", procedure.nodes()[node].name),
                text => format!("\n- {}: {text}", procedure.nodes()[node].name),
            };
            let lines: String = answers.iter().map(line).collect();
            let names: Vec<&str> =
                answers.iter().map(|&node| procedure.nodes()[node].name.as_str()).collect();
            tools.push(OwnTool {
                name: SAY,
                description: format!(
                    "Call this before you tell the user one of these answers of the procedure; some tools open only \
                     after one:{lines}"
                ),
                schema: json!({
                    "type": "object",
                    "properties": { "answer": { "type": "string", "enum": names } },
                    "required": ["answer"],
                    "additionalProperties": false,
                }),
            });
        }
        let decisions = self.decisions();
        if !decisions.is_empty() && self.options.ask != Ask::Refuse {
            tools.push(self.decide_tool(&decisions));
        }
        if self.options.hears_user {
            tools.push(OwnTool {
                name: USER,
                description:
                    "Call this first with each message of the user, word by word: arguments of other \
                              tools may only quote it."
                        .to_owned(),
                schema: json!({
                    "type": "object",
                    "properties": { "text": { "type": "string", "description": "the message" } },
                    "required": ["text"],
                    "additionalProperties": false,
                }),
            });
        }
        tools
    }

    fn own_names(&self) -> Vec<&'static str> {
        let decides = self.has_decisions() && self.options.ask != Ask::Refuse;
        let names = [(SAY, self.has_answers()), (DECIDE, decides), (USER, self.options.hears_user)];
        names.into_iter().filter(|(_, is_there)| *is_there).map(|(name, _)| name).collect()
    }

    fn act(&mut self, tool: &str, arguments: &Values) -> Result<(Vec<Value>, String), String> {
        let text = |name: &str| arguments.get(name).cloned().unwrap_or_default();
        match (tool, self.options.ask) {
            (SAY, _) => self.say(arguments).map(|told| (vec![json!(["say", text("answer")])], told)),
            (DECIDE, Ask::Elicit) => self.ask_again(arguments),
            (DECIDE, Ask::Agent) => self.decide(arguments),
            (DECIDE, Ask::Refuse) => Err(NO_DECISIONS.to_owned()),
            _ => self.hear(arguments).map(|told| (vec![json!(["user", text("text")])], told)),
        }
    }

    fn question(&mut self) -> Option<Question> {
        self.question.take()
    }

    fn reply(&mut self, reply: Reply) -> Result<(Vec<Value>, String), String> {
        let slots = std::mem::take(&mut self.asked);
        let undecided = |why: String| format!("{} not decided: {why}", slots.join(", "));
        if reply == Reply::Impossible {
            let why = "the client cannot ask the user, because it does not support elicitation; `grammata guard \
                       --ask agent` would take the agent's word for it";
            return Err(undecided(why.to_owned()));
        }
        let mut values = reply.accepted().map_err(undecided)?;
        // members that were not asked for are not read
        values.retain(|slot, _| slots.contains(&slot.as_str()));
        if let Some(missing) = slots.iter().find(|slot| !values.contains_key(**slot)) {
            return Err(undecided(format!("the answer of the client has no value for {missing}")));
        }
        self.decided(values.iter()).map_err(undecided)
    }
}
