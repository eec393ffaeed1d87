//! The JSON Schema of specs, for completion and checks in editors.

use super::document::Document;
use super::parameters::Header;
use serde_json::{Value, json};

/// Returns the JSON Schema (draft 2020-12) of a spec, for editors. It describes a spec without template tags. The
/// fields `parameters` and `templates` of a header are allowed among the others, since an editor sees one document.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Document).to_value();
    let header = schemars::schema_for!(Header).to_value();
    for part in ["properties", "$defs"] {
        let Some(more) = header.get(part).and_then(Value::as_object) else { continue };
        if let Some(object) = schema.as_object_mut() {
            let known = object.entry(part).or_insert_with(|| json!({}));
            if let Some(known) = known.as_object_mut() {
                more.iter().for_each(|(name, value)| {
                    known.insert(name.clone(), value.clone());
                });
            }
        }
    }
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), json!("Automaton spec or plan spec of Grammata"));
    }
    schema
}
