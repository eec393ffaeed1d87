//! Converts an operation to a tool: the schema of its arguments, and the place of each argument in a request.

use super::parameter::{Parameters, flag};
use super::{Api, body, response, server, wire};
use crate::tools::binding::{Binding, Body, BodyMembers, HttpBinding, Location, Parameter, Style};
use crate::tools::errors;
use crate::tools::read::Made;
use crate::tools::read::pointer::join;
use crate::tools::read::schema::{Schemas, Scope};
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

/// An operation in its path item.
pub(super) struct Operation<'o, 'd> {
    pub(super) api: &'o Api<'d>,
    pub(super) path: &'o str,
    pub(super) item: &'d Map<String, Value>,
    pub(super) value: &'d Value,
    pub(super) method: &'o str,
    pub(super) pointer: &'o str,
}

/// An argument of the operation: a parameter, or a member of the body.
struct Member {
    /// The name of the member in the request.
    name: String,
    /// The location; `None` for the body.
    location: Option<Location>,
    schema: Value,
    /// The pointer to the schema in the document.
    pointer: String,
    required: bool,
    /// Style, `explode` and `allowReserved`; `None` for the body.
    parameter: Option<(Style, bool, bool)>,
}

/// The members of the arguments, and the body, whose members have no names yet, with a flag whether the body is one
/// value. Declared parameters are in document order; undeclared places of the path follow, and members of the body come
/// last.
type Parts = (Vec<Member>, Option<(Body, bool)>);

