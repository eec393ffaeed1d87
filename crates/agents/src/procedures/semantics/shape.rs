//! The schemas of slots: their texts with one spelling per value, and a check of values.

use crate::chat::wrong_byte;
use grammata::automaton::{Automaton, Cache, Lazy};
use grammata::limits::Limits;
use grammata::syntax::json_schema::{self, Numbers, Whitespace};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// Returns the options with which schemas of slots are compiled: compact whitespace and plain numbers.
pub(in crate::procedures) fn options(limits: &Limits) -> json_schema::Options {
    json_schema::Options::default()
        .whitespace(Whitespace::Compact)
        .numbers(Numbers::Plain)
        .limits(limits.clone())
}

/// Returns a schema whose texts have no characters below U+0020, such as line breaks, and one spelling each, because
/// strings with a pattern have one spelling. A schema with a pattern or another of the keywords that determine the
/// texts is not changed. A slot without a schema is a text, a number or a boolean.
pub(in crate::procedures) fn canonical(schema: &Value) -> Value {
    const LINE: &str = "^[^\\u0000-\\u001f]*$";
    let Some(fields) = schema.as_object() else {
        return json!({ "type": ["string", "number", "boolean"], "pattern": LINE });
    };
    let decides = ["pattern", "format", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];
    let mut fields = fields.clone();
    if !decides.iter().any(|key| fields.contains_key(*key)) {
        fields.insert("pattern".to_owned(), LINE.into());
    }
    Value::Object(fields)
}

/// The automaton of a schema's texts, built on first use.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Shape(OnceLock<Option<Automaton>>);

impl Shape {
    /// Returns those of the values that a schema allows. Returns all of them if the schema cannot be compiled within
    /// the default limits; that is reported when its grammar is needed.
    pub(in crate::procedures) fn allowed(&self, schema: &Value, values: Vec<Value>) -> Vec<Value> {
        let automaton = self.0.get_or_init(|| {
            let limits = Limits::default();
            let compiled = json_schema::compile_value(&canonical(schema), &options(&limits)).ok()?;
            Automaton::new(&compiled.grammar, &limits).ok()
        });
        let Some(automaton) = automaton else { return values };
        let mut cache = Cache::new();
        let mut run = Lazy::new(automaton, &mut cache);
        values
            .into_iter()
            .filter(|value| matches!(wrong_byte(&mut run, &value.to_string()), Ok(None)))
            .collect()
    }
}
