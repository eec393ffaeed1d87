//! Parsing and writing requests as text.

use super::arguments::variadic;
use super::conformity::conforms;
use super::http::{METHODS, body_members, in_path_before, member_of, query_members, separator};
use super::members::{Member, Plain};
use super::read::Reader;
use super::scalar::Texts as Values;
use super::{Call, RequestForm};
use crate::tools::address::{self, End, Piece, encoded_name, percent_decoded, pieces, segment_len};
use crate::tools::binding::{Binding, Body, BodyMembers, HttpBinding, Location, Media, Parameter, Style};
use crate::tools::request::{Parts, path};
use crate::tools::set::{Tool, ToolSet};
use grammata::error::Result;
use serde_json::{Map, Value, json};

type Arguments = Map<String, Value>;

/// Pairs for the places of a path: the name of a place, and the text there.
type Texts<'p> = Vec<(&'p str, &'p str)>;

/// Returns the call of a tool of the method whose path matches the tool's `target` and for which `read` builds
/// arguments from the values in the path and the text after it. If there are several such tools, a tool is preferred
/// whose arguments conform to its schema and whose call is written with the same path, then one whose arguments
/// conform. Among equals, tools with fewer places in their path come first.
fn called<'t>(
    set: &'t ToolSet,
    method: &str,
    target: impl Fn(&HttpBinding) -> Option<&'t str>,
    mut read: impl FnMut(&Plain<'_>, &HttpBinding, Arguments, &str) -> Option<Arguments>,
) -> Option<Call> {
    let mut found: Vec<(&Tool, &HttpBinding, Texts<'_>, &str)> = set
        .callable()
        .filter_map(|tool| {
            let Binding::Http(http) = &tool.binding else { return None };
            let (texts, rest) = places(http, target(http)?).filter(|_| http.method == method)?;
            Some((tool, &**http, texts, rest))
        })
        .collect();
    found.sort_by_key(|(_, http, ..)| address::places(&http.path));
    let mut calls: Vec<(&Tool, Call)> = found
        .into_iter()
        .filter_map(|(tool, http, texts, rest)| {
            let root = tool.arguments.value();
            let plain = Plain::of(tool, &root).ok()?;
            let arguments = read(&plain, http, in_path(&plain, http, &texts)?, rest)?;
            Some((tool, Call { tool: tool.name.clone(), arguments }))
        })
        .collect();
    let is_right = |(tool, call): &(&Tool, Call)| {
        conforms(&tool.arguments.value(), &Value::Object(call.arguments.clone()))
    };
    // whether the call is written with the path of the text
    let is_written_so = |(tool, call): &(&Tool, Call)| {
        let Binding::Http(http) = &tool.binding else { return false };
        let path = |target: &str| target.split('?').next().map(str::to_owned);
        made(tool, call).is_ok_and(|parts| path(&parts.target()) == target(http).and_then(path))
    };
    let at = match calls.len() {
        0 | 1 => 0,
        _ => {
            let best = calls.iter().position(|call| is_right(call) && is_written_so(call));
            best.or_else(|| calls.iter().position(is_right)).unwrap_or(0)
        }
    };
    (at < calls.len()).then(|| calls.swap_remove(at).1)
}

/// Matches the beginning of `target` with the path of a binding. Returns the texts at the places of the path with their
/// names, and the rest of `target`: nothing or a query. Returns `None` if the path does not match, or if a text is
/// empty, `.` or `..`.
fn places<'p>(http: &'p HttpBinding, target: &'p str) -> Option<(Texts<'p>, &'p str)> {
    let mut texts = Vec::new();
    let mut rest = target;
    for piece in pieces(&http.path) {
        match piece {
            Piece::Fixed(text) => rest = rest.strip_prefix(text)?,
            Piece::Place(name, end) => {
                let segment = &rest[..segment_len(rest)];
                let value = match end {
                    End::Before(byte) => &segment[..segment.find(char::from(byte))?],
                    End::Segment(suffix) => segment.strip_suffix(suffix)?,
                };
                if matches!(value, "" | "." | "..") {
                    return None;
                }
                texts.push((name, value));
                rest = &rest[value.len()..];
            }
        }
    }
    let before = if http.path.contains('?') { '&' } else { '?' };
    (rest.is_empty() || rest.starts_with(before)).then_some((texts, rest))
}

