//! The parameters of an operation.

use super::Api;
use crate::tools::binding::{Location, Style};
use crate::tools::errors;
use crate::tools::read::pointer::join;
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use serde_json::{Map, Value, json};

/// Headers that a parameter cannot set (OpenAPI 3.0, section 4.8.12).
const IGNORED_HEADERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// A parameter that is not yet a member of the arguments.
pub(super) struct Found<'d> {
    pub(super) name: &'d str,
    pub(super) location: Location,
    pub(super) value: &'d Value,
    pub(super) pointer: String,
}

/// A parameter of OpenAPI 2.0 that is the body or a part of it.
pub(super) struct BodyPart<'d> {
    pub(super) value: &'d Value,
    pub(super) pointer: String,
    /// Whether the part is the whole body; otherwise the part is a form field.
    pub(super) is_whole: bool,
}

/// The parameters of a path item and an operation, except hidden ones and headers that a parameter cannot set. A later
/// parameter replaces an earlier one with the same name and location.
pub(super) struct Parameters<'d> {
    pub(super) found: Vec<Found<'d>>,
    pub(super) body: Vec<BodyPart<'d>>,
}

impl<'d> Parameters<'d> {
    /// Reads lists of parameters with their pointers.
    ///
    /// # Errors
    /// A reference without a target, a parameter without a name or with an unknown location; limits.
    pub(super) fn read(
        api: &Api<'d>,
        lists: [(Option<&'d Value>, String); 2],
        notes: &mut Vec<Diagnostic>,
    ) -> Result<Parameters<'d>> {
        let mut all = Parameters { found: Vec::new(), body: Vec::new() };
        for (list, pointer) in lists {
            let Some(list) = list.and_then(Value::as_array) else { continue };
            for (at, value) in list.iter().enumerate() {
                let (value, pointer) = api.resolve(value, format!("{pointer}/{at}"))?;
                all.add(api, value, pointer, notes)?;
            }
        }
        Ok(all)
    }

    fn add(
        &mut self,
        api: &Api<'d>,
        value: &'d Value,
        pointer: String,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<()> {
        api.budget.spend(1 + self.found.len())?;
        let text = |member: &str| value.get(member).and_then(Value::as_str);
        let (Some(name), Some(place)) = (text("name"), text("in")) else {
            let found = value.to_string();
            return Err(errors::fatal(errors::form(
                api.place(&pointer),
                &found,
                "a parameter with `name` and `in`",
            )));
        };
        let location = match place {
            "path" => Location::Path,
            "query" => Location::Query,
            "header" => Location::Header,
            "cookie" => Location::Cookie,
            "body" | "formData" if api.is_swagger => {
                self.body.retain(|part| part.value.get("name") != value.get("name"));
                self.body.push(BodyPart { value, pointer, is_whole: place == "body" });
                return Ok(());
            }
            other => {
                let allowed = "path, query, header, cookie";
                return Err(errors::fatal(errors::form(api.place(&join(&pointer, "in")), other, allowed)));
            }
        };
        if location == Location::Header && IGNORED_HEADERS.contains(&name.to_lowercase().as_str()) {
            return Ok(());
        }
        let is_hidden = api.hidden.contains(&(name.to_owned(), None))
            || api.hidden.contains(&(name.to_owned(), Some(place.to_owned())));
        if is_hidden {
            if location == Location::Path {
                let help = "the host must fill it in";
                let message = "a hidden parameter is part of the path";
                notes.push(errors::notice(api.place(&pointer), message, name, help));
            }
            self.found.retain(|other| other.name != name || other.location != location);
            return Ok(());
        }
        let found = Found { name, location, value, pointer };
        match self.found.iter_mut().find(|other| other.name == name && other.location == location) {
            Some(other) => *other = found,
            None => self.found.push(found),
        }
        Ok(())
    }
}

/// Returns a boolean member. `true` and `false` as texts are accepted with a warning. Returns `None` if the member is
/// missing or has another value.
pub(super) fn flag(
    api: &Api<'_>,
    value: &Value,
    pointer: &str,
    member: &str,
    notes: &mut Vec<Diagnostic>,
) -> Option<bool> {
    match value.get(member)? {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if text == "true" || text == "false" => {
            let place = api.place(&join(pointer, member));
            notes.push(errors::repaired(place, &format!("{text:?}"), text));
            Some(text == "true")
        }
        _ => None,
    }
}

impl<'d> Found<'d> {
    /// Returns the style of the value, and whether its parts are written separately (`explode`).
    ///
    /// # Errors
    /// `tools/not-callable` for a style that is not allowed at the parameter's location, and for a delimited style with
    /// `explode`.
    pub(super) fn style(&self, api: &Api<'_>, notes: &mut Vec<Diagnostic>) -> Result<(Style, bool)> {
        let text = |member: &str| self.value.get(member).and_then(Value::as_str);
        let default = match self.location {
            Location::Path | Location::Header => Style::Simple,
            Location::Query | Location::Cookie => Style::Form,
        };
        if api.is_swagger {
            return Ok(collection(self.value, default));
        }
        if self.value.get("content").is_some() {
            return Ok((Style::Json, false));
        }
        let place = api.place(&join(&self.pointer, "style"));
        let explode = flag(api, self.value, &self.pointer, "explode", notes);
        use Location::{Cookie, Path, Query};
        let style = match (text("style"), self.location) {
            (None, _) => default,
            (Some("simple"), Path | Location::Header) => Style::Simple,
            (Some("label"), Path) => Style::Label,
            (Some("matrix"), Path) => Style::Matrix,
            (Some("form"), Query | Cookie) => Style::Form,
            (Some("spaceDelimited"), Query) => Style::SpaceDelimited,
            (Some("pipeDelimited"), Query) => Style::PipeDelimited,
            (Some("deepObject"), Query) => Style::DeepObject,
            (Some("cookie"), Cookie) => Style::Cookie,
            (Some(other), location) => {
                let allowed = format!("a style of parameters in the {}", location.name());
                let message = "this parameter cannot be written";
                return Err(errors::fatal(errors::not_callable(place, message, other, &allowed)));
            }
        };
        let explode = explode.unwrap_or(matches!(style, Style::Form | Style::Cookie | Style::DeepObject));
        if explode && matches!(style, Style::SpaceDelimited | Style::PipeDelimited) {
            let message = "this parameter cannot be written";
            let found = format!("{} with explode", text("style").unwrap_or_default());
            return Err(errors::fatal(errors::not_callable(place, message, &found, "explode: false")));
        }
        Ok((style, explode))
    }

    /// Returns the schema of the parameter, with the pointer of the schema. Without a schema, any text, number or
    /// boolean is allowed, with a notice.
    pub(super) fn schema(&self, api: &Api<'_>, notes: &mut Vec<Diagnostic>) -> (Value, String) {
        if api.is_swagger {
            return (beside(self.value), self.pointer.clone());
        }
        if let Some(schema) = self.value.get("schema") {
            return (schema.clone(), join(&self.pointer, "schema"));
        }
        let content =
            self.value.get("content").and_then(Value::as_object).and_then(|content| content.iter().next());
        if let Some((media, value)) = content {
            let pointer = join(&join(&self.pointer, "content"), media);
            let schema = value.get("schema").cloned().unwrap_or_else(|| json!({}));
            return (schema, join(&pointer, "schema"));
        }
        let message = "this parameter has no schema, and any scalar is allowed";
        notes.push(errors::notice(api.place(&self.pointer), message, self.name, "give it a schema"));
        (json!({"type": ["string", "number", "boolean"]}), self.pointer.clone())
    }
}

/// Returns the style of an array and whether its items are written separately, by `collectionFormat` (2.0).
pub(super) fn collection(value: &Value, default: Style) -> (Style, bool) {
    match value.get("collectionFormat").and_then(Value::as_str) {
        Some("ssv") => (Style::SpaceDelimited, false),
        Some("tsv") => (Style::TabDelimited, false),
        Some("pipes") => (Style::PipeDelimited, false),
        Some("multi") => (default, true),
        _ => (default, false),
    }
}

/// Returns the schema that is formed by the keywords next to a parameter's name (2.0).
pub(super) fn beside(value: &Value) -> Value {
    const OF_PARAMETERS: [&str; 6] =
        ["name", "in", "required", "collectionFormat", "allowEmptyValue", "description"];
    let mut schema: Map<String, Value> = value.as_object().cloned().unwrap_or_default();
    schema.retain(|keyword, _| !OF_PARAMETERS.contains(&keyword.as_str()));
    if let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) {
        items.remove("collectionFormat");
    }
    Value::Object(schema)
}
