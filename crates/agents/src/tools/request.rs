//! Builds the HTTP request of a call (OpenAPI 3.2, section 4.12; RFC 6570). The request is data: nothing is sent.

use super::address::{self, End, Piece, encoded, encoded_name, kept, pieces};
use super::binding::{Binding, Body, BodyMembers, HttpBinding, Location, Media, Parameter, Style};
use super::errors;
use super::form;
use super::format::Call;
use super::set::ToolSet;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{Error, Result};
use grammata::grammar::ByteSet;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value};
use std::fmt::Write;

/// An HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method: in capitals, or as `additionalOperations` of the document spells it.
    pub method: String,
    /// The percent-encoded address. The place of a hidden parameter in the path stays `{name}`, for the host to fill
    /// in.
    pub url: String,
    /// The headers in the order of the document, with `Cookie` and `Content-Type` last.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<String>,
}

impl ToolSet {
    /// Builds the request of a call, after [checking](ToolSet::check_call) its arguments.
    ///
    /// # Errors
    /// Those of [`check_call`](ToolSet::check_call); `tools/request` if the tool has no request, its document names no
    /// server, or a value cannot be written at its place.
    pub fn request(&self, call: &Call) -> Result<Request> {
        let Binding::Http(http) = &self.callable_tool(&call.tool)?.binding else {
            return Err(errors::no_request(&call.tool));
        };
        let server = http.server.as_ref().ok_or_else(|| errors::no_server(&call.tool))?;
        self.check_call(call)?;
        let parts = Parts::of(http, &call.arguments)
            .map_err(|error| error.map(|diagnostic| in_call(http, &call.arguments, diagnostic)))?;
        let url = format!("{server}{}", parts.target());
        let Parts { mut headers, body, .. } = parts;
        let body = body.map(|(content, media_type)| {
            headers.push(("Content-Type".to_owned(), media_type));
            content
        });
        Ok(Request { method: http.method.clone(), url, headers, body })
    }
}

/// Converts a diagnostic about an argument to one about the call, with the argument's value.
fn in_call(http: &HttpBinding, arguments: &Map<String, Value>, diagnostic: Diagnostic) -> Diagnostic {
    let Place::Pointer(pointer) = diagnostic.place().clone() else { return diagnostic };
    let of_group = |parameter: &&Parameter| {
        arguments.get(parameter.location.name()).is_some_and(|group| group.pointer(&pointer).is_some())
    };
    let group = http.parameters.iter().filter(|_| http.grouped).find(of_group);
    let group = group.map_or_else(String::new, |parameter| format!("/{}", parameter.location.name()));
    let pointer = format!("{group}{pointer}");
    let found = Value::Object(arguments.clone()).pointer(&pointer).map(Value::to_string);
    let diagnostic = diagnostic.at(Place::Pointer(format!("/arguments{pointer}")));
    match found {
        Some(found) => diagnostic.found(found),
        None => diagnostic,
    }
}

/// The parts of a request that depend on the arguments.
pub(super) struct Parts {
    /// The path with values in its places, with the query that the document gives it.
    pub(super) path: String,
    /// The pairs of the query.
    query: Vec<String>,
    /// The headers except `Content-Type`.
    pub(super) headers: Vec<(String, String)>,
    /// The body with its media type, if there is one.
    pub(super) body: Option<(String, String)>,
}

impl Parts {
    /// Builds the parts from the arguments, which may violate the schema of the tool.
    ///
    /// # Errors
    /// `tools/request`: a value is missing or cannot be written at its place.
    pub(super) fn of(http: &HttpBinding, arguments: &Map<String, Value>) -> Result<Parts> {
        let path = path(http, arguments)?;
        let (mut query, mut cookies, mut headers) = (Pairs::default(), Pairs::default(), Vec::new());
        for parameter in &http.parameters {
            let Some(value) = given(http, arguments, parameter) else { continue };
            match parameter.location {
                Location::Path => {}
                Location::Query => query.add(parameter, value)?,
                Location::Cookie => cookies.add(parameter, value)?,
                Location::Header => headers.push((parameter.name.clone(), in_header(parameter, value)?)),
            }
        }
        if !cookies.all.is_empty() {
            headers.push(("Cookie".to_owned(), cookies.all.join("; ")));
        }
        let body = match &http.body {
            Some(body) => content(body, arguments)?,
            None => None,
        };
        Ok(Parts { path, query: query.all, headers, body })
    }

