//! Form bodies: name-value pairs, and multipart (RFC 7578).

use super::binding::{Body, BodyMembers, Encoding, Location, Parameter, Style};
use super::errors;
use super::request::{Pairs, plain_text};
use grammata::error::Result;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write;

impl Body {
    /// Returns a form member as a query parameter, with the style of its [`Encoding`]. Without an encoding, each array
    /// item is written separately.
    pub(super) fn field(&self, member: &str, name: &str) -> Parameter {
        let encoding = self.encoding(name);
        let (style, explode) = encoding.map_or((Style::Form, true), |one| (one.style, one.explode));
        Parameter {
            member: member.to_owned(),
            name: name.to_owned(),
            location: Location::Query,
            style,
            explode,
            allow_reserved: encoding.is_some_and(|one| one.allow_reserved),
        }
    }

    /// Returns the members of an object body as query parameters; empty if the body is one value.
    pub(super) fn fields(&self) -> Vec<Parameter> {
        match &self.members {
            BodyMembers::Flat(members) => {
                members.iter().map(|(member, name)| self.field(member, name)).collect()
            }
            BodyMembers::Whole(_) => Vec::new(),
        }
    }

    fn encoding(&self, name: &str) -> Option<&Encoding> {
        self.encodings.iter().find(|encoding| encoding.name == name)
    }
}

/// Returns the body `a=1&b=2` of an object. Null members are omitted, and so are empty lists and objects that are not
/// written as JSON.
///
/// # Errors
/// `tools/request` if the style of a member cannot write its value, or if two members give pairs with the same key.
pub(super) fn pairs(body: &Body, object: &Map<String, Value>) -> Result<String> {
    let mut pairs = Pairs::default();
    for (name, value) in object {
        let mut field = body.field(name, name);
        let is_styled = body.encoding(name).is_some_and(|encoding| encoding.is_styled);
        match value {
            Value::Null => continue,
            Value::Array(items) if items.is_empty() && field.style != Style::Json => continue,
            Value::Object(_) if !is_styled => field.style = Style::Json,
            Value::Object(members) if members.is_empty() && field.style != Style::Json => continue,
            _ => {}
        }
        pairs.add(&field, value)?;
    }
    Ok(pairs.all.join("&"))
}

/// A part of a multipart body.
struct Part<'b> {
    name: &'b str,
    media_type: Option<&'b str>,
    text: String,
}

/// Encodes an object as `multipart/form-data`. Each item of an array is a part of the same name, unless the encoding of
/// the member joins the items or writes JSON. Null members are omitted. Returns the body and the boundary. The boundary
/// is derived from the content, so equal calls give equal requests. It occurs in the text of no part.
///
/// # Errors
/// `tools/request`: a name with control characters.
pub(super) fn multipart(body: &Body, object: &Map<String, Value>) -> Result<(String, String)> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    for (name, value) in object {
        if name.contains(char::is_control) {
            return Err(errors::request(
                &name.escape_debug().to_string(),
                "names of parts without control characters",
            ));
        }
        if !value.is_null() {
            add(&mut parts, name, value, body.encoding(name));
        }
    }
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part.text.as_bytes()));
    let mut boundary = String::from("grammata-");
    for byte in &hash.finalize()[..8] {
        // writing to a string cannot fail
        let _ = write!(boundary, "{byte:02x}");
    }
    while parts.iter().any(|part| part.text.contains(&boundary)) {
        boundary.push('x');
    }
    let mut content = String::new();
    for Part { name, media_type, text } in &parts {
        let name = name.replace('"', "%22");
        let _ = write!(content, "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n");
        if let Some(media_type) = media_type {
            let _ = write!(content, "Content-Type: {media_type}\r\n");
        }
        let _ = write!(content, "\r\n{text}\r\n");
    }
    let _ = write!(content, "--{boundary}--\r\n");
    Ok((content, boundary))
}

fn add<'b>(parts: &mut Vec<Part<'b>>, name: &'b str, value: &Value, encoding: Option<&'b Encoding>) {
    let media_type = encoding.and_then(|encoding| encoding.media_type.as_deref());
    let one = |value: &Value| {
        let is_json = encoding.is_some_and(|encoding| encoding.style == Style::Json);
        let media_type = media_type.or_else(|| value.is_object().then_some("application/json"));
        Part { name, media_type, text: if is_json { value.to_string() } else { plain_text(value) } }
    };
    match (value, encoding) {
        (Value::Array(items), Some(encoding)) if encoding.is_styled && !encoding.explode => {
            let separator = match encoding.style {
                Style::SpaceDelimited => " ",
                Style::PipeDelimited => "|",
                Style::TabDelimited => "\t",
                _ => ",",
            };
            let texts: Vec<String> = items.iter().map(plain_text).collect();
            parts.push(Part { name, media_type, text: texts.join(separator) });
        }
        (Value::Array(_), Some(encoding)) if encoding.style == Style::Json => parts.push(one(value)),
        (Value::Array(items), _) => parts.extend(items.iter().map(one)),
        (value, _) => parts.push(one(value)),
    }
}
