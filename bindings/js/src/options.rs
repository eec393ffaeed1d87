//! The options of a call: an object of JavaScript, read through its JSON.

use crate::border;
use crate::errors;
use grammata::limits::LimitKind;
use grammata::{Limits, Result};
use serde_json::{Map, Value};
use wasm_bindgen::JsValue;

/// The options that have not been read yet, and the names of those that have.
#[derive(Debug)]
pub(crate) struct Options {
    left: Map<String, Value>,
    known: Vec<&'static str>,
}

impl Options {
    /// Reads the argument `options`; `undefined` and `null` have no options.
    pub(crate) fn of(argument: &JsValue) -> Result<Options> {
        if argument.is_undefined() || argument.is_null() {
            return Ok(Options::from_object(Map::new()));
        }
        Options::parse(&border::to_json("`options`", argument)?.unwrap_or_default())
    }

    /// Reads the JSON of an object.
    pub(crate) fn parse(text: &str) -> Result<Options> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Options::from_object(fields)),
            _ => Err(errors::option("options", text, "an object")),
        }
    }

    fn from_object(left: Map<String, Value>) -> Options {
        Options { left, known: Vec::new() }
    }

    /// Takes an option; `None` if it is missing or null.
    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.left.shift_remove(name).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(errors::option(name, &other.to_string(), "a string")),
        }
    }

    pub(crate) fn flag(&mut self, name: &'static str, default: bool) -> Result<bool> {
        match self.take(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(errors::option(name, &other.to_string(), "true or false")),
        }
    }

    pub(crate) fn count(&mut self, name: &'static str) -> Result<Option<u32>> {
        self.take(name).map(|value| count(name, &value)).transpose()
    }

    /// Takes an option that is one of several names, each with its value; the first one is the default.
    pub(crate) fn choice<T, const N: usize>(
        &mut self,
        name: &'static str,
        all: [(&'static str, T); N],
    ) -> Result<Option<T>> {
        let Some(given) = self.text(name)? else { return Ok(None) };
        let names = all.each_ref().map(|(known, _)| *known);
        match all.into_iter().find(|(known, _)| *known == given) {
            Some((_, value)) => Ok(Some(value)),
            None => Err(errors::option(name, &given, &names.join(", "))),
        }
    }

    /// Takes a list of token ids, or one of them.
    pub(crate) fn ids(&mut self, name: &'static str) -> Result<Option<Vec<u32>>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(ids)) => ids.iter().map(|id| count(name, id)).collect::<Result<_>>().map(Some),
            Some(id) => Ok(Some(vec![count(name, &id)?])),
        }
    }

    /// Takes an object from names to token ids.
    pub(crate) fn named_ids(&mut self, name: &'static str) -> Result<Vec<(String, u32)>> {
        let named = self.object(name)?.into_iter();
        named.map(|(key, id)| Ok((key, count(name, &id)?))).collect()
    }

    /// Takes an object; an empty one if it is missing.
    pub(crate) fn object(&mut self, name: &'static str) -> Result<Map<String, Value>> {
        match self.take(name) {
            None => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields),
            Some(other) => Err(errors::option(name, &other.to_string(), "an object")),
        }
    }

    /// Takes an option that may be true, false or a list of strings.
    pub(crate) fn flag_or_names(&mut self, name: &'static str) -> Result<Option<FlagOrNames>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(FlagOrNames::Flag(flag))),
            Some(other) => match names(&other) {
                Some(names) => Ok(Some(FlagOrNames::Names(names))),
                None => Err(errors::option(name, &other.to_string(), "true, false or an array of strings")),
            },
        }
    }

    /// Takes an option that may be a string or a list of strings.
    pub(crate) fn text_or_names(&mut self, name: &'static str) -> Result<Option<TextOrNames>> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(TextOrNames::Text(text))),
            Some(other) => match names(&other) {
                Some(names) => Ok(Some(TextOrNames::Names(names))),
                None => Err(errors::option(name, &other.to_string(), "a string or an array of strings")),
            },
        }
    }

    /// Takes the option `limits`: an object from names of limits to numbers. Limits that it does not name have their
    /// defaults; a number beyond the address space of WebAssembly counts as its end.
    pub(crate) fn limits(&mut self) -> Result<Limits> {
        let mut limits = Limits::default();
        for (name, value) in self.object("limits")? {
            let kind = LimitKind::named(&name).ok_or_else(|| errors::unknown_limit(&name))?;
            let number = value.as_u64().ok_or_else(|| errors::option(&name, &value.to_string(), COUNT))?;
            limits = limits.with(kind, usize::try_from(number).unwrap_or(usize::MAX));
        }
        Ok(limits)
    }

    /// Fails if an option is left that nothing has read.
    pub(crate) fn finish(self) -> Result<()> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(errors::unknown_option(name, &self.known)),
        }
    }
}

