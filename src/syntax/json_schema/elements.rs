//! Styles in which models write the members of an object as elements.

use super::values::json::Value;
use crate::grammar::CharClass;

/// A style of writing members as elements, as model families write the arguments of a tool call.
///
/// A string is written as its characters, up to the text that closes its element. Numbers, `true`, `false`, `null`, and
/// in most styles arrays and objects, are JSON, with whitespace around them. In styles that do not mark strings,
/// whitespace may also surround a string whose schema restricts it. In [`Qwen`](Elements::Qwen) this whitespace is at
/// most one line break on each side, and booleans may also be `True` and `False`, as the chat templates write them.
/// Undeclared names may repeat. Whitespace may also precede the first element and follow each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Elements {
    /// `<parameter=name>value</parameter>`.
    Qwen,
    /// `<parameter name="name">value</parameter>`.
    MiniMax,
    /// `]<]minimax[>[<name>value]<]minimax[>[</name>`. Objects contain such elements; arrays contain elements named
    /// `item`. An undeclared name is not tied to the name at the end of its element: both are of the undeclared names.
    MiniMaxM3,
    /// `<｜DSML｜parameter name="name" string="true">value</｜DSML｜parameter>`, with `false` for values that are not
    /// strings.
    DeepSeek,
    /// Like [`DeepSeek`](Elements::DeepSeek), with `<｜DSML｜ parameter` and `</｜DSML｜ parameter>`.
    DeepSeekV41,
    /// `<arg_key>name</arg_key><arg_value>value</arg_value>`, with whitespace between the two.
    Glm,
    /// Like [`Glm`](Elements::Glm), with `:opensource` at the end of each name: `<arg_key:opensource>`.
    Hy3,
    /// `<cofl:value name="name" type="raw">value</cofl:value>`, with `json` for scalars that are not strings. Objects
    /// (`dict`) and arrays (`list`) contain such elements, those of arrays without a name.
    Cohere,
    /// `<|open|>argument key="name" type="string"<|sep|>value<|close|>argument<|sep|>`; `type` is the JSON type of the
    /// value.
    KimiK3,
}

impl Elements {
    /// All styles, with their names in structural tags.
    pub const ALL: [(&'static str, Elements); 9] = [
        ("qwen_xml", Elements::Qwen),
        ("minimax_xml", Elements::MiniMax),
        ("minimax_m3_xml", Elements::MiniMaxM3),
        ("deepseek_xml", Elements::DeepSeek),
        ("deepseek_v4_1_xml", Elements::DeepSeekV41),
        ("glm_xml", Elements::Glm),
        ("hy3_xml", Elements::Hy3),
        ("cohere_xml", Elements::Cohere),
        ("kimi_k3_xml", Elements::KimiK3),
    ];

    /// Returns the style of a name.
    pub fn named(name: &str) -> Option<Elements> {
        Elements::ALL.iter().find(|(known, _)| *known == name).map(|(_, style)| *style)
    }

    /// Returns the name of the style.
    pub fn name(self) -> &'static str {
        Elements::ALL.iter().find(|(_, style)| *style == self).map_or("", |(name, _)| name)
    }

    pub(super) fn style(self) -> &'static Style {
        match self {
            Elements::Qwen => &QWEN,
            Elements::MiniMax => &MINIMAX,
            Elements::MiniMaxM3 => &MINIMAX_M3,
            Elements::DeepSeek => &DEEPSEEK,
            Elements::DeepSeekV41 => &DEEPSEEK_V4_1,
            Elements::Glm => &GLM,
            Elements::Hy3 => &HY3,
            Elements::Cohere => &COHERE,
            Elements::KimiK3 => &KIMI_K3,
        }
    }
}

/// The kind of a value, in the order of [`Style::kinds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Boolean,
    Null,
    Array,
    Object,
}

impl Kind {
    pub(super) const ALL: [Kind; 6] =
        [Kind::Text, Kind::Number, Kind::Boolean, Kind::Null, Kind::Array, Kind::Object];

    pub(super) fn of(value: &Value<'_>) -> Kind {
        match value {
            Value::String(_) => Kind::Text,
            Value::Number(_) => Kind::Number,
            Value::Bool(_) => Kind::Boolean,
            Value::Null => Kind::Null,
            Value::Array(_) => Kind::Array,
            Value::Object(_) => Kind::Object,
        }
    }
}

/// The parts of an element: `before_name`, the name, `after_name`, `before_value`, the text of the value's kind, the
/// value, `stop`, and again the name if elements close by name.
#[derive(Debug)]
pub(super) struct Style {
    /// Prefix of an element.
    pub(super) before_name: &'static str,
    /// Text after the name.
    pub(super) after_name: &'static str,
    /// Text before the value, after whitespace; empty in most styles.
    pub(super) before_value: &'static str,
    /// Text that marks the kind of the value, by index in [`Kind::ALL`]. All are empty if kinds are not marked.
    pub(super) kinds: [&'static str; 6],
    /// Text after the value, which no string contains.
    pub(super) stop: &'static str,
    /// Text before and after the name at the end of an element, if the name is repeated there.
    pub(super) closing_name: Option<[&'static str; 2]>,
    /// Prefix of an item of an array, if arrays and objects contain elements; otherwise they are JSON.
    pub(super) item: Option<&'static str>,
    /// Escapes of characters in names.
    pub(super) escapes: &'static [(char, &'static str)],
    /// The undeclared names that are allowed.
    pub(super) further: FurtherNames,
    /// Whether the space around values is at most one line break on each side, and booleans may be Python's words.
    pub(super) is_python: bool,
}

