//! Reads the serialisation of form members: `encoding` of a media type (OpenAPI 3.2, section 4.15).

use super::Api;
use super::parameter::{collection, flag};
use crate::tools::binding::{Encoding, Media, Style};
use crate::tools::read::pointer::join;
use crate::tools::{address, errors};
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use serde_json::Value;

/// Reads the encodings of a media type of OpenAPI 3.
///
/// # Errors
/// A style that the form does not support, or a delimited style with `explode` (`tools/not-callable`); limits.
pub(super) fn read(
    api: &Api<'_>,
    media_type: &Value,
    pointer: &str,
    media: Media,
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<Encoding>> {
    for keyword in ["prefixEncoding", "itemEncoding"] {
        if media_type.get(keyword).is_some() {
            let place = api.place(&join(pointer, keyword));
            notes.push(errors::notice(
                place,
                "parts without names are not written",
                keyword,
                "name the parts",
            ));
        }
    }
    let pointer = join(pointer, "encoding");
    let mut encodings = Vec::new();
    for (name, value) in media_type.get("encoding").and_then(Value::as_object).into_iter().flatten() {
        api.budget.spend(1)?;
        encodings.push(one(api, name, value, &join(&pointer, name), media, notes)?);
    }
    Ok(encodings)
}

fn one(
    api: &Api<'_>,
    name: &str,
    value: &Value,
    pointer: &str,
    media: Media,
    notes: &mut Vec<Diagnostic>,
) -> Result<Encoding> {
    let has_headers = value
        .get("headers")
        .and_then(Value::as_object)
        .is_some_and(|headers| headers.keys().any(|header| !header.eq_ignore_ascii_case("content-type")));
    if has_headers && media == Media::Multipart {
        let place = api.place(&join(pointer, "headers"));
        let message = "the headers of a part are not written";
        notes.push(errors::notice(place, message, name, "the host may add them"));
    }
    let explode = flag(api, value, pointer, "explode", notes);
    let reserved = flag(api, value, pointer, "allowReserved", notes);
    let style = value.get("style").and_then(Value::as_str);
    let is_styled = style.is_some() || explode.is_some() || reserved.is_some();
    let place = || api.place(&join(pointer, "style"));
    let message = "this member of a form cannot be written";
    let style = match style {
        None | Some("form") => Style::Form,
        Some("spaceDelimited") => Style::SpaceDelimited,
        Some("pipeDelimited") => Style::PipeDelimited,
        Some("deepObject") if media == Media::Form => Style::DeepObject,
        Some(other) => {
            let allowed = "form, spaceDelimited, pipeDelimited, in a form that is not multipart deepObject";
            return Err(errors::fatal(errors::not_callable(place(), message, other, allowed)));
        }
    };
    let explode = explode.unwrap_or(matches!(style, Style::Form | Style::DeepObject));
    if explode && matches!(style, Style::SpaceDelimited | Style::PipeDelimited) {
        let found = "a delimited style with explode";
        return Err(errors::fatal(errors::not_callable(place(), message, found, "explode: false")));
    }
    let mut made = Encoding {
        name: name.to_owned(),
        style,
        explode,
        allow_reserved: reserved.unwrap_or(false),
        is_styled,
        media_type: None,
    };
    // a style takes precedence over the media type (section 4.15.1)
    let media_type = value.get("contentType").and_then(Value::as_str).filter(|_| !is_styled);
    // from a list, take the first type that is not a range
    let first = media_type.and_then(|all| all.split(',').map(str::trim).find(|one| !one.contains('*')));
    let Some(media_type) = first else { return Ok(made) };
    let place = api.place(&join(pointer, "contentType"));
    if !address::is_media_type(media_type) {
        let message = "not a media type: the part is written without one";
        let found = media_type.escape_debug().to_string();
        notes.push(errors::notice(place, message, &found, "name one, as `text/plain`"));
        return Ok(made);
    }
    let kind = media_type.split(';').next().unwrap_or_default().trim().to_lowercase();
    if kind == "application/json" || kind.ends_with("+json") {
        made.style = Style::Json;
    } else if media == Media::Form && kind != "text/plain" {
        let message = "values of this media type are written as text";
        notes.push(errors::notice(place, message, media_type, "a form has text and JSON"));
    }
    made.media_type = Some(media_type.to_owned());
    Ok(made)
}

/// Returns the serialisation of a form member of OpenAPI 2.0 that is an array; `None` for other members.
pub(super) fn of_collection(value: &Value, name: &str) -> Option<Encoding> {
    value.get("type").filter(|kind| *kind == "array")?;
    let (style, explode) = collection(value, Style::Form);
    Some(Encoding {
        name: name.to_owned(),
        style,
        explode,
        allow_reserved: false,
        is_styled: true,
        media_type: None,
    })
}
