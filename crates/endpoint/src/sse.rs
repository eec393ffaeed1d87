//! Reads a server's answers: streams of server-sent events, whose parts are concatenated, and whole answers.

use crate::body::Written;
use serde_json::Value;
use std::io::{BufRead, Read};

/// Maximum number of calls of one answer.
const MOST_CALLS: usize = 256;

/// The `finish_reason` of an answer, and the `code` of an error, if a content filter of the server intervened.
const FILTER: &str = "content_filter";

/// The reason why a body is not an answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Reading the body failed.
    Broken(std::io::Error),
    /// The body has more bytes than allowed.
    TooLong,
    /// The stream ended before the answer was complete.
    Ended,
    /// A line, a part or a whole answer is malformed, or is an error of the server. The fields are the text that was
    /// found, and what is wrong with it.
    Foreign(String, String),
}

/// Returns the numbers of tokens of the prompt and of the answer from a part or a whole answer; `None` if it does not
/// have both.
pub(crate) fn tokens(value: &Value) -> Option<(u64, u64)> {
    let usage = value.get("usage")?;
    Some((usage.get("prompt_tokens")?.as_u64()?, usage.get("completion_tokens")?.as_u64()?))
}

/// Returns the message of a server's error; `None` if `value` is not an error.
pub(crate) fn error(value: &Value) -> Option<String> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let message = error.get("message").and_then(Value::as_str).or(error.as_str());
    Some(message.map_or_else(|| error.to_string(), str::to_owned))
}

/// Returns whether `value` is the error of a content filter, which refuses the prompt. Azure sends it with the status
/// 400.
pub(crate) fn is_filter(value: &Value) -> bool {
    value.get("error").and_then(|error| error.get("code")).and_then(Value::as_str) == Some(FILTER)
}

/// Reads an answer from a stream of at most `most` bytes, up to the line `[DONE]` or the end of the stream. The answer
/// is complete if one of its parts has a `finish_reason`.
pub(crate) fn read(stream: impl Read, most: u64) -> Result<Written, Fault> {
    let mut lines = std::io::BufReader::new(stream.take(most.saturating_add(1)));
    let (mut read, mut made, mut is_finished) = (0, Made::default(), false);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = lines.read_until(b'\n', &mut line).map_err(Fault::Broken)?;
        read += length as u64;
        if read > most {
            return Err(Fault::TooLong);
        }
        if length == 0 {
            // some servers omit the last line, `[DONE]`
            return if is_finished { Ok(made.written) } else { Err(Fault::Ended) };
        }
        let Ok(text) = std::str::from_utf8(&line) else {
            return Err(Fault::Foreign("a line that is not UTF-8".to_owned(), "lines are UTF-8".to_owned()));
        };
        let text = text.trim_end_matches(['\n', '\r']);
        let Some(data) = text.strip_prefix("data:") else {
            // a comment, the end of an event, or a field that is not part of the answer
            let is_known = text.is_empty()
                || [":", "event:", "id:", "retry:"].iter().any(|known| text.starts_with(known));
            match is_known {
                true => continue,
                false => {
                    return Err(Fault::Foreign(
                        text.to_owned(),
                        "a line is not a server-sent event".to_owned(),
                    ));
                }
            }
        };
        let data = data.trim();
        if data == "[DONE]" {
            return if is_finished { Ok(made.written) } else { Err(Fault::Ended) };
        }
        let part: Value = serde_json::from_str(data)
            .map_err(|cause| Fault::Foreign(data.to_owned(), format!("a part is not JSON: {cause}")))?;
        is_finished |= made.add(&part).map_err(|wrong| Fault::Foreign(data.to_owned(), wrong))?;
    }
}

#[derive(Default)]
struct Made {
    written: Written,
    /// The `id` of each call; empty if the first part of the call has none.
    ids: Vec<String>,
}

