//! A domain as written in TOML, before its names are resolved.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    #[allow(dead_code)] // tells the kind of file to programs that read several kinds
    kind: String,
    #[serde(default)]
    pub(super) name: String,
    #[allow(dead_code)] // for people
    #[serde(default)]
    description: String,
    #[allow(dead_code)] // for people
    #[serde(default)]
    source: String,
    pub(super) prelude: String,
    pub(super) end: String,
    #[serde(default)]
    pub(super) given: Vec<String>,
    #[serde(default)]
    pub(super) allow: Vec<String>,
    pub(super) apis: toml::Table,
    pub(super) steps: toml::Table,
    pub(super) flows: Vec<WrittenFlow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenApi {
    #[serde(default)]
    pub(super) inputs: Vec<WrittenInput>,
    #[serde(default)]
    pub(super) outputs: Vec<String>,
    #[serde(default)]
    pub(super) outcomes: toml::Table,
    #[allow(dead_code)] // a truth value that no API needs
    returns: Option<String>,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) aliases: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum WrittenInput {
    One(String),
    AnyOf(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenStep {
    pub(super) text: String,
    pub(super) apis: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenFlow {
    pub(super) id: String,
    pub(super) intent: String,
    pub(super) steps: Vec<toml::Value>,
    #[serde(default)]
    pub(super) order: WrittenOrder,
    #[serde(default)]
    pub(super) assumes: Vec<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WrittenOrder {
    #[default]
    Whole,
    Interleaved,
}

/// An entry of a flow that is a table with the member `step`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenEntry {
    pub(super) step: String,
    #[serde(default)]
    pub(super) optional: bool,
    pub(super) repeat: Option<WrittenRounds>,
    pub(super) after: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenRounds {
    #[serde(default = "once")]
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

fn once() -> u32 {
    1
}

/// An entry of a flow that is a table with the member `either`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenEither {
    pub(super) either: Vec<Vec<toml::Value>>,
}
