//! Presets of structural tags: a TOML table defines how a family of models writes calls, reasoning and text, so a new
//! family needs no code.
//!
//! A preset builds the structural tag of a request from its tools, its `tool_choice` and its other options. The tag is
//! JSON that [`grammata::syntax::structural_tag`] compiles and that other engines also read. `docs/structural-tags.md`
//! describes the table.

mod answer;
mod call;
mod errors;
mod json;
mod markers;
mod mode;
mod reader;
mod request;
mod scan;
mod tag;
mod texts;
mod writable;

pub use mode::ReasoningMode;
pub use reader::{OutputPart, OutputReader};
pub use request::TagOptions;

use call::CallTexts;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::syntax::json_schema::Spelling;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use texts::Texts;

/// The built-in families, by name.
const FAMILIES: &[(&str, &str)] = &[
    ("apertus", include_str!("../../../presets/apertus/preset.toml")),
    ("cohere", include_str!("../../../presets/cohere/preset.toml")),
    ("cohere_action", include_str!("../../../presets/cohere_action/preset.toml")),
    ("deepseek_r1", include_str!("../../../presets/deepseek_r1/preset.toml")),
    ("deepseek_v3_1", include_str!("../../../presets/deepseek_v3_1/preset.toml")),
    ("deepseek_v3_2", include_str!("../../../presets/deepseek_v3_2/preset.toml")),
    ("deepseek_v4", include_str!("../../../presets/deepseek_v4/preset.toml")),
    ("deepseek_v4_1", include_str!("../../../presets/deepseek_v4_1/preset.toml")),
    ("exaone", include_str!("../../../presets/exaone/preset.toml")),
    ("gemma_4", include_str!("../../../presets/gemma_4/preset.toml")),
    ("glm_4_7", include_str!("../../../presets/glm_4_7/preset.toml")),
    ("granite", include_str!("../../../presets/granite/preset.toml")),
    ("harmony", include_str!("../../../presets/harmony/preset.toml")),
    ("hermes", include_str!("../../../presets/hermes/preset.toml")),
    ("hy3", include_str!("../../../presets/hy3/preset.toml")),
    ("kimi", include_str!("../../../presets/kimi/preset.toml")),
    ("kimi_k3", include_str!("../../../presets/kimi_k3/preset.toml")),
    ("lfm2", include_str!("../../../presets/lfm2/preset.toml")),
    ("llama", include_str!("../../../presets/llama/preset.toml")),
    ("llama_4", include_str!("../../../presets/llama_4/preset.toml")),
    ("mimo", include_str!("../../../presets/mimo/preset.toml")),
    ("minimax", include_str!("../../../presets/minimax/preset.toml")),
    ("minimax_m3", include_str!("../../../presets/minimax_m3/preset.toml")),
    ("mistral", include_str!("../../../presets/mistral/preset.toml")),
    ("mistral_args", include_str!("../../../presets/mistral_args/preset.toml")),
    ("nemotron_3", include_str!("../../../presets/nemotron_3/preset.toml")),
    ("nemotron_v2", include_str!("../../../presets/nemotron_v2/preset.toml")),
    ("phi", include_str!("../../../presets/phi/preset.toml")),
    ("qwen_3", include_str!("../../../presets/qwen_3/preset.toml")),
    ("qwen_3_5", include_str!("../../../presets/qwen_3_5/preset.toml")),
    ("qwen_3_coder", include_str!("../../../presets/qwen_3_coder/preset.toml")),
    ("seed_oss", include_str!("../../../presets/seed_oss/preset.toml")),
    ("step_3_5", include_str!("../../../presets/step_3_5/preset.toml")),
];

