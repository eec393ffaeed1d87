//! The HTTP request that a call stands for (OpenAPI 3.2, section 4.12; RFC 6570). It is data: nothing is sent.

use super::binding::{Binding, Body, BodyMembers, HttpBinding, Location, Media, Parameter, Style};
use super::errors;
use super::format::Call;
use super::set::ToolSet;
use crate::error::Result;
use serde_json::{Map, Value};
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

fn build(http: &HttpBinding, server: &str, arguments: &Map<String, Value>) -> Result<Request> {
    let mut path = http.path.clone();
    let (mut query, mut headers, mut cookies) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in &http.parameters {
        let value = match arguments.get(&parameter.member) {
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
    if let (Some(body), Some(_)) = (&http.body, &body) {
        headers.push(("Content-Type".to_owned(), body.media_type.clone()));
    }
    let question = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    Ok(Request { method: http.method.clone(), url: format!("{server}{path}{question}"), headers, body })
}

/// Every byte but the unreserved ones as `%XX`.
fn encoded(text: &str, keeps_reserved: bool) -> String {
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
        Media::Multipart => {
            return Err(errors::request(
                &body.media_type,
                "a body that is no multipart: its boundary is the host's",
            ));
        }
    }))
}