    /// Returns the path and the query.
    pub(super) fn target(&self) -> String {
        let before = if self.path.contains('?') { "&" } else { "?" };
        let query =
            if self.query.is_empty() { String::new() } else { format!("{before}{}", self.query.join("&")) };
        format!("{}{query}", self.path)
    }
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

/// Returns the error of a value that cannot be written at its place (`tools/request`).
pub(super) fn refused(parameter: &Parameter, value: &Value, allowed: &str) -> Error {
    let text = value.to_string();
    let mut shown: String = text.chars().take(60).collect();
    if shown.len() < text.len() {
        shown.push('\u{2026}');
    }
    errors::request(&format!("{}: {shown}", parameter.member), allowed)
}

/// Returns the value of a parameter. `None` if it is missing or null, or is an empty list or object that is not written
/// as JSON.
fn given<'a>(
    http: &HttpBinding,
    arguments: &'a Map<String, Value>,
    parameter: &Parameter,
) -> Option<&'a Value> {
    let group = match http.grouped {
        true => arguments.get(parameter.location.name()).and_then(Value::as_object),
        false => Some(arguments),
    };
    // an empty list counts as no value (RFC 6570, section 2.3)
    group.and_then(|group| group.get(&parameter.member)).filter(|value| match value {
        Value::Null => false,
        _ => parameter.style == Style::Json || !is_empty(value),
    })
}

/// Writes the path with values in its places.
///
/// # Errors
/// `tools/request` if a value is missing or cannot be written in a path.
pub(super) fn path(http: &HttpBinding, arguments: &Map<String, Value>) -> Result<String> {
    let mut path = String::new();
    for piece in pieces(&http.path) {
        let (name, end) = match piece {
            Piece::Fixed(text) => {
                path.push_str(text);
                continue;
            }
            Piece::Place(name, end) => (name, end),
        };
        let is_it = |parameter: &&Parameter| parameter.location == Location::Path && parameter.name == name;
        match http.parameters.iter().find(is_it) {
            Some(parameter) => match given(http, arguments, parameter) {
                Some(value) => path.push_str(&in_path(parameter, value, end)?),
                None => return Err(errors::request(&parameter.member, "a value for a part of the path")),
            },
            // no parameter has this name: the host fills in the place
            None => path.push_str(&format!("{{{name}}}")),
        }
    }
    Ok(path)
}

/// Returns a text without quotes, and any other value as JSON.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Returns the parts of a value as texts: the items of a list, or the members of an object with their keys. A scalar is
/// one part.
fn parts(value: &Value) -> Vec<(Option<&str>, String)> {
    match value {
        Value::Array(items) => items.iter().map(|item| (None, plain_text(item))).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (Some(key.as_str()), plain_text(value))).collect()
        }
        value => vec![(None, plain_text(value))],
    }
}

/// Joins all parts with a separator. Keys and values alternate, or are written as `key=value`.
fn joined(value: &Value, separator: &str, is_pairs: bool, encode: impl Fn(&str) -> String) -> String {
    let parts = parts(value).into_iter().map(|(key, value)| match key {
        Some(key) if is_pairs => format!("{}={}", encode(key), encode(&value)),
        Some(key) => format!("{}{separator}{}", encode(key), encode(&value)),
        None => encode(&value),
    });
    parts.collect::<Vec<_>>().join(separator)
}

/// Joins all parts with a delimiter that is written as `%XX`, so that no part may contain it.
///
/// # Errors
/// `tools/request` if a part of a list or an object contains the delimiter.
fn delimited(parameter: &Parameter, value: &Value, kept: &ByteSet) -> Result<String> {
    let (delimiter, allowed) = match parameter.style {
        Style::SpaceDelimited => (' ', "parts without spaces, which separate them"),
        Style::PipeDelimited => ('|', "parts without `|`, which separates them"),
        _ => ('\t', "parts without tabs, which separate them"),
    };
    let is_list = value.is_array() || value.is_object();
    let holds = |text: &str| is_list && text.contains(delimiter);
    if parts(value).iter().any(|(key, text)| holds(text) || key.is_some_and(holds)) {
        return Err(refused(parameter, value, allowed));
    }
    let separator = encoded(delimiter.encode_utf8(&mut [0; 4]), &ByteSet::default());
    Ok(joined(value, &separator, false, |text| encoded(text, kept)))
}

fn in_path(parameter: &Parameter, value: &Value, end: End<'_>) -> Result<String> {
    let kept = kept(parameter, Some(end));
    let encode = |text: &str| encoded(text, &kept);
    let name = encoded_name(&parameter.name);
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
        Style::SpaceDelimited | Style::PipeDelimited | Style::TabDelimited => {
            delimited(parameter, value, &kept)?
        }
        _ => joined(value, ",", explode, encode),
    };
    // an empty segment or a dot segment would name another path
    if matches!(written.as_str(), "" | "." | "..") {
        return Err(refused(parameter, value, "a value that is not empty and no `.` or `..`"));
    }
    match end {
        End::Before(byte) if written.as_bytes().contains(&byte) => {
            Err(refused(parameter, value, "one value and no list, as another one follows in the path"))
        }
        _ => Ok(written),
    }
}

