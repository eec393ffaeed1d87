//! Dialects: the forms of answers that a server accepts, and their encodings. A dialect is a row of [`DIALECTS`].

use crate::request::FormKind;

/// An encoding of the form of an answer in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `response_format` with a JSON Schema and `strict`.
    StrictSchema,
    /// `response_format` with a JSON Schema.
    Schema,
    /// `response_format` that allows any JSON object. A message describes the schema.
    JsonObject,
    /// `structured_outputs` of vLLM, with `choice`, `json`, `regex` or `grammar`.
    Structured,
    /// `guided_choice`, `guided_json`, `guided_regex`, `guided_grammar` of vLLM before 0.11.
    Guided,
    /// `grammar` of llama.cpp, in GBNF.
    Grammar,
    /// `tools` with `strict`.
    StrictTools,
    /// `tools`.
    Tools,
    /// No member of the request. Only a message describes the form.
    Prompt,
}

/// A kind of server: the encodings that it may accept for each kind of form, strongest first. The last encoding is
/// always [`Encoding::Prompt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name by which users select the dialect.
    pub name: &'static str,
    /// The servers of the dialect, and the members that they accept.
    pub about: &'static str,
    choice: &'static [Encoding],
    json: &'static [Encoding],
    regex: &'static [Encoding],
    grammar: &'static [Encoding],
    tools: &'static [Encoding],
    /// Whether schemas in requests bound the lengths of all strings. The servers enforce `maxLength`, so a model cannot
    /// fill its answer with one string that has no end.
    pub(crate) bounds_strings: bool,
}

use Encoding::{Grammar, Guided, JsonObject, Prompt, Schema, StrictSchema, StrictTools, Structured, Tools};

/// The known dialects. The first one is the default.
pub const DIALECTS: [Dialect; 4] = [
    Dialect {
        name: "openai",
        about: "OpenAI, and most servers: a JSON Schema as `response_format`, `tools`",
        choice: &[StrictSchema, Schema, JsonObject, Prompt],
        json: &[StrictSchema, Schema, JsonObject, Prompt],
        regex: &[StrictSchema, Schema, JsonObject, Prompt],
        grammar: &[Prompt],
        tools: &[StrictTools, Tools, StrictSchema, Schema, JsonObject, Prompt],
        bounds_strings: false,
    },
    Dialect {
        name: "vllm",
        about: "vLLM: `structured_outputs`, or `guided_…` before 0.11",
        choice: &[Structured, Guided, Schema, Prompt],
        json: &[Structured, Guided, Schema, Prompt],
        regex: &[Structured, Guided, Schema, Prompt],
        grammar: &[Structured, Guided, Prompt],
        tools: &[Tools, Schema, Prompt],
        bounds_strings: true,
    },
    Dialect {
        name: "llama-cpp",
        about: "llama.cpp's server: `grammar`, a JSON Schema as `response_format`",
        choice: &[Grammar, Schema, Prompt],
        json: &[Schema, JsonObject, Prompt],
        regex: &[Schema, Prompt],
        grammar: &[Grammar, Prompt],
        tools: &[Schema, JsonObject, Prompt],
        bounds_strings: true,
    },
    Dialect {
        name: "plain",
        about: "any server: the form is said in the prompt alone",
        choice: &[Prompt],
        json: &[Prompt],
        regex: &[Prompt],
        grammar: &[Prompt],
        tools: &[Prompt],
        bounds_strings: false,
    },
];

impl Dialect {
    /// Returns the dialect with a name; `None` if there is no such dialect.
    pub fn named(name: &str) -> Option<&'static Dialect> {
        DIALECTS.iter().find(|dialect| dialect.name == name)
    }

    /// Returns the encodings of a kind of form, strongest first.
    pub fn encodings(&self, kind: FormKind) -> &'static [Encoding] {
        match kind {
            FormKind::Text => &[Prompt],
            FormKind::Choice => self.choice,
            FormKind::Json => self.json,
            FormKind::Regex => self.regex,
            FormKind::Grammar => self.grammar,
            FormKind::Tools => self.tools,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_encodings_ends_with_the_prompt() {
        use FormKind::*;
        for dialect in &DIALECTS {
            for kind in [Text, Choice, Json, Regex, Grammar, Tools] {
                assert_eq!(dialect.encodings(kind).last(), Some(&Prompt), "{} {kind:?}", dialect.name);
            }
        }
    }
}