impl Made {
    /// Adds a part of the answer. Returns whether the part has a `finish_reason`, which completes the answer.
    ///
    /// # Errors
    /// A text that says what is wrong with the part, or the message of an error of the server.
    fn add(&mut self, part: &Value) -> Result<bool, String> {
        if is_filter(part) {
            self.written.is_filtered = true;
            return Ok(true);
        }
        if let Some(message) = error(part) {
            return Err(message);
        }
        if let Some(tokens) = tokens(part) {
            self.written.tokens = Some(tokens);
        }
        let choices = part.get("choices").and_then(Value::as_array).ok_or("a part has no `choices`")?;
        // the last part, with the counts of tokens, has no choices
        let Some(choice) = choices.first() else { return Ok(false) };
        let delta = choice.get("delta").unwrap_or(&Value::Null);
        if let Some(text) = delta.get("content").and_then(Value::as_str) {
            self.written.text.push_str(text);
        }
        if let Some(text) = delta.get("refusal").and_then(Value::as_str) {
            self.written.refusal.push_str(text);
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call)?;
        }
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        self.written.is_cut |= reason == Some("length");
        self.written.is_filtered |= reason == Some(FILTER);
        Ok(reason.is_some())
    }

    fn call(&mut self, part: &Value) -> Result<(), String> {
        let id = part.get("id").and_then(Value::as_str).unwrap_or_default();
        let function = part.get("function").unwrap_or(&Value::Null);
        let text = |name: &str| function.get(name).and_then(Value::as_str).unwrap_or_default();
        let index = match part.get("index").and_then(Value::as_u64) {
            Some(index) => index as usize,
            None => self.position(id, text("name")),
        };
        let calls = &mut self.written.calls;
        if index > calls.len() || index >= MOST_CALLS {
            return Err(format!("a call has the number {index}, after {} calls", calls.len()));
        }
        if index == calls.len() {
            calls.push(Default::default());
            self.ids.push(id.to_owned());
        }
        calls[index].0.push_str(text("name"));
        calls[index].1.push_str(text("arguments"));
        Ok(())
    }

    /// Returns the index of the call to which a part without `index` belongs. A part with a new `id` begins a call. A
    /// part without an `id` begins one if there is no call yet, or if the part has a name and the last call has
    /// arguments.
    fn position(&self, id: &str, name: &str) -> usize {
        let calls = &self.written.calls;
        if !id.is_empty() {
            return self.ids.iter().position(|known| known == id).unwrap_or(calls.len());
        }
        let has_arguments = calls.last().is_some_and(|(_, arguments)| !arguments.is_empty());
        if has_arguments && !name.is_empty() { calls.len() } else { calls.len().saturating_sub(1) }
    }
}

