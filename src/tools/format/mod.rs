//! Call formats: how the calls of a turn are written. Each is a table of TOML, so that a further one takes no code.

mod grammar;
mod read;
mod render;

pub use grammar::{CallGrammar, Choice, GrammarOptions, Markers};
pub use read::{Call, Turn};

use super::errors;
use crate::diagnostic::Place;
use crate::error::Result;
use serde::Deserialize;

/// The formats that there are, by name.
const PRESETS: [(&str, &str); 10] = [
    ("json", include_str!("presets/json.toml")),
    ("json-array", include_str!("presets/json-array.toml")),
    ("hermes", include_str!("presets/hermes.toml")),
    ("llama3", include_str!("presets/llama3.toml")),
    ("mistral", include_str!("presets/mistral.toml")),
    ("mistral-args", include_str!("presets/mistral-args.toml")),
    ("harmony", include_str!("presets/harmony.toml")),
    ("deepseek", include_str!("presets/deepseek.toml")),
    ("react", include_str!("presets/react.toml")),
    ("endpoint", include_str!("presets/endpoint.toml")),
];

/// How the calls of a turn are written: what comes before the first, each call, what is between two, and what comes after the
/// last. `docs/tools.md` describes the table of TOML that it is read from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallFormat {
    /// Who writes it, and what it looks like.
    pub description: String,
    /// Where text may stand.
    text: TextPlace,
    /// What a turn with calls or text begins with.
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
    /// The turn without a call, where that is not free text.
    #[serde(default)]
    nothing: Option<String>,
}

fn yes() -> bool {
    true
}

/// Where text may stand beside calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TextPlace {
    /// Nowhere.
    None,
    /// Before the calls, which begin where their first marker comes.
    Before,
    /// Instead of calls: a turn that does not begin as a call does.
    Opening,
}

/// A part of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Piece {
    /// These bytes.
    Text(String),
    /// The special token of this name.
    Token(String),
    /// Nothing or one space.
    Gap(bool),
    /// The tool's name as it is.
    Name(bool),
    /// The arguments as JSON.
    Arguments(bool),
    /// A JSON object with these two members: the name and the arguments.
    Object([String; 2]),
    /// The method and the path of the request that the call stands for.
    Endpoint(bool),
}

impl Piece {
    /// Whether it is the same for all tools.
    fn is_fixed(&self) -> bool {
        matches!(self, Piece::Text(_) | Piece::Token(_) | Piece::Gap(_))
    }

    /// Text that it is written as in any case.
    fn fixed_text(&self) -> Option<&str> {
        match self {
            Piece::Text(text) | Piece::Token(text) => Some(text),
            _ => None,
        }
    }
}

impl CallFormat {
    /// The names of the formats that there are.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        PRESETS.iter().map(|(name, _)| *name)
    }

    /// The format of a name.
    pub fn named(name: &str) -> Option<CallFormat> {
        let (_, text) = PRESETS.iter().find(|(known, _)| *known == name)?;
        CallFormat::from_toml(text).ok()
    }

    /// Reads a format.
    ///
    /// # Errors
    /// `tools/format` with the place.
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
        let named = |piece: &&Piece| matches!(piece, Piece::Name(_) | Piece::Object(_) | Piece::Endpoint(_));
        if format.call.iter().filter(named).count() != 1 {
            return wrong("a call without a name, or with two");
        }
        let is_name = |pair: &[Piece]| matches!(pair[0], Piece::Name(_)) && pair[1].fixed_text().is_none();
        if format.call.windows(2).any(is_name) || matches!(format.call.last(), Some(Piece::Name(_))) {
            return wrong("a name that neither `text` nor `token` ends");
        }
        Ok(format)
    }

    /// What ends a plain name.
    fn after_name(&self) -> Option<&str> {
        let at = self.call.iter().position(|piece| matches!(piece, Piece::Name(_)))?;
        self.call.get(at + 1)?.fixed_text()
    }

    /// What the calls of a turn begin with.
    fn opening(&self) -> String {
        match self.begin.iter().chain(&self.call).next() {
            Some(Piece::Text(text) | Piece::Token(text)) => text.clone(),
            _ => "{".to_owned(),
        }
    }
}
