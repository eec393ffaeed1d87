//! Options of the JSON Schema front end.

use super::documents::Documents;
use super::elements::{Elements, Style};
use super::grammars::GrammarReader;
use crate::grammar::Order;
use crate::limits::Limits;

/// The whitespace between the tokens of the generated JSON. There is never any before the first or after the last token
/// of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Whitespace {
    /// Any number of spaces, tabs, line feeds and carriage returns (RFC 8259). The default: every layout that a JSON
    /// writer produces is in the language.
    #[default]
    Free,
    /// No whitespace.
    Compact,
    /// Nothing, one space, or a line feed and at most 32 spaces and tabs: what JSON writers put between two tokens. The
    /// bound keeps a model from writing whitespace without end.
    Short,
    /// One space after each comma and each colon, as Python's `json.dumps` writes them, and no other whitespace.
    Spaced,
    /// At most this number of whitespace characters between two tokens.
    AtMost(u32),
    /// Between any two tokens, a text that the ECMA-262 pattern matches as a whole. Characters that are not JSON
    /// whitespace never match.
    Pattern(String),
}

/// The order of the members of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PropertyOrder {
    /// The order of `properties`, then names that only `required` has, then additional members. The default: JSON
    /// writers that follow the schema write this order, and it is the cheapest to run.
    #[default]
    Declared,
    /// Every order, with additional members anywhere between the declared ones.
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

/// The meaning of `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Formats {
    /// Strings must have the format. Unknown formats are annotations; they cause a warning unless `pattern` is next to
    /// them. The default.
    #[default]
    Assert,
    /// `format` restricts nothing. This is the default of the drafts 2019-09 and 2020-12, unless a schema asks for
    /// more.
    Annotate,
}

/// The spellings of numbers in the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Numbers {
    /// All spellings that together form a regular language: exponents, and integers such as `2.0`. The default: the
    /// standard restricts values, not spellings.
    #[default]
    Any,
    /// Plain notation: no exponents, and integers without a point. Listed numbers may also be spelled as in the schema.
    Plain,
}

/// The notation of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Spelling {
    /// JSON. The default.
    #[default]
    Json,
    /// Python literals: `True`, `False`, `None`. Strings are in single or double quotes, with Python's escapes (not
    /// octal ones and names; strings under `pattern`, `format`, `enum` and `const` have those of `repr`). The names of
    /// one object have the same quotes. A value with undeclared names or `uniqueItems` has strings in double quotes
    /// only, with the canonical escapes of JSON, unless it is a string.
    Python,
    /// A string is written as its characters, without quotes; any other value is JSON. A text may spell values of
    /// several types.
    Text,
    /// Strings, numbers and booleans as [`Text`](Spelling::Text); strings consist of printable ASCII and tabs, as HTTP
    /// field values do (RFC 9110, section 5.5). Null, arrays and objects are not in the language.
    Line,
    /// Strings, numbers and booleans as [`Text`](Spelling::Text), percent-encoded (RFC 3986, section 2.1): every byte
    /// except those of [`Options::unencoded`] as `%XX` with uppercase hexadecimal digits. Null, arrays and objects are
    /// not in the language.
    Percent,
    /// Objects only, written as JSON, except that a string is written as its characters between two marks `<|"|>`, and
    /// names of members have no quotes, as Gemma 4 writes arguments. There is no whitespace between a name and its colon. Undeclared names are
    /// ASCII identifiers, or, if the schema restricts them, visible text without the punctuation of JSON; they may
    /// repeat.
    Gemma,
    /// Objects only, written as keyword arguments of Python: `a=1, b="x"`. The values are those of
    /// [`Python`](Spelling::Python). Undeclared names are ASCII identifiers that are not keywords; they may repeat.
    Keywords,
    /// Objects only, each member written as an element of a style.
    Elements(Elements),
}

