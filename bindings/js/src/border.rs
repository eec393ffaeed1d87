//! The functions of `js/border.js`, and how errors of the library become errors of JavaScript.

use crate::errors;
use grammata::{Diagnostic, Error, ErrorKind, Place};
use serde_json::{Map, Value};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./border.js")]
extern "C" {
    /// Makes an error from its kind, its message, and its diagnostics as JSON.
    #[wasm_bindgen(js_name = error)]
    fn make_error(kind: &str, message: &str, diagnostics: &str, is_cut: bool) -> JsValue;

    /// Throws the error of a panic.
    #[wasm_bindgen(js_name = panicked)]
    fn throw_panic(message: &str);

    /// The JSON text of a value; `None` for `undefined`. Throws for values that JSON cannot write.
    #[wasm_bindgen(catch, js_name = toJson)]
    fn write_json(value: &JsValue) -> Result<Option<String>, JsValue>;

    /// The message of what was thrown.
    #[wasm_bindgen(js_name = messageOf)]
    fn message_of(thrown: &JsValue) -> String;

    /// The value of a JSON text that this crate wrote.
    #[wasm_bindgen(js_name = fromJson)]
    fn read_json(text: &str) -> JsValue;
}

/// The result of a function that JavaScript calls.
pub(crate) type JsResult<T> = Result<T, JsValue>;

/// Converts results of the library to those of JavaScript.
pub(crate) trait Raise<T> {
    /// Returns the value, or the error as JavaScript throws it.
    fn raise(self) -> JsResult<T>;
}

impl<T> Raise<T> for grammata::Result<T> {
    fn raise(self) -> JsResult<T> {
        self.map_err(|error| thrown(&error))
    }
}

/// Runs when the module is instantiated: a panic throws an error that says where, instead of `unreachable`.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| throw_panic(&panic.to_string())));
}

/// The settings of the library that messages name, and what they are called in JavaScript.
const SETTINGS: [(&str, &str); 8] = [
    ("Options::root", "root"),
    ("Options::dialect", "dialect: \"ecma\""),
    ("LoadOptions::eos", "eos"),
    ("LoadOptions::specials", "specials"),
    ("LoadOptions::width", "width"),
    ("Samples::most", "maxBytes"),
    ("json_schema::Options::documents", "documents"),
    ("Vocabulary::mask_words()", "vocabulary.maskWords"),
];

fn thrown(error: &Error) -> JsValue {
    let kind = match error.kind() {
        ErrorKind::Grammar => "grammar",
        ErrorKind::Vocabulary => "vocabulary",
        ErrorKind::Limit => "limit",
        ErrorKind::Rejected => "rejected",
        _ => "usage",
    };
    let diagnostics: Vec<Diagnostic> = error.diagnostics().map(in_javascript).collect();
    let mut lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    if error.is_cut() {
        lines.extend(error.to_string().lines().last().map(str::to_owned));
    }
    let diagnostics = Value::Array(diagnostics.iter().map(object).collect());
    make_error(kind, &lines.join("\n"), &diagnostics.to_string(), error.is_cut())
}

/// Diagnostics that are not errors, as an array of objects.
pub(crate) fn warnings(warnings: &[Diagnostic]) -> JsValue {
    let list = warnings.iter().map(|warning| object(&in_javascript(warning))).collect();
    from_json(&Value::Array(list))
}

/// The value of JavaScript with this JSON.
pub(crate) fn from_json(value: &Value) -> JsValue {
    read_json(&value.to_string())
}

/// The JSON of a value; `None` for `undefined`. `what` names the value in the error.
pub(crate) fn to_json(what: &'static str, value: &JsValue) -> grammata::Result<Option<String>> {
    write_json(value).map_err(|thrown| errors::not_json(what, &message_of(&thrown)))
}

/// An object from names to values.
pub(crate) fn fields<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let fields: Map<String, Value> =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Value::Object(fields)
}

/// The fields of a diagnostic. Those that are unknown are null.
fn object(diagnostic: &Diagnostic) -> Value {
    let snippet = diagnostic.snippet().map(|snippet| (snippet.line(), snippet.column()));
    let place = diagnostic.place();
    let (line, column) = match *place {
        Place::LineColumn { line, column } => (Some(line), Some(column)),
        _ => snippet.unzip(),
    };
    fields([
        ("code", diagnostic.code().into()),
        ("message", diagnostic.message().into()),
        ("text", diagnostic.to_string().into()),
        ("place", (*place != Place::Whole).then(|| place.to_string()).into()),
        ("line", line.into()),
        ("column", column.into()),
        ("found", diagnostic.found_text().into()),
        ("cause", diagnostic.cause_text().into()),
        ("allowed", diagnostic.allowed_text().into()),
        ("help", diagnostic.help_text().into()),
    ])
}

/// A diagnostic whose help and bounds name options of JavaScript instead of settings of the library.
fn in_javascript(diagnostic: &Diagnostic) -> Diagnostic {
    diagnostic.renamed(option)
}

/// The option of JavaScript that corresponds to a setting.
fn option(setting: &str) -> Option<String> {
    match setting.strip_prefix("Limits::") {
        Some(limit) => Some(format!("limits: {{{limit}: …}}")),
        None => SETTINGS.iter().find(|(known, _)| *known == setting).map(|(_, name)| (*name).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::{object, option};
    use grammata::diagnostic::renamed;
    use grammata::syntax::{Source, parse};

    #[test]
    fn settings_have_their_names_of_javascript() {
        let cases = [
            ("raise `Limits::cache_bytes`", "raise `limits: {cache_bytes: …}`"),
            ("set `Options::root` or `x`", "set `root` or `x`"),
            ("Options::root without quotes", "Options::root without quotes"),
        ];
        for (given, expected) in cases {
            assert_eq!(renamed(given, option), expected);
        }
    }

    #[test]
    fn a_diagnostic_has_all_fields() {
        let schema = r#"{"properties": {"a": {"minimum": "3"}}}"#;
        let error = parse(&Source::json_schema(schema)).unwrap_err();
        let fields = object(error.diagnostic());
        assert_eq!(fields["code"], "json-schema/invalid-keyword");
        assert_eq!(fields["place"], "#/properties/a/minimum");
        assert_eq!(fields["line"], 1);
        for name in ["message", "text", "found", "allowed", "help"] {
            assert!(fields[name].as_str().is_some_and(|text| !text.is_empty()), "{name}: {fields}");
        }
        assert!(fields["cause"].is_null());
    }
}
