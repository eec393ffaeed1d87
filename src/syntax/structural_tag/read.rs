//! Reads a JSON value as a structural tag.
//!
//! Recursion follows the nesting of the value, which [`compile_value`](super::compile_value) limits.

use super::errors;
use super::format::{End, Format, Kind, Mark, Schema, Syntax, Tag, Times, Token};
use crate::error::Result;
use crate::syntax::json_schema::{Elements, Spelling};
use serde_json::{Map, Value};

/// The names of the formats, each with its allowed fields in addition to `type`.
const FORMATS: &[(&str, &[&str])] = &[
    ("const_string", &["value"]),
    ("json_schema", &["json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"]),
    ("qwen_xml_parameter", &["json_schema"]),
    ("regex", &["pattern", "excludes"]),
    ("grammar", &["grammar", "name", "syntax"]),
    ("any_text", &["excludes", "max_tokens", "max_chars"]),
    ("token", &["token"]),
    ("exclude_token", &["exclude_tokens"]),
    ("any_tokens", &["exclude_tokens", "max_tokens"]),
    ("sequence", &["elements"]),
    ("or", &["elements"]),
    ("optional", &["content"]),
    ("plus", &["content"]),
    ("star", &["content"]),
    ("repeat", &["min", "max", "content"]),
    ("tag", TAG),
    ("triggered_tags", &["triggers", "tags", "at_least_one", "stop_after_first", "excludes"]),
    (
        "token_triggered_tags",
        &["trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first"],
    ),
    ("tags_with_separator", &["tags", "separator", "at_least_one", "stop_after_first"]),
    ("dispatch", &["rules", "loop", "excludes"]),
    ("token_dispatch", &["rules", "loop", "exclude_tokens"]),
];

/// The allowed fields of a tag, in addition to `type`.
const TAG: &[&str] = &["begin", "content", "end"];

/// A JSON object of the structural tag, for reading its fields.
#[derive(Clone, Copy)]
struct Object<'v, 'p> {
    /// The JSON Pointer of the object.
    at: &'p str,
    /// The name of this kind of object in messages: the type of a format, for example.
    name: &'p str,
    fields: &'v Map<String, Value>,
}

impl<'v, 'p> Object<'v, 'p> {
    /// Wraps a value.
    ///
    /// # Errors
    /// `structural-tag/wrong-type` if the value is not an object; `structural-tag/unknown-field` if it has a field that
    /// is neither `type` nor in `fields`.
    fn new(value: &'v Value, at: &'p str, name: &'p str, fields: &[&str]) -> Result<Object<'v, 'p>> {
        let Value::Object(map) = value else { return Err(errors::wrong_type(at, value, "an object")) };
        let unknown = map.keys().find(|key| *key != "type" && !fields.contains(&key.as_str()));
        match unknown {
            Some(key) => Err(errors::unknown_field(&join(at, key), name, key, fields)),
            None => Ok(Object { at, name, fields: map }),
        }
    }

    fn pointer(&self, field: &str) -> String {
        join(self.at, field)
    }

    /// Looks up an optional field. `null` counts as missing, since clients write it for fields that they leave out.
    fn optional(&self, field: &str) -> Option<&'v Value> {
        self.fields.get(field).filter(|value| !value.is_null())
    }

    fn required(&self, field: &str) -> Result<&'v Value> {
        self.fields.get(field).ok_or_else(|| errors::missing_field(self.at, self.name, field))
    }

    fn text(&self, field: &str) -> Result<&'v str> {
        text(self.required(field)?, &self.pointer(field))
    }

    fn flag(&self, field: &str, default: bool) -> Result<bool> {
        match self.optional(field) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(errors::wrong_type(&self.pointer(field), other, "`true` or `false`")),
        }
    }

    fn count(&self, field: &str) -> Result<Option<u32>> {
        let Some(value) = self.optional(field) else { return Ok(None) };
        match value.as_u64().and_then(|count| u32::try_from(count).ok()) {
            Some(count) => Ok(Some(count)),
            None => {
                Err(errors::wrong_type(&self.pointer(field), value, "a whole number from 0 to 4294967295"))
            }
        }
    }

    /// Reads each element of a required list. `read` gets the element and its JSON Pointer.
    fn list<T>(&self, field: &str, read: impl Fn(&'v Value, &str) -> Result<T>) -> Result<Vec<T>> {
        list(self.required(field)?, &self.pointer(field), read)
    }

    /// Like [`list`](Self::list), but empty if the field is missing or `null`.
    fn optional_list<T>(&self, field: &str, read: impl Fn(&'v Value, &str) -> Result<T>) -> Result<Vec<T>> {
        self.optional(field).map_or_else(|| Ok(Vec::new()), |value| list(value, &self.pointer(field), read))
    }

    /// Reads a required list, which must not be empty. `what` is the name of the elements in messages.
    fn some<T>(
        &self,
        field: &str,
        what: &str,
        read: impl Fn(&'v Value, &str) -> Result<T>,
    ) -> Result<Vec<T>> {
        let all = self.list(field, read)?;
        match all.is_empty() {
            true => Err(errors::empty_list(&self.pointer(field), what)),
            false => Ok(all),
        }
    }

    fn times(&self) -> Result<Times> {
        Ok(Times {
            at_least_one: self.flag("at_least_one", false)?,
            stop_after_first: self.flag("stop_after_first", false)?,
        })
    }

    fn content(&self) -> Result<Box<Format<'v>>> {
        Ok(Box::new(format(self.required("content")?, &self.pointer("content"))?))
    }
}

/// Appends a field name or an index to a JSON Pointer (RFC 6901).
fn join(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))
}

