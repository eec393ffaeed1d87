//! Who said the value of an argument: the user, a result, a decision of the user, or the file as a default.

use super::owners::elements;
use super::sayings::words;
use super::session::Session;
use super::told::Part;
use super::words::pieces;
use crate::procedures::language::declarations::Source;
use crate::procedures::language::status::Status;
use crate::procedures::language::value::Scalar;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// Words that tell no text: a reply of such words alone does not tell the slot of the question.
const FILLERS: [&str; 26] = [
    "yes", "no", "ok", "okay", "sure", "please", "go", "on", "ahead", "continue", "thanks", "thank", "you",
    "fine", "right", "correct", "well", "hm", "i", "do", "don", "t", "not", "know", "sorry", "hello",
];

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

    /// Returns what the user said about a slot of an API's request.
    ///
    /// The slot is *told* if a part of a message is about it ([`Part::slot`]) and has a value that the slot may have.
    /// Then that part and all later ones count, otherwise all parts; in both cases without those that are only about
    /// another slot of the request.
    fn about(&self, api: usize, slot: &str) -> About<'_> {
        let parts = &self.owners.parts;
        let request = self.procedure.nodes.get(api).map_or(&[][..], |node| node.request.as_slice());
        let told = parts.iter().filter(|part| part.slot.as_deref() == Some(slot));
        let told = told.rev().find(|part| self.may_be_told(slot, part)).map(|part| part.at);
        let counts = |part: &&Part| match told {
            Some(at) if part.at == at && part.slot.as_deref() == Some(slot) => true,
            Some(at) => part.at > at && part.may_tell(slot, request),
            None => part.may_tell(slot, request),
        };
        About { told, slot: slot.to_owned(), request, parts: parts.iter().filter(counts).collect() }
    }

    /// Returns whether a part has a value that its slot may have: one of an enumeration, a number, or words that are
    /// not all [`FILLERS`], depending on the schema.
    fn may_be_told(&self, slot: &str, part: &Part) -> bool {
        let schema = self.schema(slot).unwrap_or(&Value::Bool(true));
        match (closed(schema), schema.get("type").and_then(Value::as_str)) {
            (Some(values), _) => values.iter().any(|value| part.names(value)),
            (None, Some("integer" | "number")) => !part.saying.numbers().is_empty(),
            (None, _) => words(&part.text).iter().any(|word| !FILLERS.contains(&word.as_str())),
        }
    }

    /// Returns whether the user may have said a value of an enumeration or a boolean in other words, in the messages
    /// from the index `from` on. Parts that are only about another slot of the request do not count. The agent asked
    /// for the slot and a part answers, or a part is about the slot, or it has a word with the same first four
    /// characters as a word of the slot's name or of its values. False for other schemas.
    fn is_in_other_words(&self, api: usize, slot: &str, from: usize) -> bool {
        let Some(values) = self.schema(slot).and_then(closed) else { return false };
        let request = self.procedure.nodes.get(api).map_or(&[][..], |node| node.request.as_slice());
        let asked = self.owners.asked(slot).filter(|asked| *asked >= from);
        let mut hints = words(slot);
        hints.extend(values.iter().filter_map(Value::as_str).flat_map(words));
        let says = |part: &&Part| {
            asked.is_some_and(|asked| part.at >= asked && part.may_answer(slot))
                || part.slot.as_deref() == Some(slot)
                || part.saying.hints_at(&hints)
        };
        let parts = self.owners.parts.iter().filter(|part| part.at >= from && part.may_tell(slot, request));
        parts.into_iter().any(|part| says(&part))
    }

    /// Returns those of the values that a result offers which the user chose: if the user told the slot, those that the
    /// user said, or all if the user said none of them.
    pub(in crate::procedures) fn chosen(&self, api: usize, slot: &str, offered: Vec<Value>) -> Vec<Value> {
        let about = self.about(api, slot);
        if about.told.is_none() || !offered.iter().any(|value| about.has(value)) {
            return offered;
        }
        offered.into_iter().filter(|value| about.has(value)).collect()
    }

    /// Returns the values of a slot of a request that the last answer of a precondition has; `None` if none has it.
    pub(in crate::procedures) fn offered(&self, api: usize, slot: &str) -> Option<Vec<Value>> {
        let preconditions = self.procedure.preconditions.get(api)?.iter();
        let place = |node: usize| self.procedure.nodes[node].response.iter().position(|known| known == slot);
        let is_answered = |node: usize| self.status(node) != Status::No;
        let (node, place) = preconditions
            .filter(|precondition| is_answered(precondition.node))
            .find_map(|precondition| Some((precondition.node, place(precondition.node)?)))?;
        let answer = self.answers[node].as_ref();
        let told = answer.and_then(|answer| answer.response[place].as_ref());
        Some(told.map(elements).unwrap_or_default())
    }

    /// Returns whether somebody said the value of an argument. These always count: null, lists and objects; the value
    /// of the slot in an earlier call on which the call builds, in a decision on the slot, or known before the
    /// conversation; and the schema's `const`. In addition the `source` of the slot decides: with `user` messages; with
    /// a result only that result; with `agent` every value; without one messages, results and all decisions (for a
    /// boolean only results and decisions of the slot itself). Where messages count, so do the default of the file,
    /// answers to which the user agreed, and all values of an enumeration or a boolean if the user may have said one in
    /// other words.
    ///
    /// If the user told the slot, only what was said about it from then on counts: the message, later ones, answers to
    /// which the user agreed and results of the same slot; of the values of a result, those that the user said.
    pub(in crate::procedures) fn is_owned(&self, api: usize, slot: &str, value: &Value) -> bool {
        let owners = &self.owners;
        let is_value = |other: &Value| is_same(other, value);
        if matches!(value, Value::Null | Value::Array(_) | Value::Object(_))
            || self.bases(api).any(|(_, arguments)| arguments.get(slot).is_some_and(is_value))
            || self.decided.get(slot).is_some_and(is_value)
            || owners.given.get(slot).is_some_and(is_value)
            || self.schema(slot).and_then(|schema| schema.get("const")).is_some_and(is_value)
        {
            return true;
        }
        let declared = self.procedure.slot(slot);
        let source = declared.and_then(|slot| slot.source.as_ref());
        if source == Some(&Source::Agent) {
            return true;
        }
        let is_chosen = |offered: Vec<Value>| self.chosen(api, slot, offered).iter().any(is_value);
        if let Some(Source::Result { api: of, slot: told }) = source {
            return self.value(&format!("{of}.{told}")).is_some_and(|told| is_chosen(elements(told)));
        }
        let about = self.about(api, slot);
        let from = about.told.map_or(0, |told| told + 1);
        let agreed = owners.agreed.iter().filter(|(at, _)| *at >= from);
        if about.has(value)
            || agreed.map(|(_, saying)| saying).any(|saying| saying.has(value))
            || self.is_in_other_words(api, slot, from)
        {
            return true;
        }
        let is_default = declared.and_then(|slot| slot.default.as_ref()).is_some_and(is_value);
        if about.told.is_some() {
            let later = owners.told.iter().filter(|told| told.at >= from && told.slot == slot);
            return source.is_none()
                && (later.map(|told| &told.value).any(is_value)
                    || self.offered(api, slot).is_some_and(is_chosen));
        }
        // some other slot almost always has the same boolean, so only the slot itself counts
        let counts = |known: &str| !value.is_boolean() || known == slot;
        let mut decided = self.decided.iter().filter(|(known, _)| counts(known));
        let mut told = owners.told.iter().filter(|told| counts(&told.slot));
        is_default
            || source.is_none()
                && (told.any(|told| is_value(&told.value)) || decided.any(|(_, decided)| is_value(decided)))
    }

    /// Returns the values of a slot of an API's request that somebody said and that the schema of the slot allows,
    /// without duplicates: first the default, then values known before the conversation, then results (the latest
    /// first), then values of the user's messages, and last the schema's `const`. Returns `None` if any value of the
    /// schema is allowed. The slot must not be fixed by an earlier call or have a result as its source.
    pub(in crate::procedures) fn said_values(&self, api: usize, slot: &str) -> Option<Vec<Value>> {
        let owners = &self.owners;
        let declared = self.procedure.slot(slot);
        let source = declared.and_then(|slot| slot.source.as_ref());
        let any = Value::Bool(true);
        let schema = self.schema(slot).unwrap_or(&any);
        let kind = schema.get("type").and_then(Value::as_str);
        if source == Some(&Source::Agent) || matches!(kind, Some("array" | "object" | "null")) {
            return None;
        }
        let about = self.about(api, slot);
        let from = about.told.map_or(0, |told| told + 1);
        let default = declared.and_then(|slot| slot.default.clone()).filter(|_| about.told.is_none());
        let mut values: Vec<Value> = default.into_iter().chain(owners.given.get(slot).cloned()).collect();
        if source.is_none() {
            let is_own = about.told.is_some() || closed(schema).is_some() || is_free_text(schema);
            let told =
                owners.told.iter().rev().filter(|told| told.at >= from && (!is_own || told.slot == slot));
            let told = told.map(|told| &told.value);
            values.extend(told.filter(|value| !value.is_array() && !value.is_object()).cloned());
        }
        if let Some(all) = closed(schema) {
            // what answers the last question decides, if there was one
            let is_answered = |asked: &usize| about.since(*asked).any(|part| part.may_answer(slot));
            let asked = owners.asked(slot).filter(|asked| *asked >= from && is_answered(asked));
            let asked = asked.unwrap_or(0);
            let is_said =
                |value: &&Value| about.since(asked).any(|part| part.tells(slot, about.request, value));
            let said: Vec<Value> = all.iter().filter(is_said).cloned().collect();
            if said.is_empty() && self.is_in_other_words(api, slot, from) {
                return None;
            }
            values.extend(said);
        } else {
            if matches!(kind, None | Some("integer" | "number")) {
                values.extend(about.numbers());
            }
            if matches!(kind, None | Some("string")) {
                let quoted = about.quotes();
                if !is_free_text(schema) {
                    let forms = about.parts.iter().rev().flat_map(|part| part.saying.normal_forms());
                    values.extend(forms.map(Value::from));
                    values.extend(quoted.iter().flat_map(|piece| spellings(piece)).map(Value::from));
                }
                values.extend(quoted.into_iter().map(Value::from));
            }
            values.extend(schema.get("const").cloned());
        }
        values.retain(|value| !about.is_for_another(value) || self.is_owned(api, slot, value));
        let mut seen = FxHashSet::default();
        values.retain(|value| seen.insert(value.to_string()));
        Some(self.procedure.allowed(slot, values))
    }

    /// Returns the texts of the user's messages that an argument may quote.
    pub(in crate::procedures) fn quotes(&self, api: usize, slot: &str) -> Vec<String> {
        let about = self.about(api, slot);
        let mut quotes = about.quotes();
        quotes.retain(|text| !about.is_for_another(&text.as_str().into()));
        quotes
    }
}