/// An option that is a flag or a list of names.
#[derive(Debug)]
pub(crate) enum FlagOrNames {
    Flag(bool),
    Names(Vec<String>),
}

/// An option that is a text or a list of names.
#[derive(Debug)]
pub(crate) enum TextOrNames {
    Text(String),
    Names(Vec<String>),
}

const COUNT: &str = "a whole number, 0 or more";

fn count(name: &str, value: &Value) -> Result<u32> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| errors::option(name, &value.to_string(), COUNT))
}

fn names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::Options;
    use grammata::Limits;

    #[test]
    fn what_is_given_is_read() {
        let text = r#"{"text": "a", "flag": true, "count": 3, "kind": "b", "ids": [1, 2], "id": 7, "limits":
            {"cache_bytes": 5, "mask_file_bytes": 1099511627776}, "none": null, "named": {"x": 4}}"#;
        let mut options = Options::parse(text).unwrap();
        assert_eq!(options.text("text").unwrap().as_deref(), Some("a"));
        assert!(options.flag("flag", false).unwrap());
        assert_eq!(options.count("count").unwrap(), Some(3));
        assert_eq!(options.choice("kind", [("a", 1), ("b", 2)]).unwrap(), Some(2));
        assert_eq!(options.ids("ids").unwrap(), Some(vec![1, 2]));
        assert_eq!(options.ids("id").unwrap(), Some(vec![7]));
        assert_eq!(options.named_ids("named").unwrap(), [("x".to_owned(), 4)]);
        let limits = options.limits().unwrap();
        assert_eq!(limits.cache_bytes, 5);
        assert_eq!(limits.mask_file_bytes, usize::try_from(1u64 << 40).unwrap_or(usize::MAX));
        assert_eq!(limits.mask_work, Limits::default().mask_work);
        assert_eq!(options.text("none").unwrap(), None);
        assert!(options.flag("other", true).unwrap());
        options.finish().unwrap();
    }

    #[test]
    fn other_values_are_errors_that_say_what_is_allowed() {
        type Read = fn(&mut Options) -> grammata::Result<()>;
        let cases: [(&str, Read, &str, &str); 11] = [
            (r#"{"a": 1}"#, |o| o.text("a").map(drop), "1", "a string"),
            (r#"{"a": "x"}"#, |o| o.flag("a", true).map(drop), "\"x\"", "true or false"),
            (r#"{"a": -1}"#, |o| o.count("a").map(drop), "-1", "a whole number, 0 or more"),
            (r#"{"a": 1.5}"#, |o| o.count("a").map(drop), "1.5", "a whole number, 0 or more"),
            (r#"{"a": 4294967296}"#, |o| o.count("a").map(drop), "4294967296", "a whole number, 0 or more"),
            (r#"{"a": "z"}"#, |o| o.choice("a", [("x", 1), ("y", 2)]).map(drop), "z", "x, y"),
            (r#"{"a": [1, "2"]}"#, |o| o.ids("a").map(drop), "\"2\"", "a whole number, 0 or more"),
            (r#"{"a": []}"#, |o| o.object("a").map(drop), "[]", "an object"),
            (
                r#"{"a": [1]}"#,
                |o| o.flag_or_names("a").map(drop),
                "[1]",
                "true, false or an array of strings",
            ),
            (r#"{"a": [1]}"#, |o| o.text_or_names("a").map(drop), "[1]", "a string or an array of strings"),
            (
                r#"{"limits": {"mask_work": "9"}}"#,
                |o| o.limits().map(drop),
                "\"9\"",
                "a whole number, 0 or more",
            ),
        ];
        for (text, read, found, allowed) in cases {
            let error = read(&mut Options::parse(text).unwrap()).unwrap_err();
            let diagnostic = error.diagnostic();
            assert_eq!(error.code(), "js/option", "{text}");
            assert_eq!(diagnostic.found_text(), Some(found), "{text}");
            assert_eq!(diagnostic.allowed_text(), Some(allowed), "{text}");
            assert!(diagnostic.help_text().is_some(), "{text}");
        }
    }

    #[test]
    fn unknown_names_are_errors_that_list_the_known_ones() {
        let mut options = Options::parse(r#"{"whitspace": "free"}"#).unwrap();
        assert!(options.text("whitespace").unwrap().is_none());
        let error = options.finish().unwrap_err();
        assert_eq!(error.diagnostic().found_text(), Some("whitspace"));
        assert_eq!(error.diagnostic().allowed_text(), Some("whitespace"));
        assert!(error.diagnostic().help_text().unwrap().contains("whitespace"));

        let error = Options::parse(r#"{"limits": {"cache_byte": 1}}"#).unwrap().limits().unwrap_err();
        assert_eq!(error.code(), "js/limits");
        assert!(error.diagnostic().help_text().unwrap().contains("cache_bytes"));
        for text in ["", "[]", "3", "{"] {
            assert_eq!(Options::parse(text).unwrap_err().code(), "js/option", "{text}");
        }
    }
}
