//! The tools whose arguments a family can write.

use super::errors;
use super::request::{Calling, Request, TagOptions};
use super::tag::Builder;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, ErrorKind, Result};
use grammata::grammar::Grammar;
use grammata::grammar::analysis::productive;
use grammata::limits::Limits;
use grammata::syntax::{json_schema, structural_tag};
use hashbrown::HashMap;
use serde_json::Value;

/// The levels of JSON around a schema in a tag, at most.
const LEVELS_AROUND: usize = 14;

/// The levels of JSON that a structural tag may have.
const LEVELS: usize = 127;

/// Warnings about the tools of a request.
#[derive(Default)]
pub(super) struct Warnings {
    pub(super) left_out: Vec<Diagnostic>,
    /// What schemas of arguments say and masks do not enforce.
    pub(super) arguments: Vec<Diagnostic>,
}

/// Removes the tools whose arguments cannot be written. Returns a warning for each, and the warnings about the
/// arguments of the others.
///
/// # Errors
/// `tools/left-out` if a call is required and no tool is left.
pub(super) fn retain(request: &mut Request<'_>, builder: Builder<'_>) -> Result<Warnings> {
    let style = builder.preset.style.and_then(json_schema::Spelling::style_name).unwrap_or(super::JSON);
    let options = options(builder);
    let mut known: HashMap<String, std::result::Result<Vec<Diagnostic>, Box<Diagnostic>>> = HashMap::new();
    let mut warnings = Warnings::default();
    request.tools.retain(|tool| {
        let schema = tool.parameters.as_deref().unwrap_or(&Value::Bool(true));
        match known.entry(schema.to_string()).or_insert_with(|| checked(schema, &options)) {
            Ok(found) => {
                let found = if tool.warnings.is_empty() { &found[..] } else { &tool.warnings };
                warnings.arguments.extend(found.iter().map(|warning| tool.located(warning.clone())));
                true
            }
            Err(reason) => {
                warnings.left_out.push(errors::left_out(
                    tool.name,
                    tool.place(),
                    style,
                    &tool.located((**reason).clone()),
                ));
                false
            }
        }
    });
    match warnings.left_out.first() {
        Some(first) if request.tools.is_empty() && request.calling != Calling::Auto => {
            Err(Error::new(ErrorKind::Grammar, first.clone()))
        }
        _ => Ok(warnings),
    }
}

/// Returns the warnings about a schema of arguments, or the reason why its values cannot be written.
fn checked(
    schema: &Value,
    options: &json_schema::Options,
) -> std::result::Result<Vec<Diagnostic>, Box<Diagnostic>> {
    let compiled =
        json_schema::compile_value(schema, options).map_err(|error| Box::new(error.diagnostic().clone()))?;
    match has_words(&compiled.grammar, options) {
        true => Ok(compiled.warnings),
        false => Err(Box::new(errors::no_arguments())),
    }
}

/// Whether a grammar has words. Names without quotes must be identifiers, and special tokens are excluded: only the
/// automaton shows that none is left.
pub(super) fn has_words(grammar: &Grammar, options: &json_schema::Options) -> bool {
    if !productive(grammar).holds(grammar.rule(grammar.root()).body) {
        return false;
    }
    let may_hide = options.spelling == json_schema::Spelling::Keywords || !options.excludes.is_empty();
    let is_empty = |error: Error| error.code() == EMPTY;
    !may_hide || !Automaton::new(grammar, &options.limits).is_err_and(is_empty)
}

/// Returns the options with which structural tags compile the arguments.
fn options(builder: Builder<'_>) -> json_schema::Options {
    let Builder { preset, options: request } = builder;
    let mut options = common_options(request);
    if let Some(style) = preset.style {
        options = options.spelling(style);
    }
    if request.exclude_special_tokens {
        options.excludes.extend(preset.argument_excludes.0.iter().cloned());
    }
    options
}

/// Returns the options with which structural tags compile the answer.
pub(super) fn answer_options(builder: Builder<'_>, has_calls: bool) -> json_schema::Options {
    let mut options = common_options(builder.options);
    options.excludes.extend(builder.answer_excludes(has_calls));
    options
}

/// Returns the first of `texts` with which some word of a grammar begins.
///
/// # Errors
/// Those of [`Automaton::new`] and its steps.
pub(super) fn beginning(grammar: &Grammar, texts: Vec<String>, limits: &Limits) -> Result<Option<String>> {
    if texts.is_empty() {
        return Ok(None);
    }
    let automaton = match Automaton::new(grammar, limits) {
        Err(error) if error.code() == EMPTY => return Ok(None),
        made => made?,
    };
    let mut cache = Cache::new();
    let mut lazy = Lazy::new(&automaton, &mut cache);
    let mut begins = |text: &str| {
        let mut at = lazy.start()?;
        for byte in text.bytes() {
            at = lazy.step(at, byte)?;
            if at == ConfigurationId::DEAD {
                return Ok(false);
            }
        }
        Ok(true)
    };
    for text in texts {
        if begins(&text)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

/// The code of the error about a grammar without words.
const EMPTY: &str = "automaton/empty-language";

fn common_options(request: &TagOptions) -> json_schema::Options {
    let mut limits = request.limits.clone();
    limits.source_depth = limits.source_depth.min(LEVELS - LEVELS_AROUND);
    let options = structural_tag::Options::default().limits(limits).json_schema;
    match request.any_order {
        true => options.property_order(json_schema::PropertyOrder::Any),
        false => options,
    }
}