/// Reads an answer that is not a stream from the text of its body. Only the first choice is read.
pub(crate) fn whole(text: &[u8]) -> Result<Written, Fault> {
    let excerpt = || String::from_utf8_lossy(text.get(..200).unwrap_or(text)).into_owned();
    let foreign = |wrong: String| Fault::Foreign(excerpt(), wrong);
    let value: Value = serde_json::from_slice(text).map_err(|cause| foreign(format!("not JSON: {cause}")))?;
    if is_filter(&value) {
        return Ok(Written { is_filtered: true, tokens: tokens(&value), ..Written::default() });
    }
    if let Some(message) = error(&value) {
        return Err(foreign(message));
    }
    let choice = value.get("choices").and_then(|choices| choices.get(0));
    let choice = choice.ok_or_else(|| foreign("it has no `choices`".to_owned()))?;
    let reason = choice.get("finish_reason").and_then(Value::as_str);
    let is_filtered = reason == Some(FILTER);
    let message = choice.get("message").unwrap_or(&Value::Null);
    if !message.is_object() && !is_filtered {
        return Err(foreign("a choice has no `message`".to_owned()));
    }
    let text_of =
        |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let listed = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if listed.len() > MOST_CALLS {
        return Err(foreign(format!("it has {} calls", listed.len())));
    }
    let calls = listed.iter().map(|call| {
        let function = call.get("function").unwrap_or(&Value::Null);
        // some servers write arguments as an object instead of a text
        let arguments = match function.get("arguments") {
            Some(object @ Value::Object(_)) => object.to_string(),
            _ => text_of(function, "arguments"),
        };
        (text_of(function, "name"), arguments)
    });
    Ok(Written {
        text: text_of(message, "content"),
        calls: calls.collect(),
        is_cut: reason == Some("length"),
        refusal: text_of(message, "refusal"),
        is_filtered,
        tokens: tokens(&value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_to_their_end_and_no_others() {
        let part = |delta: &str, end: &str| {
            format!("data: {{\"choices\":[{{\"delta\":{delta},\"finish_reason\":{end}}}]}}\n\n")
        };
        let text = |text: &str| part(&format!("{{\"content\":\"{text}\"}}"), "null");
        let end = part("{}", "\"stop\"");
        let usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n";
        let good = format!(": hello\nevent: x\n{}{}{end}{usage}data: [DONE]\n\n", text("a"), text("b"));
        let made = read(good.as_bytes(), 4096).unwrap();
        assert_eq!((made.text.as_str(), made.tokens, made.is_cut), ("ab", Some((3, 2)), false));
        assert!(matches!(read(good.as_bytes(), 50), Err(Fault::TooLong)));
        let call = |index: usize, name: &str, arguments: &str| {
            part(
                &format!(
                    "{{\"tool_calls\":[{{\"index\":{index},\"function\":{{\"name\":\"{name}\",\"arguments\":\"{arguments}\"}}}}]}}"
                ),
                "null",
            )
        };
        let calls = format!("{}{}{}{end}", call(0, "f", ""), call(0, "", "{}"), call(1, "g", "{}"));
        let made = read(calls.as_bytes(), 4096).unwrap();
        assert_eq!(made.calls, [("f".to_owned(), "{}".to_owned()), ("g".to_owned(), "{}".to_owned())]);
        let unnumbered = |text: &str| part(&format!("{{\"tool_calls\":[{text}]}}"), "null");
        for parts in [
            // whole calls with ids
            &[
                r#"{"id":"1","function":{"name":"f","arguments":"{}"}}"#,
                r#"{"id":"2","function":{"name":"g","arguments":"[]"}}"#,
            ][..],
            &[
                r#"{"id":"1","function":{"name":"f","arguments":"{}"}},{"id":"2","function":{"name":"g","arguments":"[]"}}"#,
            ],
            // whole calls without ids
            &[
                r#"{"function":{"name":"f","arguments":"{}"}}"#,
                r#"{"id":"","index":null,"function":{"name":"g","arguments":"[]"}}"#,
            ],
            // calls in parts, with an id in the first part or in all
            &[
                r#"{"id":"1","function":{"name":"f"}}"#,
                r#"{"function":{"arguments":"{"}}"#,
                r#"{"id":"1","function":{"arguments":"}"}}"#,
                r#"{"id":"2","function":{"name":"g","arguments":"["}}"#,
                r#"{"function":{"arguments":"]"}}"#,
            ],
        ] {
            let stream: String = parts.iter().map(|part| unnumbered(part)).chain([end.clone()]).collect();
            let made = read(stream.as_bytes(), 4096).unwrap();
            assert_eq!(made.calls, [("f".to_owned(), "{}".to_owned()), ("g".to_owned(), "[]".to_owned())]);
        }
        for (wrong, ended) in [
            (text("a"), true),
            (format!("{}data: [DONE]\n", text("a")), true),
            (String::new(), true),
            ("<html>\n".to_owned(), false),
            ("data: {\n".to_owned(), false),
            ("data: {}\n".to_owned(), false),
            ("data: {\"error\":{\"message\":\"full\"}}\n".to_owned(), false),
            (call(7, "f", ""), false),
            (call(usize::MAX, "f", ""), false),
        ] {
            match read(wrong.as_bytes(), 4096) {
                Err(Fault::Ended) => assert!(ended, "{wrong}"),
                Err(Fault::Foreign(..)) => assert!(!ended, "{wrong}"),
                other => panic!("{wrong}: {other:?}"),
            }
        }
    }
}
