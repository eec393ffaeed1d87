//! Validation of the arguments of calls against the schemas of their tools.

use super::binding::{Binding, HttpBinding};
use super::custom::INPUT;
use super::errors;
use super::format::{Call, GrammarOptions, in_plain_notation};
use super::set::{Tool, ToolSet, is_fatal};
use grammata::diagnostic::{Diagnostic, Place, did_you_mean, excerpt};
use grammata::error::Result;
use grammata::mask::Compiler;
use grammata::matcher::Explanation;
use grammata::syntax::json_schema::Numbers;
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The maximum number of references that are followed in a chain, and the maximum nesting of values in which faults are
/// searched.
const CHAIN: usize = 100;

impl ToolSet {
    /// Checks that the arguments of a call conform to the schema of its tool. As in masks, undeclared members are
    /// forbidden. A parameter of an operation that is `null` counts as absent if the schema does not allow `null` for
    /// it.
    ///
    /// # Errors
    /// `tools/unknown-tool`; `tools/refused-tool` if the tool cannot be called or its arguments have no grammar;
    /// `tools/call-arguments` with the place in the call if the arguments do not conform; limits.
    pub fn check_call(&self, call: &Call) -> Result<()> {
        let tool = self.callable_tool(&call.tool)?;
        let options = GrammarOptions::arguments(self.limits.clone()).numbers(Numbers::Any);
        let compiled = tool.grammar(&options).map_err(|error| match is_fatal(&error) {
            true => error.or_at(&tool.place),
            false => errors::refused_tool(&tool.name, &tool.refused(error.diagnostic())),
        })?;
        let end = TokenId::new(256);
        let bytes =
            VocabularyBuilder::from_tokens((0..=255_u8).map(|byte| [byte])).special(end, "<end>").eos([end]);
        let compiler =
            Compiler::new(Arc::new(bytes.build()?)).limits(self.limits.clone()).without_token_bounds();
        let mut matcher = compiler.compile(&compiled.grammar)?.matcher();
        let mut explain = |arguments: &Map<String, Value>| -> Result<(String, Explanation)> {
            let call = Call { tool: call.tool.clone(), arguments: arguments.clone() };
            let text = Value::Object(in_plain_notation(&call).into_owned().arguments).to_string();
            let explanation = matcher.explain(text.as_bytes())?;
            Ok((text, explanation))
        };
        let is_word = |explanation: &Explanation| explanation.found().is_none() && explanation.may_end();
        let (mut text, mut explanation) = explain(&call.arguments)?;
        if is_word(&explanation) {
            return Ok(());
        }
        let mut arguments = call.arguments.clone();
        if let Binding::Http(http) = &tool.binding
            && leave_out_null(http, &mut arguments)
        {
            (text, explanation) = explain(&arguments)?;
            if is_word(&explanation) {
                return Ok(());
            }
        }
        let schema = tool.arguments.value();
        let arguments = Value::Object(arguments);
        let found = fault(&schema, &schema, &arguments, "/arguments", 0)
            .or_else(|| tool.is_custom.then(|| wrong_input(self.input(call)?, &explanation))?);
        Err(errors::call_arguments(
            found.unwrap_or_else(|| explained(&schema, &arguments, &text, &explanation)),
        ))
    }

    /// Returns the tool of this name, if it can be called.
    ///
    /// # Errors
    /// `tools/unknown-tool`, `tools/refused-tool`.
    pub(super) fn callable_tool(&self, name: &str) -> Result<&Tool> {
        let Some(tool) = self.tool(name) else {
            let known = self.callable().map(|tool| tool.name.as_str());
            return Err(errors::unknown_tool(name, known).or_at(&Place::Pointer("/name".to_owned())));
        };
        match &tool.refusal {
            Some(reason) => Err(errors::refused_tool(name, reason)),
            None => Ok(tool),
        }
    }
}

/// Removes the arguments of parameters that are `null`. Returns whether there were any.
fn leave_out_null(http: &HttpBinding, arguments: &mut Map<String, Value>) -> bool {
    let mut is_changed = false;
    for parameter in &http.parameters {
        let group = match http.grouped {
            true => arguments.get_mut(parameter.location.name()).and_then(Value::as_object_mut),
            false => Some(&mut *arguments),
        };
        if let Some(group) = group
            && group.get(&parameter.member).is_some_and(Value::is_null)
        {
            group.remove(&parameter.member);
            is_changed = true;
        }
    }
    is_changed
}

