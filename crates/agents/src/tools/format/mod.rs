//! Call formats: how the calls of a turn are written. A format is a TOML table, so a new format needs no code.

mod arguments;
mod conformity;
mod grammar;
mod http;
mod members;
mod numbers;
mod parts;
mod read;
mod read_arguments;
mod read_http;
mod render;
mod scalar;

pub use grammar::{CallGrammar, Choice, GrammarOptions, Markers};
pub(super) use numbers::in_plain_notation;
pub(in crate::tools) use parts::{After, HOLE, Hole};
pub use read::{Call, Turn};
pub(in crate::tools) use scalar::may_be_list;

use super::errors;
use grammata::diagnostic::Place;
use grammata::error::Result;
use serde::Deserialize;

/// The built-in formats, by name.
const PRESETS: [(&str, &str); 17] = [
    ("json", include_str!("presets/json.toml")),
    ("json-array", include_str!("presets/json-array.toml")),
    ("hermes", include_str!("presets/hermes.toml")),
    ("llama3", include_str!("presets/llama3.toml")),
    ("mistral", include_str!("presets/mistral.toml")),
    ("mistral-args", include_str!("presets/mistral-args.toml")),
    ("harmony", include_str!("presets/harmony.toml")),
    ("deepseek", include_str!("presets/deepseek.toml")),
    ("react", include_str!("presets/react.toml")),
    ("python", include_str!("presets/python.toml")),
    ("gemma", include_str!("presets/gemma.toml")),
    ("qwen-coder", include_str!("presets/qwen-coder.toml")),
    ("toolken", include_str!("presets/toolken.toml")),
    ("relation", include_str!("presets/relation.toml")),
    ("endpoint", include_str!("presets/endpoint.toml")),
    ("restgpt", include_str!("presets/restgpt.toml")),
    ("http", include_str!("presets/http.toml")),
];

/// How the calls of a turn are written: the text before the first call, each call, the text between two calls, and the
/// text after the last. `docs/tools.md` describes its TOML table.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFormat {
    /// The models that write the format, and a description of it.
    pub description: String,
    /// Where free text is allowed around calls.
    text: TextPlace,
    /// The prefix of every turn, with or without calls; may be empty.
    #[serde(default)]
    lead: String,
    #[serde(default)]
    begin: Vec<Piece>,
    call: Vec<Piece>,
    #[serde(default)]
    separator: Vec<Piece>,
    #[serde(default)]
    end: Vec<Piece>,
    /// Whether a turn may have several calls.
    #[serde(default = "yes")]
    several: bool,
    /// The text of a turn without a call, if that is not free text.
    #[serde(default)]
    nothing: Option<String>,
    /// Whether every turn calls tools.
    #[serde(default)]
    always: bool,
    /// The texts that end a turn without calls. If the list is empty, such a turn may end at any character.
    #[serde(default)]
    endings: Vec<Ending>,
    /// Whether text may follow the calls.
    #[serde(default)]
    after: bool,
    /// Whether text may occur between two calls, each of which begins at its marker.
    #[serde(default)]
    between: bool,
}

/// A text that ends a turn without calls.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ending {
    /// The bytes that end the turn.
    text: String,
    /// Whether a number follows the text, optionally after a space.
    #[serde(default)]
    number: bool,
}

fn yes() -> bool {
    true
}

/// Where free text may occur around calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TextPlace {
    /// No free text.
    None,
    /// Before the calls, which begin at their first marker.
    Before,
    /// Before a call, which begins where its text up to the end of its name occurs.
    Named,
    /// Instead of calls: a turn that does not begin like a call.
    Opening,
}

/// A part of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Piece {
    /// A literal text.
    Text(String),
    /// The special token of this name.
    Token(String),
    /// Optionally one space.
    Gap(bool),
    /// The name of the tool, verbatim.
    Name(bool),
    /// The arguments as JSON.
    Arguments(bool),
    /// A JSON object with these two members: the name and the arguments.
    Object([String; 2]),
    /// The method and the path of the request that the call executes, as documented or filled in.
    Endpoint(bool),
    /// The arguments as Python keyword arguments.
    Keywords(bool),
    /// The arguments by position.
    Positional(Values),
    /// The arguments by position, in brackets; nothing if the tool has none.
    Tuple(bool),
    /// Each argument as text. The three strings are written before the name of an argument, between its name and its
    /// value, and after its value.
    Element([String; 3]),
    /// The request that the call executes.
    Request(RequestForm),
}

/// The types that positional arguments may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Values {
    /// Any type, as JSON.
    Any,
    /// Only numbers.
    Numbers,
}

/// The form in which a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RequestForm {
    /// An HTTP message without a version.
    Message,
    /// A method and an object with the address, parameters and body (RestGPT's caller).
    Restgpt,
}

impl Piece {
    /// Returns whether the piece is the same for all tools.
    fn is_fixed(&self) -> bool {
        matches!(self, Piece::Text(_) | Piece::Token(_) | Piece::Gap(_))
    }

    /// Returns the text of a [`Text`](Piece::Text) or [`Token`](Piece::Token); `None` for other pieces, also for a gap.
    fn fixed_text(&self) -> Option<&str> {
        match self {
            Piece::Text(text) | Piece::Token(text) => Some(text),
            _ => None,
        }
    }
}

