//! The grammar of the outputs of an order, and how they are read back.

use crate::app::App;
use crate::errors::{ApiError, detail};
use crate::request::{Format, Order};
use crate::{reasoning, tools};
use grammata::error::Error;
use grammata::syntax::Source;
use grammata_agents::tools::{OutputReader, TagOptions};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The grammar of the outputs of an order; without a source any text.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) source: Option<Source>,
    /// Where in the body errors of the grammar are.
    pub(crate) place: &'static str,
    /// Splits outputs into reasoning, text and calls.
    pub(crate) reader: Option<OutputReader>,
    /// What the order says and the masks do not enforce.
    pub(crate) warnings: Vec<Value>,
}

/// The forms of earlier orders with the same tools and schema.
#[derive(Debug, Default)]
pub(crate) struct Forms(Mutex<HashMap<Key, Arc<Form>>>);

/// A hash of all that a form depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key([u8; 32]);

/// How many forms are kept. When there are more, all are dropped.
const KEPT: usize = 256;

impl Forms {
    pub(crate) fn get(&self, key: Key) -> Option<Arc<Form>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    fn keep(&self, key: Key, form: &Arc<Form>) {
        let mut forms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if forms.len() >= KEPT {
            forms.clear();
        }
        forms.insert(key, Arc::clone(form));
    }
}

impl Order {
    /// The key of the order's form. Orders without tools whose format is a grammar or a text have none: their form takes
    /// no time.
    pub(crate) fn key(&self) -> Option<Key> {
        let answer = match &self.format {
            Format::Schema { schema, place } => json!([schema, place]),
            Format::Text if !self.tools.is_empty() => Value::Null,
            Format::Text | Format::Grammar { .. } => return None,
        };
        let mode = format!("{:?}", self.reasoning);
        let all = json!([self.tools, self.tool_choice, self.parallel_tool_calls, mode, answer]);
        Some(Key(Sha256::digest(all.to_string()).into()))
    }
}

/// The most white space at a place of arguments and answers, in characters: models tend to repeat it without end.
const MOST_SPACE: u32 = 16;

impl App {
    /// Returns the form of an order with this [key](Order::key).
    pub(crate) fn form(&self, order: &Order, key: Option<Key>) -> Result<Arc<Form>, ApiError> {
        if let Some(known) = key.and_then(|key| self.forms.get(key)) {
            return Ok(known);
        }
        let form = Arc::new(self.new_form(order)?);
        if let Some(key) = key {
            self.forms.keep(key, &form);
        }
        Ok(form)
    }

    fn new_form(&self, order: &Order) -> Result<Form, ApiError> {
        tools::check_choice(order)?;
        let answer = match &order.format {
            Format::Text => None,
            Format::Schema { schema, place } => Some((schema, *place)),
            Format::Grammar { source, place } => {
                if !order.tools.is_empty() {
                    let message =
                        format!("`{place}` cannot be used together with `tools`; a JSON Schema can");
                    return Err(ApiError::unsupported(place, message));
                }
                let source = Some((**source).clone());
                return Ok(Form { source, place, reader: None, warnings: Vec::new() });
            }
        };
        let Some(family) = &self.family else {
            if !order.tools.is_empty() {
                let message = "this server was started without `--family`, so it does not know how the model writes calls";
                return Err(ApiError::unsupported("tools", message));
            }
            let schema = answer
                .map(|(schema, place)| (Source::JsonSchema(schema.to_string(), Format::options()), place));
            let (source, place) = schema.map_or((None, ""), |(source, place)| (Some(source), place));
            return Ok(Form { source, place, reader: None, warnings: Vec::new() });
        };
        let mode = reasoning::mode(order, family)?;
        let options = TagOptions::default()
            .tool_choice(order.tool_choice.clone())
            .parallel_tool_calls(order.parallel_tool_calls)
            .reasoning(mode)
            .answer(answer.map(|(schema, _)| schema.clone()))
            .max_whitespace_cnt(Some(MOST_SPACE))
            .token_markers(family.has_marker_tokens)
            .exclude_spelled_markers(true)
            .limits(self.limits.clone());
        let answer_place = answer.map(|(_, place)| place);
        let made = family.preset.structural_tag(&tools::for_masks(&order.tools), &options);
        let made = made.map_err(|error| {
            let error = ApiError::of(&error, place_of(&error, answer_place));
            if order.is_flat { error.flat() } else { error }
        })?;
        let names = made.callable.iter().map(String::as_str);
        let reader = family.preset.reader(names, mode).map_err(|error| ApiError::of(&error, "tools"))?;
        let warnings = made.warnings.iter().chain(&made.tool_warnings).chain(&made.answer_warnings);
        Ok(Form {
            source: Some(Source::structural_tag(made.tag.to_string())),
            place: answer_place.filter(|_| order.tools.is_empty()).unwrap_or("tools"),
            reader: Some(reader.with_answer(answer.is_some())),
            warnings: warnings.map(detail).collect(),
        })
    }
}

/// Returns the member of the body that an error of a structural tag is about.
fn place_of(error: &Error, answer: Option<&'static str>) -> &'static str {
    match error.code() {
        "tools/tag-choice" | "tools/unknown-tool" | "tools/no-tools" => "tool_choice",
        "tools/tag-tools" | "tools/left-out" | "tools/form" | "tools/definition" => "tools",
        _ => answer.unwrap_or("tools"),
    }
}
