//! Questions for the person who uses the client, and the call that waits for the answer.

use super::call::{Call, Retry, Tool, result};
use super::{Asked, Guard, MOST_CALL_BYTES};
use crate::guard::Action;
use crate::rules::{Field, Question, Reply, Values};
use crate::wire::{self, Id, Message};
use grammata::diagnostic::excerpt;
use serde_json::{Value, json};
use std::time::Instant;

/// Formats of texts that a form may have.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The name of the guard's question among the questions of a result.
const OWN: &str = "guard";

/// How a client is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By a request `elicitation/create` with a form, while the call waits.
    Elicitation,
    /// By the result of the call, in sessions without `initialize`. The client answers by a retry of the call.
    Result,
}

impl Way {
    /// Returns this way if clients with these capabilities can be asked; `None` otherwise. A client that declares
    /// `elicitation` without a mode shows forms.
    pub(super) fn with(self, capabilities: &Value) -> Option<Way> {
        let modes = capabilities.get("elicitation")?.as_object()?;
        (modes.contains_key("form") || !modes.contains_key("url")).then_some(self)
    }
}

/// Reads the client's response to a request `elicitation/create`.
fn response(question: &Question, message: &Message) -> Reply {
    if message.bytes("result") > MOST_CALL_BYTES {
        return Reply::Invalid("the answer of the client is longer than 1 MiB".to_owned());
    }
    if let Some(error) = message.value("error") {
        let text = error.get("message").and_then(Value::as_str).unwrap_or_default();
        return Reply::Invalid(format!("the client answered with an error: {}", excerpt(text)));
    }
    match message.value("result") {
        Some(answer) => reply(question, answer),
        None => Reply::Invalid("the answer of the client cannot be read".to_owned()),
    }
}

/// Reads the answer of the client to a question.
fn reply(question: &Question, mut answer: Value) -> Reply {
    let invalid = |why: &str| Reply::Invalid(why.to_owned());
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => match answer.get_mut("content").map(Value::take) {
            Some(Value::Object(values)) => Reply::Accepted(read(&question.fields, values)),
            None | Some(Value::Null) => Reply::Accepted(Values::new()),
            Some(_) => invalid("the `content` of the client's answer is not an object"),
        },
        Some("decline") => Reply::Declined,
        Some("cancel") => Reply::Cancelled,
        _ => invalid("the client's answer has no `action` of `accept`, `decline` or `cancel`"),
    }
}

/// Returns the schema of a form. Forms are flat: a value that a form cannot have is asked as JSON text.
fn form(fields: &[Field]) -> Value {
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    let property = |field: &Field| {
        let mut property = primitive(&field.schema).unwrap_or_else(
            || json!({ "type": "string", "description": format!("JSON of the schema {}", field.schema) }),
        );
        let parts = [Some(field.description.as_str()), property["description"].as_str()];
        let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            property["description"] = parts.join("; ").into();
        }
        (field.name.clone(), property)
    };
    let properties: Values = fields.iter().map(property).collect();
    json!({ "type": "object", "properties": properties, "required": names })
}

/// Returns the field of a form for the values of a schema; `None` if a form cannot have such a field. The form may allow
/// more than the schema, because the rules check each answer.
fn primitive(schema: &Value) -> Option<Value> {
    let kind = schema.get("type").and_then(Value::as_str);
    let listed = match (schema.get("enum").and_then(Value::as_array), schema.get("const")) {
        (Some(listed), _) => Some(listed.clone()),
        (None, Some(only)) => Some(vec![only.clone()]),
        (None, None) => None,
    };
    if let Some(listed) = listed {
        let is_text = matches!(kind, None | Some("string")) && listed.iter().all(Value::is_string);
        return is_text.then(|| json!({ "type": "string", "enum": listed }));
    }
    let keys: &[&str] = match kind? {
        "boolean" => &[],
        "integer" | "number" => &["minimum", "maximum"],
        "string" => &["minLength", "maxLength"],
        _ => return None,
    };
    let mut field = json!({ "type": kind });
    for key in keys {
        if let Some(value) = schema.get(*key) {
            field[*key] = value.clone();
        }
    }
    if let Some(format) = schema.get("format").filter(|format| FORMATS.iter().any(|known| format == known)) {
        field["format"] = format.clone();
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        field["description"] = format!("it must match {pattern}").into();
    }
    Some(field)
}

/// Returns the values of a filled form. Values that were asked as JSON text are parsed; a text that is not JSON is itself
/// the value.
fn read(fields: &[Field], mut values: Values) -> Values {
    for field in fields.iter().filter(|field| primitive(&field.schema).is_none()) {
        let parsed = values.get(&field.name).and_then(Value::as_str).map(serde_json::from_str);
        if let Some(Ok(value)) = parsed {
            values.insert(field.name.clone(), value);
        }
    }
    values
}