impl CallFormat {
    /// Returns the names of the built-in formats.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        PRESETS.iter().map(|(name, _)| *name)
    }

    /// Returns the built-in format of this name; `None` if there is none.
    pub fn named(name: &str) -> Option<CallFormat> {
        let (_, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
        CallFormat::from_toml(text).ok()
    }

    /// Parses a format from a TOML table.
    ///
    /// # Errors
    /// `tools/format` with the place if the text is not such a table, or if its pieces contradict each other.
    pub fn from_toml(text: &str) -> Result<CallFormat> {
        let format: CallFormat = toml::from_str(text).map_err(|cause| {
            let place = cause.span().map_or(Place::Whole, |span| Place::in_text(text, span.start));
            errors::format(place, cause.message())
        })?;
        let wrong = |found: &str| Err(errors::format(Place::LineColumn { line: 1, column: 1 }, found));
        let first = format.begin.iter().chain(&format.call).next();
        if format.text == TextPlace::Before
            && first.is_none_or(|piece| piece.fixed_text().is_none_or(str::is_empty))
        {
            return wrong("text before calls that begin with neither `text` nor `token`");
        }
        let edges = [&format.begin, &format.separator, &format.end];
        if edges.into_iter().flatten().any(|piece| !piece.is_fixed()) {
            return wrong("a part of a call outside of `call`");
        }
        let named = |piece: &&Piece| {
            matches!(piece, Piece::Name(_) | Piece::Object(_) | Piece::Endpoint(_) | Piece::Request(_))
        };
        if format.call.iter().filter(named).count() != 1 {
            return wrong("a call without a name, or with two");
        }
        let ends_name = |piece: &Piece| piece.fixed_text().is_some_and(|text| !text.is_empty());
        let is_name = |pair: &[Piece]| {
            matches!(pair[0], Piece::Name(_)) && !ends_name(&pair[1]) && !matches!(pair[1], Piece::Tuple(_))
        };
        if format.call.windows(2).any(is_name) || matches!(format.call.last(), Some(Piece::Name(_))) {
            return wrong("a name that neither `text` nor `token` ends");
        }
        let is_plain = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Name(_));
        let before_end = format.marker_len();
        if format.text == TextPlace::Named
            && (format.several
                || !format.begin.is_empty()
                || before_end < 2
                || !format.call.iter().take(before_end).all(is_plain))
        {
            return wrong(
                "text before calls that do not begin with `text`, their name and `text`, or several of them",
            );
        }
        let has_text = matches!(format.text, TextPlace::Before | TextPlace::Named);
        if format.after && !has_text || !format.endings.is_empty() && format.text != TextPlace::Named {
            return wrong("text after calls, or endings of text, in a format without text");
        }
        let begins_with_text = matches!(format.call.first(), Some(Piece::Text(text)) if !text.is_empty());
        let only_calls = edges.into_iter().all(|pieces| pieces.is_empty()) && begins_with_text;
        if format.between && (format.text != TextPlace::Before || !format.several || !only_calls) {
            return wrong(
                "text between calls that do not begin with `text` after other text, or have a `begin`, `separator` or `end`",
            );
        }
        if let Some(Piece::Element(parts)) =
            format.call.iter().find(|piece| matches!(piece, Piece::Element(_)))
            && parts.iter().any(String::is_empty)
        {
            return wrong("an argument without a text that ends its name or value");
        }
        Ok(format)
    }

    /// Returns the prefix of every turn, with or without calls; may be empty.
    pub fn lead(&self) -> &str {
        &self.lead
    }

    /// Returns the text that ends the name, if the name is a piece of its own and a text follows.
    fn after_name(&self) -> Option<&str> {
        let at = self.call.iter().position(|piece| matches!(piece, Piece::Name(_)))?;
        match self.call.get(at + 1)? {
            Piece::Tuple(_) => Some("("),
            piece => piece.fixed_text(),
        }
    }

    /// Returns the number of pieces of a call up to the name and the piece that ends it; 0 if no piece is the name.
    fn marker_len(&self) -> usize {
        self.call.iter().position(|piece| matches!(piece, Piece::Name(_))).map_or(0, |at| at + 2)
    }

    /// Returns the text of a call of a tool, up to the end of its name.
    fn marker(&self, name: &str) -> String {
        let pieces = self.call.iter().take(self.marker_len());
        pieces.map(|piece| piece.fixed_text().unwrap_or(name)).collect()
    }

    /// Returns whether a turn may be text without calls.
    pub fn has_text(&self) -> bool {
        self.text != TextPlace::None && self.nothing.is_none() && !self.always
    }

    /// Returns the format without text around calls.
    pub(crate) fn of_calls_alone(&self) -> CallFormat {
        CallFormat { text: TextPlace::None, after: false, between: false, ..self.clone() }
    }

    /// Returns the alternative texts with which the calls of a turn begin.
    fn openings(&self) -> Vec<String> {
        match self.begin.iter().chain(&self.call).next() {
            Some(Piece::Text(text) | Piece::Token(text)) => vec![text.clone()],
            Some(Piece::Request(RequestForm::Message)) => {
                http::METHODS.iter().map(|method| format!("{method} ")).collect()
            }
            _ => vec!["{".to_owned()],
        }
    }
}
