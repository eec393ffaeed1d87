//! `grammata schema-report`: what a JSON Schema uses, how it was read, and what it came to.

use super::output::{Exit, Failure, Output};
use super::source::{self, Schema, SourceArgs};
use super::text;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Write;

/// Warnings go to standard error, with `--json` also into the object.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let schema = source::load_schema(&arguments.source, &arguments.source.limits.get())?;
    schema.text.warn(schema.compiled.warnings.clone());
    if arguments.json {
        output.json(&as_json(&schema))?;
    } else {
        write_table(output, &schema)?;
    }
    Ok(Exit::Done)
}

/// The sizes, each with what it counts.
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

fn as_json(schema: &Schema) -> Value {
    let key = |name: &str| name.replace(' ', "_");
    let sizes = sizes(schema).map(|(name, size)| (key(name), json!(size)));
    let warnings: Vec<Value> = schema
        .compiled
        .warnings
        .iter()
        .map(|w| json!({ "code": w.code(), "message": w.message(), "at": w.place().to_string() }))
        .collect();
    json!({
        "draft": schema.compiled.summary.draft,
        "keywords": schema.compiled.summary.keywords,
        "policies": Value::Object(schema.options.policies().map(|(name, v)| (name.to_owned(), v)).into_iter().collect()),
        "size": Value::Object(sizes.into_iter().collect()),
        "warnings": warnings,
        "milliseconds": schema.elapsed.as_secs_f64() * 1e3,
    })
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
    row("milliseconds", &format!("{:.1}", schema.elapsed.as_secs_f64() * 1e3))?;
    writeln!(output, "keywords")?;
    let mut keywords: Vec<(&Cow<'static, str>, &usize)> = schema.compiled.summary.keywords.iter().collect();
    keywords.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (keyword, count) in keywords {
        writeln!(output, "{count:>8}  {}", text::quoted(keyword.as_bytes()))?;
    }
    Ok(())
}
