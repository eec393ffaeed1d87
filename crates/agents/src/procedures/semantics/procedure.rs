//! A procedure: its declarations, text and analysis, in the form that the automaton uses.

use super::flow::Flow;
use super::guards::{Guards, Site};
use super::registers::Register;
use super::shape::Shape;
use crate::procedures::language::declarations::{self, Node, NodeKind, Slot, Source};
use crate::procedures::language::pdl::Program;
use crate::procedures::language::status::Status;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use serde_json::Value;

/// A node that must be done, optionally with a certain outcome.
#[derive(Clone, Debug)]
pub(in crate::procedures) struct Precondition {
    pub(in crate::procedures) node: usize,
    /// The required outcome; `None` if any outcome counts.
    pub(in crate::procedures) status: Option<Status>,
}

/// A procedure that was read from a file.
#[derive(Debug)]
pub struct Procedure {
    pub(in crate::procedures) name: String,
    pub(in crate::procedures) description: String,
    /// The text, as the file has it.
    pub(in crate::procedures) text: String,
    pub(in crate::procedures) slots: Vec<Slot>,
    pub(in crate::procedures) nodes: Vec<Node>,
    pub(in crate::procedures) index: FxHashMap<String, usize>,
    pub(in crate::procedures) preconditions: Vec<Vec<Precondition>>,
    /// By node: the nodes that it requires, directly or not.
    pub(in crate::procedures) closure: Vec<FixedBitSet>,
    pub(in crate::procedures) program: Program,
    pub(in crate::procedures) guards: Guards,
    pub(in crate::procedures) sites: Vec<Site>,
    /// By node: its sites.
    pub(in crate::procedures) sites_of: Vec<Vec<usize>>,
    pub(in crate::procedures) registers: Vec<Register>,
    /// By node: registers that an answer of the API sets, or that the user decides after the answer.
    pub(in crate::procedures) writes: Vec<Vec<u32>>,
    /// By node: slots that the user decides after the answer.
    pub(in crate::procedures) targets: Vec<Vec<String>>,
    /// By node: whether another node requires it.
    pub(in crate::procedures) is_required: Vec<bool>,
    /// By node: whether a statement in some `try` of the text calls it, so that the `except` catches its errors, or
    /// some node requires its error.
    pub(in crate::procedures) is_caught: Vec<bool>,
    pub(in crate::procedures) flow: Flow,
    /// By node: whether it is an answer after which the procedure is complete.
    pub(in crate::procedures) closing: Vec<bool>,
    /// The automata of the slots' schemas, in the order of `slots`.
    pub(in crate::procedures) shapes: Vec<Shape>,
}

impl Procedure {
    /// Returns the name of the procedure.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description of the procedure; empty if the file has none.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the text, as the file has it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the slots: those that the file declares, in its order, then those that APIs take from their tools.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the nodes: APIs first, then answers, in the order of the file. Indices of nodes refer to this list.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the index of a node by its name; `None` if no node has it. Runs of whitespace inside the name count as
    /// `_`, whitespace around it is ignored.
    pub fn node(&self, name: &str) -> Option<usize> {
        self.index.get(declarations::normal(name).as_str()).copied()
    }

    /// Returns whether an answer completes the procedure: an inform that the text calls at a place after which no call,
    /// branch, loop or `try` follows up to a `return` or the end of the text. If there is no such inform, each inform
    /// that the text calls completes it. False for unknown indices.
    pub fn is_closing(&self, node: usize) -> bool {
        self.closing.get(node).copied().unwrap_or(false)
    }

    /// Returns whether a statement or a condition in some `try` of the text calls an API, so that its error is caught,
    /// or some node requires an error of the API.
    pub fn catches(&self, api: usize) -> bool {
        self.is_caught.get(api).copied().unwrap_or(false)
    }

    /// Returns the slots that the user decides after an answer; empty for unknown indices.
    pub fn decisions(&self, node: usize) -> &[String] {
        self.targets.get(node).map_or(&[], Vec::as_slice)
    }

