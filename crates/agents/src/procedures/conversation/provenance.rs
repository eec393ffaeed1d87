//! Who said the value of an argument: the user, a result, a decision of the user, or the file as a default.

use super::owners::elements;
use super::sayings::{Saying, words};
use super::session::Session;
use super::words::pieces;
use crate::procedures::language::declarations::Source;
use crate::procedures::language::value::Scalar;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// Returns the values of an enumeration or a boolean; `None` for other schemas.
fn closed(schema: &Value) -> Option<Vec<Value>> {
    match (schema.get("enum"), schema.get("type").and_then(Value::as_str)) {
        (Some(Value::Array(values)), _) => Some(values.clone()),
        (None, Some("boolean")) => Some(vec![true.into(), false.into()]),
        _ => None,
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    Scalar::of(a) == Scalar::of(b)
}

impl Session<'_> {
    fn schema(&self, slot: &str) -> Option<&Value> {
        self.procedure.slot(slot).and_then(|slot| slot.schema.as_ref())
    }

    /// Returns whether the user may have said a value of an enumeration or a boolean in other words: the agent asked
    /// for the slot and the user answered, or a message has a word of its name or of its values.
    fn is_in_other_words(&self, slot: &str) -> bool {
        let Some(values) = self.schema(slot).and_then(closed) else { return false };
        if self.owners.answers_to(slot).is_some() {
            return true;
        }
        let mut hints = words(slot);
        hints.extend(values.iter().filter_map(Value::as_str).flat_map(words));
        self.owners.messages.iter().any(|message| message.hints_at(&hints))
    }

    /// Returns whether somebody said the value of an argument. These always count: null, lists and objects; the value
    /// of the slot in an earlier call on which the call builds, in a decision on the slot, or known before the
    /// conversation; the schema's `const` and the default of the file. In addition the `source` of the slot decides:
    /// without one, messages of the user, results and all decisions count; with `user` only messages; texts of answers
    /// to which the user agreed by a decision count as messages; with a result only that result; with `agent` every
    /// value.
    pub(in crate::procedures) fn is_owned(&self, api: usize, slot: &str, value: &Value) -> bool {
        let owners = &self.owners;
        let is_value = |other: &Value| is_same(other, value);
        if matches!(value, Value::Null | Value::Array(_) | Value::Object(_))
            || self.bases(api).any(|(_, arguments)| arguments.get(slot).is_some_and(is_value))
            || self.decided.get(slot).is_some_and(is_value)
            || owners.given.get(slot).is_some_and(is_value)
        {
            return true;
        }
        let declared = self.procedure.slot(slot);
        let is_constant = self.schema(slot).and_then(|schema| schema.get("const")).is_some_and(is_value);
        if is_constant || declared.and_then(|slot| slot.default.as_ref()).is_some_and(is_value) {
            return true;
        }
        let is_said = || {
            owners.messages.iter().chain(&owners.agreed).any(|saying| saying.has(value))
                || self.is_in_other_words(slot)
        };
        match declared.and_then(|slot| slot.source.as_ref()) {
            Some(Source::Agent) => true,
            Some(Source::Result { api, slot }) => {
                self.value(&format!("{api}.{slot}")).is_some_and(|told| elements(told).iter().any(is_value))
            }
            Some(Source::User) => is_said(),
            None => {
                // some other slot almost always has the same boolean, so only the slot itself counts
                let counts = |known: &str| !value.is_boolean() || known == slot;
                let is_decided = |(known, decided): (&String, &Value)| counts(known) && is_value(decided);
                owners.told.iter().any(|(known, told)| counts(known) && is_value(told))
                    || self.decided.iter().any(is_decided)
                    || is_said()
            }
        }
    }

    /// Returns the values that somebody said and that the schema of the slot allows, the best known first and without
    /// duplicates. Returns `None` if any value of the schema is allowed. The slot must not be fixed by an earlier call
    /// or have a result as its source.
    pub(in crate::procedures) fn said_values(&self, slot: &str) -> Option<Vec<Value>> {
        let owners = &self.owners;
        let declared = self.procedure.slot(slot);
        let source = declared.and_then(|slot| slot.source.as_ref());
        let any = Value::Bool(true);
        let schema = self.schema(slot).unwrap_or(&any);
        let kind = schema.get("type").and_then(Value::as_str);
        if source == Some(&Source::Agent) || matches!(kind, Some("array" | "object" | "null")) {
            return None;
        }
        let default = declared.and_then(|slot| slot.default.clone());
        let mut values: Vec<Value> = default.into_iter().chain(owners.given.get(slot).cloned()).collect();
        if source.is_none() {
            let is_plain = closed(schema).is_some() || is_free_text(schema);
            let fits = |(known, _): &&(String, Value)| !is_plain || known == slot;
            let told = owners.told.iter().rev().filter(fits).map(|(_, value)| value);
            values.extend(told.filter(|value| !value.is_array() && !value.is_object()).cloned());
        }
        if let Some(all) = closed(schema) {
            let since = owners.answers_to(slot);
            let said_in = |messages: &[Saying]| -> Vec<Value> {
                let is_said = |value: &&Value| messages.iter().any(|message| message.has(value));
                all.iter().filter(is_said).cloned().collect()
            };
            let said = said_in(since.unwrap_or(&owners.messages));
            if said.is_empty() && self.is_in_other_words(slot) {
                return None;
            }
            values.extend(said);
        } else {
            if matches!(kind, None | Some("integer" | "number")) {
                values.extend(owners.numbers());
            }
            if matches!(kind, None | Some("string")) {
                let quoted = pieces(&self.heard);
                if !is_free_text(schema) {
                    values.extend(owners.normal_forms().map(Value::from));
                    values.extend(quoted.iter().flat_map(|piece| spellings(piece)).map(Value::from));
                }
                values.extend(quoted.into_iter().map(Value::from));
            }
            values.extend(schema.get("const").cloned());
        }
        let mut seen = FxHashSet::default();
        values.retain(|value| seen.insert(value.to_string()));
        Some(self.procedure.allowed(slot, values))
    }
}

/// Returns whether a schema allows all texts, except for bounds on their length.
pub(in crate::procedures) fn is_free_text(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return schema == &Value::Bool(true) };
    let is_text = fields.get("type").is_none_or(|kind| kind == "string");
    let only = ["type", "minLength", "maxLength", "description", "title", "examples"];
    is_text && fields.keys().all(|key| only.contains(&key.as_str()))
}

/// Returns a text in lower and upper case and without spaces, because patterns may require another spelling than the
/// text's.
fn spellings(text: &str) -> Vec<String> {
    let squeezed: String = text.split_whitespace().collect();
    let mut spellings = vec![text.to_lowercase(), squeezed.to_lowercase()];
    // some letters change when they are converted to upper case and back
    let upper = [text, &squeezed].map(str::to_uppercase).into_iter();
    spellings.extend(upper.filter(|upper| spellings.contains(&upper.to_lowercase())).collect::<Vec<_>>());
    spellings.push(squeezed);
    spellings
}