/// A description of how a family of models writes calls of tools, and the text and the reasoning around the calls.
///
/// ```
/// use grammata::syntax::structural_tag;
/// use grammata_agents::tools::{TagOptions, TagPreset};
/// use serde_json::json;
///
/// let tools = json!([{"type": "function", "function": {"name": "now", "parameters": {"type": "object"}}}]);
/// let options = TagOptions::default().tool_choice(json!("required"));
/// let tag = TagPreset::named("qwen_3")?.structural_tag(&tools, &options)?.tag;
/// let grammar = structural_tag::compile_value(&tag, &structural_tag::Options::default())?.grammar;
/// # assert!(grammar.to_string().contains("now"));
/// # Ok::<(), grammata::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagPreset {
    /// A one-line description of the family's calls.
    pub description: String,
    /// Names of models of the family.
    pub models: Vec<String>,
    /// The source that describes the form.
    pub source: String,
    #[serde(default)]
    layout: Layout,
    /// The text that begins calls inside other text.
    #[serde(default)]
    trigger: String,
    /// The style of the arguments, named as in `json_schema`.
    #[serde(default, deserialize_with = "style")]
    style: Option<Spelling>,
    /// The alternative forms of a call.
    call: CallTexts,
    /// The alternative forms of a call of a builtin tool. If empty, the family has no builtin tools.
    #[serde(default)]
    builtin_call: CallTexts,
    /// Texts that strings in arguments may not contain.
    #[serde(default)]
    argument_excludes: Texts,
    /// The control markers that are single tokens of the family's tokenizers.
    #[serde(default)]
    markers: Texts,
    /// The text at the end of the whole output.
    #[serde(default)]
    end: String,
    #[serde(default)]
    calls: Calls,
    #[serde(default)]
    text: Text,
    preamble: Option<Preamble>,
    reasoning: Option<Reasoning>,
}

/// How text, reasoning and calls are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Layout {
    /// Text in which a trigger begins calls.
    #[default]
    Triggered,
    /// Reasoning, text and calls are blocks, in this order. The prompt contains the beginning of the first block.
    Blocks,
    /// Reasoning, text and calls are messages in any order.
    Messages,
}

/// Reads the name of a style of arguments; `None` means JSON.
fn style<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Spelling>, D::Error> {
    let name = String::deserialize(deserializer)?;
    match Spelling::of_style(&name) {
        Some(Spelling::Json) => Ok(None),
        Some(style) => Ok(Some(style)),
        None => {
            let names = Spelling::STYLES.map(|(name, _)| format!("`{name}`")).join(", ");
            Err(D::Error::custom(format!("unknown variant `{name}`, expected one of {names}")))
        }
    }
}

/// The name of the style of arguments that writes JSON.
const JSON: &str = "json";

/// The texts around all calls of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Calls {
    /// The text before `begin` if a call is required.
    lead: String,
    /// The alternative texts that begin the section of calls. If empty, calls are not enclosed in a section.
    begin: Texts,
    /// The text between two calls of a section, or between two messages.
    separator: String,
    /// The alternative texts that end the section of calls.
    end: Texts,
    /// Whether the beginning of the section is followed by the first call's name before it counts as a beginning,
    /// because `begin` alone occurs in text.
    begin_with_call: bool,
    /// Whether the section ends the output.
    end_turn: bool,
}

/// Text outside of calls and reasoning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Text {
    /// The beginning of a block or a message of text.
    begin: String,
    /// The alternative texts that end a block or a message of text.
    end: Texts,
    /// Special tokens that text may not contain. Default: the beginning and the end of reasoning.
    excludes: Option<Texts>,
    /// Texts that are also excluded if no tool can be called; not used by the layout `messages`.
    excludes_without_calls: Texts,
}

/// Text to the user before calls, with the layout `messages`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Preamble {
    begin: String,
    /// The alternative texts that end a preamble.
    end: Texts,
}

/// The reasoning before an answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reasoning {
    begin: String,
    /// The alternative texts that end reasoning.
    end: Texts,
    /// The text after the end of reasoning; not used by the layout `messages`.
    #[serde(default)]
    after: String,
    /// Whether the prompt already ends with `begin` if reasoning is enabled; not used by the layout `messages`.
    #[serde(default)]
    in_prompt: InPrompt,
    /// Special tokens that reasoning may not contain. Default: `begin` and `end`.
    excludes: Option<Texts>,
    /// The beginning of the output if reasoning is disabled; not used by the layout `messages`.
    #[serde(default)]
    disabled: String,
    /// The text that may replace reasoning if the model decides; not used by the layout `messages`.
    #[serde(default)]
    skipped: String,
}