/// Returns the arguments from the texts at the places of a path; `None` if a text has no parameter or is not one of its
/// values.
fn in_path(plain: &Plain<'_>, http: &HttpBinding, texts: &[(&str, &str)]) -> Option<Arguments> {
    let mut arguments = Map::new();
    for (name, text) in texts {
        let is_it = |parameter: &&Parameter| parameter.location == Location::Path && parameter.name == *name;
        let parameter = http.parameters.iter().find(is_it)?;
        let member = member_of(plain, parameter)?;
        arguments.insert(member.name.to_owned(), value_of(plain, parameter, &member, &[text])?);
    }
    Some(arguments)
}

/// Returns the value of a parameter from its texts; `None` if they are not the texts of a value.
fn value_of(plain: &Plain<'_>, parameter: &Parameter, member: &Member<'_>, texts: &[&str]) -> Option<Value> {
    let is_header = parameter.location == Location::Header;
    let scalar = |text: &str, texts: &Values<'_>| match is_header {
        true => texts.value(text),
        false => texts.value(&percent_decoded(text)?),
    };
    let before = match parameter.location {
        Location::Path => in_path_before(parameter),
        _ => String::new(),
    };
    match (variadic(plain, member), texts) {
        (None, [text]) => scalar(text.strip_prefix(&before)?, &Values::of_scalars(member.schema, plain.root)),
        (None, _) => None,
        (Some((item, ..)), texts) => {
            let has_pairs = matches!(parameter.location, Location::Query | Location::Cookie)
                && parameter.style == Style::Form
                && parameter.explode;
            let separator = separator(parameter)?;
            let values = Values::of_scalars(item, plain.root);
            let mut items = Vec::new();
            for text in texts {
                let text = text.strip_prefix(&before)?;
                let parts: Vec<&str> =
                    if has_pairs { vec![text] } else { text.split(separator.as_str()).collect() };
                for part in parts {
                    items.push(scalar(part, &values)?);
                }
            }
            Some(Value::Array(items))
        }
    }
}

/// Returns the arguments from the pairs of a query, of cookies or of a form; `None` if a pair belongs to no parameter
/// or its text is not a value.
fn in_pairs(
    plain: &Plain<'_>,
    parameters: &[Parameter],
    location: Location,
    pairs: &[&str],
) -> Option<Arguments> {
    let mut arguments = Map::new();
    let mut read = 0;
    for parameter in parameters.iter().filter(|parameter| parameter.location == location) {
        let Some(member) = member_of(plain, parameter) else { continue };
        let name = encoded_name(&parameter.name);
        if parameter.style == Style::DeepObject {
            let mut object = Map::new();
            let schema = plain.resolved(member.schema);
            for pair in pairs {
                let inner = pair.strip_prefix(&format!("{name}%5B")).and_then(|rest| rest.split_once("%5D="));
                let Some((key, text)) = inner else { continue };
                let (key, text) = (percent_decoded(key)?, percent_decoded(text)?);
                let of = schema.get("properties").and_then(|properties| properties.get(&key))?;
                // each key may occur once
                let value = Some(&key).filter(|key| !object.contains_key(*key));
                let value = value.and_then(|_| Values::of_scalars(of, plain.root).value(&text))?;
                object.insert(key, value);
                read += 1;
            }
            if !object.is_empty() {
                arguments.insert(member.name.to_owned(), Value::Object(object));
            }
            continue;
        }
        let texts: Vec<&str> = pairs
            .iter()
            .filter_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
            .map(|(_, text)| text)
            .collect();
        if texts.is_empty() {
            continue;
        }
        read += texts.len();
        arguments.insert(member.name.to_owned(), value_of(plain, parameter, &member, &texts)?);
    }
    (read == pairs.len()).then_some(arguments)
}

fn in_headers(plain: &Plain<'_>, http: &HttpBinding, lines: &[&str]) -> Option<Arguments> {
    let mut arguments = Map::new();
    for line in lines {
        let (name, text) = line.split_once(": ")?;
        let is_it = |parameter: &&Parameter| parameter.location == Location::Header && parameter.name == name;
        if let Some(parameter) = http.parameters.iter().find(is_it) {
            let member = member_of(plain, parameter)?;
            arguments.insert(member.name.to_owned(), value_of(plain, parameter, &member, &[text])?);
        } else {
            let cookies: Vec<&str> = Some(text).filter(|_| name == "Cookie")?.split("; ").collect();
            arguments.extend(in_pairs(plain, &http.parameters, Location::Cookie, &cookies)?);
        }
    }
    Some(arguments)
}

