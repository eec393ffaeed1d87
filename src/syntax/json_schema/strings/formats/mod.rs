//! `format`: the definition of each format, as a regular expression or, if the format nests, as a grammar.
//!
//! A format is defined once, over characters. The caller decides how characters are spelled, so one definition gives
//! both the contents of JSON strings and plain text. All formats of the drafts 4 to 2020-12 are known in every draft,
//! and so are `host-name` and `ip-address` of draft 3; `color` is known in draft 3 only. Formats restrict only strings.
//! Other names are annotations.
//!
//! Most formats are regular and exact. The others have two languages: [`Side::Within`] with strings that surely have
//! the format, and [`Side::Around`] with all strings that may have it:
//!
//! | format | strings missing in `Within`, though valid (or arguably so) |
//! |---|---|
//! | `date-time`, `time` | leap seconds at offsets that are not a multiple of a quarter of an hour |
//! | `duration` | lower case letters (the grammar of RFC 3339 is case-insensitive) |
//! | `email` | address literals: octets with leading zeros, `::` for one group, tags other than `IPv6` |
//! | `idn-email` | the same, and domains with characters that are not letters, digits or marks |
//! | `hostname` | labels with `--` in the third and fourth place (see below) |
//! | `idn-hostname` | see [`idn`] |
//! | `ipv4` | octets with leading zeros |
//! | `uri-template` | operators reserved for later (`{=x}`, `{!x}`, …) |
//! | `relative-json-pointer` | `0+1`, of some drafts of that notation |
//! | `regex` | see [`regex_syntax`]; there is no language around it |
//!
//! In a `hostname`, labels with `--` in the third and fourth place are reserved. The A-labels among them (`xn--…`) must
//! decode to valid U-labels, which is not a regular property.

mod address;
mod color;
mod host;
mod idn;
mod mail;
mod pointer;
mod regex_syntax;
mod time;
mod uri;

use crate::error::Result;
use crate::grammar::{CharClass, ExprId, Grammar, GrammarBuilder};
use crate::syntax::json_schema::strings;
use crate::syntax::regex::{self, Options};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A format that is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::syntax::json_schema) enum Format {
    DateTime,
    Date,
    Time,
    Duration,
    Email,
    IdnEmail,
    Hostname,
    IdnHostname,
    Ipv4,
    Ipv6,
    Uri,
    UriReference,
    Iri,
    IriReference,
    UriTemplate,
    Uuid,
    JsonPointer,
    RelativeJsonPointer,
    Regex,
    /// Only in draft 3.
    Color,
}

const NAMES: &[(&str, Format)] = &[
    ("date-time", Format::DateTime),
    ("date", Format::Date),
    ("time", Format::Time),
    ("duration", Format::Duration),
    ("email", Format::Email),
    ("idn-email", Format::IdnEmail),
    ("hostname", Format::Hostname),
    ("host-name", Format::Hostname),
    ("idn-hostname", Format::IdnHostname),
    ("ipv4", Format::Ipv4),
    ("ip-address", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("uri", Format::Uri),
    ("uri-reference", Format::UriReference),
    ("iri", Format::Iri),
    ("iri-reference", Format::IriReference),
    ("uri-template", Format::UriTemplate),
    ("uuid", Format::Uuid),
    ("json-pointer", Format::JsonPointer),
    ("relative-json-pointer", Format::RelativeJsonPointer),
    ("regex", Format::Regex),
    ("color", Format::Color),
];

/// The side on which the language of a format that is not regular may differ from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::syntax::json_schema) enum Side {
    /// Every string in the language has the format.
    Within,
    /// Every string that has the format is in the language.
    Around,
}

