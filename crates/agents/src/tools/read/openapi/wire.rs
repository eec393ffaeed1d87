//! Checks that a request can be built from the names, path and method in a document.

use super::Api;
use super::parameter::Found;
use crate::tools::address;
use crate::tools::binding::{HttpBinding, Location, Parameter, Style};
use crate::tools::errors;
use crate::tools::format::may_be_list;
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use serde_json::Value;

const MESSAGE: &str = "this operation cannot be written as a request";

/// Returns whether an optional parameter is left out, with a notice, because its name cannot be written.
///
/// # Errors
/// `tools/not-callable` if the name cannot be written and the parameter is required.
pub(super) fn is_left_out(
    api: &Api<'_>,
    found: &Found<'_>,
    style: Style,
    is_required: bool,
    notes: &mut Vec<Diagnostic>,
) -> Result<bool> {
    let is_raw = found.location == Location::Header || style == Style::Cookie;
    if !is_raw || address::is_token(found.name) {
        return Ok(false);
    }
    let name = found.name.escape_debug().to_string();
    let (place, allowed) = (api.place(&found.pointer), "letters, digits and !#$%&'*+-.^_`|~");
    if is_required {
        let message = "a request cannot have a parameter of this name";
        return Err(errors::fatal(errors::not_callable(place, message, &name, allowed)));
    }
    let message = "a request cannot have a parameter of this name: it is left out";
    notes.push(errors::notice(place, message, &name, "a name has letters, digits and !#$%&'*+-.^_`|~"));
    Ok(true)
}

/// Checks a binding and normalises its path: removes a fragment, puts a `/` at its start, and percent-encodes it where
/// an address requires it.
///
/// # Errors
/// `tools/not-callable` if no request can be built: an invalid method or path, a form member of the style `deepObject`
/// that is not an object, two parameters that can have the same key, or a header `Cookie` in addition to cookies.
pub(super) fn check(
    api: &Api<'_>,
    http: &mut HttpBinding,
    schema: &Value,
    (item_pointer, pointer): (&str, &str),
    notes: &mut Vec<Diagnostic>,
) -> Result<()> {
    let refused = |pointer: &str, found: &str, allowed: &str| {
        Err(errors::fatal(errors::not_callable(api.place(pointer), MESSAGE, found, allowed)))
    };
    if !address::is_token(&http.method) {
        return refused(
            pointer,
            &http.method.escape_debug().to_string(),
            "a method without blanks and separators",
        );
    }
    let (path, fragment) = address::without_fragment(&http.path);
    if !fragment.is_empty() {
        if fragment.contains('{') {
            return refused(item_pointer, &http.path.escape_debug().to_string(), "parameters before `#`");
        }
        let message = "what follows `#` in a path is not part of a request, and is left out";
        let help = "if calls are written as requests, equal paths are read as the first of them";
        notes.push(errors::notice(
            api.place(item_pointer),
            message,
            &fragment.escape_debug().to_string(),
            help,
        ));
        http.path = path.to_owned();
    }
    if !http.path.starts_with('/') {
        let path = format!("/{}", http.path);
        notes.push(errors::repaired(
            api.place(item_pointer),
            &http.path.escape_debug().to_string(),
            "a path that begins with `/`",
        ));
        http.path = path;
    }
    let members = match http.grouped {
        true => schema.pointer("/properties/path/properties"),
        false => schema.get("properties"),
    };
    let is_list = |parameter: &Parameter| {
        let of_member = members.and_then(|members| members.get(&parameter.member));
        of_member.is_none_or(|of_member| may_be_list(of_member, schema))
    };
    http.path = match address::checked(&http.path, &http.parameters, is_list) {
        Ok(path) => path,
        Err((found, allowed)) => return refused(item_pointer, &found, allowed),
    };
    let fields = http.body.as_ref().map(|body| body.fields()).unwrap_or_default();
    let is_object = |field: &Parameter| {
        let of_member = schema.get("properties").and_then(|properties| properties.get(&field.member));
        of_member.and_then(|of_member| of_member.get("type")).is_none_or(|kind| kind == "object")
    };
    let is_deep = |field: &&Parameter| field.style == Style::DeepObject && !is_object(field);
    if let Some(field) = fields.iter().find(is_deep) {
        return refused(pointer, &format!("{}: deepObject", field.name), "an object");
    }
    let query = http.parameters.iter().filter(|parameter| parameter.location == Location::Query);
    for parameters in [query.collect::<Vec<_>>(), fields.iter().collect()] {
        if let Some((one, other)) = clash(&parameters) {
            let found = format!("{one} and {other}");
            return refused(pointer, &found, "names that are not those of another parameter's members");
        }
    }
    let has = |location: Location, name: Option<&str>| {
        let is_it = |parameter: &Parameter| name.is_none_or(|name| parameter.name.eq_ignore_ascii_case(name));
        http.parameters.iter().any(|parameter| parameter.location == location && is_it(parameter))
    };
    if has(Location::Cookie, None) && has(Location::Header, Some("cookie")) {
        return refused(pointer, "a header Cookie in addition to parameters in the cookie", "one of both");
    }
    Ok(())
}

/// Returns two parameters such that the second has the name of a member of the first (`deepObject`); `None` if there
/// are none.
fn clash<'p>(parameters: &[&'p Parameter]) -> Option<(&'p str, &'p str)> {
    let deep = parameters.iter().filter(|parameter| parameter.style == Style::DeepObject);
    deep.into_iter().find_map(|deep| {
        let start = format!("{}[", deep.name);
        let other = parameters.iter().find(|other| other.name.starts_with(&start))?;
        Some((deep.name.as_str(), other.name.as_str()))
    })
}