/// Returns the arguments from a body as a JSON value; `None` if the value has a member that is not an argument, or is
/// not an object although the body is one.
fn in_value(plain: &Plain<'_>, body: &Body, value: Value) -> Option<Arguments> {
    let (members, _) = body_members(plain, body);
    match (&body.members, value) {
        (BodyMembers::Whole(member), value) => Some(Map::from_iter([(member.clone(), value)])),
        (BodyMembers::Flat(_), Value::Object(object)) => object
            .into_iter()
            .map(|(name, value)| {
                let (member, _) = members.iter().find(|(_, known)| *known == name)?;
                Some(((*member).to_owned(), value))
            })
            .collect(),
        _ => None,
    }
}

fn in_body(plain: &Plain<'_>, body: &Body, text: &str) -> Option<Arguments> {
    let value = match body.media {
        Media::Json => serde_json::from_str(text).ok()?,
        Media::Text => {
            let BodyMembers::Whole(member) = &body.members else { return None };
            let schema = plain.members.iter().find(|known| known.name == member)?.schema;
            Values::new(schema, plain.root).value(text)?
        }
        Media::Form if text.is_empty() => json!({}),
        Media::Form => {
            let pairs: Vec<&str> = text.split('&').collect();
            return in_pairs(plain, &body.fields(), Location::Query, &pairs);
        }
        Media::Multipart => return None,
    };
    in_value(plain, body, value)
}

impl Reader<'_> {
    /// Parses a request up to the end of the turn into its call.
    pub(super) fn request(&mut self, form: RequestForm) -> Result<Call> {
        match form {
            RequestForm::Message => {
                let text = self.rest();
                let call = read_message(text, self.set)
                    .ok_or_else(|| self.wrong("a request of one of the tools"))?;
                self.at += text.len();
                Ok(call)
            }
            RequestForm::Restgpt => {
                let method = self.rest().split('\n').next().unwrap_or_default().to_owned();
                if !METHODS.contains(&method.as_str()) {
                    return Err(self.wrong("a method"));
                }
                self.at += method.len();
                self.literal("\nInput: ")?;
                let object = self.object()?;
                read_restgpt(&method, object, self.set)
                    .ok_or_else(|| self.wrong("a request of one of the tools"))
            }
        }
    }

    /// Parses a line with a method and a path into its call.
    pub(super) fn endpoint(&mut self) -> Result<Call> {
        let line = self.rest().split('\n').next().unwrap_or_default();
        let is_it = |binding: &Binding| matches!(binding, Binding::Http(http) if format!("{} {}", http.method, http.path) == line);
        let documented = self.set.callable().find(|tool| is_it(&tool.binding));
        let call = match (documented, line.split_once(' ')) {
            (Some(tool), _) => Some(Call { tool: tool.name.clone(), arguments: Map::new() }),
            (None, Some((method, path))) => called(
                self.set,
                method,
                |_| Some(path),
                |_, _, arguments, rest| rest.is_empty().then_some(arguments),
            ),
            (None, None) => None,
        };
        let call = call.ok_or_else(|| self.wrong("the method and the path of a tool"))?;
        self.at += line.len();
        Ok(call)
    }
}

fn read_message(text: &str, set: &ToolSet) -> Option<Call> {
    let (head, body) = match text.split_once("\n\n") {
        Some((head, body)) => (head, Some(body)),
        None => (text, None),
    };
    let mut lines = head.split('\n');
    let (method, target) = lines.next()?.split_once(' ')?;
    let lines: Vec<&str> = lines.collect();
    called(
        set,
        method,
        |_| Some(target),
        |plain, http, mut arguments, rest| {
            let pairs: Vec<&str> = rest.get(1..).into_iter().flat_map(|pairs| pairs.split('&')).collect();
            arguments.extend(in_pairs(plain, &http.parameters, Location::Query, &pairs)?);
            arguments.extend(in_headers(plain, http, &lines)?);
            if let Some(text) = body {
                arguments.extend(in_body(plain, http.body.as_ref()?, text)?);
            }
            Some(arguments)
        },
    )
}

