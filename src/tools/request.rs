//! The HTTP request that a call stands for (OpenAPI 3.2, section 4.12; RFC 6570). It is data: nothing is sent.

use super::binding::{Binding, Body, BodyMembers, HttpBinding, Location, Media, Parameter, Style};
use super::errors;
use super::format::Call;
use super::set::ToolSet;
use crate::error::Result;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method in capitals.
    pub method: String,
    /// The address, percent-encoded.
    pub url: String,
    /// Headers in the order of the document, `Cookie` and `Content-Type` last.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Option<String>,
}

impl ToolSet {
    /// The request that a call stands for.
    ///
    /// # Errors
    /// `tools/request`: the tool stands for none, its document names no server, or a value cannot stand where it goes.
    pub fn request(&self, call: &Call) -> Result<Request> {
        let Some(Binding::Http(http)) = self.tool(&call.tool).map(|tool| &tool.binding) else {
            return Err(errors::request(&call.tool, "a tool of an OpenAPI document"));
        };
        let Some(server) = &http.server else {
            return Err(errors::request(&call.tool, "a server with an absolute address: `--server URL`"));
        };
        build(http, server, &call.arguments)
    }
}

pub(super) fn build(http: &HttpBinding, server: &str, arguments: &Map<String, Value>) -> Result<Request> {
    let mut path = http.path.clone();
    let (mut query, mut headers, mut cookies) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in &http.parameters {
        let group = match http.grouped {
            true => arguments.get(parameter.location.name()).and_then(Value::as_object),
            false => Some(arguments),
        };
        let value = match group.and_then(|group| group.get(&parameter.member)) {
            None | Some(Value::Null) if parameter.location == Location::Path => {
                return Err(errors::request(&parameter.member, "a value for a part of the path"));
            }
            None | Some(Value::Null) => continue,
            Some(value) => value,
        };
        match parameter.location {
            Location::Path => {
                let written = in_path(parameter, value)?;
                path = path.replace(&format!("{{{}}}", parameter.name), &written);
            }
            Location::Query => query.extend(pairs(parameter, value)?),
            Location::Cookie => cookies.extend(pairs(parameter, value)?),
            Location::Header => headers.push((parameter.name.clone(), in_header(parameter, value)?)),
        }
    }
    if !cookies.is_empty() {
        headers.push(("Cookie".to_owned(), cookies.join("; ")));
    }
    let body = match &http.body {
        Some(body) => content(body, arguments)?,
        None => None,
    };
    if let (Some(body), Some(content)) = (&http.body, &body) {
        let boundary = content.lines().next().and_then(|line| line.strip_prefix("--"));
        let media_type = match boundary.filter(|_| body.media == Media::Multipart) {
            Some(boundary) => format!("{}; boundary={boundary}", body.media_type),
            None => body.media_type.clone(),
        };
        headers.push(("Content-Type".to_owned(), media_type));
    }
    let question = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    Ok(Request { method: http.method.clone(), url: format!("{server}{path}{question}"), headers, body })
}

/// Every byte but the unreserved ones as `%XX`.
pub(super) fn encoded(text: &str, keeps_reserved: bool) -> String {
    let mut made = String::with_capacity(text.len());
    for byte in text.bytes() {
        let stays = byte.is_ascii_alphanumeric()
            || b"-._~".contains(&byte)
            || (keeps_reserved && b":/?#[]@!$&'()*+,;=".contains(&byte));
        if stays {
            made.push(char::from(byte));
        } else {
            // writing to a text does not fail
            let _ = write!(made, "%{byte:02X}");
        }
    }
    made
}

/// A scalar as text; what is none is JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// The parts of an array or an object: keys, if it is one, and values; a scalar is one part.
fn parts(value: &Value) -> Vec<(Option<&str>, String)> {
    match value {
        Value::Array(items) => items.iter().map(|item| (None, plain(item))).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (Some(key.as_str()), plain(value))).collect()
        }
        value => vec![(None, plain(value))],
    }
}

/// All parts with a separator: keys and values alternate, or stand as `key=value`.
fn joined(value: &Value, separator: &str, is_pairs: bool, encode: impl Fn(&str) -> String) -> String {
    let parts = parts(value).into_iter().map(|(key, value)| match key {
        Some(key) if is_pairs => format!("{}={}", encode(key), encode(&value)),
        Some(key) => format!("{}{separator}{}", encode(key), encode(&value)),
        None => encode(&value),
    });
    parts.collect::<Vec<_>>().join(separator)
}

