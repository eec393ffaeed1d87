//! A conversation with frames: procedures that interrupt each other, the open steps of the current one, and the effects
//! of acts.

use super::act::Act;
use super::arguments::{Arguments, Origin};
use super::claims;
use super::obstacle::Obstacle;
use super::session::{Session, Values};
use super::step::{Offer, Text};
use crate::procedures::automaton::rules::Mode;
use crate::procedures::automaton::supervisor::Supervisor;
use crate::procedures::language::declarations::{NodeKind, normal};
use crate::procedures::semantics::procedure::Procedure;
use grammata::error::Result;
use grammata::limits::Limits;
use serde_json::Value;

/// The number of consecutive replies outside of the workflow after which no more are offered.
const MOST_FREE: usize = 3;
/// The maximum number of procedures that are active in a conversation: the first one, and those that interrupt others.
const MOST_FRAMES: usize = 3;

/// The replies that are not nodes, and their purposes.
pub const FREE_REPLIES: [(&str, &str); 3] = [
    ("free", "answers what is out of the workflow"),
    ("clarify", "asks what the user means"),
    ("decline", "declines a wish that cannot be met"),
];

/// A procedure in a mode. If it is supervised, it has the supremal controllable and nonblocking set of its states.
#[derive(Debug)]
pub struct Workflow<'p> {
    procedure: &'p Procedure,
    mode: Mode,
    supervisor: Option<Supervisor<'p>>,
}

impl<'p> Workflow<'p> {
    /// Creates a supervised workflow: nodes that may lead into a dead end are not open.
    ///
    /// # Errors
    /// The limits `plan_states` and `compile_work`; `pdl/blocking` if results or decisions can block the procedure from
    /// the start.
    pub fn new(procedure: &'p Procedure, mode: Mode, limits: &Limits) -> Result<Workflow<'p>> {
        let supervisor = Supervisor::new(procedure, mode, limits)?;
        if supervisor.is_blocking() {
            return Err(crate::procedures::language::errors::blocked_start(procedure.name()));
        }
        Ok(Workflow { procedure, mode, supervisor: Some(supervisor) })
    }

    /// Creates a workflow without a supervisor: only the rules of the mode bind the agent.
    pub fn unsupervised(procedure: &'p Procedure, mode: Mode) -> Workflow<'p> {
        Workflow { procedure, mode, supervisor: None }
    }

    /// Returns the procedure of the workflow.
    pub fn procedure(&self) -> &'p Procedure {
        self.procedure
    }

    /// Returns the supervisor; `None` if the workflow is not supervised.
    pub fn supervisor(&self) -> Option<&Supervisor<'p>> {
        self.supervisor.as_ref()
    }

    fn session<'w>(&'w self) -> Session<'w> {
        match &self.supervisor {
            Some(supervisor) => Session::supervised(supervisor),
            None => Session::new(self.procedure, self.mode),
        }
    }
}

/// The allowed texts of questions for slots, and of other answers that have a reference text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Texts {
    /// The reference text with its values. A question without one has a text that lists its slots; a question for no
    /// particular slot has any text.
    #[default]
    Verbatim,
    /// Any text that has the values of the reference text ([`Text::Guided`]); for questions, any text.
    Guided,
    /// Any text ([`Text::Free`]).
    Free,
}

/// Options of the steps that are offered to the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct Offering {
    /// Whether only open nodes are offered; otherwise all nodes.
    pub only_open: bool,
    /// Whether the conversation narrows arguments, and calls that can have no arguments are not offered; otherwise the
    /// schemas of the slots apply.
    pub narrow: bool,
    /// The allowed texts of questions for slots, and of other answers that have a reference text.
    pub texts: Texts,
    /// Whether texts that one answer claims are excluded from all others. Verbatim texts are not checked.
    pub claims: bool,
    /// Whether acts that do not bring a closing answer nearer are bounded. After too many such calls in a turn, only
    /// calls that may bring one nearer are offered, and after twice as many none. After too many such turns, the only
    /// answers offered are questions, closing answers, and those that may bring one nearer. No effect without a
    /// supervisor or without `only_open`.
    pub progress: bool,
}

impl Default for Offering {
    fn default() -> Offering {
        Offering { only_open: true, narrow: true, texts: Texts::Verbatim, claims: true, progress: true }
    }
}