/// A call that waits for the answer to a question.
#[derive(Debug)]
pub(super) struct Asking {
    way: Way,
    /// The id of the question, which the guard has chosen. In a result it is the state.
    pub(super) number: u64,
    pub(super) deadline: Instant,
    question: Question,
    call: Call,
    /// What the call has done already, for the agent; `None` if the call depends on the answer.
    done: Option<String>,
}

impl Asking {
    /// Returns whether the call has ended with a result that is the question.
    pub(super) fn is_in_result(&self) -> bool {
        self.way == Way::Result
    }

    /// Returns whether a call is a retry of the call that asks the question.
    pub(super) fn is_retried(&self, call: &Call, retry: &Retry) -> bool {
        self.is_in_result()
            && retry.has_state(Some(&self.number.to_string()))
            && (&self.call.name, &self.call.arguments) == (&call.name, &call.arguments)
    }
}

impl Guard<'_> {
    /// Asks the person a question that a call has raised. `done` is what the call has done already.
    pub(super) fn ask(&mut self, question: Question, call: Call, done: Option<String>, now: Instant) {
        let Some(way) = self.way else { return self.replied(call, done, Reply::Impossible, now) };
        let method = "elicitation/create";
        let params = json!({ "message": question.text, "requestedSchema": form(&question.fields) });
        let number = match way {
            Way::Elicitation => {
                let number = self.asked.add(Asked::Guards);
                self.actions.push(Action::Client(wire::request(number, method, &params)));
                number
            }
            Way::Result => {
                let number = self.asked.number();
                let result = json!({
                    "resultType": "input_required",
                    "inputRequests": { OWN: { "method": method, "params": params } },
                    "requestState": number.to_string(),
                });
                self.answer(&call.id, &result);
                number
            }
        };
        let deadline = now + self.options.ask_deadline;
        self.asking = Some(Asking { way, number, deadline, question, call, done });
    }

    /// Handles the client's answer to the question `number`, or the reason why it cannot be read.
    pub(super) fn question_answered(&mut self, number: u64, answer: Result<&Message, &str>, now: Instant) {
        let Some(asking) = self.asking.take_if(|asking| asking.number == number) else { return };
        let reply = match answer {
            Ok(message) => response(&asking.question, message),
            Err(why) => Reply::Invalid(format!("the answer of the client cannot be read: {why}")),
        };
        self.replied(asking.call, asking.done, reply, now);
        self.advance(now);
    }

    /// Continues the call that waits for an answer by its retry, which has these answers.
    pub(super) fn question_retried(&mut self, call: Call, mut answers: Value, now: Instant) {
        let Some(asking) = self.asking.take() else { return };
        let reply = match answers.get_mut(OWN).map(Value::take) {
            Some(answer) => reply(&asking.question, answer),
            None => Reply::Invalid(format!("the client's answer lacks `inputResponses.{OWN}`")),
        };
        self.replied(call, asking.done, reply, now);
        self.advance(now);
    }

    pub(super) fn question_timed_out(&mut self, now: Instant) {
        self.end_question(Reply::Late(self.options.ask_deadline), now);
        self.advance(now);
    }

    /// Withdraws the open question, if it is that of the client's call `id`, and records that nothing was decided. The
    /// client expects no answer to the call. Returns whether there was such a question.
    pub(super) fn question_cancelled(&mut self, id: &Id, now: Instant) -> bool {
        let is_of = |asking: &mut Asking| asking.way == Way::Elicitation && asking.call.id == *id;
        let Some(asking) = self.asking.take_if(is_of) else { return false };
        self.in_use.remove(id);
        self.withdraw(asking.number);
        self.undecided(Reply::Invalid("the call was cancelled".to_owned()));
        self.advance(now);
        true
    }

    /// Records that the client has left, so that nobody can be asked. Returns the steps to carry out.
    pub fn client_left(&mut self, now: Instant) -> Vec<Action> {
        const WHY: &str = "the client left before the answer";
        self.way = None;
        // a client that has left needs no withdrawal
        if let Some(asking) = &self.asking {
            self.asked.open.remove(&asking.number);
        }
        self.end_question(Reply::Invalid(WHY.to_owned()), now);
        self.abandon(WHY);
        self.advance(now);
        std::mem::take(&mut self.actions)
    }

    /// Ends the open question with a reply that is not the person's. Does nothing if none is open.
    pub(super) fn end_question(&mut self, reply: Reply, now: Instant) {
        let Some(asking) = self.asking.take() else { return };
        match asking.way {
            Way::Elicitation => {
                self.withdraw(asking.number);
                self.replied(asking.call, asking.done, reply, now);
            }
            // the call has its result already, which is the question
            Way::Result => self.undecided(reply),
        }
    }

    /// Tells the client that the request `number` needs no answer any more.
    pub(super) fn withdraw(&mut self, number: u64) {
        if self.asked.open.remove(&number).is_some() {
            let params = json!({ "requestId": number, "reason": "the question was withdrawn" });
            let line = wire::notification("notifications/cancelled", Some(params));
            self.actions.push(Action::Client(line));
        }
    }

    /// Records a reply that decides nothing, for which no call waits.
    fn undecided(&mut self, reply: Reply) {
        if let Err(reason) = self.rules.reply(reply) {
            self.log(&json!(["guide", reason]));
        }
    }

    /// Continues a call after the end of its question.
    fn replied(&mut self, call: Call, done: Option<String>, reply: Reply, now: Instant) {
        let replied = self.rules.reply(reply);
        for event in replied.iter().flat_map(|(events, _)| events) {
            self.log(event);
        }
        let told = match (replied, done) {
            (Ok(_), _) if call.tool == Tool::Servers => return self.call(call, now),
            (Ok((_, text)), Some(done)) => format!("{done} {text}"),
            (Ok((_, text)), None) => text,
            (Err(reason), None) => return self.refused(&call, &reason),
            (Err(reason), Some(done)) => {
                self.log(&json!(["guide", reason]));
                format!("{done} {reason}")
            }
        };
        self.announce(false);
        let text = format!("{told}\n{}", self.open_line());
        self.answer(&call.id, &result(&text, false));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_asked_by_what_they_declare() {
        for (capabilities, expected) in [
            (json!({}), None),
            (json!({ "elicitation": {} }), Some(Way::Elicitation)),
            (json!({ "elicitation": { "form": {} } }), Some(Way::Elicitation)),
            (json!({ "elicitation": { "form": {}, "url": {} } }), Some(Way::Elicitation)),
            (json!({ "elicitation": { "url": {} } }), None),
            (json!({ "elicitation": true }), None),
            (json!([]), None),
            (Value::Null, None),
        ] {
            assert_eq!(Way::Elicitation.with(&capabilities), expected, "{capabilities}");
        }
    }

    #[test]
    fn forms_are_flat() {
        let json = |schema: &Value| json!({ "type": "string", "description": format!("JSON of the schema {schema}") });
        for (schema, expected) in [
            (json!({ "type": "boolean" }), Some(json!({ "type": "boolean" }))),
            (
                json!({ "type": "integer", "minimum": 1, "exclusiveMaximum": 9 }),
                Some(json!({ "type": "integer", "minimum": 1 })),
            ),
            (json!({ "enum": ["a", "b"] }), Some(json!({ "type": "string", "enum": ["a", "b"] }))),
            (json!({ "const": "a" }), Some(json!({ "type": "string", "enum": ["a"] }))),
            (json!({ "enum": ["a", 1] }), None),
            (json!({ "type": "integer", "enum": [1, 2] }), None),
            (
                json!({ "type": "string", "maxLength": 9, "format": "date", "pattern": "^2" }),
                Some(
                    json!({ "type": "string", "maxLength": 9, "format": "date", "description": "it must match ^2" }),
                ),
            ),
            (json!({ "type": "string", "format": "regex" }), Some(json!({ "type": "string" }))),
            (json!({ "type": ["string", "null"] }), None),
            (json!({ "type": "array" }), None),
            (json!(true), None),
        ] {
            let field = Field { name: "x".to_owned(), schema: schema.clone(), description: String::new() };
            let expected = expected.unwrap_or_else(|| json(&schema));
            let expected = json!({ "type": "object", "properties": { "x": expected }, "required": ["x"] });
            assert_eq!(form(&[field]), expected, "{schema}");
        }
    }

    #[test]
    fn json_texts_are_parsed() {
        for (schema, given, expected) in [
            (json!({ "type": "array" }), json!("[1]"), json!([1])),
            (json!({ "type": "array" }), json!([1]), json!([1])),
            (json!({ "enum": ["a", 1] }), json!("1"), json!(1)),
            (json!({ "enum": ["a", 1] }), json!("a"), json!("a")),
            (json!({ "enum": ["a", 1] }), json!("\"a\""), json!("a")),
            (json!({ "type": "string" }), json!("1"), json!("1")),
        ] {
            let field = Field { name: "x".to_owned(), schema: schema.clone(), description: String::new() };
            let values = read(&[field], Values::from_iter([("x".to_owned(), given)]));
            assert_eq!(values["x"], expected, "{schema}");
        }
    }
}