impl<'d> Operation<'_, 'd> {
    /// Builds the schema of the arguments and the binding.
    ///
    /// # Errors
    /// Faults because of which the operation cannot be called; limits.
    pub(super) fn make(&self, notes: &mut Vec<Diagnostic>) -> Result<Made> {
        let api = self.api;
        if !self.value.is_object() {
            let found = self.value.to_string();
            return Err(errors::fatal(errors::form(api.place(self.pointer), &found, "an operation")));
        }
        let item_pointer = self.pointer.rsplit_once('/').map_or("", |(item, _)| item);
        let lists = [
            (self.item.get("parameters"), join(item_pointer, "parameters")),
            (self.value.get("parameters"), join(self.pointer, "parameters")),
        ];
        let parameters = Parameters::read(api, lists, notes)?;
        let mut schemas = Schemas::new(api.root, api.base, api.dialect, api.is_open, api.budget);
        let made = self.members(&parameters, &mut schemas, notes);
        let definitions = schemas.finish();
        notes.append(&mut schemas.notes);
        let (members, body) = made?;
        let mut made = self.assemble(members, body, definitions?);
        if let Binding::Http(http) = &mut made.binding {
            wire::check(api, http, &made.schema, (item_pointer, self.pointer), notes)?;
            http.server = server::of(api, (self.item, item_pointer), (self.value, self.pointer), notes);
            let pointer = join(self.pointer, "responses");
            http.outputs = response::outputs(api, self.value, &pointer)?;
            if api.keeps_responses {
                made.response = response::schema(api, self.value, &pointer)?;
            }
        }
        for (_, source) in &mut made.origins {
            source.insert_str(0, api.base);
        }
        made.origins.extend(schemas.origins());
        Ok(made)
    }

    /// Reads the parameters and the body, and adds a text, number or boolean for each place of the path that is neither
    /// declared nor hidden.
    fn members(
        &self,
        parameters: &Parameters<'d>,
        schemas: &mut Schemas<'d>,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<Parts> {
        let api = self.api;
        let mut members = Vec::new();
        let templates: Vec<&str> = templates(self.path).collect();
        for found in &parameters.found {
            if found.location == Location::Path && !templates.contains(&found.name) {
                let message = "the path has no place for this parameter, which is left out";
                notes.push(errors::notice(
                    api.place(&found.pointer),
                    message,
                    found.name,
                    "correct the path",
                ));
                continue;
            }
            let is_required = flag(api, found.value, &found.pointer, "required", notes).unwrap_or(false);
            let (style, explode) = found.style(api, notes)?;
            if wire::is_left_out(api, found, style, is_required, notes)? {
                continue;
            }
            let (schema, pointer) = found.schema(api, notes);
            let mut schema = schemas.take(&schema, &pointer, Scope::Own)?;
            if style == Style::DeepObject && schema.get("type").is_some_and(|kind| kind != "object") {
                let place = api.place(&join(&found.pointer, "style"));
                let message = "this parameter cannot be written";
                return Err(errors::fatal(errors::not_callable(place, message, "deepObject", "an object")));
            }
            describe(&mut schema, found.value);
            let reserved = flag(api, found.value, &found.pointer, "allowReserved", notes).unwrap_or(false);
            members.push(Member {
                name: found.name.to_owned(),
                location: Some(found.location),
                schema,
                pointer,
                required: is_required || found.location == Location::Path,
                parameter: Some((style, explode, reserved)),
            });
        }
        for name in templates {
            let is_there = |member: &Member| member.location == Some(Location::Path) && member.name == name;
            let is_hidden = api.hidden.contains(&(name.to_owned(), None));
            if !is_hidden && !members.iter().any(is_there) {
                let message = "a part of the path is not declared, and any scalar is allowed";
                notes.push(errors::notice(api.place(self.pointer), message, name, "declare the parameter"));
                members.push(Member {
                    name: name.to_owned(),
                    location: Some(Location::Path),
                    schema: json!({"type": ["string", "number", "boolean"]}),
                    pointer: self.pointer.to_owned(),
                    required: true,
                    parameter: Some((Style::Simple, false, false)),
                });
            }
        }
        let body = self.body(parameters, schemas, &mut members, notes)?;
        Ok((members, body))
    }

    /// Adds the members of the body. Returns the body and whether it is one value; `None` if the operation has no body.
    fn body(
        &self,
        parameters: &Parameters<'d>,
        schemas: &mut Schemas<'d>,
        members: &mut Vec<Member>,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<Option<(Body, bool)>> {
        let api = self.api;
        let found = match self.value.get("requestBody") {
            Some(value) if !api.is_swagger => {
                Some(body::read(api, value, join(self.pointer, "requestBody"), notes)?)
            }
            _ => body::swagger(api, &parameters.body, self.value, notes)?,
        };
        let Some(found) = found else { return Ok(None) };
        if ["GET", "DELETE", "HEAD"].contains(&self.method) {
            let message = "few servers read the body of a request of this method";
            let place = api.place(self.pointer);
            notes.push(errors::notice(place, message, self.method, "check the method"));
        }
        let is_whole = matches!(found.content, body::Content::Whole(..));
        match found.content {
            body::Content::Flat(flat) => {
                for (name, schema, pointer, required) in flat {
                    let schema = schemas.take(&schema, &pointer, Scope::Own)?;
                    members.push(Member { name, location: None, schema, pointer, required, parameter: None });
                }
            }
            body::Content::Whole(schema, pointer) => {
                let schema = schemas.take(&schema, &pointer, Scope::Own)?;
                let required = found.required;
                members.push(Member {
                    name: "body".to_owned(),
                    location: None,
                    schema,
                    pointer,
                    required,
                    parameter: None,
                });
            }
        }
        let body = Body {
            media_type: found.media_type,
            media: found.media,
            required: found.required,
            members: BodyMembers::Flat(Vec::new()),
            encodings: found.encodings,
        };
        Ok(Some((body, is_whole)))
    }

    /// Names the members, and builds the schema and the binding.
    fn assemble(
        &self,
        members: Vec<Member>,
        body: Option<(Body, bool)>,
        definitions: Map<String, Value>,
    ) -> Made {
        if self.api.is_grouped {
            return self.grouped(members, body, definitions);
        }
        let names = names(&members);
        let (mut properties, mut required) = (Map::new(), Vec::new());
        let (mut parameters, mut origins) = (Vec::new(), Vec::new());
        let (mut in_body, mut required_in_body) = (Vec::new(), Vec::new());
        let is_body_required = body.as_ref().is_none_or(|(body, _)| body.required);
        for (member, name) in members.into_iter().zip(names) {
            match (member.location, member.parameter) {
                (Some(location), Some((style, explode, allow_reserved))) => {
                    let place = member.name.clone();
                    parameters.push(Parameter {
                        member: name.clone(),
                        name: place,
                        location,
                        style,
                        explode,
                        allow_reserved,
                    });
                    if member.required {
                        required.push(name.clone());
                    }
                }
                _ => {
                    if member.required {
                        required_in_body.push(name.clone());
                    }
                    in_body.push((name.clone(), member.name));
                }
            }
            origins.push((join("/properties", &name), member.pointer));
            properties.insert(name, member.schema);
        }
        let mut dependent = Map::new();
        if is_body_required {
            required.extend(required_in_body);
        } else if !required_in_body.is_empty() {
            for (name, _) in &in_body {
                let others: Vec<&String> = required_in_body.iter().filter(|other| *other != name).collect();
                if !others.is_empty() {
                    dependent.insert(name.clone(), json!(others));
                }
            }
        }
        let mut schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        for (keyword, map) in [("dependentRequired", dependent), ("$defs", definitions)] {
            if let (false, Some(object)) = (map.is_empty(), schema.as_object_mut()) {
                object.insert(keyword.to_owned(), Value::Object(map));
            }
        }
        let body = body.map(|(body, is_whole)| {
            let first = in_body.first().map(|(member, _)| member.clone()).unwrap_or_default();
            let members = if is_whole { BodyMembers::Whole(first) } else { BodyMembers::Flat(in_body) };
            Body { members, ..body }
        });
        let binding = HttpBinding {
            method: self.method.to_owned(),
            path: self.path.to_owned(),
            server: None,
            grouped: false,
            parameters,
            body,
            outputs: Vec::new(),
        };
        Made { schema, binding: Binding::Http(Box::new(binding)), origins, response: None, is_custom: false }
    }

    /// Like [`assemble`](Operation::assemble), with one argument per location: an object of its members.
    fn grouped(
        &self,
        members: Vec<Member>,
        body: Option<(Body, bool)>,
        definitions: Map<String, Value>,
    ) -> Made {
        let (mut parameters, mut origins) = (Vec::new(), Vec::new());
        let mut groups: Vec<(&str, Map<String, Value>, Vec<String>)> = Vec::new();
        // the members of a form of 2.0, which together are the body
        let (mut fields, mut required_fields, mut whole) = (Map::new(), Vec::new(), None);
        for member in members {
            let (Some(location), Some((style, explode, allow_reserved))) =
                (member.location, member.parameter)
            else {
                match &body {
                    Some((_, true)) => {
                        origins.push(("/properties/body".to_owned(), member.pointer));
                        whole = Some(member.schema);
                    }
                    _ => {
                        let part = join("/properties/body/properties", &member.name);
                        origins.push((part, member.pointer));
                        required_fields.extend(Some(member.name.clone()).filter(|_| member.required));
                        fields.insert(member.name, member.schema);
                    }
                }
                continue;
            };
            let group = match groups.iter().position(|(name, ..)| *name == location.name()) {
                Some(at) => at,
                None => {
                    groups.push((location.name(), Map::new(), Vec::new()));
                    groups.len() - 1
                }
            };
            let Some((_, properties, required)) = groups.get_mut(group) else { continue };
            required.extend(Some(member.name.clone()).filter(|_| member.required));
            let part = join(&format!("/properties/{}/properties", location.name()), &member.name);
            origins.push((part, member.pointer));
            properties.insert(member.name.clone(), member.schema);
            let name = member.name;
            parameters.push(Parameter {
                member: name.clone(),
                name,
                location,
                style,
                explode,
                allow_reserved,
            });
        }
        let object = |properties: Map<String, Value>, required: &[String]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (name, group, names) in groups {
            required.extend(Some(name.to_owned()).filter(|_| !names.is_empty()));
            properties.insert(name.to_owned(), object(group, &names));
        }
        let body = body.map(|(body, _)| {
            required.extend(Some("body".to_owned()).filter(|_| body.required));
            properties.insert("body".to_owned(), whole.unwrap_or_else(|| object(fields, &required_fields)));
            Body { members: BodyMembers::Whole("body".to_owned()), ..body }
        });
        let mut schema = object(properties, &required);
        if let (false, Some(object)) = (definitions.is_empty(), schema.as_object_mut()) {
            object.insert("$defs".to_owned(), Value::Object(definitions));
        }
        let binding = HttpBinding {
            method: self.method.to_owned(),
            path: self.path.to_owned(),
            server: None,
            grouped: true,
            parameters,
            body,
            outputs: Vec::new(),
        };
        Made { schema, binding: Binding::Http(Box::new(binding)), origins, response: None, is_custom: false }
    }
}

/// Returns the names in the braces of a path.
fn templates(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0))
}

/// Returns the names of the members in the arguments. If several members have one name, the first by location keeps it,
/// and the others are qualified by their location. The order of locations is path, query, header, cookie, body.
fn names(members: &[Member]) -> Vec<String> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|&index| members[index].location.map_or(Location::Cookie as usize + 1, |l| l as usize));
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let declared: FxHashSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let mut names = vec![String::new(); members.len()];
    for index in order {
        let member = &members[index];
        let mut name = member.name.clone();
        if !taken.insert(name.clone()) {
            let stem = format!("{name}_{}", member.location.map_or("body", Location::name));
            name = stem.clone();
            let mut number = 2;
            while declared.contains(name.as_str()) || !taken.insert(name.clone()) {
                name = format!("{stem}_{number}");
                number += 1;
            }
        }
        names[index] = name;
    }
    names
}

/// Copies a parameter's description to its schema, unless the schema has one.
fn describe(schema: &mut Value, parameter: &Value) {
    if let (Some(object), Some(text)) = (schema.as_object_mut(), parameter.get("description"))
        && text.is_string()
        && !object.contains_key("description")
    {
        object.insert("description".to_owned(), text.clone());
    }
}
