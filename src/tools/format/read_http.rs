//! Requests as text, read and written.

use super::arguments::variadic;
use super::http::{METHODS, Piece, body_members, encoded, member_of, pieces, query_members};
use super::members::{Member, Plain};
use super::read::Reader;
use super::scalar::{Kinds, percent_decoded, typed, typed_scalar};
use super::{Call, RequestForm};
use crate::error::Result;
use crate::tools::binding::{Binding, Body, BodyMembers, HttpBinding, Location, Media, Parameter, Style};
use crate::tools::request;
use crate::tools::set::{Tool, ToolSet};
use serde_json::{Map, Value, json};

type Arguments = Map<String, Value>;

/// Texts in the places of a path, each after the name of its place.
type Texts<'p> = Vec<(&'p str, &'p str)>;

/// The first tool of a method whose path matches and of whose request `read` makes a call, of the values in the path. Those with more
/// literal parts come first.
fn called(
    set: &ToolSet,
    method: &str,
    path: &str,
    mut read: impl FnMut(&Plain<'_>, &HttpBinding, Arguments) -> Option<Arguments>,
) -> Option<Call> {
    let mut found: Vec<(&Tool, &HttpBinding, Texts<'_>)> = set
        .callable()
        .filter_map(|tool| {
            let Binding::Http(http) = &tool.binding else { return None };
            let texts = places(http, path).filter(|_| http.method == method)?;
            Some((tool, &**http, texts))
        })
        .collect();
    found.sort_by_key(|(_, http, _)| http.path.matches('{').count());
    found.into_iter().find_map(|(tool, http, texts)| {
        let root = tool.arguments.value();
        let plain = Plain::of(tool, &root).ok()?;
        let arguments = read(&plain, http, in_path(&plain, http, &texts)?)?;
        Some(Call { tool: tool.name.clone(), arguments })
    })
}

/// The texts that a path has in the places of a template, with the names of these.
fn places<'p>(http: &'p HttpBinding, path: &'p str) -> Option<Texts<'p>> {
    let pieces = pieces(&http.path);
    let mut texts = Vec::new();
    let mut rest = path;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Fixed(text) => rest = rest.strip_prefix(text)?,
            Piece::Place(name) => {
                let end = match pieces.get(at + 1) {
                    Some(Piece::Fixed(text)) => rest.find(text)?,
                    _ => rest.len(),
                };
                let (value, after) = rest.split_at(end);
                if value.is_empty() || value.contains('/') {
                    return None;
                }
                texts.push((*name, value));
                rest = after;
            }
        }
    }
    rest.is_empty().then_some(texts)
}

/// The values of these texts.
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

/// The value of a parameter, of the texts that it came in.
fn value_of(plain: &Plain<'_>, parameter: &Parameter, member: &Member<'_>, texts: &[&str]) -> Option<Value> {
    let is_header = parameter.location == Location::Header;
    let scalar = |text: &str, schema: &Value| {
        let decoded = if is_header { text.to_owned() } else { percent_decoded(text)? };
        let value = typed_scalar(&decoded, schema, plain.root);
        (!value.is_string() || Kinds::of(schema, plain.root).string).then_some(value)
    };
    let name = encoded(&parameter.name);
    let in_path = parameter.location == Location::Path;
    let strip = |text: &'_ str| -> Option<String> {
        Some(match parameter.style {
            Style::Label if in_path => text.strip_prefix('.')?.to_owned(),
            Style::Matrix if in_path => text.strip_prefix(&format!(";{name}="))?.to_owned(),
            _ => text.to_owned(),
        })
    };
    match (variadic(plain, member), texts) {
        (None, [text]) => scalar(&strip(text)?, member.schema),
        (None, _) => None,
        (Some((item, ..)), texts) => {
            let mut items = Vec::new();
            for text in texts {
                let text = strip(text)?;
                let separator = if parameter.style == Style::Matrix && parameter.explode {
                    format!(";{name}=")
                } else {
                    ",".to_owned()
                };
                let is_one = parameter.style == Style::Form && parameter.explode && !in_path && !is_header;
                let parts =
                    if is_one { vec![text.as_str()] } else { text.split(separator.as_str()).collect() };
                for part in parts {
                    items.push(scalar(part, item)?);
                }
            }
            Some(Value::Array(items))
        }
    }
}

