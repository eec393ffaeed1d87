//! Dialects: which forms of an answer a server accepts, and how each is written. A dialect is a row of [`DIALECTS`].

use crate::request::FormKind;

/// How the form of an answer is written in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `response_format` with a JSON Schema and `strict`.
    StrictSchema,
    /// `response_format` with a JSON Schema.
    Schema,
    /// `response_format` of any JSON object; the schema is in the prompt.
    JsonObject,
    /// `structured_outputs` of vLLM, with `choice`, `json`, `regex` or `grammar`.
    Structured,
    /// `guided_choice`, `guided_json`, `guided_regex`, `guided_grammar` of vLLM before 0.11.
    Guided,
    /// `grammar` of llama.cpp: GBNF.
    Grammar,
    /// `tools` with `strict`.
    StrictTools,
    /// `tools`.
    Tools,
    /// Nothing: the form is in the prompt.
    Prompt,
}

/// The encodings that a server accepts for each kind of form, the strongest first. The last one is always
/// [`Encoding::Prompt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name.
    pub name: &'static str,
    /// The servers that it is for.
    pub about: &'static str,
    choice: &'static [Encoding],
    json: &'static [Encoding],
    regex: &'static [Encoding],
    grammar: &'static [Encoding],
    tools: &'static [Encoding],
}

use Encoding::{Grammar, Guided, JsonObject, Prompt, Schema, StrictSchema, StrictTools, Structured, Tools};

/// The dialects.
pub const DIALECTS: [Dialect; 4] = [
    Dialect {
        name: "openai",
        about: "OpenAI, and most servers: a JSON Schema as `response_format`, `tools`",
        choice: &[StrictSchema, Schema, JsonObject, Prompt],
        json: &[StrictSchema, Schema, JsonObject, Prompt],
        regex: &[StrictSchema, Schema, JsonObject, Prompt],
        grammar: &[Prompt],
        tools: &[StrictTools, Tools, StrictSchema, Schema, JsonObject, Prompt],
    },
    Dialect {
        name: "vllm",
        about: "vLLM: `structured_outputs`, or `guided_…` before 0.11",
        choice: &[Structured, Guided, Schema, Prompt],
        json: &[Structured, Guided, Schema, Prompt],
        regex: &[Structured, Guided, Schema, Prompt],
        grammar: &[Structured, Guided, Prompt],
        tools: &[Tools, Schema, Prompt],
    },
    Dialect {
        name: "llama-cpp",
        about: "llama.cpp's server: `grammar`, a JSON Schema as `response_format`",
        choice: &[Grammar, Schema, Prompt],
        json: &[Schema, JsonObject, Prompt],
        regex: &[Schema, Prompt],
        grammar: &[Grammar, Prompt],
        tools: &[Schema, JsonObject, Prompt],
    },
    Dialect {
        name: "plain",
        about: "any server: the form is said in the prompt alone",
        choice: &[Prompt],
        json: &[Prompt],
        regex: &[Prompt],
        grammar: &[Prompt],
        tools: &[Prompt],
    },
];

impl Dialect {
    /// Returns the dialect of a name.
    pub fn named(name: &str) -> Option<&'static Dialect> {
        DIALECTS.iter().find(|dialect| dialect.name == name)
    }

    /// Returns the encodings of a kind of form, the strongest first.
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