impl Format {
    /// Returns the format of a name, in a schema of draft 3 or of another draft.
    pub(in crate::syntax::json_schema) fn named(name: &str, is_draft_3: bool) -> Option<Format> {
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format);
        found.filter(|format| is_draft_3 || *format != Format::Color)
    }

    /// Returns the name of the format in the newest draft.
    pub(in crate::syntax::json_schema) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// Returns the strings of the format, with characters built by `spell`; `None` if there is no language on this
    /// side.
    ///
    /// # Errors
    /// A limit of the builder.
    pub(in crate::syntax::json_schema) fn expression(
        self,
        g: &mut GrammarBuilder,
        side: Side,
        spell: &mut Spell<'_>,
    ) -> Result<Option<ExprId>> {
        let p = &mut Pieces { g, side, spell };
        Ok(Some(match self {
            Format::DateTime => time::date_time(p)?,
            Format::Date => time::date(p)?,
            Format::Time => time::time(p)?,
            Format::Duration => time::duration(p)?,
            Format::Email => mail::email(p, false)?,
            Format::IdnEmail => mail::email(p, true)?,
            Format::Hostname => host::hostname(p)?,
            Format::IdnHostname => idn::hostname(p)?,
            Format::Ipv4 => address::ipv4(p)?,
            Format::Ipv6 => address::ipv6(p, 1)?,
            Format::Uri => uri::identifier(p, uri::Characters::Ascii)?,
            Format::UriReference => uri::reference(p, uri::Characters::Ascii)?,
            Format::Iri => uri::identifier(p, uri::Characters::International)?,
            Format::IriReference => uri::reference(p, uri::Characters::International)?,
            Format::UriTemplate => uri::template(p)?,
            Format::Uuid => p.regex("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")?,
            Format::JsonPointer => pointer::absolute(p)?,
            Format::RelativeJsonPointer => pointer::relative(p)?,
            Format::Regex if side == Side::Around => return Ok(None),
            Format::Regex => regex_syntax::expression(p)?,
            Format::Color => color::color(p)?,
        }))
    }
}

/// Results of [`Format::content`], by format and side.
static CONTENTS: LazyLock<Mutex<Contents>> = LazyLock::new(Mutex::default);

type Contents = FxHashMap<(Format, Side), Option<Grammar>>;

impl Format {
    /// Returns the strings of the format as contents of JSON strings in canonical spelling. The result is built once
    /// per process and then copied.
    ///
    /// # Errors
    /// Those of [`expression`](Format::expression).
    pub(in crate::syntax::json_schema) fn content(
        self,
        g: &mut GrammarBuilder,
        side: Side,
    ) -> Result<Option<ExprId>> {
        let mut contents = CONTENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let content = match contents.entry((self, side)) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let mut g = GrammarBuilder::new();
                let body = self.expression(&mut g, side, &mut |g, class| strings::canonical(g, class))?;
                let grammar = body.map(|body| {
                    let root = g.declare(self.name());
                    g.define(root, body);
                    g.build(root)
                });
                new.insert(grammar.transpose()?).clone()
            }
        };
        drop(contents);
        Ok(content.map(|content| g.import(&content)))
    }
}

/// Builds the expression of one character of a set.
pub(in crate::syntax::json_schema) type Spell<'s> = dyn FnMut(&mut GrammarBuilder, &CharClass) -> ExprId + 's;

/// Tools for building definitions of formats.
struct Pieces<'g, 's, 'f> {
    g: &'g mut GrammarBuilder,
    side: Side,
    spell: &'s mut Spell<'f>,
}

impl Pieces<'_, '_, '_> {
    /// Returns the strings that a regular expression (in Rust's dialect) matches as a whole.
    fn regex(&mut self, pattern: &str) -> Result<ExprId> {
        regex::lower_into(self.g, pattern, &Options::default(), self.spell)
    }

    /// Returns a text. Its characters must be the same in every spelling: no quotes, no backslashes.
    fn text(&mut self, text: &str) -> ExprId {
        self.g.text(text)
    }

    fn sequence(&mut self, parts: impl IntoIterator<Item = ExprId>) -> ExprId {
        self.g.sequence(parts)
    }

    fn choice(&mut self, alternatives: impl IntoIterator<Item = ExprId>) -> ExprId {
        self.g.choice(alternatives)
    }

    fn is_around(&self) -> bool {
        self.side == Side::Around
    }
}