fn join(pointer: &str, name: &str) -> String {
    format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Returns the schema at the end of a chain of references, at most [`CHAIN`] long.
fn resolved<'s>(root: &'s Value, mut schema: &'s Value) -> &'s Value {
    for _ in 0..CHAIN {
        let reference = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        match reference.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Returns a diagnostic of the first undeclared or missing member, or of the first value of a wrong type or outside an
/// `enum`. Only keywords that apply unconditionally are considered, and numbers are not compared with an `enum`.
/// Returns `None` if no such fault is found.
fn fault(root: &Value, schema: &Value, value: &Value, pointer: &str, depth: usize) -> Option<Diagnostic> {
    if depth > CHAIN {
        return None;
    }
    let schema = resolved(root, schema);
    let make = |message: &str| errors::call_fault(message, Place::Pointer(pointer.to_owned()));
    if let Some(types) = schema.get("type").filter(|types| !is_of_type(value, types)) {
        let allowed = match types {
            Value::String(name) => name.clone(),
            types => types.to_string(),
        };
        return Some(make("this argument has another type").found(value.to_string()).allowed(allowed));
    }
    if let Some(Value::Array(listed)) = schema.get("enum")
        && !value.is_number()
        && !listed.contains(value)
    {
        let allowed: Vec<String> = listed.iter().take(20).map(Value::to_string).collect();
        let made = make("this argument has a value that is not listed").found(value.to_string());
        return Some(made.allowed(excerpt(&allowed.join(", "))));
    }
    match value {
        Value::Object(members) => {
            let empty = Map::new();
            let declared = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
            let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
                && !schema.get("patternProperties").is_some_and(Value::is_object);
            let undeclared = members.keys().find(|name| is_closed && !declared.contains_key(*name));
            if let Some(name) = undeclared {
                let names = || declared.keys().map(String::as_str);
                let allowed = match declared.is_empty() {
                    true => "no argument".to_owned(),
                    false => names().collect::<Vec<_>>().join(", "),
                };
                let place = Place::Pointer(join(pointer, name));
                let made = errors::call_fault("the tool has no argument of this name", place).found(name);
                return Some(made.allowed(allowed).help(did_you_mean(name, names(), "leave it out")));
            }
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let missing = required.filter_map(Value::as_str).find(|name| !members.contains_key(*name));
            if let Some(name) = missing {
                let names: Vec<&str> = members.keys().map(String::as_str).collect();
                let found = if names.is_empty() { "no argument".to_owned() } else { names.join(", ") };
                let made = make("a required argument is missing").found(found).allowed(name);
                return Some(made.help("add it to the call"));
            }
            let inner = members.iter().filter_map(|(name, value)| Some((name, declared.get(name)?, value)));
            inner
                .filter_map(|(name, schema, value)| {
                    fault(root, schema, value, &join(pointer, name), depth + 1)
                })
                .next()
        }
        Value::Array(items) => {
            let schema = schema.get("items").filter(|items| items.is_object())?;
            let first = |(at, value)| fault(root, schema, value, &format!("{pointer}/{at}"), depth + 1);
            items.iter().enumerate().find_map(first)
        }
        _ => None,
    }
}

/// Returns whether a value may be of one of the types. A number with an exponent, or with only zeros after its decimal
/// point, may be an integer. Unknown types allow every value.
fn is_of_type(value: &Value, types: &Value) -> bool {
    let is_it = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_number().is_some_and(|number| {
            let text = number.to_string();
            number.is_i64()
                || number.is_u64()
                || text.contains(['e', 'E'])
                || text.trim_end_matches('0').ends_with('.')
                || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        }),
        _ => true,
    };
    types.as_array().map_or_else(|| is_it(types), |types| types.iter().any(is_it))
}

/// Describes the fault at the byte where the text of the arguments is rejected.
fn explained(schema: &Value, arguments: &Value, text: &str, explanation: &Explanation) -> Diagnostic {
    let ends = |byte| explanation.expected().iter().any(|expected| expected.bytes.contains(byte));
    // a number is complete if the text ends it and the grammar could have ended it too
    let next = text.as_bytes().get(explanation.position());
    let is_ended = next.is_some_and(|byte| b",}]".contains(byte));
    let is_number_done = is_ended && (ends(b',') || ends(b'}') || ends(b']'));
    let steps = steps_to(text, explanation.position(), is_number_done);
    let (mut part, mut value, mut pointer) = (Some(schema), arguments, "/arguments".to_owned());
    for step in &steps {
        part = part.map(|part| resolved(schema, part)).and_then(|part| match step {
            Step::Member(name) => part.get("properties")?.get(name),
            Step::Item(_) => part.get("items"),
        });
        let (inner, name) = match step {
            Step::Member(name) => (value.get(name), name.clone()),
            Step::Item(at) => (value.get(at), at.to_string()),
        };
        pointer = join(&pointer, &name);
        value = inner.unwrap_or(value);
    }
    let made = errors::call_fault("the schema does not allow this argument", Place::Pointer(pointer));
    let made = made.found(value.to_string()).cause(format!("expected {}", explanation.expected_text()));
    match part.map(|part| resolved(schema, part)).filter(|part| part.is_object()) {
        Some(part) => made.allowed(excerpt(&part.to_string())),
        None => made,
    }
}

/// Describes the place where the input of a custom tool leaves its grammar; `None` if the place is not in the input.
fn wrong_input(input: &str, explanation: &Explanation) -> Option<Diagnostic> {
    let begin =
        Value::Object(Map::from_iter([(INPUT.to_owned(), "".into())])).to_string().len() - "\"}".len();
    let wrong = explanation.position().checked_sub(begin)?;
    let mut written = 0;
    let offset = input.char_indices().find_map(|(offset, c)| {
        written += Value::from(c.to_string()).to_string().len() - "\"\"".len();
        (written > wrong).then_some(offset)
    });
    let offset = offset.unwrap_or(input.len());
    let rest = &input[offset..];
    let place = Place::Pointer(format!("/arguments/{INPUT}"));
    let expected = explanation.expected_text();
    Some(
        errors::call_fault("the input is not a word of the tool's grammar", place)
            .found(if rest.is_empty() { "the end of the input".to_owned() } else { excerpt(rest) })
            .cause(format!("at {} of the input: expected {expected}", Place::in_text(input, offset)))
            .help("correct the input; masks allow none that is not a word"),
    )
}

/// A step from a value to one of its children.
#[derive(Debug, PartialEq)]
enum Step {
    Member(String),
    Item(usize),
}

/// Returns the path to the value at a byte of a compact JSON text: the value that begins at or before the byte, or the
/// array or object in which another member, item or end is expected. `is_number_done` tells whether a number that ends
/// there is complete.
fn steps_to(text: &str, end: usize, is_number_done: bool) -> Vec<Step> {
    let bytes = text.as_bytes().get(..end).unwrap_or_default();
    // arrays hold the index of the current item; objects the key of the current member, once it is read
    let mut open: Vec<Option<Step>> = Vec::new();
    let (mut at, mut is_value_done) = (0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' => open.push(None),
            b'[' => open.push(Some(Step::Item(0))),
            b'}' | b']' => {
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Some(Step::Item(at))) => *at += 1,
                Some(member) => *member = None,
                None => {}
            },
            b'"' => {
                let length = string(&bytes[at..]);
                if let (Some(length), Some(member @ None)) = (length, open.last_mut()) {
                    let key = text.get(at..at + length).and_then(|key| serde_json::from_str(key).ok());
                    *member = Some(Step::Member(key.unwrap_or_default()));
                    // the colon is consumed with its key
                    at += length;
                } else {
                    at += length.map_or(bytes.len(), |length| length - 1);
                    is_value_done = length.is_some();
                }
                at += 1;
                continue;
            }
            _ => {
                at += 1;
                let is_word =
                    [&b"true"[..], b"false", b"null"].iter().any(|word| bytes[..at].ends_with(word));
                is_value_done = is_word || (byte.is_ascii_digit() && is_number_done);
                continue;
            }
        }
        is_value_done = matches!(byte, b'}' | b']');
        at += 1;
    }
    if is_value_done {
        open.pop();
    }
    open.into_iter().flatten().collect()
}