fn in_path(parameter: &Parameter, value: &Value) -> Result<String> {
    let encode = |text: &str| encoded(text, parameter.allow_reserved);
    let name = encode(&parameter.name);
    let explode = parameter.explode;
    let is_scalar = !value.is_array() && !value.is_object();
    let written = match parameter.style {
        Style::Label => format!(".{}", joined(value, if explode { "." } else { "," }, explode, encode)),
        Style::Matrix if explode && !is_scalar => {
            let part = |(key, value): (Option<&str>, String)| {
                format!(";{}={}", key.map_or_else(|| name.clone(), encode), encode(&value))
            };
            parts(value).into_iter().map(part).collect()
        }
        Style::Matrix => format!(";{name}={}", joined(value, ",", false, encode)),
        Style::Json => encode(&value.to_string()),
        Style::SpaceDelimited => joined(value, "%20", false, encode),
        Style::PipeDelimited => joined(value, "%7C", false, encode),
        Style::TabDelimited => joined(value, "%09", false, encode),
        _ => joined(value, ",", explode, encode),
    };
    // an empty segment and one of dots would name another path
    match written.as_str() {
        "" | "." | ".." => {
            Err(errors::request(&parameter.member, "a value that is not empty and no `.` or `..`"))
        }
        _ => Ok(written),
    }
}

fn in_header(parameter: &Parameter, value: &Value) -> Result<String> {
    let written = match parameter.style {
        Style::Json => value.to_string(),
        _ => joined(value, ",", parameter.explode, str::to_owned),
    };
    if written.contains(['\r', '\n', '\0']) {
        return Err(errors::request(&parameter.member, "a text without line breaks"));
    }
    Ok(written)
}

/// The `name=value` of a query or of cookies.
fn pairs(parameter: &Parameter, value: &Value) -> Result<Vec<String>> {
    let is_raw = parameter.style == Style::Cookie;
    let encode = |text: &str| if is_raw { text.to_owned() } else { encoded(text, parameter.allow_reserved) };
    let name = encode(&parameter.name);
    let one = |value: String| vec![format!("{name}={value}")];
    let made = match (parameter.style, value) {
        (Style::Json, value) => one(encode(&value.to_string())),
        (Style::DeepObject, Value::Object(members)) => members
            .iter()
            .map(|(key, value)| format!("{name}%5B{}%5D={}", encode(key), encode(&plain(value))))
            .collect(),
        (Style::DeepObject, _) => return Err(errors::request(&parameter.member, "an object")),
        (Style::SpaceDelimited, value) => one(joined(value, "%20", false, encode)),
        (Style::PipeDelimited, value) => one(joined(value, "%7C", false, encode)),
        (Style::TabDelimited, value) => one(joined(value, "%09", false, encode)),
        (_, Value::Array(_) | Value::Object(_)) if parameter.explode => parts(value)
            .into_iter()
            .map(|(key, value)| format!("{}={}", key.map_or_else(|| name.clone(), encode), encode(&value)))
            .collect(),
        (_, value) => one(joined(value, ",", false, encode)),
    };
    if is_raw && made.iter().any(|pair| pair.contains(['\r', '\n', '\0', ';'])) {
        return Err(errors::request(&parameter.member, "a text without line breaks and semicolons"));
    }
    Ok(made)
}

/// The body; none if it is optional and no member of it is given.
fn content(body: &Body, arguments: &Map<String, Value>) -> Result<Option<String>> {
    let value = match &body.members {
        BodyMembers::Whole(member) => match arguments.get(member) {
            Some(value) => value.clone(),
            None => return Ok(None),
        },
        BodyMembers::Flat(members) => {
            let given = members
                .iter()
                .filter_map(|(member, name)| Some((name.clone(), arguments.get(member)?.clone())));
            let given: Map<String, Value> = given.collect();
            if given.is_empty() && !body.required {
                return Ok(None);
            }
            Value::Object(given)
        }
    };
    Ok(Some(match body.media {
        Media::Json => value.to_string(),
        Media::Text => plain(&value),
        Media::Form => {
            let pair = |(key, value): (Option<&str>, String)| {
                format!("{}={}", encoded(key.unwrap_or_default(), false), encoded(&value, false))
            };
            parts(&value).into_iter().map(pair).collect::<Vec<_>>().join("&")
        }
        Media::Multipart => multipart(&value)?,
    }))
}

/// Texts as parts of `multipart/form-data` (RFC 7578), the items of an array as parts of one name. The boundary is made of the
/// content, so that it stands in no part, and equal calls make equal requests.
fn multipart(value: &Value) -> Result<String> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        if key.contains(['\r', '\n', '\0']) {
            return Err(errors::request(key, "names of parts without line breaks"));
        }
        match value {
            Value::Array(items) => fields.extend(items.iter().map(|item| (key.clone(), plain(item)))),
            value => fields.push((key.clone(), plain(value))),
        }
    }
    let mut hash = Sha256::new();
    fields.iter().for_each(|(_, text)| hash.update(text.as_bytes()));
    let mut boundary = String::from("grammata-");
    for byte in &hash.finalize()[..8] {
        // writing to a text does not fail
        let _ = write!(boundary, "{byte:02x}");
    }
    while fields.iter().any(|(_, text)| text.contains(&boundary)) {
        boundary.push('x');
    }
    let mut body = String::new();
    for (key, text) in &fields {
        let name = key.replace('"', "%22");
        let _ =
            write!(body, "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
    }
    let _ = write!(body, "--{boundary}--\r\n");
    Ok(body)
}
