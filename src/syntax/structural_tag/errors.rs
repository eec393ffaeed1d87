//! The errors and warnings of structural tags.

use crate::diagnostic::{Diagnostic, Place, did_you_mean, excerpt};
use crate::error::{Error, ErrorKind};
use crate::limits::LimitKind;
use crate::syntax::json_schema::Spelling;
use serde_json::Value;

/// The maximum number of grammar names that the error for an unknown grammar lists; the others are only counted.
const MOST_NAMES: usize = 16;

fn error(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

fn at(pointer: &str) -> Place {
    Place::Pointer(pointer.to_owned())
}

/// A JSON value for display: at most 80 characters of its text, with control characters escaped.
fn shown(value: &Value) -> String {
    excerpt(&value.to_string())
}

pub(super) fn not_json(cause: &serde_json::Error) -> Error {
    let place = match cause.line() {
        0 => Place::Whole,
        line => Place::LineColumn { line, column: cause.column().max(1) },
    };
    let text = cause.to_string();
    error(
        Diagnostic::new("structural-tag/not-json", "the structural tag is not JSON")
            .at(place)
            .cause(text.split(" at line ").next().unwrap_or(&text))
            .help("correct the JSON text (RFC 8259); objects and lists may be nested 127 levels deep"),
    )
}

grammata_base::errors! {
    pub(super) Grammar;

    too_deep(limit: usize) = Limit "limit/exceeded", "the structural tag is nested too deep"
        limit(LimitKind::SourceDepth)
        at(at(""))
        found("more than {limit} levels of arrays and objects")
        allowed("at most {limit}")
        help("use fewer formats inside each other; move inner schemas to `$defs`");

    not_a_tag(found: &Value) = "structural-tag/no-tag", "not a structural tag"
        at(at(""))
        found(shown(found))
        allowed("`{{\"type\": \"structural_tag\", \"format\": …}}`, or `{{\"structures\": […], \"triggers\": […]}}`")
        help("wrap the format: `{{\"type\": \"structural_tag\", \"format\": {{…}}}}`");

    wrong_type(pointer: &str, found: &Value, allowed: &str) =
        "structural-tag/wrong-type", "a field has a value of the wrong kind"
        at(at(pointer)) found(shown(found)) allowed(allowed) help("correct the value");

    missing_field(pointer: &str, format: &str, field: &str) =
        "structural-tag/missing-field", "`{format}` has no field `{field}`"
        at(at(pointer)) help("add `\"{field}\"`");

    unknown_field(pointer: &str, format: &str, field: &str, fields: &[&str]) =
        "structural-tag/unknown-field", "`{format}` has no field of that name, so it would have no effect"
        at(at(pointer))
        found(excerpt(field))
        help(did_you_mean(field, fields.iter().copied(), "take the field out"))
        allowed(fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", "));

    unknown_format(pointer: &str, found: &str, formats: &[&str]) =
        "structural-tag/unknown-format", "unknown type of format"
        at(at(pointer))
        found(excerpt(found))
        allowed(formats.join(", "))
        help(did_you_mean(found, formats.iter().copied(), "take one of these"));

    empty_string(pointer: &str, what: &str) = "structural-tag/empty-string", "{what} is empty"
        at(at(pointer))
        allowed("a string of at least one character")
        help("an empty string is everywhere in a text; take it out");

    empty_list(pointer: &str, what: &str) = "structural-tag/empty-list", "there are no {what}"
        at(at(pointer)) allowed("at least one") help("add one, or take the format out");

    crossed_bounds(pointer: &str, min: u32, max: u32) =
        "structural-tag/crossed-bounds", "`min` is above `max`"
        at(at(pointer))
        found("min {min}, max {max}")
        allowed("`max` -1 for no bound, or at least `min`")
        help("exchange the two");

    many_triggers(pointer: &str, begin: &str, first: &str, second: &str) =
        "structural-tag/many-triggers", "several triggers are prefixes of the tag's beginning"
        at(at(pointer))
        found("`{}`: {} and {}", excerpt(begin), excerpt(first), excerpt(second))
        allowed("one trigger for each tag")
        help("take the longer of the two out of `triggers`");

    no_trigger_token(pointer: &str) =
        "structural-tag/no-trigger", "the tag does not begin with one of the trigger tokens"
        at(at(pointer))
        allowed("`begin` as a format `token` that `trigger_tokens` lists")
        help("add the token to `trigger_tokens`; for tags that begin with text use `triggered_tags`");

    token_in_text(pointer: &str) =
        "structural-tag/token-trigger", "text with triggers cannot have a tag that begins with a token"
        at(at(pointer))
        allowed("`begin` as a string")
        help("use `token_triggered_tags` for tags that begin with a token");

    unknown_syntax(pointer: &str, found: &str) =
        "structural-tag/unknown-syntax", "unknown syntax of a grammar"
        at(at(pointer))
        found(excerpt(found))
        allowed("ebnf, lark")
        help(did_you_mean(found, ["ebnf", "lark"], "leave `syntax` out, and the text shows which of the two it is"));

    grammar_twice(pointer: &str) =
        "structural-tag/grammar-twice", "a format has a grammar and the name of one"
        at(at(pointer)) allowed("`grammar` or `name`") help("leave out one of them");

    trigger_without_tag(pointer: &str, trigger: &str) =
        Diagnostic "structural-tag/trigger-without-tag", "no tag begins with the trigger, so it can never occur"
        at(at(pointer)) found(excerpt(trigger)) help("take the trigger out, or add a tag for it");
}

