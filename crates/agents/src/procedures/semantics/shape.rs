//! The schemas of slots: their texts with one spelling per value, and a check of values.

use super::word::wrong_byte;
use grammata::automaton::{Automaton, Cache, Lazy};
use grammata::limits::Limits;
use grammata::syntax::json_schema::{self, Numbers, Whitespace};
use grammata::syntax::lark;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// Returns the options with which schemas of slots are compiled: compact whitespace and plain numbers.
pub(in crate::procedures) fn options(limits: &Limits) -> json_schema::Options {
    json_schema::Options::default()
        .whitespace(Whitespace::Compact)
        .numbers(Numbers::Plain)
        .grammars(Some(lark::IN_STRINGS))
        .limits(limits.clone())
}

/// Adds a pattern to a schema, so that a text that it allows has no control characters such as line breaks, and only
/// one spelling, as all strings with a pattern. Texts inside lists and objects are not restricted. A schema with a
/// pattern or another of the keywords that determine the texts is not changed. A schema that is not an object, as that
/// of a slot without one, is replaced by a text, a number or a boolean.
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

/// Returns the automaton of a schema with the default limits; `None` if it cannot be compiled.
fn automaton(schema: &Value, options: impl Fn(&Limits) -> json_schema::Options) -> Option<Automaton> {
    let limits = Limits::default();
    let compiled = json_schema::compile_value(schema, &options(&limits)).ok()?;
    Automaton::new(&compiled.grammar, &limits).ok()
}

/// The automata of a schema's texts, built on first use; `None` for a schema that cannot be compiled. The first schema
/// counts for all calls.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Shape {
    /// The texts that a mask allows, one for each value.
    offered: OnceLock<Option<Automaton>>,
    /// All compact texts of the values.
    all: OnceLock<Option<Automaton>>,
}

impl Shape {
    /// Returns those of the values that a schema allows. Returns all of them if the schema cannot be compiled with the
    /// default limits; that is reported when its grammar is needed.
    pub(in crate::procedures) fn allowed(&self, schema: &Value, values: Vec<Value>) -> Vec<Value> {
        let automaton = self.offered.get_or_init(|| automaton(&canonical(schema), options));
        let Some(automaton) = automaton else { return values };
        let mut cache = Cache::new();
        let mut run = Lazy::new(automaton, &mut cache);
        values
            .into_iter()
            .filter(|value| matches!(wrong_byte(&mut run, &value.to_string()), Ok(None)))
            .collect()
    }

    /// Returns whether a schema allows a value, as JSON Schema has it. True if the schema cannot be compiled with the
    /// default limits, or if they do not suffice for the value.
    pub(in crate::procedures) fn conforms(&self, schema: &Value, value: &Value) -> bool {
        let any = |limits: &Limits| {
            options(limits).numbers(Numbers::Any).property_order(json_schema::PropertyOrder::Any)
        };
        let Some(automaton) = self.all.get_or_init(|| automaton(schema, any)) else { return true };
        let mut cache = Cache::new();
        !matches!(wrong_byte(&mut Lazy::new(automaton, &mut cache), &value.to_string()), Ok(Some(_)))
    }
}
