//! Prompts that ask a model for queries.

use super::{MOST_WORDS, errors};
use grammata::diagnostic::{Notation, Source};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::retrieval::requests::Request;
use grammata_agents::retrieval::{Bm25, Catalogue, Template};
use grammata_template::Dialect;
use minijinja::value::Value;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// The number of examples in the few-shot prompt.
const EXAMPLES: usize = 3;

/// The source of a request's queries. Models that were trained on drafts are prompted as in
/// [`ZeroShot`](Mode::ZeroShot).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The request alone, without a model.
    Utterance,
    /// The [sentences](grammata_agents::retrieval::split::sentences) of the request, without a model.
    #[default]
    Split,
    /// A model describes the tools that the request needs.
    ZeroShot,
    /// A model describes what the user wants.
    Intents,
    /// As zero-shot, after up to three examples with answers.
    FewShot,
    /// As zero-shot, but the model first states the needs of the request in one line.
    Reasoned,
}

impl Mode {
    /// All modes: name, description and value.
    pub const ALL: [(&'static str, &'static str, Mode); 6] = [
        ("utterance", "the request alone", Mode::Utterance),
        ("split", "the sentences of the request", Mode::Split),
        ("zero_shot", "a model describes the tools that the request needs", Mode::ZeroShot),
        ("intents", "a model describes what the user wants", Mode::Intents),
        ("few_shot", "as zero_shot, after three answered requests", Mode::FewShot),
        ("reasoned", "as zero_shot, after a line that says what the request needs", Mode::Reasoned),
    ];

    /// Returns the name of the mode, as serialised.
    pub fn name(self) -> &'static str {
        Mode::ALL.iter().find(|(_, _, mode)| *mode == self).map_or("", |(name, ..)| name)
    }

    /// Returns whether a model writes the queries.
    pub fn needs_model(self) -> bool {
        !matches!(self, Mode::Utterance | Mode::Split)
    }
}

/// A request with its answer, for the few-shot prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The request.
    pub request: String,
    /// Descriptions of the tools that the request needs, one per line.
    pub answer: String,
}

/// A prompt: an instruction, equal for all requests, and a Jinja template of the rest.
///
/// The template uses `request`, `examples` (each with `request` and `answer`) and `context` (earlier turns of the
/// dialogue as one text). If the model has a chat template, the instruction is the system message and the rest is the
/// user's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    instruction: String,
    template: String,
    limits: Limits,
}

const TOOLS: [&str; 3] = [
    "Someone asks an assistant for something. Name the software tools that the assistant would need.",
    "Take the request apart and write one short description of a tool for each part.",
    "Never reply to the request itself; describe tools and nothing else.",
];
const INTENTS: [&str; 3] = [
    "Someone asks an assistant for something. Name what the person wants to get done.",
    "Take the request apart and write one short description of an intent for each part.",
    "Never reply to the request itself; describe intents and nothing else.",
];
const FORM: [&str; 2] = [
    "Put each description on its own line, in fewer than 20 words, and write no more than 5 lines.",
    "Write no numbers, no introduction and no closing words.",
];
const REASON: &str =
    "Before them write one line that begins with `Needs:` and says in at most 25 words what is needed.";
const REQUEST: &str = "{% for example in examples %}Human: {{ example.request }}\nAnswer:\n{{ example.answer }}\n\n{% endfor %}\
                       {% if context %}{{ context }}\n{% endif %}Human: {{ request }}\nAnswer:\n";

impl Prompt {
    /// Creates the prompt of a mode.
    pub fn new(mode: Mode, limits: &Limits) -> Prompt {
        let task = if mode == Mode::Intents { INTENTS } else { TOOLS };
        let mut lines: Vec<&str> = task.into_iter().chain(FORM).collect();
        if mode == Mode::Reasoned {
            lines.push(REASON);
        }
        Prompt { instruction: lines.join("\n"), template: REQUEST.to_owned(), limits: limits.clone() }
    }

