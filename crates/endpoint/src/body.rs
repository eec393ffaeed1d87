//! Encodes requests as JSON, and decodes the answers in a model's messages.

use crate::answer::{Answer, Call};
use crate::dialect::Encoding;
use crate::lengths;
use crate::request::{ANSWER, CALLS, Form, Request};
use serde_json::{Map, Value, json};

/// The members of a request other than messages, form and bound on tokens.
#[derive(Clone, Debug)]
pub(crate) struct Settings<'s> {
    pub(crate) model: Option<&'s str>,
    pub(crate) temperature: f32,
    pub(crate) seed: u64,
    pub(crate) stream: bool,
    /// Whether strings in the schema of the form are bounded, so that an answer ends before `max_tokens`.
    pub(crate) bounds_strings: bool,
    /// Names of optional members that the server has refused. They are omitted; `max_tokens` is sent as
    /// `max_completion_tokens` instead.
    pub(crate) dropped: &'s [&'static str],
}

/// Optional members of a request. If a server refuses one of them by name, that member is not sent again; `max_tokens`
/// is then sent as `max_completion_tokens`.
pub(crate) const OPTIONAL: [&str; 5] =
    ["stream_options", "parallel_tool_calls", "temperature", "seed", "max_tokens"];

/// Returns the body of a request, as JSON.
pub(crate) fn body(request: &Request, encoding: Encoding, settings: &Settings<'_>) -> String {
    let mut members = Map::new();
    let mut put = |name: &str, value: Value| {
        members.insert(name.to_owned(), value);
    };
    if let Some(model) = settings.model {
        put("model", model.into());
    }
    put("messages", messages(request, encoding));
    put("temperature", f64::from(settings.temperature).into());
    put("seed", settings.seed.into());
    put("max_tokens", request.max_tokens.into());
    if settings.stream {
        put("stream", true.into());
        put("stream_options", json!({"include_usage": true}));
    }
    for (name, mut value) in form(&request.form, encoding) {
        match encoding {
            _ if settings.bounds_strings => lengths::bound(&mut value, request.max_tokens / 2),
            // OpenAI refuses bounds of lengths in strict schemas
            Encoding::StrictSchema | Encoding::StrictTools => lengths::remove(&mut value),
            _ => {}
        }
        put(name, value);
    }
    for name in settings.dropped {
        let value = members.shift_remove(*name);
        if let (Some(value), "max_tokens") = (value, *name) {
            // models that reason before they answer expect the bound under another name
            members.insert("max_completion_tokens".to_owned(), value);
        }
    }
    Value::Object(members).to_string()
}

/// Returns the messages of a request. With [`Encoding::Prompt`] and [`Encoding::JsonObject`], which do not have the
/// form in a member, a description of the form is appended to the last message.
fn messages(request: &Request, encoding: Encoding) -> Value {
    let mut messages: Vec<Value> = request
        .messages
        .iter()
        .map(|message| json!({"role": message.role.name(), "content": message.text}))
        .collect();
    if matches!(encoding, Encoding::Prompt | Encoding::JsonObject)
        && let Some(said) = said(&request.form, encoding)
        && let Some(last) = messages.last_mut()
    {
        let text = last["content"].as_str().unwrap_or_default();
        last["content"] = format!("{text}\n\n{said}").into();
    }
    messages.into()
}

/// Returns a description of the form for the model; `None` for [`Form::Text`].
fn said(form: &Form, encoding: Encoding) -> Option<String> {
    let is_json = encoding == Encoding::JsonObject || matches!(form, Form::Json { .. } | Form::Tools { .. });
    Some(match form {
        Form::Text => return None,
        Form::Grammar(grammar) => {
            format!("Write a text of this grammar (GBNF), and nothing else:\n{grammar}")
        }
        form if is_json => {
            let schema = form.schema()?;
            format!("Write one JSON object that this JSON Schema admits, and nothing else:\n{schema}")
        }
        Form::Regex(pattern) => {
            format!("Write a text that this regular expression matches, and nothing else:\n{pattern}")
        }
        Form::Choice(texts) => {
            format!("Write one of these texts, and nothing else:\n{}", texts.join("\n"))
        }
        Form::Json { .. } | Form::Tools { .. } => return None,
    })
}