/// A class of names that the schema does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FurtherNames {
    /// ASCII identifiers. If the schema restricts the names: text without `<`, `>`, quotes and control characters.
    Identifiers,
    /// Text without control characters.
    Texts,
}

impl Style {
    /// Whether the kinds of values are marked, so that strings differ from other values.
    pub(super) fn tells_kinds(&self) -> bool {
        self.kinds.iter().any(|kind| !kind.is_empty())
    }

    /// Returns the name as it is written; `None` if it is blank or its end could not be found.
    pub(super) fn written_name(&self, name: &str) -> Option<String> {
        let stays_closed = |&[_, after]: &[&str; 2]| !name.contains(after) && !name.starts_with('/');
        let closes = self.closing_name.as_ref().is_none_or(stays_closed);
        let mut written = String::with_capacity(name.len());
        for c in name.chars() {
            match self.escapes.iter().find(|(escaped, _)| *escaped == c) {
                Some((_, escape)) => written.push_str(escape),
                None => written.push(c),
            }
        }
        let ends = !written.contains(self.after_name);
        (closes && ends && !name.trim().is_empty()).then_some(written)
    }

    /// Returns the characters that may occur unescaped in undeclared names.
    pub(super) fn name_characters(&self) -> CharClass {
        let apart = match self.further {
            FurtherNames::Texts => CharClass::new(self.escapes.iter().map(|(c, _)| (*c, *c))),
            _ => CharClass::new(['<', '>', '"', '\''].map(|c| (c, c))),
        };
        let shown = CharClass::new([(' ', '\u{7E}'), ('\u{A0}', char::MAX)]);
        shown.intersection(&apart.complement())
    }
}

const NO_KINDS: [&str; 6] = [""; 6];

const QWEN: Style = Style {
    before_name: "<parameter=",
    after_name: ">",
    before_value: "",
    kinds: NO_KINDS,
    stop: "</parameter>",
    closing_name: None,
    item: None,
    escapes: &[],
    further: FurtherNames::Identifiers,
    is_python: true,
};

const MINIMAX: Style =
    Style { before_name: "<parameter name=\"", after_name: "\">", is_python: false, ..QWEN };

const MINIMAX_M3: Style = Style {
    before_name: "]<]minimax[>[<",
    after_name: ">",
    stop: "]<]minimax[>[",
    closing_name: Some(["</", ">"]),
    item: Some("]<]minimax[>[<item>"),
    ..MINIMAX
};

const STRING_TRUE: &str = " string=\"true\">";
const STRING_FALSE: &str = " string=\"false\">";

const DEEPSEEK: Style = Style {
    before_name: "<｜DSML｜parameter name=\"",
    after_name: "\"",
    kinds: [STRING_TRUE, STRING_FALSE, STRING_FALSE, STRING_FALSE, STRING_FALSE, STRING_FALSE],
    stop: "</｜DSML｜parameter>",
    ..MINIMAX
};

const DEEPSEEK_V4_1: Style =
    Style { before_name: "<｜DSML｜ parameter name=\"", stop: "</｜DSML｜ parameter>", ..DEEPSEEK };

const GLM: Style = Style {
    before_name: "<arg_key>",
    after_name: "</arg_key>",
    before_value: "<arg_value>",
    stop: "</arg_value>",
    ..MINIMAX
};

const HY3: Style = Style {
    before_name: "<arg_key:opensource>",
    after_name: "</arg_key:opensource>",
    before_value: "<arg_value:opensource>",
    stop: "</arg_value:opensource>",
    ..MINIMAX
};

const COHERE: Style = Style {
    before_name: "<cofl:value name=\"",
    after_name: "\"",
    kinds: [
        " type=\"raw\">",
        " type=\"json\">",
        " type=\"json\">",
        " type=\"json\">",
        " type=\"list\">",
        " type=\"dict\">",
    ],
    stop: "</cofl:value>",
    item: Some("<cofl:value"),
    escapes: &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")],
    further: FurtherNames::Texts,
    ..MINIMAX
};

const KIMI_K3: Style = Style {
    before_name: "<|open|>argument key=\"",
    after_name: "\"",
    kinds: [
        " type=\"string\"<|sep|>",
        " type=\"number\"<|sep|>",
        " type=\"boolean\"<|sep|>",
        " type=\"null\"<|sep|>",
        " type=\"array\"<|sep|>",
        " type=\"object\"<|sep|>",
    ],
    stop: "<|close|>argument<|sep|>",
    escapes: &[('&', "&amp;"), ('"', "&quot;")],
    further: FurtherNames::Texts,
    ..MINIMAX
};