fn in_header(parameter: &Parameter, value: &Value) -> Result<String> {
    let is_list = value.is_array() || value.is_object();
    let written = match parameter.style {
        Style::Json => in_ascii(&value.to_string()),
        _ => {
            let borders: &[char] = if parameter.explode && value.is_object() { &[',', '='] } else { &[','] };
            let holds = |text: &str| is_list && text.contains(borders);
            if parts(value).iter().any(|(key, text)| holds(text) || key.is_some_and(holds)) {
                return Err(refused(parameter, value, "parts without what separates them"));
            }
            joined(value, ",", parameter.explode, str::to_owned)
        }
    };
    if !address::is_field_value(&written) {
        return Err(refused(
            parameter,
            value,
            "a text of printable ASCII and tabs, without blanks around it",
        ));
    }
    Ok(written)
}

/// Returns a JSON text with control characters and non-ASCII characters escaped.
fn in_ascii(json: &str) -> String {
    let mut made = String::with_capacity(json.len());
    for c in json.chars() {
        if (' '..='~').contains(&c) {
            made.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // writing to a string cannot fail
                let _ = write!(made, "\\u{unit:04x}");
            }
        }
    }
    made
}

/// The pairs of a query, of cookies or of a form.
#[derive(Default)]
pub(super) struct Pairs {
    pub(super) all: Vec<String>,
    /// The texts before `=`, to find two parameters with the same key.
    keys: FxHashSet<String>,
}

impl Pairs {
    /// Adds the pairs of a parameter.
    ///
    /// # Errors
    /// `tools/request` if the value cannot be written as pairs, or if a pair has the key of another parameter.
    pub(super) fn add(&mut self, parameter: &Parameter, value: &Value) -> Result<()> {
        let pairs = pairs(parameter, value)?;
        let key = |pair: &String| pair.split('=').next().unwrap_or_default().to_owned();
        let keys: FxHashSet<String> = pairs.iter().map(key).collect();
        if keys.iter().any(|key| self.keys.contains(key)) {
            return Err(refused(parameter, value, "members that have not the name of another parameter"));
        }
        self.keys.extend(keys);
        self.all.extend(pairs);
        Ok(())
    }
}

/// Returns the `name=value` pairs of a parameter in a query, in cookies or in a form.
fn pairs(parameter: &Parameter, value: &Value) -> Result<Vec<String>> {
    let kept = kept(parameter, None);
    let is_raw = parameter.style == Style::Cookie;
    let encode = |text: &str| if is_raw { text.to_owned() } else { encoded(text, &kept) };
    let encode_name = |text: &str| if is_raw { text.to_owned() } else { encoded_name(text) };
    if is_raw
        && parts(value).iter().any(|(key, text)| {
            !address::is_cookie_text(text) || key.is_some_and(|key| !address::is_token(key))
        })
    {
        return Err(refused(
            parameter,
            value,
            "printable ASCII without spaces, quotes, commas, semicolons and `\\`",
        ));
    }
    let name = encode_name(&parameter.name);
    let one = |value: String| vec![format!("{name}={value}")];
    Ok(match (parameter.style, value) {
        (Style::Json, value) => one(encode(&value.to_string())),
        (Style::DeepObject, Value::Object(members)) => members
            .iter()
            .map(|(key, value)| format!("{name}%5B{}%5D={}", encode_name(key), encode(&plain_text(value))))
            .collect(),
        (Style::DeepObject, _) => return Err(refused(parameter, value, "an object")),
        (Style::SpaceDelimited | Style::PipeDelimited | Style::TabDelimited, value) => {
            one(delimited(parameter, value, &kept)?)
        }
        (_, Value::Array(_) | Value::Object(_)) if parameter.explode => parts(value)
            .into_iter()
            .map(|(key, value)| {
                format!("{}={}", key.map_or_else(|| name.clone(), encode_name), encode(&value))
            })
            .collect(),
        (_, value) => one(joined(value, ",", false, encode)),
    })
}

/// Returns the body with its media type; `None` if the argument that is the whole body is not given, or if the body is
/// optional and none of its members is given.
fn content(body: &Body, arguments: &Map<String, Value>) -> Result<Option<(String, String)>> {
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
    let object = || value.as_object().ok_or_else(|| errors::request("body", "an object, as it is a form"));
    let media_type = body.media_type.clone();
    Ok(Some(match body.media {
        Media::Json => (value.to_string(), media_type),
        Media::Text => (plain_text(&value), media_type),
        Media::Form => (form::pairs(body, object()?)?, media_type),
        Media::Multipart => {
            let (content, boundary) = form::multipart(body, object()?)?;
            (content, format!("{media_type}; boundary={boundary}"))
        }
    }))
}