fn list<'v, T>(value: &'v Value, at: &str, read: impl Fn(&'v Value, &str) -> Result<T>) -> Result<Vec<T>> {
    let Value::Array(all) = value else { return Err(errors::wrong_type(at, value, "a list")) };
    all.iter().enumerate().map(|(place, value)| read(value, &format!("{at}/{place}"))).collect()
}

fn text<'v>(value: &'v Value, at: &str) -> Result<&'v str> {
    value.as_str().ok_or_else(|| errors::wrong_type(at, value, "a string"))
}

fn excluded<'v>(value: &'v Value, at: &str) -> Result<&'v str> {
    match text(value, at)? {
        "" => Err(errors::empty_string(at, "a string that a text must not have")),
        text => Ok(text),
    }
}

fn trigger<'v>(value: &'v Value, at: &str) -> Result<&'v str> {
    match text(value, at)? {
        "" => Err(errors::empty_string(at, "a trigger")),
        text => Ok(text),
    }
}

fn token<'v>(value: &'v Value, at: &str) -> Result<Token<'v>> {
    let id = || value.as_u64().and_then(|id| u32::try_from(id).ok());
    match value {
        Value::String(name) if name.is_empty() => Err(errors::empty_string(at, "the name of a token")),
        Value::String(name) => Ok(Token::Name(name)),
        _ => {
            id().map(Token::Id).ok_or_else(|| errors::wrong_type(at, value, "the id of a token, or its text"))
        }
    }
}

/// Reads a format `token`, which a tag may have as its beginning or end in place of a string. Its `type` may be
/// missing.
fn token_format<'v>(value: &'v Value, at: &str) -> Result<Token<'v>> {
    let object = Object::new(value, at, "token", &["token"])?;
    match object.optional("type") {
        None => {}
        Some(Value::String(name)) if name == "token" => {}
        Some(other) => return Err(errors::wrong_type(&object.pointer("type"), other, "`token`")),
    }
    token(object.required("token")?, &object.pointer("token"))
}

/// Reads a structural tag of the current or the older form.
///
/// # Errors
/// `structural-tag/…` with the JSON Pointer of the invalid value.
pub(super) fn structural_tag(value: &Value) -> Result<Format<'_>> {
    let Value::Object(map) = value else { return Err(errors::not_a_tag(value)) };
    if map.contains_key("structures") {
        return older_form(value);
    }
    let is_tag = match map.get("type") {
        Some(kind) => kind == "structural_tag",
        // some clients put the tag into another object, whose `type` they set, and then leave out the tag's own `type`
        None => map.get("format").is_some_and(Value::is_object),
    };
    if !is_tag {
        return Err(errors::not_a_tag(value));
    }
    let object = Object::new(value, "", "structural_tag", &["format"])?;
    format(object.required("format")?, "/format")
}