/// Returns the names and values of the members that encode a form. There are none if the encoding has no member for the
/// form.
fn form(form: &Form, encoding: Encoding) -> Vec<(&'static str, Value)> {
    match (encoding, form) {
        (Encoding::StrictSchema | Encoding::Schema, form) => {
            let Some(schema) = form.schema() else { return Vec::new() };
            let name = if let Form::Json { name, .. } = form { name.as_str() } else { "answer" };
            let mut inner = json!({"name": name, "schema": schema});
            if encoding == Encoding::StrictSchema {
                inner["strict"] = true.into();
            }
            vec![("response_format", json!({"type": "json_schema", "json_schema": inner}))]
        }
        (Encoding::JsonObject, _) => vec![("response_format", json!({"type": "json_object"}))],
        (Encoding::Structured, form) => match structured(form) {
            Some((name, value)) => vec![("structured_outputs", json!({name: value}))],
            None => Vec::new(),
        },
        (Encoding::Guided, form) => match structured(form) {
            Some(("choice", value)) => vec![("guided_choice", value)],
            Some(("json", value)) => vec![("guided_json", value)],
            Some(("regex", value)) => vec![("guided_regex", value)],
            Some((_, value)) => vec![("guided_grammar", value)],
            None => Vec::new(),
        },
        (Encoding::Grammar, Form::Choice(texts)) => vec![("grammar", alternatives(texts).into())],
        (Encoding::Grammar, Form::Grammar(grammar)) => vec![("grammar", grammar.as_str().into())],
        (Encoding::StrictTools | Encoding::Tools, Form::Tools { tools, is_required, is_several }) => {
            let one = |tool: &crate::Tool| {
                let mut function = json!({
                    "name": tool.name, "description": tool.description, "parameters": tool.parameters,
                });
                if encoding == Encoding::StrictTools {
                    function["strict"] = true.into();
                }
                json!({"type": "function", "function": function})
            };
            vec![
                ("tools", tools.iter().map(one).collect()),
                ("tool_choice", if *is_required { "required" } else { "auto" }.into()),
                ("parallel_tool_calls", (*is_several).into()),
            ]
        }
        _ => Vec::new(),
    }
}

/// Returns vLLM's name and value of a form; `None` for [`Form::Text`].
fn structured(form: &Form) -> Option<(&'static str, Value)> {
    Some(match form {
        Form::Choice(texts) => ("choice", json!(texts)),
        Form::Json { schema, .. } => ("json", schema.clone()),
        Form::Regex(pattern) => ("regex", pattern.as_str().into()),
        Form::Grammar(grammar) => ("grammar", grammar.as_str().into()),
        Form::Tools { .. } => ("json", form.schema()?),
        Form::Text => return None,
    })
}

/// Returns a GBNF grammar whose words are exactly the given texts.
fn alternatives(texts: &[String]) -> String {
    let quoted = |text: &String| {
        let mut quoted = String::from("\"");
        for c in text.chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\n' => quoted.push_str("\\n"),
                '\r' => quoted.push_str("\\r"),
                '\t' => quoted.push_str("\\t"),
                c => quoted.push(c),
            }
        }
        quoted.push('"');
        quoted
    };
    let texts: Vec<String> = texts.iter().map(quoted).collect();
    format!("root ::= {}\n", texts.join(" | "))
}

/// A message of the model as received, not decoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Written {
    pub(crate) text: String,
    /// The name and the arguments of each call. The arguments are a text, which is JSON if the model wrote it
    /// correctly.
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) is_cut: bool,
    /// The text with which the model declines to answer; empty if it does not.
    pub(crate) refusal: String,
    /// Whether a content filter of the server held back the answer or its rest.
    pub(crate) is_filtered: bool,
    /// Numbers of tokens of the prompt and of the answer; `None` if the server did not send them.
    pub(crate) tokens: Option<(u64, u64)>,
}

impl Written {
    /// Decodes the answer according to the encoding of the form. A message without the requested shape remains a text,
    /// which the caller must check.
    pub(crate) fn answer(self, form: &Form, encoding: Encoding) -> Answer {
        let json = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
        let calls: Vec<Call> = self
            .calls
            .into_iter()
            .map(|(name, arguments)| Call { name, arguments: json(arguments) })
            .collect();
        let mut answer = Answer { text: self.text, calls, is_cut: self.is_cut };
        let is_object = matches!(encoding, Encoding::StrictSchema | Encoding::Schema | Encoding::JsonObject);
        match form {
            Form::Choice(_) | Form::Regex(_) if is_object => {
                let value: Option<Value> = serde_json::from_str(unfenced(&answer.text)).ok();
                if let Some(text) = value.as_ref().and_then(|value| value.get(ANSWER)).and_then(Value::as_str)
                {
                    answer.text = text.to_owned();
                }
            }
            Form::Json { .. } => answer.text = unfenced(&answer.text).to_owned(),
            Form::Tools { .. } if answer.calls.is_empty() => {
                if let Some(calls) = listed(&answer.text) {
                    answer.calls = calls;
                    answer.text.clear();
                }
            }
            _ => {}
        }
        answer
    }
}

