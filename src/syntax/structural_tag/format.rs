//! The formats of structural tags, as parsed.

use crate::syntax::json_schema::Spelling;
use serde_json::Value;

/// A format with its place in the structural tag.
#[derive(Debug)]
pub(super) struct Format<'v> {
    /// The JSON Pointer of its object.
    pub(super) at: String,
    pub(super) kind: Kind<'v>,
}

/// The kinds of formats. Triggers and excluded strings are not empty.
#[derive(Debug)]
pub(super) enum Kind<'v> {
    ConstString(&'v str),
    JsonSchema(Schema<'v>),
    Regex {
        pattern: &'v str,
        excludes: Vec<&'v str>,
    },
    /// A grammar in a notation; without one, the text shows which it is.
    Grammar {
        text: &'v str,
        syntax: Option<Syntax>,
    },
    /// The name of a grammar that the caller supplies in [`Options::grammars`](super::Options).
    NamedGrammar(&'v str),
    AnyText {
        excludes: Vec<&'v str>,
        max_tokens: Option<u32>,
        max_chars: Option<u32>,
    },
    /// One token with this id, or one of the tokens that this name selects.
    Token(Token<'v>),
    /// One token that is not listed and is not an end-of-sequence token.
    ExcludeToken(Vec<Token<'v>>),
    AnyTokens {
        excludes: Vec<Token<'v>>,
        most: Option<u32>,
    },
    Sequence(Vec<Format<'v>>),
    Or(Vec<Format<'v>>),
    /// `content` at least `min` and at most `max` times, `None` meaning unbounded: the formats `optional`, `plus`,
    /// `star` and `repeat`.
    Repeat {
        content: Box<Format<'v>>,
        min: u32,
        max: Option<u32>,
    },
    Tag(Box<Tag<'v>>),
    TriggeredTags {
        triggers: Vec<&'v str>,
        tags: Vec<Tag<'v>>,
        excludes: Vec<&'v str>,
        times: Times,
    },
    TokenTriggeredTags {
        triggers: Vec<Token<'v>>,
        tags: Vec<Tag<'v>>,
        excludes: Vec<Token<'v>>,
        times: Times,
    },
    TagsWithSeparator {
        tags: Vec<Tag<'v>>,
        separator: &'v str,
        times: Times,
    },
    Dispatch {
        rules: Vec<(&'v str, Format<'v>)>,
        excludes: Vec<&'v str>,
        is_loop: bool,
    },
    TokenDispatch {
        rules: Vec<(Token<'v>, Format<'v>)>,
        excludes: Vec<Token<'v>>,
        is_loop: bool,
    },
}

/// The notation of a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// GBNF.
    Ebnf,
    Lark,
}

/// A JSON Schema, and how its values are written.
#[derive(Debug)]
pub(super) struct Schema<'v> {
    pub(super) schema: &'v Value,
    /// The JSON Pointer of the schema.
    pub(super) at: String,
    /// The style in which values are written; `None` for that of the options.
    pub(super) style: Option<Spelling>,
    pub(super) any_order: bool,
    pub(super) excludes: Vec<&'v str>,
    pub(super) max_whitespace: Option<u32>,
}

/// A tag: a beginning, content and an end. `at` is the JSON Pointer of its object.
#[derive(Debug)]
pub(super) struct Tag<'v> {
    pub(super) at: String,
    pub(super) begin: Mark<'v>,
    pub(super) content: Format<'v>,
    pub(super) end: End<'v>,
}

/// The beginning of a tag: a text or a token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark<'v> {
    Text(&'v str),
    Token(Token<'v>),
}

/// The end of a tag: one of several texts, or a token.
#[derive(Debug)]
pub(super) enum End<'v> {
    /// Exactly one of these strings. There is at least one; a string may be empty.
    Texts(Vec<&'v str>),
    Token(Token<'v>),
}

/// A token by its id; or by its text, which selects the special token of that name, or, if there is none, the ordinary
/// tokens with that text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'v> {
    Id(u32),
    Name(&'v str),
}

/// Bounds on the number of tags in a format: at least one, or any number; at most one, or any number. If both flags are
/// set, there is exactly one tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) at_least_one: bool,
    pub(super) stop_after_first: bool,
}