/// An act with its names resolved.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved {
    /// A call of an API, by the index of its node.
    Call {
        /// The index of the API's node.
        api: usize,
        /// The arguments, by slot.
        arguments: Values,
    },
    /// An answer.
    Say {
        /// The index of the answer's node.
        node: usize,
        /// The slots that the answer asks for.
        asks: Vec<String>,
        /// The text.
        text: String,
    },
    /// A reply that is not a node.
    Free {
        /// `free`, `clarify` or `decline`.
        kind: &'static str,
        /// The text.
        text: String,
    },
    /// Another procedure begins, by its index among the workflows.
    Switch(usize),
    /// The current procedure is left.
    Return,
    /// A call of a name that is neither that of an API nor a control that is possible now.
    Unknown(String),
}

struct Frame<'w> {
    workflow: usize,
    session: Session<'w>,
}

/// A conversation under one of several procedures, which may interrupt each other.
pub struct Conversation<'w> {
    workflows: &'w [Workflow<'w>],
    frames: Vec<Frame<'w>>,
    /// The number of replies outside of the workflow since the last other act.
    free: usize,
    is_complete: bool,
    asks_for_owners: bool,
}

impl std::fmt::Debug for Conversation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conversation").field("depth", &self.frames.len()).finish_non_exhaustive()
    }
}

