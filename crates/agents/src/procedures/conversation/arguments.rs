//! The arguments that a call may have, from what the conversation knows at that moment.

use super::obstacle::Obstacle;
use super::owners::elements;
use super::provenance::is_free_text;
use super::session::{Session, Values};
use crate::procedures::language::declarations::{NodeKind, Source};
use crate::procedures::language::value::Scalar;
use serde_json::{Value, json};

/// The maximum number of said texts that are an [`Origin::Told`]; more are an [`Origin::Words`], whose grammar shares
/// their beginnings.
const MOST_LISTED: usize = 16;

/// The origin of the value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// The value that the slot has in an earlier call on which this call builds.
    Fixed(Value),
    /// One of these values, which results, decisions, the user or the file told, or which were known before the
    /// conversation.
    Told(Vec<Value>),
    /// One of these texts: pieces of the user's messages, those of the latest message first, or more than 16 texts that
    /// somebody said.
    Words(Vec<String>),
    /// Any value of the slot's schema.
    Schema,
}

/// One slot of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name of the slot.
    pub slot: String,
    /// The schema of the slot; `true` if neither the file nor a tool has one.
    pub schema: Value,
    /// The origin of the value.
    pub origin: Origin,
    /// Whether a call must have the slot.
    pub is_required: bool,
}

/// The arguments that a call may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    /// The slots in the order of the request, without optional slots that can have no value.
    pub slots: Vec<Argument>,
    /// Arguments that are not allowed, because they would repeat a call of the current turn.
    pub excluded: Vec<Values>,
}

impl Argument {
    /// Returns all values, if they are listed: a fixed value, told values, words, or a schema's `const` or `enum`.
    fn values(&self) -> Option<Vec<Value>> {
        match &self.origin {
            Origin::Fixed(value) => Some(vec![value.clone()]),
            Origin::Told(values) => Some(values.clone()),
            Origin::Words(words) => Some(words.iter().map(|word| Value::from(word.as_str())).collect()),
            Origin::Schema => match (self.schema.get("const"), self.schema.get("enum")) {
                (Some(value), _) => Some(vec![value.clone()]),
                (None, Some(Value::Array(values))) => Some(values.clone()),
                _ => None,
            },
        }
    }

    /// Returns the JSON Schema of the value.
    pub(super) fn narrowed(&self) -> Value {
        match &self.origin {
            Origin::Fixed(value) => json!({ "const": value }),
            Origin::Told(values) => json!({ "enum": values }),
            Origin::Words(words) => json!({ "enum": words }),
            Origin::Schema => self.schema.clone(),
        }
    }
}

impl Arguments {
    /// Returns the JSON Schema of the arguments: an object with the slots as members, but none of the excluded objects.
    pub fn schema(&self) -> Value {
        let properties: Values = self.slots.iter().map(|slot| (slot.slot.clone(), slot.narrowed())).collect();
        let required: Vec<&str> =
            self.slots.iter().filter(|slot| slot.is_required).map(|slot| slot.slot.as_str()).collect();
        let mut schema = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        if let Some(object) = schema.as_object_mut().filter(|_| !self.excluded.is_empty()) {
            object.insert("not".to_owned(), json!({ "enum": self.excluded }));
        }
        schema
    }

    /// Returns whether there are excluded arguments, and all combinations of values are excluded; false if the values
    /// of a slot are not listed.
    fn is_empty(&self) -> bool {
        if self.excluded.is_empty() {
            return false;
        }
        let mut all: usize = 1;
        let mut listed: Vec<(&Argument, Vec<Value>)> = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let Some(values) = slot.values() else { return false };
            all = all.saturating_mul(values.len() + usize::from(!slot.is_required));
            listed.push((slot, values));
        }
        let is_among = |excluded: &&Values| {
            let fits = |(slot, values): &(&Argument, Vec<Value>)| match excluded.get(&slot.slot) {
                Some(value) => values.contains(value),
                None => !slot.is_required,
            };
            listed.iter().all(fits)
                && excluded.keys().all(|key| self.slots.iter().any(|slot| slot.slot == *key))
        };
        // assumes that no combination is excluded twice
        self.excluded.iter().filter(is_among).count() >= all
    }

    /// Returns the arguments by the schemas of the slots, without knowledge from the conversation.
    pub fn plain(session: &Session<'_>, api: usize) -> Arguments {
        let procedure = session.procedure();
        let declared = &procedure.nodes[api];
        let slots = declared.request.iter().map(|slot| Argument {
            slot: slot.clone(),
            schema: schema_of(session, slot),
            origin: Origin::Schema,
            is_required: !declared.optional.contains(slot),
        });
        Arguments { slots: slots.collect(), excluded: Vec::new() }
    }
}

fn schema_of(session: &Session<'_>, slot: &str) -> Value {
    let declared = session.procedure().slot(slot);
    declared.and_then(|slot| slot.schema.clone()).unwrap_or(Value::Bool(true))
}