/// Returns the length of the JSON string at the start of `bytes`, with its quotes; `None` if the string does not end.
fn string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'\\' => at += 1,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_at_a_byte_is_found() {
        let text = r#"{"a":[1,{"b/c":"x\"y"}],"d":12,"e":true}"#;
        let way = |found: &str, is_number_done| -> String {
            let steps = steps_to(text, text.find(found).unwrap() + found.len(), is_number_done);
            steps.iter().fold(String::new(), |way, step| match step {
                Step::Member(name) => join(&way, name),
                Step::Item(at) => join(&way, &at.to_string()),
            })
        };
        for (found, expected) in [
            ("{", ""),
            (r#"{"a"#, ""),
            (r#"{"a":"#, "/a"),
            ("[1", "/a"),
            ("[1,", "/a/1"),
            (r#""x\"y"#, "/a/1/b~1c"),
            (r#"y""#, "/a/1"),
            (r#"y"}"#, "/a"),
            ("}]", ""),
            (r#""d":"#, "/d"),
            (r#""e":tru"#, "/e"),
            (r#""e":true"#, ""),
        ] {
            assert_eq!(way(found, true), expected, "{found}");
        }
        assert_eq!((way("12", true), way("12", false)), (String::new(), "/d".to_owned()));
    }
}