impl Spelling {
    /// The styles of arguments in structural tags, with their names.
    pub const STYLES: [(&'static str, Spelling); 3 + Elements::ALL.len()] = {
        let mut all = [("json", Spelling::Json); 3 + Elements::ALL.len()];
        all[1] = ("gemma", Spelling::Gemma);
        all[2] = ("python_keywords", Spelling::Keywords);
        let mut index = 0;
        while index < Elements::ALL.len() {
            all[3 + index] = (Elements::ALL[index].0, Spelling::Elements(Elements::ALL[index].1));
            index += 1;
        }
        all
    };

    /// Returns the style of a name in structural tags.
    pub fn of_style(name: &str) -> Option<Spelling> {
        Spelling::STYLES.iter().find(|(known, _)| *known == name).map(|(_, spelling)| *spelling)
    }

    /// Returns the name in structural tags; `None` if they have no such style.
    pub fn style_name(self) -> Option<&'static str> {
        Spelling::STYLES.iter().find(|(_, spelling)| *spelling == self).map(|(name, _)| *name)
    }

    /// Returns the style of elements, or `None` if members are not written as elements.
    pub(super) fn style(self) -> Option<&'static Style> {
        match self {
            Spelling::Elements(style) => Some(style.style()),
            _ => None,
        }
    }
}

/// Whether objects may have members that their schema does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Undeclared {
    /// Any other member is allowed, as in the standard. The default.
    #[default]
    Allowed,
    /// No other member is allowed if a schema has `properties` or `patternProperties`, and neither it nor a schema that
    /// holds together with it has `additionalProperties`, `unevaluatedProperties` or `propertyNames`. Likewise, no item
    /// is allowed after those that are declared one by one, unless `items`, `additionalItems` or `unevaluatedItems`
    /// describes further ones.
    Refused,
}

grammata_base::options! {
    /// Options of [`compile`](super::compile). It does not read the options that a schema sets itself (`x-grammata`):
    /// see [`with_policies_of`](Options::with_policies_of).
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct Options {
        /// Whitespace between tokens. Default [`Whitespace::Free`].
        pub whitespace: Whitespace,
        /// The order of members. Default [`PropertyOrder::Declared`].
        pub property_order: PropertyOrder,
        /// The meaning of `format`. Default [`Formats::Assert`].
        pub formats: Formats,
        /// The spellings of numbers. Default [`Numbers::Any`].
        pub numbers: Numbers,
        /// The notation of values. Default [`Spelling::Json`].
        pub spelling: Spelling,
        /// The ASCII characters that [`Spelling::Percent`] does not encode. Default `None`, which means
        /// `A-Za-z0-9-._~`.
        pub unencoded: Option<String>,
        /// Whether objects may have undeclared members. Default [`Undeclared::Allowed`].
        pub undeclared: Undeclared,
        /// Texts that must not occur in strings and names of members, as these are written between their quotes. Listed
        /// values that contain one are not in the language. An empty text occurs in every string. Default: none.
        pub excludes: Vec<String>,
        /// Greatest number of digits in each run of digits of a number that nothing else bounds. After the point and in
        /// the exponent it is one less. Values below 2 count as 2. In multiples (`multipleOf`) of numbers other than 1,
        /// some runs stay unbounded. Default `None`: no bound.
        pub max_digits: Option<u32>,
        /// Documents that references may name, in addition to the schema itself. They are not serialized. Default:
        /// none.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub documents: Documents,
        /// Compiles the grammars of `x-grammata-grammar` that are not regular expressions:
        /// [`lark::IN_STRINGS`](crate::syntax::lark::IN_STRINGS). It is not serialized. Default: none, so that such a
        /// grammar is an error. Structural tags and [`Source`](crate::syntax::Source) set it.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub grammars: Option<GrammarReader>,
        /// Limits on the schema and its compilation, such as `source_bytes`, `source_depth`, `grammar_nodes`,
        /// `condition_search` and `compile_work`. Default [`Limits::default`].
        pub limits: Limits,
    }
}

impl Options {
    /// Returns the defaults for output of a language model: [`Whitespace::Short`] and at most 40 digits, because models
    /// tend to repeat blanks and digits without end. Every value keeps a spelling, except numbers of more digits.
    pub fn generation() -> Options {
        Options { whitespace: Whitespace::Short, max_digits: Some(40), ..Options::default() }
    }
}
