//! The formats of a model's output, as grammars.

use super::{Lines, MOST_QUERIES, Mode, lines_pattern};
use grammata::error::Result;
use grammata::grammar::{ExprId, Grammar, GrammarBuilder};
use grammata::limits::Limits;
use grammata::syntax::json_schema::{self, Whitespace};
use grammata::syntax::regex;
use grammata_agents::retrieval::Catalogue;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeSet;

/// The maximum number of words that state what a request needs, in the mode `reasoned`.
const REASON_WORDS: usize = 25;

/// The format of a model's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// No format: the output is [parsed](super::parse).
    Raw,
    /// One query per line.
    #[default]
    Lines,
    /// A JSON object with `queries`, each with a `description` and optionally one `category` of the catalogue.
    Json,
    /// Lines that begin with the name or category of a tool of the catalogue and a colon, so that a model cannot invent
    /// names.
    Grounded,
}

impl Format {
    /// All formats: name, description and value.
    pub const ALL: [(&'static str, &'static str, Format); 4] = [
        ("raw", "as the model writes it, without a grammar", Format::Raw),
        ("lines", "one query a line", Format::Lines),
        ("json", "an object with queries and, perhaps, their categories", Format::Json),
        ("grounded", "lines that begin with a name or category of the catalogue", Format::Grounded),
    ];

    /// Returns the name of the format, as serialised.
    pub fn name(self) -> &'static str {
        Format::ALL.iter().find(|(_, _, format)| *format == self).map_or("", |(name, ..)| name)
    }
}

/// Returns the grammar of a format; `None` for [`Format::Raw`]. In the mode [`Reasoned`](Mode::Reasoned), a line
/// `Needs: ` of at most 25 words comes first (in JSON, a member `needs`).
///
/// # Errors
/// The catalogue has more names (for JSON, more categories) than `limits.grammar_nodes` allows, or no names for
/// [`Format::Grounded`]; the bounds in `form` exceed limits of patterns.
pub fn format_grammar(
    format: Format,
    mode: Mode,
    form: &Lines,
    catalogue: &Catalogue,
    limits: &Limits,
) -> Result<Option<Grammar>> {
    let options = regex::Options::default().limits(limits.clone());
    let is_reasoned = mode == Mode::Reasoned;
    if format == Format::Json {
        return json(form, is_reasoned, catalogue, limits).map(Some);
    }
    let mut builder = GrammarBuilder::with_limits(limits.clone());
    let lines = match format {
        Format::Raw | Format::Json => return Ok(None),
        Format::Lines => builder.import(&regex::compile(&lines_pattern(form), &options)?),
        Format::Grounded => grounded(&mut builder, form, catalogue, &options)?,
    };
    let reason =
        if is_reasoned { builder.import(&regex::compile(&reason(form), &options)?) } else { builder.empty() };
    let body = builder.sequence([reason, lines]);
    let root = builder.declare("queries");
    builder.define(root, body);
    builder.build(root).map(Some)
}

/// Returns the pattern of the line that states what a request needs, with its line feed.
fn reason(form: &Lines) -> String {
    let line = Lines { lines: 1..=1, words: 1..=REASON_WORDS, ..form.clone() };
    format!(r"Needs: {}\n", lines_pattern(&line))
}

fn json(form: &Lines, is_reasoned: bool, catalogue: &Catalogue, limits: &Limits) -> Result<Grammar> {
    let one =
        |words| json!({ "type": "string", "pattern": ecma(&Lines { lines: 1..=1, words, ..form.clone() }) });
    let categories: BTreeSet<&str> =
        catalogue.tools().iter().map(|tool| tool.category.as_str()).filter(|name| !name.is_empty()).collect();
    let mut query = json!({
        "type": "object",
        "properties": { "description": one(form.words.clone()) },
        "required": ["description"],
        "additionalProperties": false,
    });
    if !categories.is_empty() {
        query["properties"]["category"] = json!({ "enum": categories });
    }
    let (least, most) = (*form.lines.start(), *form.lines.end());
    let queries = json!({ "type": "array", "items": query, "minItems": least.max(1), "maxItems": most,
                          "uniqueItems": true });
    let schema = if is_reasoned {
        let needs = one(1..=REASON_WORDS);
        json!({ "type": "object", "properties": { "needs": needs, "queries": queries },
                "required": ["needs", "queries"], "additionalProperties": false })
    } else {
        json!({ "type": "object", "properties": { "queries": queries }, "required": ["queries"],
                "additionalProperties": false })
    };
    let options = json_schema::Options::default().whitespace(Whitespace::Compact).limits(limits.clone());
    Ok(json_schema::compile_value(&schema, &options)?.grammar)
}

/// Returns an anchored pattern of one line, in ECMA-262 syntax.
fn ecma(form: &Lines) -> String {
    format!("^{}$", lines_pattern(form))
}

/// Lines that consist of a name or category of the catalogue, a colon and words. Names with control characters are left
/// out.
fn grounded(
    builder: &mut GrammarBuilder,
    form: &Lines,
    catalogue: &Catalogue,
    options: &regex::Options,
) -> Result<ExprId> {
    let names: BTreeSet<String> = catalogue
        .tools()
        .iter()
        .flat_map(|tool| [&tool.name, &tool.category])
        .map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|name| !name.is_empty() && !name.chars().any(char::is_control))
        .collect();
    let names: Vec<ExprId> = names.iter().map(|name| builder.text(name)).collect();
    let name = builder.choice(names);
    let colon = builder.text(": ");
    // the name counts as one word
    let least = (*form.words.start()).saturating_sub(1).max(1);
    let words = Lines {
        lines: 1..=1,
        words: least..=(*form.words.end()).saturating_sub(1).max(least),
        ..form.clone()
    };
    let words = builder.import(&regex::compile(&lines_pattern(&words), options)?);
    let line = builder.sequence([name, colon, words]);
    let end = builder.text("\n");
    let count = |n: usize| u32::try_from(n).unwrap_or(MOST_QUERIES as u32);
    Ok(builder.separated(line, end, count(*form.lines.start()).max(1), Some(count(*form.lines.end()))))
}
