//! `grammata schema-report`: shows a schema's keywords, options and compiled size.

use crate::args::source::{self, Schema, SourceArgs};
use crate::io::output::{Exit, Failure, Output, seconds};
use crate::io::text;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

/// Warnings go to standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let schema = source::load_schema(&arguments.source, &arguments.source.limits.get())?;
    schema.text.warn(schema.compiled.warnings.clone());
    if output.is_json() {
        output.report(&Report::new(&schema))?;
    } else {
        write_table(output, &schema)?;
    }
    Ok(Exit::Done)
}

/// Returns the sizes of a schema and of its grammar, with their names.
fn sizes(schema: &Schema) -> [(&'static str, usize); 6] {
    let Schema { text, compiled, .. } = schema;
    [
        ("bytes", text.bytes()),
        ("schemas", compiled.summary.schemas),
        ("made schemas", compiled.summary.made_schemas),
        ("conjunctions", compiled.summary.conjunctions),
        ("grammar rules", compiled.grammar.rules().len()),
        ("grammar nodes", compiled.grammar.expressions().len()),
    ]
}

/// The report: a schema's keywords, options and compiled size.
#[derive(Serialize)]
struct Report<'a> {
    draft: Option<&'static str>,
    keywords: &'a BTreeMap<Cow<'static, str>, usize>,
    /// The options, by their names in `x-grammata` converted to snake case.
    policies: BTreeMap<String, Value>,
    sizes: BTreeMap<String, usize>,
    compile_seconds: f64,
}

impl Report<'_> {
    fn new(schema: &Schema) -> Report<'_> {
        let policies = schema.options.policies().map(|(name, value)| (snake_case(name), value));
        let sizes = sizes(schema).map(|(name, size)| (name.replace(' ', "_"), size));
        Report {
            draft: schema.compiled.summary.draft,
            keywords: &schema.compiled.summary.keywords,
            policies: policies.into_iter().collect(),
            sizes: sizes.into_iter().collect(),
            compile_seconds: seconds(schema.elapsed),
        }
    }
}

/// Converts a name from camel case to snake case.
fn snake_case(name: &str) -> String {
    let word =
        |c: char| if c.is_ascii_uppercase() { format!("_{}", c.to_ascii_lowercase()) } else { c.to_string() };
    name.chars().map(word).collect()
}

fn write_table(output: &mut Output, schema: &Schema) -> std::io::Result<()> {
    let mut row = |name: &str, value: &dyn std::fmt::Display| writeln!(output, "{name:16}{value}");
    row(
        "draft",
        &schema.compiled.summary.draft.unwrap_or("none named: 2020-12, older spellings understood"),
    )?;
    for (name, value) in schema.options.policies() {
        row(name, &value.as_str().map_or_else(|| value.to_string(), str::to_owned))?;
    }
    for (name, size) in sizes(schema) {
        row(name, &size)?;
    }
    row("warnings", &schema.compiled.warnings.len())?;
    row("seconds", &format!("{:.4}", seconds(schema.elapsed)))?;
    writeln!(output, "keywords")?;
    let mut keywords: Vec<(&Cow<'static, str>, &usize)> = schema.compiled.summary.keywords.iter().collect();
    keywords.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (keyword, count) in keywords {
        writeln!(output, "{count:>8}  {}", text::quoted(keyword.as_bytes()))?;
    }
    Ok(())
}
