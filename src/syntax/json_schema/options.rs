//! What a caller can choose.

use super::documents::Documents;
use super::elements::{Elements, Style};
use crate::grammar::Order;
use crate::limits::Limits;

/// The whitespace that the generated JSON may have between its tokens. There is never any before the first
/// or after the last token.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Whitespace {
    /// Any amount of space, tab, line feed and carriage return, as RFC 8259 has it. The default: every
    /// layout that a JSON writer makes is in the language.
    #[default]
    Free,
    /// None at all.
    Compact,
    /// Nothing, one space, or a line feed and at most 32 spaces and tabs: what JSON writers put between two tokens. A
    /// model cannot run away in it.
    Short,
    /// One space after each comma and each colon, as `json.dumps` of Python writes, and no other.
    Spaced,
    /// At most this number of characters of it between two tokens.
    AtMost(u32),
    /// What an ECMA-262 pattern matches as a whole, between any two tokens. Characters that are no white space of
    /// JSON never match.
    Pattern(String),
}

/// The order of an object's declared members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PropertyOrder {
    /// The order of `properties` (then names that are only `required`), then additional members. The
    /// default: what JSON writers that follow the schema make, and the cheapest to run.
    #[default]
    Declared,
    /// Every order, additional members anywhere between.
    Any,
}

impl From<PropertyOrder> for Order {
    fn from(order: PropertyOrder) -> Order {
        match order {
            PropertyOrder::Declared => Order::Declared,
            PropertyOrder::Any => Order::Any,
        }
    }
}

/// What `format` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Formats {
    /// Strings have the format. Names that are in no draft are annotations, with a warning. The default.
    #[default]
    Assert,
    /// Nothing, as the drafts 2019-09 and 2020-12 have it unless a schema asks for more.
    Annotate,
}

/// Which spellings of a number are in the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Numbers {
    /// Every one that is a regular language together with the others: exponents, integers as `2.0`. The
    /// default: what the standard calls valid.
    #[default]
    Any,
    /// Plain notation: no exponents (but in listed numbers), integers without a point.
    Plain,
}

/// The notation in which values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Spelling {
    /// JSON. The default.
    #[default]
    Json,
    /// Literals of Python: `True`, `False`, `None`, strings in double quotes with the canonical escapes of JSON, which mean the
    /// same there.
    Python,
    /// A string as its characters, any other value as JSON. A text may then spell values of several types.
    Text,
    /// Scalars but null as [`Text`](Spelling::Text) of printable ASCII and tabs, as a field of HTTP holds them (RFC 9110, section
    /// 5.5). Arrays and objects are not in the language.
    Line,
    /// Scalars but null as [`Text`](Spelling::Text), percent-encoded (RFC 3986, section 2.1): every byte but
    /// [`Options::unencoded`] as `%XX` in capitals. Arrays and objects are not in the language.
    Percent,
    /// Objects alone, each member as an element of a style.
    Elements(Elements),
}

impl Spelling {
    /// How elements are written, if members are.
    pub(super) fn style(self) -> Option<&'static Style> {
        match self {
            Spelling::Elements(style) => Some(style.style()),
            _ => None,
        }
    }
}

/// Which members an object may have of which its schema says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Undeclared {
    /// Any, as the standard has it. The default.
    #[default]
    Allowed,
    /// None, if a schema declares members and neither it nor one that holds beside it has `additionalProperties` or
    /// `unevaluatedProperties`. The same goes for items after those that are declared one by one.
    Refused,
}

/// Options of [`compile`](super::compile).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct Options {
    /// Whitespace between tokens. Default [`Whitespace::Free`].
    pub whitespace: Whitespace,
    /// The order of members. Default [`PropertyOrder::Declared`].
    pub property_order: PropertyOrder,
    /// What `format` means. Default [`Formats::Assert`].
    pub formats: Formats,
    /// How numbers are spelled. Default [`Numbers::Any`].
    pub numbers: Numbers,
    /// The notation of values. Default [`Spelling::Json`].
    pub spelling: Spelling,
    /// The ASCII characters that [`Spelling::Percent`] writes as they are. Default none named: `A-Za-z0-9-._~`.
    pub unencoded: Option<String>,
    /// What objects may have that is not declared. Default [`Undeclared::Allowed`].
    pub undeclared: Undeclared,
    /// Texts that no string and no name of a member holds as it is written, between its quotes; listed values that
    /// hold one are out. Default none. Empty texts are in every string.
    pub excludes: Vec<String>,
    /// The most digits in each run of digits of a number whose length nothing else bounds; after the point and in the
    /// exponent, one fewer. Default none: as many as one likes.
    pub max_digits: Option<u32>,
    /// Documents that references may name beside the schema itself. Default none. They are not serialized.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documents: Documents,
    /// Caps: `source_bytes` and `grammar_nodes` count here. Default [`Limits::default`].
    pub limits: Limits,
}

grammata_base::setters!(Options {
    whitespace: Whitespace,
    property_order: PropertyOrder,
    formats: Formats,
    numbers: Numbers,
    spelling: Spelling,
    unencoded: Option<String>,
    undeclared: Undeclared,
    excludes: Vec<String>,
    max_digits: Option<u32>,
    documents: Documents,
    limits: Limits,
});

impl Options {
    /// The defaults for output of a language model: [`Whitespace::Short`] and at most 40 digits, as models that do not
    /// know how to go on tend to repeat blanks and digits. Every value keeps a spelling, but numbers of more digits.
    pub fn generation() -> Options {
        Options { whitespace: Whitespace::Short, max_digits: Some(40), ..Options::default() }
    }
}