/// Reads the older form, `{"structures": [{"begin", "schema", "end"}], "triggers": […]}`, as `triggered_tags`.
fn older_form(value: &Value) -> Result<Format<'_>> {
    let object = Object::new(value, "", "structural_tag", &["structures", "triggers"])?;
    let structure = |value, at: &str| {
        let object = Object::new(value, at, "structures", &["begin", "schema", "end"])?;
        let (schema, schema_at) = (object.required("schema")?, object.pointer("schema"));
        let schema = Schema {
            schema,
            at: schema_at.clone(),
            style: None,
            any_order: false,
            excludes: Vec::new(),
            max_whitespace: None,
        };
        Ok(Tag {
            at: at.to_owned(),
            begin: Mark::Text(object.text("begin")?),
            content: Format { at: schema_at, kind: Kind::JsonSchema(schema) },
            end: End::Texts(vec![object.text("end")?]),
        })
    };
    let kind = Kind::TriggeredTags {
        tags: object.some("structures", "structures", structure)?,
        triggers: object.some("triggers", "triggers", trigger)?,
        excludes: Vec::new(),
        times: Times { at_least_one: false, stop_after_first: false },
    };
    Ok(Format { at: String::new(), kind })
}

fn tag<'v>(value: &'v Value, at: &str) -> Result<Tag<'v>> {
    let object = Object::new(value, at, "tag", TAG)?;
    if let Some(kind) = object.optional("type").filter(|kind| kind.as_str() != Some("tag")) {
        return Err(errors::wrong_type(&object.pointer("type"), kind, "`tag`"));
    }
    let (begin, end) = (object.required("begin")?, object.required("end")?);
    let begin = match begin {
        Value::String(text) => Mark::Text(text),
        other => Mark::Token(token_format(other, &object.pointer("begin"))?),
    };
    let end = match end {
        Value::String(text) => End::Texts(vec![text]),
        Value::Array(_) => End::Texts(object.some("end", "ends", text)?),
        other => End::Token(token_format(other, &object.pointer("end"))?),
    };
    let content = format(object.required("content")?, &object.pointer("content"))?;
    Ok(Tag { at: at.to_owned(), begin, content, end })
}

fn schema<'v>(object: &Object<'v, '_>) -> Result<Schema<'v>> {
    let style = match object.optional("style") {
        None => None,
        Some(style) => named_style(style, &object.pointer("style"))?,
    };
    Ok(Schema {
        schema: object.required("json_schema")?,
        at: object.pointer("json_schema"),
        style,
        any_order: object.flag("any_order", false)?,
        excludes: object.optional_list("excludes", excluded)?,
        max_whitespace: object.count("max_whitespace_cnt")?,
    })
}

/// Reads the name of a style of arguments; `None` for `json`.
fn named_style(name: &Value, at: &str) -> Result<Option<Spelling>> {
    let name = text(name, at)?;
    match Spelling::of_style(name) {
        Some(Spelling::Json) => Ok(None),
        Some(spelling) => Ok(Some(spelling)),
        None => Err(errors::unknown_style(at, name)),
    }
}

/// Reads a rule of `dispatch` or `token_dispatch`: a list of two elements, the trigger and the format of its content.
/// `begin` reads the trigger.
fn rule<'v, T>(
    value: &'v Value,
    at: &str,
    begin: impl Fn(&'v Value, &str) -> Result<T>,
) -> Result<(T, Format<'v>)> {
    match value.as_array().map(Vec::as_slice) {
        Some([first, content]) => {
            Ok((begin(first, &format!("{at}/0"))?, format(content, &format!("{at}/1"))?))
        }
        _ => Err(errors::wrong_type(at, value, "a pair of what begins the content, and its format")),
    }
}

/// The format `grammar`: a text in a notation, or the name of a grammar of the options.
fn grammar<'v>(object: &Object<'v, '_>) -> Result<Kind<'v>> {
    let syntax = match object.optional("syntax") {
        None => None,
        Some(name) => Some(syntax(name, &object.pointer("syntax"))?),
    };
    match (object.optional("name"), object.optional("grammar")) {
        (Some(_), Some(_)) => Err(errors::grammar_twice(&object.pointer("name"))),
        (Some(_), None) => Ok(Kind::NamedGrammar(object.text("name")?)),
        (None, _) => Ok(Kind::Grammar { text: object.text("grammar")?, syntax }),
    }
}

fn syntax(name: &Value, at: &str) -> Result<Syntax> {
    match name.as_str() {
        Some("ebnf") => Ok(Syntax::Ebnf),
        Some("lark") => Ok(Syntax::Lark),
        Some(found) => Err(errors::unknown_syntax(at, found)),
        None => Err(errors::wrong_type(at, name, "`ebnf` or `lark`")),
    }
}