/// The values of a query or of cookies.
fn in_pairs(plain: &Plain<'_>, http: &HttpBinding, location: Location, pairs: &[&str]) -> Option<Arguments> {
    let mut arguments = Map::new();
    let mut read = 0;
    for parameter in http.parameters.iter().filter(|parameter| parameter.location == location) {
        let Some(member) = member_of(plain, parameter) else { continue };
        let name = encoded(&parameter.name);
        if parameter.style == Style::DeepObject {
            let mut object = Map::new();
            let schema = plain.resolved(member.schema);
            for pair in pairs {
                let inner = pair.strip_prefix(&format!("{name}%5B")).and_then(|rest| rest.split_once("%5D="));
                let Some((key, text)) = inner else { continue };
                let (key, text) = (percent_decoded(key)?, percent_decoded(text)?);
                let of = schema.get("properties").and_then(|properties| properties.get(&key))?;
                object.insert(key, typed_scalar(&text, of, plain.root));
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
            arguments.extend(in_pairs(plain, http, Location::Cookie, &cookies)?);
        }
    }
    Some(arguments)
}

/// The values of a body that is JSON, or of a form as an object.
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
    let schema = |name: &str| {
        let member = match &body.members {
            BodyMembers::Flat(members) => &members.iter().find(|(_, known)| known == name)?.0,
            BodyMembers::Whole(member) => member,
        };
        Some(plain.members.iter().find(|known| known.name == member)?.schema)
    };
    let value = match body.media {
        Media::Json => serde_json::from_str(text).ok()?,
        Media::Text => typed(text, schema("")?, plain.root),
        Media::Form if text.is_empty() => json!({}),
        Media::Form => {
            let mut object = Map::new();
            for pair in text.split('&') {
                let (name, text) = pair.split_once('=')?;
                let (name, text) = (percent_decoded(name)?, percent_decoded(text)?);
                object.insert(name.clone(), typed_scalar(&text, schema(&name)?, plain.root));
            }
            Value::Object(object)
        }
        Media::Multipart => return None,
    };
    in_value(plain, body, value)
}

impl Reader<'_> {
    /// The call that a request stands for, to the end of the turn.
    pub(super) fn request(&mut self, form: RequestForm) -> Result<Call> {
        match form {
            RequestForm::Message => {
                let text = self.rest();
                let call = read_message(text, self.set)
                    .ok_or_else(|| self.wrong("a request that a tool stands for"))?;
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
                    .ok_or_else(|| self.wrong("a request that a tool stands for"))
            }
        }
    }

    /// The call that a line with a method and a path stands for.
    pub(super) fn endpoint(&mut self) -> Result<Call> {
        let line = self.rest().split('\n').next().unwrap_or_default();
        let is_it = |binding: &Binding| matches!(binding, Binding::Http(http) if format!("{} {}", http.method, http.path) == line);
        let documented = self.set.callable().find(|tool| is_it(&tool.binding));
        let call = match (documented, line.split_once(' ')) {
            (Some(tool), _) => Some(Call { tool: tool.name.clone(), arguments: Map::new() }),
            (None, Some((method, path))) => called(self.set, method, path, |_, _, arguments| Some(arguments)),
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
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, query.split('&').collect()),
        None => (target, Vec::new()),
    };
    called(set, method, path, |plain, http, mut arguments| {
        arguments.extend(in_pairs(plain, http, Location::Query, &query)?);
        arguments.extend(in_headers(plain, http, &lines)?);
        if let Some(text) = body {
            arguments.extend(in_body(plain, http.body.as_ref()?, text)?);
        }
        Some(arguments)
    })
}

fn read_restgpt(method: &str, mut object: Arguments, set: &ToolSet) -> Option<Call> {
    let Some(Value::String(url)) = object.remove("url") else { return None };
    let servers = set.callable().filter_map(|tool| match &tool.binding {
        Binding::Http(http) => http.server.as_deref(),
        Binding::Host => None,
    });
    let mut paths: Vec<&str> = servers.filter_map(|server| url.strip_prefix(server)).collect();
    paths.dedup();
    let read = |plain: &Plain<'_>, http: &HttpBinding, mut arguments: Arguments| {
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
        Some(arguments)
    };
    paths.iter().find_map(|path| called(set, method, path, read))
}

/// The request of a call without its server, reserved characters encoded.
fn made(tool: &Tool, call: &Call) -> std::result::Result<request::Request, &'static str> {
    let Binding::Http(http) = &tool.binding else { return Err("a tool that stands for a request") };
    let mut http = http.clone();
    http.parameters.iter_mut().for_each(|parameter| parameter.allow_reserved = false);
    request::build(&http, "", &call.arguments).map_err(|_| "arguments of which a request can be made")
}

pub(super) fn endpoint(tool: &Tool, call: &Call) -> std::result::Result<String, &'static str> {
    match &tool.binding {
        Binding::Http(http) if call.arguments.is_empty() => Ok(format!("{} {}", http.method, http.path)),
        _ => {
            let request = made(tool, call)?;
            let path = request.url.split('?').next().unwrap_or_default().to_owned();
            Ok(format!("{} {path}", request.method))
        }
    }
}

pub(super) fn message(tool: &Tool, call: &Call) -> std::result::Result<String, &'static str> {
    let request = made(tool, call)?;
    let headers = request.headers.iter().filter(|(name, _)| name != "Content-Type");
    let headers: String = headers.map(|(name, value)| format!("\n{name}: {value}")).collect();
    let body = request.body.map_or_else(String::new, |body| format!("\n\n{body}"));
    Ok(format!("{} {}{headers}{body}", request.method, request.url))
}

pub(super) fn restgpt(
    tool: &Tool,
    plain: &Plain<'_>,
    call: &Call,
) -> std::result::Result<String, &'static str> {
    let Binding::Http(http) = &tool.binding else { return Err("a tool that stands for a request") };
    let server = http.server.as_deref().ok_or("a server with an absolute address")?;
    let path = made(tool, call)?.url;
    let url = format!("{server}{}", path.split('?').next().unwrap_or_default());
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