pub(super) fn unknown_style(pointer: &str, found: &str) -> Error {
    let styles = Spelling::STYLES.iter().map(|(name, _)| *name);
    error(
        Diagnostic::new("structural-tag/unknown-style", "unknown style")
            .at(at(pointer))
            .found(excerpt(found))
            .help(did_you_mean(found, styles.clone(), "take one of these"))
            .allowed(styles.collect::<Vec<_>>().join(", ")),
    )
}

pub(super) fn no_trigger(pointer: &str, begin: &str, triggers: &[&str]) -> Error {
    let triggers = triggers.iter().map(|trigger| format!("`{}`", excerpt(trigger)));
    error(
        Diagnostic::new("structural-tag/no-trigger", "no trigger is a prefix of the tag's beginning")
            .at(at(pointer))
            .found(excerpt(begin))
            .allowed(format!("a beginning that starts with {}", triggers.collect::<Vec<_>>().join(", ")))
            .help("add the tag's beginning, or the first part of it, to `triggers`"),
    )
}

/// The error for a grammar name that the caller's options do not define.
pub(super) fn unknown_grammar<'n>(
    pointer: &str,
    name: &str,
    known: impl Iterator<Item = &'n String> + Clone,
) -> Error {
    let names: Vec<String> = known.clone().take(MOST_NAMES).map(|name| excerpt(name)).collect();
    let allowed = match known.clone().count() {
        0 => "none: no grammars are given".to_owned(),
        count if count > names.len() => format!("{}, and {} more", names.join(", "), count - names.len()),
        _ => names.join(", "),
    };
    let help = did_you_mean(
        name,
        known.map(String::as_str),
        "give the grammar under this name: `grammars` of the options",
    );
    error(
        Diagnostic::new("structural-tag/unknown-grammar", "unknown grammar")
            .at(at(pointer))
            .found(excerpt(name))
            .allowed(allowed)
            .help(help),
    )
}

/// Moves each diagnostic of an error in a nested pattern or grammar to `pointer`, the JSON Pointer of the nested text.
/// If the diagnostic has a place in that text but no snippet, its place becomes its cause.
pub(super) fn inside(pointer: &str, cause: Error) -> Error {
    cause.map(|diagnostic| {
        // a snippet shows the place within the nested text better than numbers do
        let within = match diagnostic.place() {
            Place::Whole => None,
            _ if diagnostic.snippet().is_some() => None,
            place => Some(format!("at {place} of this text")),
        };
        let diagnostic = diagnostic.at(at(pointer));
        match within {
            Some(within) => diagnostic.cause(within),
            None => diagnostic,
        }
    })
}

/// Moves a diagnostic about a nested schema to its place in the structural tag. `pointer` is the JSON Pointer of the
/// schema. It is put before a pointer within the schema, and replaces a place that is not a pointer. A pointer into
/// another document, which begins with its URI, is unchanged.
pub(super) fn in_schema(pointer: &str, diagnostic: Diagnostic) -> Diagnostic {
    let place = match diagnostic.place() {
        Place::Pointer(inner) if inner.is_empty() || inner.starts_with('/') => format!("{pointer}{inner}"),
        Place::Pointer(_) => return diagnostic,
        _ => pointer.to_owned(),
    };
    diagnostic.at(Place::Pointer(place))
}
