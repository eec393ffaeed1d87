//! The body of an operation.

use super::parameter::{BodyPart, beside, flag};
use super::{Api, encoding};
use crate::tools::address;
use crate::tools::binding::{Encoding, Media};
use crate::tools::errors;
use crate::tools::read::dialect::Dialect;
use crate::tools::read::pointer::join;
use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, Result};
use serde_json::{Map, Value, json};

/// A body whose members have no names in the arguments yet.
pub(super) struct Found {
    pub(super) media_type: String,
    pub(super) media: Media,
    pub(super) required: bool,
    pub(super) content: Content,
    /// The serialisations of form members.
    pub(super) encodings: Vec<Encoding>,
}

/// The content of a body: schemas with their pointers.
pub(super) enum Content {
    /// Members: name, schema, pointer, and whether each is required.
    Flat(Vec<(String, Value, String, bool)>),
    /// One value: its schema and pointer.
    Whole(Value, String),
}

/// Returns the kind of a media type, with its rank; the lowest rank is preferred. Returns `None` if no body of this
/// type can be written.
fn rank(media_type: &str) -> Option<(u8, Media)> {
    if !address::is_media_type(media_type) {
        return None;
    }
    let name = media_type.split(';').next().unwrap_or_default().trim().to_lowercase();
    Some(match name.as_str() {
        "application/json" => (0, Media::Json),
        "*/*" | "application/*" => (2, Media::Json),
        "application/x-www-form-urlencoded" => (3, Media::Form),
        "multipart/form-data" => (4, Media::Multipart),
        "text/plain" => (5, Media::Text),
        _ if name.ends_with("+json") => (1, Media::Json),
        _ => return None,
    })
}

fn unwritable(api: &Api<'_>, pointer: &str, found: &str) -> Error {
    let allowed = "JSON, a form, multipart of texts, text/plain";
    let message = "no body of this operation can be written";
    errors::fatal(errors::not_callable(api.place(pointer), message, found, allowed))
}

/// Returns the media type that a request sends: `application/json` instead of a range, and `multipart/form-data`
/// without parameters, because they depend on the content.
fn written(media_type: &str, media: Media) -> String {
    match media {
        Media::Json if media_type.contains('*') => "application/json".to_owned(),
        Media::Multipart => "multipart/form-data".to_owned(),
        _ => media_type.to_owned(),
    }
}

/// Reads the body of an operation of OpenAPI 3.
///
/// # Errors
/// No media type can be written, a reference has no target, a required part is not a text, or a form member has an
/// unsupported style; limits.
pub(super) fn read<'d>(
    api: &Api<'d>,
    body: &'d Value,
    pointer: String,
    notes: &mut Vec<Diagnostic>,
) -> Result<Found> {
    let (body, pointer) = api.resolve(body, pointer)?;
    let required = flag(api, body, &pointer, "required", notes).unwrap_or(false);
    let content = body.get("content").and_then(Value::as_object);
    let pointer = join(&pointer, "content");
    let best = content
        .into_iter()
        .flatten()
        .filter_map(|(media_type, value)| Some((rank(media_type)?, media_type, value)))
        .min_by_key(|((rank, _), ..)| *rank);
    let Some(((_, media), media_type, value)) = best else {
        let found: Vec<&str> =
            content.into_iter().flatten().map(|(media_type, _)| media_type.as_str()).collect();
        return Err(unwritable(api, &pointer, &found.join(", ").escape_debug().to_string()));
    };
    let pointer = join(&pointer, media_type);
    let encodings = match media {
        Media::Form | Media::Multipart => encoding::read(api, value, &pointer, media, notes)?,
        Media::Json | Media::Text => Vec::new(),
    };
    let pointer = join(&pointer, "schema");
    let content = match value.get("schema") {
        Some(schema) => content_of(api, schema, pointer, media, notes)?,
        None => Content::Whole(json!({}), pointer),
    };
    Ok(Found { media_type: written(media_type, media), media, required, content, encodings })
}

/// Reads the body of an operation of OpenAPI 2.0; `None` if the operation has no parameters for the body.
///
/// # Errors
/// Those of [`read`].
pub(super) fn swagger<'d>(
    api: &Api<'d>,
    parts: &[BodyPart<'d>],
    operation: &'d Value,
    notes: &mut Vec<Diagnostic>,
) -> Result<Option<Found>> {
    if parts.is_empty() {
        return Ok(None);
    }
    let consumes = operation.get("consumes").or_else(|| api.root.get("consumes")).and_then(Value::as_array);
    let consumes: Vec<&str> = consumes.into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(whole) = parts.iter().find(|part| part.is_whole) {
        let best = match consumes.as_slice() {
            [] => Some(((0, Media::Json), "application/json")),
            all => {
                all.iter().filter_map(|media| Some((rank(media)?, *media))).min_by_key(|((rank, _), _)| *rank)
            }
        };
        let Some(((_, media), media_type)) = best else {
            return Err(unwritable(api, &whole.pointer, &consumes.join(", ").escape_debug().to_string()));
        };
        let required = flag(api, whole.value, &whole.pointer, "required", notes).unwrap_or(false);
        let pointer = join(&whole.pointer, "schema");
        let content = match whole.value.get("schema") {
            Some(schema) => content_of(api, schema, pointer, media, notes)?,
            None => Content::Whole(json!({}), pointer),
        };
        let media_type = written(media_type, media);
        return Ok(Some(Found { media_type, media, required, content, encodings: Vec::new() }));
    }
    let (mut members, mut encodings) = (Vec::new(), Vec::new());
    let mut any_required = false;
    let is_file = |part: &BodyPart<'_>| part.value.get("type").is_some_and(|kind| kind == "file");
    let is_multipart = parts.iter().any(is_file)
        || (consumes.contains(&"multipart/form-data")
            && !consumes.contains(&"application/x-www-form-urlencoded"));
    for part in parts {
        let name = part.value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let required = flag(api, part.value, &part.pointer, "required", notes).unwrap_or(false);
        if is_file(part) {
            binary(api, &part.pointer, &name, required, notes)?;
            continue;
        }
        any_required |= required;
        encodings.extend(encoding::of_collection(part.value, &name));
        members.push((name, beside(part.value), part.pointer.clone(), required));
    }
    let (media_type, media) = if is_multipart {
        ("multipart/form-data", Media::Multipart)
    } else {
        ("application/x-www-form-urlencoded", Media::Form)
    };
    Ok(Some(Found {
        media_type: media_type.to_owned(),
        media,
        required: any_required,
        content: Content::Flat(members),
        encodings,
    }))
}