/// What the user said about a slot.
struct About<'s> {
    /// The index of the message that told the slot; `None` if none did.
    told: Option<usize>,
    slot: String,
    /// The request of the API.
    request: &'s [String],
    /// The parts of messages that count, the oldest first.
    parts: Vec<&'s Part>,
}

impl About<'_> {
    fn has(&self, value: &Value) -> bool {
        self.parts.iter().any(|part| part.tells(&self.slot, self.request, value))
    }

    /// Returns whether the value is told for another slot alone.
    fn is_for_another(&self, value: &Value) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| part.is_for_another(&self.slot, self.request, value)) && !self.has(value)
    }

    fn since(&self, message: usize) -> impl Iterator<Item = &Part> {
        self.parts.iter().copied().filter(move |part| part.at >= message)
    }

    /// Returns the distinct numbers, the latest message first.
    fn numbers(&self) -> Vec<Value> {
        let mut seen = Vec::new();
        for number in self.parts.iter().rev().flat_map(|part| part.saying.numbers()) {
            let whole = number.fract() == 0.0 && number.abs() < 9e15;
            let value = if whole { Value::from(*number as i64) } else { Value::from(*number) };
            if !seen.contains(&value) {
                seen.push(value);
            }
        }
        seen
    }

    /// Returns the pieces that an argument may quote, the latest message first.
    fn quotes(&self) -> Vec<String> {
        pieces(self.parts.iter().map(|part| part.text.as_str()))
    }
}

/// Returns whether a schema allows all texts, except for bounds on their length.
pub(in crate::procedures) fn is_free_text(schema: &Value) -> bool {
    let Some(fields) = schema.as_object() else { return schema == &Value::Bool(true) };
    let is_text = fields.get("type").is_none_or(|kind| kind == "string");
    let only = ["type", "minLength", "maxLength", "description", "title", "examples"];
    is_text && fields.keys().all(|key| only.contains(&key.as_str()))
}

/// Returns a text in lower case, in upper case and without spaces, because patterns may require another spelling than
/// the text's. Upper case is left out if it does not convert back to the lower case.
fn spellings(text: &str) -> Vec<String> {
    let squeezed: String = text.split_whitespace().collect();
    let mut spellings = vec![text.to_lowercase(), squeezed.to_lowercase()];
    // some letters change when they are converted to upper case and back
    let upper = [text, &squeezed].map(str::to_uppercase).into_iter();
    spellings.extend(upper.filter(|upper| spellings.contains(&upper.to_lowercase())).collect::<Vec<_>>());
    spellings.push(squeezed);
    spellings
}