    /// Creates a custom prompt from an instruction and a Jinja template of the text after the instruction.
    ///
    /// # Errors
    /// The template is longer than `limits.source_bytes` or is not valid Jinja; the place is the line and column.
    pub fn of(
        instruction: impl Into<String>,
        template: impl Into<String>,
        limits: &Limits,
    ) -> Result<Prompt> {
        let (instruction, template) = (instruction.into(), template.into());
        limits.check_source(&template)?;
        let checked = DIALECT.check(&template);
        checked.map_err(|fault| {
            let error = fault.into_error(limits, errors::prompt);
            error.in_source(&Source::new(&template, Notation::Text))
        })?;
        Ok(Prompt { instruction, template, limits: limits.clone() })
    }

    /// Parses a prompt from one text: the text before the first line `---` is the instruction, the rest is the
    /// template. A `---` on the first line, or without a line feed after it, does not count. Without a separating line,
    /// the whole text is the template.
    ///
    /// # Errors
    /// Those of [`of`](Prompt::of).
    pub fn from_text(text: &str, limits: &Limits) -> Result<Prompt> {
        let (instruction, template) = text.split_once("\n---\n").unwrap_or(("", text));
        Prompt::of(instruction, template, limits)
    }

    /// Returns the instruction, the part of the prompt that is equal for all requests.
    pub fn instruction(&self) -> &str {
        &self.instruction
    }

    /// Renders the text after the instruction.
    ///
    /// # Errors
    /// The template fails, or exceeds its limits.
    pub fn render(&self, request: &str, examples: &[Example], context: &str) -> Result<String> {
        let example = |example: &Example| {
            Value::from_pairs([("request", example.request.as_str()), ("answer", example.answer.as_str())])
        };
        let values = || {
            Value::from_pairs([
                ("request", Value::from(request)),
                ("examples", examples.iter().map(example).collect::<Value>()),
                ("context", Value::from(context)),
            ])
        };
        let rendered = DIALECT.render(&self.template, values, &self.limits);
        let mut text = rendered.map_err(|fault| {
            let error = fault.into_error(&self.limits, errors::prompt);
            error.in_source(&Source::new(&self.template, Notation::Text))
        })?;
        // Jinja removes a line feed at the end of a template
        if self.template.ends_with('\n') {
            text.push('\n');
        }
        Ok(text)
    }

    /// Returns the SHA-256 of the instruction and the template, each after its length in bytes, in hexadecimal.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        for text in [&self.instruction, &self.template] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

const DIALECT: Dialect = Dialect { trim_blocks: true, strict: true, put: None, functions: Vec::new() };

/// Returns at most three training requests nearest to `request` by BM25, the nearest last, without `request` itself and
/// the requests that need a tool of `needed`. An answer has one line of at most 19 words for each need: the description
/// of the first tool that meets the need, or the tool's name if it has no description; a need whose first tool the
/// catalogue lacks has no line. Training requests without a line are left out.
pub fn few_shot_examples(
    request: &str,
    needed: &HashSet<&str>,
    training: &[Request],
    nearest: &Bm25,
    catalogue: &Catalogue,
) -> Vec<Example> {
    let shares = |other: &Request| other.relevant.iter().flatten().any(|id| needed.contains(id.as_str()));
    let found = nearest.search(request, training.len(), None);
    let usable = found
        .iter()
        .filter_map(|hit| training.get(hit.tool))
        .filter(|other| other.query != request && !shares(other));
    let mut examples: Vec<Example> = usable
        .filter_map(|other| {
            let tools = other.relevant.iter().filter_map(|group| catalogue.index_of(group.first()?));
            let tools = tools.filter_map(|tool| catalogue.tools().get(tool));
            let lines: Vec<String> =
                tools.map(|tool| one_line(&Template::Description.document(tool))).collect();
            let answer = lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
            (!answer.is_empty()).then(|| Example { request: other.query.clone(), answer })
        })
        .take(EXAMPLES)
        .collect();
    examples.reverse();
    examples
}

/// Returns the first 19 words of a text, separated by single spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().take(MOST_WORDS).collect::<Vec<_>>().join(" ")
}