/// Whether the prompt ends with the beginning of reasoning if reasoning is enabled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum InPrompt {
    #[default]
    Always,
    /// Reasoning may contain its own beginning, which the model writes if the prompt does not.
    Sometimes,
    Never,
}

impl TagPreset {
    /// Returns the names of the built-in families.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        FAMILIES.iter().map(|(name, _)| *name)
    }

    /// Returns the built-in preset of a family.
    ///
    /// # Errors
    /// `tools/unknown-family` if no built-in family has the name.
    pub fn named(name: &str) -> Result<TagPreset> {
        match FAMILIES.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => TagPreset::from_toml(text, &Limits::default()),
            None => Err(errors::unknown_family(name, TagPreset::names())),
        }
    }

    /// Parses a preset in TOML and checks that its fields agree.
    ///
    /// # Errors
    /// `tools/preset` with the place if the text is not such a table, or if its fields contradict each other;
    /// `limit/exceeded` if it is longer than [`source_bytes`](Limits::source_bytes).
    pub fn from_toml(text: &str, limits: &Limits) -> Result<TagPreset> {
        limits.check_source(text)?;
        let preset: TagPreset = toml::from_str(text).map_err(|cause| {
            let place = cause.span().map_or(Place::Whole, |span| Place::in_text(text, span.start));
            errors::preset(place, cause.message())
        })?;
        preset.check()?;
        Ok(preset)
    }

    /// Checks the constraints that the TOML parser does not.
    fn check(&self) -> Result<()> {
        let wrong = |found: &str, allowed: &str| Err(errors::contradiction(found, allowed));
        if self.call.0.is_empty() {
            return wrong("no `call`", "at least one way to write a call");
        }
        let calls = || self.call.0.iter().chain(&self.builtin_call.0);
        let has_section = !self.calls.begin.0.is_empty();
        if self.layout != Layout::Triggered && (self.calls.begin_with_call || self.calls.end_turn) {
            return wrong("`begin_with_call` or `end_turn` outside of text", "the layout `triggered`");
        }
        if !has_section && self.calls.end_turn {
            return wrong("`end_turn` of calls without a section", "a section with a `begin`");
        }
        if !has_section && (!self.calls.lead.is_empty() || !self.calls.end.0.is_empty()) {
            return wrong("`lead` or `end` of calls without their `begin`", "a section with a `begin`");
        }
        if !has_section && calls().any(|call| call.before_name().is_empty()) {
            return wrong("a call that nothing begins", "text before the first hole, or `begin` of calls");
        }
        if self.calls.begin.0.iter().any(String::is_empty) {
            return wrong("an empty `begin` of calls", "texts that are not empty");
        }
        let is_end = |end: &Texts| !end.0.is_empty() && end.0.iter().all(|text| !text.is_empty());
        if self.reasoning.as_ref().is_some_and(|reasoning| !is_end(&reasoning.end)) {
            return wrong("reasoning without an `end`", "a text that is not empty");
        }
        if let Some(preamble) = &self.preamble
            && (self.layout != Layout::Messages || preamble.begin.is_empty() || !is_end(&preamble.end))
        {
            return wrong(
                "a preamble outside of messages, or without a `begin` or an `end`",
                "messages with both",
            );
        }
        match self.layout {
            Layout::Triggered => {
                let is_begun = |text: &str| text.starts_with(&self.trigger);
                if self.calls.begin_with_call {
                    if !has_section || !self.trigger.is_empty() || self.calls.end.0.len() > 1 {
                        return wrong(
                            "`begin_with_call` without a section, with a `trigger` or with several ends",
                            "a section with one `end`, whose calls are its triggers",
                        );
                    }
                } else if self.trigger.is_empty() {
                    return wrong("no `trigger`", "the text that begins calls inside other text");
                }
                if !self.calls.begin.0.iter().all(|begin| is_begun(begin))
                    || !has_section && !calls().all(|call| is_begun(call.before_name()))
                {
                    return wrong(
                        "calls that do not begin with `trigger`",
                        "a trigger that calls begin with",
                    );
                }
                if !self.text.begin.is_empty() || !self.text.end.0.is_empty() || !self.end.is_empty() {
                    return wrong("a beginning or an end of text", "the layout `blocks` or `messages`");
                }
                if !has_section && !self.calls.separator.is_empty() {
                    return wrong("a `separator` of calls without a section", "a section with a `begin`");
                }
            }
            Layout::Blocks | Layout::Messages => {
                if !self.trigger.is_empty() {
                    return wrong("a `trigger` where text does not surround calls", "the layout `triggered`");
                }
                if self.text.begin.is_empty() || !is_end(&self.text.end) {
                    return wrong("text without a `begin` or an `end`", "both, in `[text]`");
                }
                if (self.layout == Layout::Blocks) != has_section {
                    return wrong(
                        "a layout that does not fit `begin` of calls",
                        "a section of calls in blocks",
                    );
                }
                if self.layout == Layout::Messages
                    && (self.calls.separator.is_empty() || !self.end.is_empty())
                {
                    return wrong(
                        "messages without a `separator`, or with an `end`",
                        "messages with a separator",
                    );
                }
            }
        }
        Ok(())
    }

    /// Builds the structural tag of a request. `tools` is the list of a chat completion request: functions, custom tools
    /// (also as the Responses API has them), and builtin tools with `type`, `name` and `parameters`. A tool whose
    /// arguments the family's style cannot write is left out. The input of a custom tool is written as the only
    /// argument `input`, a text.
    ///
    /// # Errors
    /// `tools/tag-tools` if the list has an invalid form, `tools/form` and `tools/definition` if the `format` or the
    /// grammar of a custom tool is invalid, and `tools/tag-choice` if the choice is, each with a JSON Pointer; `tools/unknown-tool` if the choice names a function that is not in the list; `tools/no-tools` if a call
    /// is required but there are no tools; `tools/left-out` if a call is required and all tools are left out;
    /// `tools/no-markers` if markers are to be tokens and the family names none, or cannot write a part in tokens;
    /// `limit/exceeded` if the list has more than [`catalogue_tools`](Limits::catalogue_tools) tools. If the request has
    /// the schema of an answer: those of [`json_schema::compile_value`](grammata::syntax::json_schema::compile_value),
    /// `tools/no-answer` if no value satisfies the schema, and `tools/answer-like-call` if an answer may begin as a call
    /// does; places are JSON Pointers in the schema.
    pub fn structural_tag(&self, tools: &Value, options: &TagOptions) -> Result<RequestTag> {
        let mut request = request::Request::read(tools, options, !self.builtin_call.0.is_empty())?;
        let builder = tag::Builder { preset: self, options };
        let warnings = writable::retain(&mut request, builder)?;
        let schema = options.answer.as_ref();
        let answer_warnings = schema.map(|schema| answer::check(schema, &request, builder));
        let answer_warnings = answer_warnings.transpose()?.unwrap_or_default();
        let mut tag = builder.tag(&request);
        if options.token_markers {
            if self.markers.0.is_empty() {
                return Err(errors::no_markers());
            }
            let is_spelled = !options.exclude_spelled_markers;
            tag["format"] = markers::bind(&tag["format"], &self.markers.0, is_spelled)
                .map_err(|found| errors::unbound_markers(&found))?;
        }
        let writable::Warnings { left_out, arguments } = warnings;
        let callable = request.tools.iter().map(|tool| tool.name.to_owned()).collect();
        Ok(RequestTag { tag, callable, warnings: left_out, tool_warnings: arguments, answer_warnings })
    }
}

/// The structural tag of a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestTag {
    /// The tag, JSON that [`structural_tag::compile_value`](grammata::syntax::structural_tag::compile_value) compiles.
    pub tag: Value,
    /// The names of the tools that an output may call.
    pub callable: Vec<String>,
    /// A warning (`tools/left-out`) for each tool that may not be called, because its arguments cannot be written. The
    /// place is a JSON Pointer in the list of tools.
    pub warnings: Vec<Diagnostic>,
    /// What the schemas of arguments say and masks do not enforce. The place is a JSON Pointer in the list of tools.
    pub tool_warnings: Vec<Diagnostic>,
    /// What the schema of the answer says and masks do not enforce. The place is a JSON Pointer in the schema.
    pub answer_warnings: Vec<Diagnostic>,
}