/// Parses calls from a JSON object with the member `calls`, a list of objects with `name` (a string) and `arguments`.
/// `None` if the text does not have this shape.
fn listed(text: &str) -> Option<Vec<Call>> {
    let value: Value = serde_json::from_str(unfenced(text)).ok()?;
    let calls = value.get(CALLS)?.as_array()?;
    calls
        .iter()
        .map(|call| {
            Some(Call {
                name: call.get("name")?.as_str()?.to_owned(),
                arguments: call.get("arguments")?.clone(),
            })
        })
        .collect()
}

/// Returns a text without surrounding whitespace, and without the Markdown code fence that models write around JSON.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner).trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DIALECTS, Tool};

    fn request(form: Form) -> Request {
        Request::new("Which?", form, 16)
    }

    fn settings<'s>(dropped: &'s [&'static str]) -> Settings<'s> {
        Settings {
            model: Some("m"),
            temperature: 0.0,
            seed: 7,
            stream: false,
            bounds_strings: false,
            dropped,
        }
    }

    #[test]
    fn each_encoding_of_each_dialect_writes_its_member_or_says_the_form() {
        let texts = vec!["a \"b\"".to_owned(), "c".to_owned()];
        let parameters = json!({"type": "object"});
        let tools = vec![Tool { name: "t".into(), description: "d".into(), parameters: parameters.clone() }];
        let forms = [
            Form::Choice(texts),
            Form::Json { name: "step".into(), schema: parameters },
            Form::Regex("[ab]+".into()),
            Form::Grammar("root ::= \"a\"".into()),
            Form::Tools { tools, is_required: true, is_several: false },
        ];
        for dialect in &DIALECTS {
            for form in &forms {
                for &encoding in dialect.encodings(form.kind()) {
                    let body = body(&request(form.clone()), encoding, &settings(&[]));
                    let body: Value = serde_json::from_str(&body).unwrap();
                    let members = body.as_object().unwrap().len();
                    let is_said = body["messages"][0]["content"] != "Which?";
                    let what = format!("{} {:?} {encoding:?}: {body}", dialect.name, form.kind());
                    assert!(members > 5 || is_said, "{what}");
                    assert_eq!(
                        is_said,
                        matches!(encoding, Encoding::Prompt | Encoding::JsonObject),
                        "{what}"
                    );
                }
            }
        }
        assert_eq!(alternatives(&["a \"b\\".into(), "c\n".into()]), "root ::= \"a \\\"b\\\\\" | \"c\\n\"\n");
    }

    #[test]
    fn members_that_a_server_refuses_are_left_out() {
        let body = body(&request(Form::Text), Encoding::Prompt, &settings(&["temperature", "max_tokens"]));
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["max_completion_tokens"], 16);
        assert!(body.get("max_tokens").is_none() && body.get("temperature").is_none() && body["seed"] == 7);
    }

    #[test]
    fn what_has_not_the_shape_asked_for_stays_a_text() {
        let choice = Form::Choice(vec!["1".into(), "2".into()]);
        let tools = Form::Tools { tools: Vec::new(), is_required: true, is_several: true };
        let json = Form::Json { name: "a".into(), schema: Value::Bool(true) };
        for (form, encoding, text, expected) in [
            (&choice, Encoding::StrictSchema, r#"{"answer": "2"}"#, "2"),
            (&choice, Encoding::StrictSchema, r#"{"answer": 2}"#, r#"{"answer": 2}"#),
            (&choice, Encoding::JsonObject, "```json\n{\"answer\": \"1\"}\n```", "1"),
            (&choice, Encoding::Prompt, r#"{"answer": "2"}"#, r#"{"answer": "2"}"#),
            (&json, Encoding::Prompt, "```\n[1]\n```", "[1]"),
            (&tools, Encoding::Prompt, r#"{"calls": [{"name": 1}]}"#, r#"{"calls": [{"name": 1}]}"#),
        ] {
            let written = Written { text: text.to_owned(), ..Written::default() };
            let answer = written.answer(form, encoding);
            assert_eq!((answer.text.as_str(), answer.calls.len()), (expected, 0), "{text}");
        }
        let text = r#"{"calls": [{"name": "t", "arguments": {"a": 1}}]}"#.to_owned();
        let answer = Written { text, ..Written::default() }.answer(&tools, Encoding::Schema);
        assert_eq!(answer.calls, [Call { name: "t".into(), arguments: json!({"a": 1}) }]);
        let calls = vec![("t".to_owned(), "{\"a\": ".to_owned())];
        let answer = Written { calls, ..Written::default() }.answer(&tools, Encoding::Tools);
        assert_eq!(answer.calls[0].arguments, Value::from("{\"a\": "));
    }
}
