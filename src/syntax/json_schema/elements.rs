//! The styles in which models write the members of an object as elements: what begins and ends each.

use super::json::Value;
use crate::grammar::CharClass;

/// A style in which members are written as elements, as model families write the arguments of a tool call.
///
/// A string is its characters, up to what closes its element; numbers, `true`, `false`, `null`, and in most styles arrays
/// and objects, are JSON, with white space around them. In styles that do not tell strings apart, white space may also
/// surround a string that is restricted. Names that are not declared may come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Elements {
    /// `<parameter=name>value</parameter>`.
    Qwen,
    /// `<parameter name="name">value</parameter>`.
    MiniMax,
    /// `]<]minimax[>[<name>value]<]minimax[>[</name>`; objects hold such elements, and arrays some of the name `item`.
    /// Names must be declared.
    MiniMaxM3,
    /// `<｜DSML｜parameter name="name" string="true">value</｜DSML｜parameter>`; `false` for what is no string.
    DeepSeek,
    /// The same with `<｜DSML｜ parameter`.
    DeepSeekV41,
    /// `<arg_key>name</arg_key><arg_value>value</arg_value>`, with white space between the two.
    Glm,
    /// `<cofl:value name="name" type="raw">value</cofl:value>`; `json` for other scalars, `dict` and `list` for objects
    /// and arrays, which hold such elements, those of arrays without a name.
    Cohere,
    /// `<|open|>argument key="name" type="string"<|sep|>value<|close|>argument<|sep|>`; `type` is that of the value in JSON.
    KimiK3,
}

impl Elements {
    /// All styles, by the names that structural tags have for them.
    pub const ALL: [(&'static str, Elements); 8] = [
        ("qwen_xml", Elements::Qwen),
        ("minimax_xml", Elements::MiniMax),
        ("minimax_m3_xml", Elements::MiniMaxM3),
        ("deepseek_xml", Elements::DeepSeek),
        ("deepseek_v4_1_xml", Elements::DeepSeekV41),
        ("glm_xml", Elements::Glm),
        ("cohere_xml", Elements::Cohere),
        ("kimi_k3_xml", Elements::KimiK3),
    ];

    /// The style of a name.
    pub fn named(name: &str) -> Option<Elements> {
        Elements::ALL.iter().find(|(known, _)| *known == name).map(|(_, style)| *style)
    }

    /// Its name.
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
            Elements::Cohere => &COHERE,
            Elements::KimiK3 => &KIMI_K3,
        }
    }
}

/// What a value is written as.
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

/// How elements are written: `before_name`, the name, `after_name`, `before_value`, the words of the value's kind, the
/// value, `stop`, and the name again where elements close by name.
#[derive(Debug)]
pub(super) struct Style {
    /// What an element begins with.
    pub(super) before_name: &'static str,
    /// What ends its name.
    pub(super) after_name: &'static str,
    /// What stands before the value, after white space; nothing in most styles.
    pub(super) before_value: &'static str,
    /// What tells the kind of the value, by the places of [`Kind::ALL`]; all are empty if nothing does.
    pub(super) kinds: [&'static str; 6],
    /// What ends the value. No text holds it.
    pub(super) stop: &'static str,
    /// What stands before and after the name at the end of an element, if it stands there again.
    pub(super) closing_name: Option<[&'static str; 2]>,
    /// What an item of an array begins with, where arrays and objects hold elements.
    pub(super) item: Option<&'static str>,
    /// Characters of names that are written in another way.
    pub(super) escapes: &'static [(char, &'static str)],
    /// The names that are not declared.
    pub(super) further: FurtherNames,
}

/// Which names may come that a schema does not declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FurtherNames {
    /// None: an element cannot be closed by a name that is not known.
    None,
    /// Identifiers of ASCII; where the schema restricts them, without `<`, `>`, quotes and control characters.
    Identifiers,
    /// Text without control characters.
    Texts,
}

impl Style {
    /// Whether strings are told apart from other values.
    pub(super) fn tells_kinds(&self) -> bool {
        self.kinds.iter().any(|kind| !kind.is_empty())
    }

    /// A name as it is written; `None` if it cannot be told where it ends.
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

    /// The characters that stand for themselves in names that are not declared.
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
};

const MINIMAX: Style = Style { before_name: "<parameter name=\"", after_name: "\">", ..QWEN };

const MINIMAX_M3: Style = Style {
    before_name: "]<]minimax[>[<",
    after_name: ">",
    stop: "]<]minimax[>[",
    closing_name: Some(["</", ">"]),
    item: Some("]<]minimax[>[<item>"),
    further: FurtherNames::None,
    ..QWEN
};

const STRING_TRUE: &str = " string=\"true\">";
const STRING_FALSE: &str = " string=\"false\">";

const DEEPSEEK: Style = Style {
    before_name: "<｜DSML｜parameter name=\"",
    after_name: "\"",
    kinds: [STRING_TRUE, STRING_FALSE, STRING_FALSE, STRING_FALSE, STRING_FALSE, STRING_FALSE],
    stop: "</｜DSML｜parameter>",
    ..QWEN
};

const DEEPSEEK_V4_1: Style =
    Style { before_name: "<｜DSML｜ parameter name=\"", stop: "</｜DSML｜ parameter>", ..DEEPSEEK };

const GLM: Style = Style {
    before_name: "<arg_key>",
    after_name: "</arg_key>",
    before_value: "<arg_value>",
    stop: "</arg_value>",
    ..QWEN
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
    ..QWEN
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
    ..QWEN
};