/// Handles a part that is not a text: an error if it is required; otherwise it is omitted with a notice.
fn binary(
    api: &Api<'_>,
    pointer: &str,
    name: &str,
    required: bool,
    notes: &mut Vec<Diagnostic>,
) -> Result<()> {
    if required {
        let message = "a required part is not text";
        let found = format!("{name}: a file");
        return Err(errors::fatal(errors::not_callable(api.place(pointer), message, &found, "texts")));
    }
    let message = "a part that is not text is left out";
    notes.push(errors::notice(api.place(pointer), message, name, "the host may add it"));
    Ok(())
}

/// Keywords that exclude a plain object.
const NOT_PLAIN: [&str; 14] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "unevaluatedProperties",
    "discriminator",
];

/// Returns the members of a plain object, or the whole value for other schemas, for texts, and if arguments are
/// grouped.
fn content_of<'d>(
    api: &Api<'d>,
    schema: &'d Value,
    pointer: String,
    media: Media,
    notes: &mut Vec<Diagnostic>,
) -> Result<Content> {
    let whole = || Content::Whole(schema.clone(), pointer.clone());
    if media == Media::Text || api.is_grouped {
        return Ok(whole());
    }
    let has_siblings = api.dialect == Dialect::OpenApi31
        && schema.as_object().is_some_and(|object| object.contains_key("$ref") && object.len() > 1);
    let (target, at) = api.resolve(schema, pointer.clone())?;
    let Some(object) = target.as_object().filter(|_| !has_siblings) else { return Ok(whole()) };
    let Some(properties) = object.get("properties").and_then(Value::as_object) else { return Ok(whole()) };
    let is_object = object.get("type").is_none_or(|kind| kind == "object");
    let is_nullable = object.get("nullable").is_some_and(|flag| flag == &Value::Bool(true));
    let additional = object.get("additionalProperties");
    let is_typed = additional.is_some_and(|extra| !extra.is_boolean() && extra != "true" && extra != "false");
    if !is_object || is_nullable || is_typed || NOT_PLAIN.iter().any(|word| object.contains_key(*word)) {
        return Ok(whole());
    }
    if let Some(text @ Value::String(_)) = additional {
        let place = api.place(&join(&at, "additionalProperties"));
        notes.push(errors::repaired(place, &text.to_string(), text.as_str().unwrap_or_default()));
    }
    if additional.is_some_and(|extra| extra == &Value::Bool(true) || extra == "true") {
        let place = api.place(&join(&at, "additionalProperties"));
        let message = "members that are not declared are left out";
        notes.push(errors::notice(place, message, "additionalProperties: true", "declare them"));
    }
    members(api, object, properties, &at, media, notes).map(Content::Flat)
}

fn members(
    api: &Api<'_>,
    object: &Map<String, Value>,
    properties: &Map<String, Value>,
    pointer: &str,
    media: Media,
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<(String, Value, String, bool)>> {
    let required: rustc_hash::FxHashSet<&str> = object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut members = Vec::new();
    let pointer_of = |name: &str| join(&join(pointer, "properties"), name);
    for (name, schema) in properties {
        api.budget.spend(1)?;
        let pointer = pointer_of(name);
        if schema.get("readOnly").is_some_and(|flag| flag == &Value::Bool(true) || flag == "true") {
            continue;
        }
        let is_required = |flag: &Value| flag == &Value::Bool(true) || flag == "true";
        let required = required.contains(name.as_str()) || schema.get("required").is_some_and(is_required);
        let is_binary = schema.get("format").is_some_and(|format| format == "binary")
            || (schema.get("contentMediaType").is_some() && schema.get("contentEncoding").is_none());
        if media == Media::Multipart && is_binary {
            binary(api, &pointer, name, required, notes)?;
            continue;
        }
        members.push((name.clone(), schema.clone(), pointer, required));
    }
    let mut undeclared: Vec<&str> =
        required.iter().filter(|name| !properties.contains_key(**name)).copied().collect();
    undeclared.sort_unstable();
    for name in undeclared {
        let place = api.place(&join(pointer, "required"));
        let message = "a member that is required is not declared, and any value is allowed";
        notes.push(errors::notice(place, message, name, "declare it in `properties`"));
        members.push((name.to_owned(), json!({}), pointer.to_owned(), true));
    }
    Ok(members)
}