impl<'w> Conversation<'w> {
    /// Creates a conversation that begins with the first of the workflows. Returns `None` if the list is empty.
    pub fn new(workflows: &'w [Workflow<'w>]) -> Option<Conversation<'w>> {
        let session = workflows.first()?.session();
        Some(Conversation {
            workflows,
            frames: vec![Frame { workflow: 0, session }],
            free: 0,
            is_complete: false,
            asks_for_owners: true,
        })
    }

    /// Sets for all frames whether somebody must have said the values of arguments, as in [`Session::provenance`]. On
    /// by default.
    #[must_use]
    pub fn provenance(mut self, is_on: bool) -> Conversation<'w> {
        self.asks_for_owners = is_on;
        self.frames.iter_mut().for_each(|frame| frame.session.asks_for_owners = is_on);
        self
    }

    /// Returns whether the conversation is stalled: the user said and decided nothing new for several turns, and no act
    /// brought a closing answer nearer. False if the current procedure has no supervisor or a closing answer was said.
    pub fn is_stalled(&self) -> bool {
        self.session().is_stalled()
    }

    fn frame(&self) -> &Frame<'w> {
        &self.frames[self.frames.len() - 1]
    }

    /// Returns the session of the current frame.
    pub fn session(&self) -> &Session<'w> {
        &self.frame().session
    }

    /// Returns the session of the current frame, mutable.
    pub fn session_mut(&mut self) -> &mut Session<'w> {
        let last = self.frames.len() - 1;
        &mut self.frames[last].session
    }

    /// Returns the index of the current workflow.
    pub fn workflow(&self) -> usize {
        self.frame().workflow
    }

    /// Returns the number of frames; 1 if nothing was interrupted.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Returns whether a closing answer of the first procedure was said when it was allowed.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Records a message of the user in all frames.
    pub fn hear(&mut self, text: &str) {
        self.frames.iter_mut().for_each(|frame| frame.session.hear(text));
    }

    /// Returns the workflows that may begin now: those that are not active, if fewer than [`MOST_FRAMES`] are.
    fn switches(&self) -> impl Iterator<Item = usize> {
        let is_begun = |workflow: &usize| self.frames.iter().any(|frame| frame.workflow == *workflow);
        let has_room = self.frames.len() < MOST_FRAMES;
        (0..self.workflows.len()).filter(move |workflow| has_room && !is_begun(workflow))
    }

    /// Returns the offered next steps of the agent: nodes in their order, then free replies and controls.
    pub fn offers(&self, offering: &Offering) -> Vec<Offer> {
        let session = self.session();
        let procedure = session.procedure();
        let is_bound = offering.only_open && offering.progress;
        let is_paced = is_bound && session.has_pace();
        let may_be_free =
            !offering.only_open || self.free < MOST_FREE && !(is_paced && session.pace.is_idle());
        let open: Vec<usize> = match offering.only_open {
            true => session.open(),
            false => (0..procedure.nodes().len()).collect(),
        };
        let mut offers = Vec::new();
        let mut has_free = false;
        for node in open.into_iter().filter(|&node| !is_bound || session.keeps_pace(node)) {
            let declared = &procedure.nodes()[node];
            match declared.kind {
                NodeKind::Api => {
                    let arguments = match offering.narrow {
                        true => session.arguments(node),
                        false => Ok(Arguments::plain(session, node)),
                    };
                    offers.extend(
                        arguments.ok().map(|arguments| Offer::Call { api: declared.name.clone(), arguments }),
                    );
                }
                NodeKind::Request => self.questions(node, offering, &mut offers),
                NodeKind::OutOfWorkflow => {
                    has_free = true;
                    if may_be_free {
                        offers.push(self.free_answer(&declared.name, node, offering));
                    }
                }
                NodeKind::Inform | NodeKind::Courtesy => {
                    let (text, values) = session.fill(node);
                    let text = match offering.texts {
                        _ if text.is_empty() => Text::Free,
                        Texts::Verbatim => Text::Verbatim(text),
                        Texts::Guided => Text::Guided(values),
                        Texts::Free => Text::Free,
                    };
                    let forbidden = self.forbidden(node, offering);
                    offers.push(Offer::Answer { name: declared.name.clone(), text, forbidden });
                }
            }
        }
        let has_question = procedure.nodes().iter().any(|node| node.kind == NodeKind::Request);
        if !has_question {
            offers.push(self.free_answer("ask", usize::MAX, offering));
        }
        if may_be_free {
            let replies = FREE_REPLIES.iter().filter(|(name, _)| !(has_free && *name == "free"));
            offers.extend(replies.map(|(name, _)| self.free_answer(name, usize::MAX, offering)));
        }
        offers.extend(self.switches().map(|to| Offer::Control(format!("switch {}", self.name_of(to)))));
        if self.frames.len() > 1 {
            offers.push(Offer::Control("return".to_owned()));
        }
        offers
    }

    fn name_of(&self, workflow: usize) -> String {
        normal(self.workflows[workflow].procedure.name())
    }

    fn free_answer(&self, name: &str, node: usize, offering: &Offering) -> Offer {
        let forbidden = self.forbidden(node, offering);
        Offer::Answer { name: name.to_owned(), text: Text::Free, forbidden }
    }

    /// Returns the patterns that other nodes claim; none if the options do not exclude claims.
    fn forbidden(&self, node: usize, offering: &Offering) -> Vec<String> {
        if !offering.claims {
            return Vec::new();
        }
        let procedure = self.session().procedure();
        let claiming = |other: &usize| *other != node && !procedure.nodes()[*other].claims.is_empty();
        let claiming = (0..procedure.nodes().len()).filter(claiming);
        claiming.flat_map(|other| claims::patterns(procedure, other)).collect()
    }

    /// Adds the questions of a request: for the slots that it names, or otherwise for each set of slots of one call
    /// that the user can tell. If there is no such set, adds a question for no particular slot.
    fn questions(&self, node: usize, offering: &Offering, offers: &mut Vec<Offer>) {
        let session = self.session();
        let declared = &session.procedure().nodes()[node];
        let sets = if declared.asks.is_empty() { self.asked() } else { vec![declared.asks.clone()] };
        let mut add = |name: String, text: Text| {
            let forbidden = self.forbidden(node, offering);
            offers.push(Offer::Answer { name, text, forbidden });
        };
        if sets.is_empty() {
            add(declared.name.clone(), Text::Free);
        }
        for set in sets {
            let text = match offering.texts {
                Texts::Verbatim if declared.description.is_empty() => Text::Verbatim(self.question(&set)),
                Texts::Verbatim => Text::Verbatim(session.fill(node).0),
                Texts::Guided | Texts::Free => Text::Free,
            };
            add(format!("{}({})", declared.name, set.join(", ")), text);
        }
    }

    /// Returns the sets of slots that a question may ask for, without duplicates. A set has slots of one API's request
    /// that the user can tell and that no earlier call fixes for this API.
    fn asked(&self) -> Vec<Vec<String>> {
        let session = self.session();
        let procedure = session.procedure();
        let mut all: Vec<Vec<String>> = Vec::new();
        for (api, declared) in
            procedure.nodes().iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Api)
        {
            let is_told = |slot: &&String| {
                procedure.is_tellable(slot) && !matches!(session.origin(api, slot), Origin::Fixed(_))
            };
            let told: Vec<String> = declared.request.iter().filter(is_told).cloned().collect();
            for set in subsets(&told) {
                if !all.contains(&set) {
                    all.push(set);
                }
            }
        }
        all
    }

    /// Returns the text of a question for slots, which lists their descriptions, or the names of slots without one.
    fn question(&self, slots: &[String]) -> String {
        let name = |slot: &String| {
            let declared = self.session().procedure().slot(slot);
            match declared.map_or("", |slot| slot.description.as_str()) {
                "" => slot.replace('_', " "),
                description => description.to_owned(),
            }
        };
        let names: Vec<String> = slots.iter().map(name).collect();
        format!("Please tell me: {}.", super::fill::one_line(&names.join(", ")))
    }

    /// Resolves the names of an act. An answer whose name is not that of an answer is a free reply; a call whose name
    /// is neither that of an API nor a control that is possible now is [`Resolved::Unknown`].
    pub fn resolve(&self, act: Act) -> Resolved {
        let procedure = self.session().procedure();
        match act {
            Act::Call { name, arguments } => {
                let node =
                    procedure.node(&name).filter(|&node| procedure.nodes()[node].kind == NodeKind::Api);
                if let Some(api) = node {
                    return Resolved::Call { api, arguments };
                }
                let to = name.strip_prefix("switch ").and_then(|name| {
                    self.switches().find(|&workflow| self.name_of(workflow) == normal(name))
                });
                match to {
                    Some(to) => Resolved::Switch(to),
                    None if name == "return" && self.frames.len() > 1 => Resolved::Return,
                    None => Resolved::Unknown(name),
                }
            }
            Act::Answer { name, asks, text } => {
                let node =
                    procedure.node(&name).filter(|&node| procedure.nodes()[node].kind != NodeKind::Api);
                match node {
                    Some(node) => Resolved::Say { node, asks, text },
                    None => {
                        let known = FREE_REPLIES.iter().find(|(known, _)| *known == name);
                        Resolved::Free { kind: known.map_or("free", |(kind, _)| kind), text }
                    }
                }
            }
        }
    }

    /// Returns why an act is not allowed; `None` if it is. Free replies, switches and returns are always allowed.
    pub fn obstacle(&self, act: &Resolved) -> Option<Obstacle> {
        match act {
            Resolved::Call { api, arguments } => self.session().obstacle(*api, Some(arguments)),
            Resolved::Say { node, .. } => self.session().obstacle(*node, None),
            Resolved::Unknown(_) => Some(Obstacle::Unknown),
            Resolved::Free { .. } | Resolved::Switch(_) | Resolved::Return => None,
        }
    }

    /// Applies an act, even if it is not allowed, and returns its obstacle. After a call, pass its result to
    /// [`result`](Conversation::result).
    pub fn take(&mut self, act: &Resolved) -> Option<Obstacle> {
        let is_free = match act {
            Resolved::Free { .. } => true,
            Resolved::Say { node, .. } => {
                self.session().procedure().nodes()[*node].kind == NodeKind::OutOfWorkflow
            }
            _ => false,
        };
        self.free = if is_free { self.free + 1 } else { 0 };
        match act {
            Resolved::Call { api, arguments } => self.session_mut().call(*api, arguments.clone(), true),
            Resolved::Say { node, asks, text } => {
                let obstacle = self.session_mut().say_text(*node, text, asks);
                if obstacle.is_none() && self.session().procedure().is_closing(*node) {
                    self.close();
                }
                obstacle
            }
            Resolved::Free { .. } => {
                self.session_mut().free();
                None
            }
            Resolved::Unknown(_) => Some(Obstacle::Unknown),
            Resolved::Switch(to) => {
                self.enter(*to);
                None
            }
            Resolved::Return => {
                self.leave();
                None
            }
        }
    }

    /// Handles the closing answer of the current procedure: the first one is complete, another one is left.
    fn close(&mut self) {
        match self.frames.len() {
            1 => self.is_complete = true,
            _ => self.leave(),
        }
    }

    fn leave(&mut self) {
        if self.frames.len() > 1 {
            self.frames.pop();
        }
    }

    fn enter(&mut self, workflow: usize) {
        let Some(known) = self.workflows.get(workflow) else { return };
        let mut session = known.session().provenance(self.asks_for_owners);
        let below = self.session();
        let shared = below.known.iter().filter(|(slot, _)| known.procedure.slot(slot).is_some());
        for (slot, value) in shared {
            session.tell(slot, value.clone());
        }
        below.heard.iter().for_each(|text| session.hear(text.clone()));
        self.frames.push(Frame { workflow, session });
    }

    /// Applies the result of the pending call in the current frame.
    pub fn result(&mut self, result: &Values) {
        self.session_mut().result(result);
    }

    /// Records a decision of the user on a slot of the current frame.
    pub fn decide(&mut self, slot: &str, value: &Value) {
        self.session_mut().decide(slot, value);
    }
}

/// The maximum number of slots for which each non-empty subset is a question. For more slots, only runs of adjacent
/// slots are.
const MOST_SUBSETS: usize = 5;

/// Returns the sets of slots that one question may ask for, in the order of the slots.
fn subsets(slots: &[String]) -> Vec<Vec<String>> {
    if slots.len() > MOST_SUBSETS {
        let ends = |from: usize| (from + 1..=slots.len()).map(move |to| (from, to));
        return (0..slots.len()).flat_map(ends).map(|(from, to)| slots[from..to].to_vec()).collect();
    }
    let of = |bits: usize| {
        let chosen = slots.iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1);
        chosen.map(|(_, slot)| slot.clone()).collect()
    };
    (1..1_usize << slots.len()).map(of).collect()
}