fn read_restgpt(method: &str, mut object: Arguments, set: &ToolSet) -> Option<Call> {
    let Some(Value::String(url)) = object.remove("url") else { return None };
    let target = |http: &HttpBinding| url.strip_prefix(http.server.as_deref()?);
    called(set, method, target, |plain, http, mut arguments, rest| {
        if let Some(Value::Object(params)) = object.get("params") {
            let query = query_members(plain, http);
            for (name, value) in params {
                let (member, _) = query.iter().find(|(_, known)| known == name)?;
                arguments.insert((*member).to_owned(), value.clone());
            }
        }
        if let Some(data) = object.get("data") {
            arguments.extend(in_value(plain, http.body.as_ref()?, data.clone())?);
        }
        rest.is_empty().then_some(arguments)
    })
}

/// Returns the request of a call, without its server. An error says which calls have one.
fn made(tool: &Tool, call: &Call) -> std::result::Result<Parts, &'static str> {
    let Binding::Http(http) = &tool.binding else { return Err("a tool of an HTTP operation") };
    Parts::of(http, &call.arguments).map_err(|_| "arguments that a request can have")
}

pub(super) fn endpoint(tool: &Tool, call: &Call) -> std::result::Result<String, &'static str> {
    match &tool.binding {
        Binding::Http(http) if call.arguments.is_empty() => Ok(format!("{} {}", http.method, http.path)),
        Binding::Http(http) => match path(http, &call.arguments) {
            Ok(path) => Ok(format!("{} {path}", http.method)),
            Err(_) => Err("arguments that a path can have"),
        },
        Binding::Host => Err("a tool of an HTTP operation"),
    }
}

pub(super) fn message(tool: &Tool, call: &Call) -> std::result::Result<String, &'static str> {
    let Binding::Http(http) = &tool.binding else { return Err("a tool of an HTTP operation") };
    let parts = made(tool, call)?;
    let headers: String = parts.headers.iter().map(|(name, value)| format!("\n{name}: {value}")).collect();
    let body = parts.body.as_ref().map_or_else(String::new, |(body, _)| format!("\n\n{body}"));
    Ok(format!("{} {}{headers}{body}", http.method, parts.target()))
}

pub(super) fn restgpt(
    tool: &Tool,
    plain: &Plain<'_>,
    call: &Call,
) -> std::result::Result<String, &'static str> {
    let Binding::Http(http) = &tool.binding else { return Err("a tool of an HTTP operation") };
    let server = http.server.as_deref().ok_or("a server with an absolute address")?;
    let is_apart = |parameter: &Parameter| {
        matches!(parameter.location, Location::Header | Location::Cookie)
            && call.arguments.get(&parameter.member).is_some_and(|value| !value.is_null())
    };
    if http.parameters.iter().any(is_apart) {
        return Err("parameters in the path and the query");
    }
    let path = path(http, &call.arguments).map_err(|_| "arguments that a request can have")?;
    let url = format!("{server}{path}");
    let given = |members: &[(&str, &str)]| -> Map<String, Value> {
        let given = members
            .iter()
            .filter_map(|(member, name)| Some(((*name).to_owned(), call.arguments.get(*member)?.clone())));
        given.collect()
    };
    let mut object = vec![("url", Value::from(url))];
    let query = query_members(plain, http);
    if http.method == "GET" || !query.is_empty() {
        object.push(("params", Value::Object(given(&query))));
    }
    if let Some(body) = &http.body {
        let (members, required) = body_members(plain, body);
        let given = given(&members);
        let is_given = required || !given.is_empty();
        let data = match &body.members {
            BodyMembers::Whole(member) => call.arguments.get(member).cloned(),
            BodyMembers::Flat(_) => Some(Value::Object(given)),
        };
        object.extend(data.filter(|_| is_given).map(|data| ("data", data)));
    }
    object.extend(["description", "output_instructions"].map(|name| (name, Value::from(""))));
    let members: Vec<String> =
        object.iter().map(|(name, value)| format!("{}: {value}", json!(name))).collect();
    Ok(format!("{}\nInput: {{{}}}", http.method, members.join(", ")))
}