fn repeat<'v>(object: &Object<'v, '_>) -> Result<Kind<'v>> {
    let min = object.count("min")?.ok_or_else(|| errors::missing_field(object.at, object.name, "min"))?;
    let max = match object.required("max")?.as_i64() {
        Some(-1) => None,
        _ => object.count("max")?,
    };
    match max {
        Some(max) if max < min => Err(errors::crossed_bounds(object.at, min, max)),
        _ => Ok(Kind::Repeat { content: object.content()?, min, max }),
    }
}

fn format<'v>(value: &'v Value, at: &str) -> Result<Format<'v>> {
    let Value::Object(map) = value else { return Err(errors::wrong_type(at, value, "a format: an object")) };
    let names = || FORMATS.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let kind = map.get("type").ok_or_else(|| errors::missing_field(at, "a format", "type"))?;
    let type_at = join(at, "type");
    let kind = text(kind, &type_at)?;
    let Some(&(name, fields)) = FORMATS.iter().find(|(name, _)| *name == kind) else {
        return Err(errors::unknown_format(&type_at, kind, &names()));
    };
    let object = Object::new(value, at, name, fields)?;
    let repeated = |min, max| Ok(Kind::Repeat { content: object.content()?, min, max });
    let kind = match name {
        "const_string" => Ok(Kind::ConstString(object.text("value")?)),
        "json_schema" => Ok(Kind::JsonSchema(schema(&object)?)),
        // an older name of `json_schema` with the style `qwen_xml`
        "qwen_xml_parameter" => {
            let style = Some(Spelling::Elements(Elements::Qwen));
            Ok(Kind::JsonSchema(Schema { style, ..schema(&object)? }))
        }
        "regex" => Ok(Kind::Regex {
            pattern: object.text("pattern")?,
            excludes: object.optional_list("excludes", excluded)?,
        }),
        "grammar" => grammar(&object),
        "any_text" => Ok(Kind::AnyText {
            excludes: object.optional_list("excludes", excluded)?,
            max_tokens: object.count("max_tokens")?,
            max_chars: object.count("max_chars")?,
        }),
        "token" => Ok(Kind::Token(token(object.required("token")?, &object.pointer("token"))?)),
        "exclude_token" => Ok(Kind::ExcludeToken(object.optional_list("exclude_tokens", token)?)),
        "any_tokens" => Ok(Kind::AnyTokens {
            excludes: object.optional_list("exclude_tokens", token)?,
            most: object.count("max_tokens")?,
        }),
        "sequence" => Ok(Kind::Sequence(object.some("elements", "elements", format)?)),
        "or" => Ok(Kind::Or(object.some("elements", "elements", format)?)),
        "optional" => repeated(0, Some(1)),
        "plus" => repeated(1, None),
        "star" => repeated(0, None),
        "repeat" => repeat(&object),
        "tag" => Ok(Kind::Tag(Box::new(tag(value, at)?))),
        "triggered_tags" => Ok(Kind::TriggeredTags {
            triggers: object.some("triggers", "triggers", trigger)?,
            tags: object.some("tags", "tags", tag)?,
            excludes: object.optional_list("excludes", excluded)?,
            times: object.times()?,
        }),
        "token_triggered_tags" => Ok(Kind::TokenTriggeredTags {
            triggers: object.some("trigger_tokens", "trigger tokens", token)?,
            tags: object.some("tags", "tags", tag)?,
            excludes: object.optional_list("exclude_tokens", token)?,
            times: object.times()?,
        }),
        "tags_with_separator" => Ok(Kind::TagsWithSeparator {
            tags: object.some("tags", "tags", tag)?,
            separator: object.text("separator")?,
            times: object.times()?,
        }),
        "dispatch" => Ok(Kind::Dispatch {
            rules: object.some("rules", "rules", |value, at| rule(value, at, trigger))?,
            excludes: object.optional_list("excludes", excluded)?,
            is_loop: object.flag("loop", true)?,
        }),
        _ => Ok(Kind::TokenDispatch {
            rules: object.some("rules", "rules", |value, at| rule(value, at, token))?,
            excludes: object.optional_list("exclude_tokens", token)?,
            is_loop: object.flag("loop", true)?,
        }),
    };
    Ok(Format { at: at.to_owned(), kind: kind? })
}