impl Session<'_> {
    /// Returns the arguments that a call may have now. A slot of the request
    /// - that a precondition's request also has, and that is not in `rebind`, has the value of that call
    ///   (*consistency*);
    /// - that the response of a precondition has, that the user decided after a precondition, or whose `source` is a
    ///   result, has one of the values told. A free text whose `source` is the user is a piece of the user's messages;
    /// - otherwise has a value that somebody said, once the user has said anything (*provenance*): the user, a result
    ///   of this conversation, the file as a default, or a value that was known before the conversation;
    /// - has any value of its schema if nobody must have said the value: before the first message of the user, if
    ///   [provenance](Session::provenance) is off, if its `source` is the agent, if it is a list, an object or null,
    ///   and if it is an enumeration or a boolean that the user may have said in other words.
    ///
    /// Arguments that repeat a call of this turn are excluded, unless an API on which it depends has given another
    /// answer since.
    ///
    /// # Errors
    /// [`Obstacle::Unknown`] if the node is not an API, [`Obstacle::Stale`] if two calls disagree about a slot,
    /// [`Obstacle::Argument`] for a required slot that can have no value, and [`Obstacle::Again`] if only repetitions
    /// are left. Other obstacles of the call are found by [`obstacle`](Session::obstacle).
    pub fn arguments(&self, api: usize) -> Result<Arguments, Obstacle> {
        let Some(declared) = self.procedure.nodes.get(api).filter(|node| node.kind == NodeKind::Api) else {
            return Err(Obstacle::Unknown);
        };
        if let Some(conflict) = self.conflict(api) {
            return Err(conflict);
        }
        let mut slots = Vec::with_capacity(declared.request.len());
        for slot in &declared.request {
            let origin = self.origin(api, slot);
            let is_required = !declared.optional.contains(slot);
            let is_impossible = match &origin {
                Origin::Told(values) => values.is_empty(),
                Origin::Words(words) => words.is_empty(),
                Origin::Fixed(_) | Origin::Schema => false,
            };
            match (is_impossible, is_required) {
                (true, true) => return Err(Obstacle::Argument(slot.clone())),
                (true, false) => {}
                (false, _) => slots.push(Argument {
                    slot: slot.clone(),
                    schema: schema_of(self, slot),
                    origin,
                    is_required,
                }),
            }
        }
        let mut excluded: Vec<Values> = Vec::new();
        for (_, values) in self.made.iter().filter(|(made, _)| *made == api) {
            // a wrong call may have been made twice
            if !excluded.contains(values) {
                excluded.push(values.clone());
            }
        }
        let arguments = Arguments { slots, excluded };
        if arguments.is_empty() { Err(Obstacle::Again) } else { Ok(arguments) }
    }

    /// Returns which values of a slot a call may have, and who must have said them.
    pub fn origin(&self, api: usize, slot: &String) -> Origin {
        let declared = &self.procedure.nodes[api];
        if !declared.rebind.contains(slot) {
            for (base, arguments) in self.bases(api) {
                let value = arguments.get(slot).filter(|value| !value.is_null());
                if let Some(value) = value.filter(|_| self.procedure.nodes[base].request.contains(slot)) {
                    return Origin::Fixed(value.clone());
                }
            }
        }
        for precondition in &self.procedure.preconditions[api] {
            if self.procedure.targets[precondition.node].contains(slot)
                && let Some(value) = self.decided.get(slot)
            {
                return Origin::Told(vec![value.clone()]);
            }
        }
        let source = self.procedure.slot(slot).and_then(|slot| slot.source.clone());
        if let Some(Source::Result { api: of, slot: told }) = &source {
            let told = self.value(&format!("{of}.{told}"));
            return Origin::Told(self.chosen(api, slot, told.map(elements).unwrap_or_default()));
        }
        if let Some(offered) = self.offered(api, slot) {
            return Origin::Told(self.chosen(api, slot, offered));
        }
        let schema = schema_of(self, slot);
        if source == Some(Source::User) && is_free_text(&schema) {
            let bound = |name: &str| schema.get(name).and_then(Value::as_u64);
            let (least, most) = (bound("minLength").unwrap_or(0), bound("maxLength").unwrap_or(u64::MAX));
            let fits = |piece: &String| {
                let length = piece.chars().count() as u64;
                least <= length && length <= most
            };
            return Origin::Words(self.quotes(api, slot).into_iter().filter(fits).collect());
        }
        let said = if self.asks_for_owners() { self.said_values(api, slot) } else { None };
        if let Some(values) = said {
            let texts: Option<Vec<String>> =
                values.iter().map(|value| value.as_str().map(str::to_owned)).collect();
            // texts share their beginnings in a grammar
            return match texts {
                Some(texts) if texts.len() > MOST_LISTED => Origin::Words(texts),
                _ => Origin::Told(values),
            };
        }
        Origin::Schema
    }

    /// Returns the first slot of a result, as `slot = value`, that conditions test and whose value is in none of its
    /// cells, and the allowed values. Returns `None` if there is no such slot.
    ///
    /// # Panics
    /// If no node has the index `api`.
    pub fn foreign(&self, api: usize, result: &Values) -> Option<(String, String)> {
        for &register in &self.procedure.writes[api] {
            let register = &self.procedure.registers[register as usize];
            let Some(value) = result.get(&register.slot).filter(|_| register.is_tested) else { continue };
            if register.cell(&Scalar::of(value)).is_none() {
                let cells: Vec<String> = register.cells.iter().map(ToString::to_string).collect();
                return Some((format!("{} = {value}", register.slot), cells.join(", ")));
            }
        }
        None
    }
}
