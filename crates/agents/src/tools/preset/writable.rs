//! The tools whose arguments a family can write.

use super::errors;
use super::request::{Calling, Request};
use super::tag::Builder;
use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, ErrorKind, Result};
use grammata::grammar::analysis::productive;
use grammata::syntax::{json_schema, structural_tag};
use hashbrown::HashMap;
use serde_json::Value;

/// The levels of JSON around a schema in a tag, at most.
const LEVELS_AROUND: usize = 14;

/// The levels of JSON that a structural tag may have.
const LEVELS: usize = 127;

/// Removes the tools whose arguments cannot be written, and returns a warning for each.
///
/// # Errors
/// `tools/left-out` if a call is required and no tool is left.
pub(super) fn retain(request: &mut Request<'_>, builder: Builder<'_>) -> Result<Vec<Diagnostic>> {
    let style = builder.preset.style.and_then(json_schema::Spelling::style_name).unwrap_or(super::JSON);
    let options = options(builder);
    let mut known: HashMap<String, Option<Diagnostic>> = HashMap::new();
    let mut warnings = Vec::new();
    request.tools.retain(|tool| {
        let schema = tool.parameters.unwrap_or(&Value::Bool(true));
        let reason = known.entry(schema.to_string()).or_insert_with(|| reason(schema, &options));
        warnings.extend(
            reason.as_ref().map(|reason| errors::left_out(tool.name, tool.parameters_at(), style, reason)),
        );
        reason.is_none()
    });
    match warnings.first() {
        Some(first) if request.tools.is_empty() && request.calling != Calling::Auto => {
            Err(Error::new(ErrorKind::Grammar, first.clone()))
        }
        _ => Ok(warnings),
    }
}

/// Returns the reason why the arguments of a schema cannot be written, if there is one.
fn reason(schema: &Value, options: &json_schema::Options) -> Option<Diagnostic> {
    match json_schema::compile_value(schema, options) {
        Ok(compiled) => {
            let grammar = compiled.grammar;
            let root = grammar.rule(grammar.root()).body;
            (!productive(&grammar).holds(root)).then(errors::no_arguments)
        }
        Err(error) => Some(error.diagnostic().clone()),
    }
}

/// Returns the options with which structural tags compile the arguments.
fn options(builder: Builder<'_>) -> json_schema::Options {
    let Builder { preset, options: request } = builder;
    let mut limits = request.limits.clone();
    limits.source_depth = limits.source_depth.min(LEVELS - LEVELS_AROUND);
    let mut options = structural_tag::Options::default().limits(limits).json_schema;
    if let Some(style) = preset.style {
        options = options.spelling(style);
    }
    if request.any_order {
        options = options.property_order(json_schema::PropertyOrder::Any);
    }
    if request.exclude_special_tokens {
        options.excludes.extend(preset.argument_excludes.0.iter().cloned());
    }
    options
}