    /// Returns the slot with exactly this name; `None` if there is none.
    pub fn slot(&self, name: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.name == name)
    }

    /// Returns those of the values that the schema of a slot allows. Returns all of them if the slot is unknown or has
    /// no schema, or if the schema cannot be compiled with the default limits.
    pub(in crate::procedures) fn allowed(&self, slot: &str, values: Vec<Value>) -> Vec<Value> {
        let place = self.slots.iter().position(|known| known.name == slot);
        let schema = place.and_then(|place| self.slots[place].schema.as_ref().map(|schema| (place, schema)));
        match schema {
            Some((place, schema)) => self.shapes[place].allowed(schema, values),
            None => values,
        }
    }

    /// Returns whether the schema of a slot allows a value. True if the slot is unknown or has no schema, or if the
    /// schema cannot be compiled with the default limits.
    pub(in crate::procedures) fn conforms(&self, slot: &str, value: &Value) -> bool {
        let place = self.slots.iter().position(|known| known.name == slot);
        let schema = place.and_then(|place| self.slots[place].schema.as_ref().map(|schema| (place, schema)));
        schema.is_none_or(|(place, schema)| self.shapes[place].conforms(schema, value))
    }

    /// Returns whether the user can tell a slot: no response has it, no answer is followed by a decision on it, and its
    /// source is the user or not given.
    pub fn is_tellable(&self, slot: &str) -> bool {
        let source = self.slot(slot).and_then(|slot| slot.source.as_ref());
        matches!(source, None | Some(Source::User)) && !self.is_written(slot)
    }

    /// Returns whether results of APIs or decisions of the user write a slot.
    pub fn is_written(&self, slot: &str) -> bool {
        self.nodes.iter().any(|node| node.response.iter().any(|known| known == slot))
            || self.targets.iter().flatten().any(|target| target == slot)
    }

    /// Returns the nodes that the preconditions of a node name, in the order of the file; none for unknown indices.
    pub fn required(&self, node: usize) -> impl Iterator<Item = usize> {
        self.preconditions.get(node).into_iter().flatten().map(|required| required.node)
    }

    /// Makes conditions on decisions of the user open until the user has decided; by default they are closed. Used for
    /// records that do not contain the decisions.
    pub fn open_decisions(&mut self) {
        self.registers.iter_mut().for_each(|register| register.waits = !register.writers.is_empty());
    }

    /// Changes the source of slots to the agent if it is the user or not declared, so that nobody must have said their
    /// values. For agents whose user's messages are not recorded. Slots whose source is a result stay bound to it.
    pub fn open_sources(&mut self) {
        let unheard = |slot: &&mut Slot| matches!(slot.source, None | Some(Source::User));
        self.slots.iter_mut().filter(unheard).for_each(|slot| slot.source = Some(Source::Agent));
    }

    /// Returns whether a call builds on the result of an API: the call requires the API, directly or not, or the
    /// `source` of a slot of its request is a result of the API.
    pub(in crate::procedures) fn depends_on(&self, call: usize, api: usize) -> bool {
        let name = &self.nodes[api].name;
        let is_source = |slot: &String| {
            let source = self.slot(slot).and_then(|slot| slot.source.as_ref());
            matches!(source, Some(Source::Result { api, .. }) if api == name)
        };
        self.closure[call].contains(api) || self.nodes[call].request.iter().any(is_source)
    }

    /// Returns the nodes that are taken back when an API gives another answer: those without `keep` that require it,
    /// directly or not.
    pub(in crate::procedures) fn dependents(&self, api: usize) -> impl Iterator<Item = usize> {
        let is_dependent = move |node: &usize| self.closure[*node].contains(api) && !self.nodes[*node].keep;
        (0..self.nodes.len()).filter(is_dependent)
    }

    /// Returns whether the node is an API, is required by another node, or writes a register that conditions of calls
    /// test. Other nodes cannot change a state of the automaton, except for informs in the mode `strict`.
    pub(in crate::procedures) fn has_effect(&self, node: usize) -> bool {
        let registers = &self.writes[node];
        self.nodes[node].kind == NodeKind::Api
            || self.is_required[node]
            || registers.iter().any(|&register| self.registers[register as usize].is_tested)
    }

    /// Returns the name of a register: `slot`, or `API.slot`.
    pub(in crate::procedures) fn register_name(&self, register: u32) -> String {
        let register = &self.registers[register as usize];
        match register.api {
            Some(api) => format!("{}.{}", self.nodes[api].name, register.slot),
            None => register.slot.clone(),
        }
    }
}
