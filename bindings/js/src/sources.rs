//! The texts of grammars with the options of their front ends.

use crate::errors;
use crate::options::Options;
use grammata::syntax::json_schema::{Documents, Formats, Numbers, PropertyOrder, Undeclared, Whitespace};
use grammata::syntax::{Notation, Source, gbnf, json_schema, lark, parse, regex, structural_tag};
use grammata::{Limits, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// The values of the option `dialect`.
fn dialect(options: &mut Options) -> Result<regex::Dialect> {
    let all = [("rust", regex::Dialect::Rust), ("ecma", regex::Dialect::Ecma262)];
    Ok(options.choice("dialect", all)?.unwrap_or_default())
}

fn whitespace(options: &mut Options) -> Result<Whitespace> {
    let Some(given) = options.text("whitespace")? else { return Ok(Whitespace::Short) };
    Ok(match (given.as_str(), given.split_once('=')) {
        ("free", _) => Whitespace::Free,
        ("compact", _) => Whitespace::Compact,
        ("short", _) => Whitespace::Short,
        ("spaced", _) => Whitespace::Spaced,
        (_, Some(("pattern", pattern))) => Whitespace::Pattern(pattern.to_owned()),
        (_, Some(("max", most))) if most.parse::<u32>().is_ok() => {
            Whitespace::AtMost(most.parse().unwrap_or_default())
        }
        _ => {
            let allowed = "free, compact, short, spaced, max=N, pattern=REGEX";
            return Err(errors::option("whitespace", &given, allowed));
        }
    })
}

/// The source of a JSON Schema.
pub(crate) fn json_schema(text: String, options: &mut Options, limits: &Limits) -> Result<Source> {
    let order = [("declared", PropertyOrder::Declared), ("any", PropertyOrder::Any)];
    let formats = [("assert", Formats::Assert), ("annotate", Formats::Annotate)];
    let undeclared = [("allowed", Undeclared::Allowed), ("refused", Undeclared::Refused)];
    let numbers = [("any", Numbers::Any), ("plain", Numbers::Plain)];
    let mut documents = Documents::default();
    for (uri, document) in options.object("documents")? {
        documents.insert(uri, document);
    }
    let options = json_schema::Options::default()
        .whitespace(whitespace(options)?)
        .property_order(options.choice("propertyOrder", order)?.unwrap_or(PropertyOrder::Declared))
        .formats(options.choice("formats", formats)?.unwrap_or(Formats::Assert))
        .undeclared(options.choice("undeclared", undeclared)?.unwrap_or(Undeclared::Allowed))
        .numbers(options.choice("numbers", numbers)?.unwrap_or(Numbers::Any))
        .max_digits(options.count("maxDigits")?)
        .documents(documents)
        .grammars(Some(lark::IN_STRINGS))
        .limits(limits.clone());
    Ok(Source::JsonSchema(text, options))
}

/// The source of a regular expression.
pub(crate) fn regex(text: String, options: &mut Options, limits: &Limits) -> Result<Source> {
    let options = regex::Options::default()
        .dialect(dialect(options)?)
        .unicode(options.flag("unicode", true)?)
        .case_insensitive(options.flag("caseInsensitive", false)?)
        .dot_matches_newline(options.flag("dotMatchesNewline", false)?)
        .ascii_classes(options.flag("asciiClasses", false)?)
        .search(options.flag("search", false)?)
        .limits(limits.clone());
    Ok(Source::Regex(text, options))
}

/// The source of a grammar in llama.cpp's notation.
pub(crate) fn gbnf(text: String, options: &mut Options, limits: &Limits) -> Result<Source> {
    let root = options.text("root")?.unwrap_or_else(|| "root".to_owned());
    Ok(Source::Gbnf(text, gbnf::Options::default().root(root).limits(limits.clone())))
}

/// The source of a Lark grammar.
pub(crate) fn lark(text: String, options: &mut Options, limits: &Limits) -> Result<Source> {
    let start = options.text("start")?.unwrap_or_else(|| "start".to_owned());
    let options = lark::Options::default().start(start).dialect(dialect(options)?).limits(limits.clone());
    Ok(Source::Lark(text, options))
}

/// The source of a structural tag. The option `grammars` has the grammars that the tag names.
pub(crate) fn structural_tag(text: String, options: &mut Options, limits: &Limits) -> Result<Source> {
    let mut named = BTreeMap::new();
    for (name, source) in options.object("grammars")? {
        let source = embedded(&source, limits)?;
        named.insert(name, parse(&source)?.grammar);
    }
    Ok(Source::StructuralTag(text, structural_tag::Options::default().grammars(named).limits(limits.clone())))
}

/// A source of any notation inside an option: `{"notation": …, "text": …}` and the options of the notation.
fn embedded(value: &Value, limits: &Limits) -> Result<Source> {
    let mut options = Options::parse(&value.to_string())?;
    let notations = Notation::ALL.map(|notation| (notation.id(), notation));
    let notation = options.choice("notation", notations)?;
    let text = options.text("text")?;
    let (Some(notation), Some(text)) = (notation, text) else {
        let allowed = "objects with `notation` and `text`";
        return Err(errors::option("grammars", &value.to_string(), allowed));
    };
    let source = match notation {
        Notation::JsonSchema => json_schema(text, &mut options, limits),
        Notation::Regex => regex(text, &mut options, limits),
        Notation::Gbnf => gbnf(text, &mut options, limits),
        Notation::Lark => lark(text, &mut options, limits),
        Notation::StructuralTag => structural_tag(text, &mut options, limits),
        // automaton specs, if another package of the build has the feature for them
        #[allow(unreachable_patterns)]
        _ => Ok(Source::new(notation, text)),
    }?;
    options.finish()?;
    Ok(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = fn(String, &mut Options, &Limits) -> Result<Source>;

    /// The words of a source: its grammar as text, to compare options by.
    fn grammar(read: Read, text: &str, options: &str) -> Result<String> {
        let mut options = Options::parse(options)?;
        let source = read(text.to_owned(), &mut options, &Limits::default())?;
        options.finish()?;
        Ok(parse(&source)?.grammar.to_string())
    }

    #[test]
    fn each_option_changes_the_grammar() {
        let object =
            r#"{"properties": {"a": {"type": "number"}, "b": {"format": "date"}}, "type": "object"}"#;
        let cases: [(Read, &str, &[&str]); 5] = [
            (
                json_schema,
                object,
                &[
                    r#"{"whitespace": "compact"}"#,
                    r#"{"whitespace": "max=3"}"#,
                    r#"{"whitespace": "pattern= *"}"#,
                    r#"{"propertyOrder": "any"}"#,
                    r#"{"formats": "annotate"}"#,
                    r#"{"undeclared": "refused"}"#,
                    r#"{"numbers": "plain"}"#,
                    r#"{"maxDigits": 4}"#,
                ],
            ),
            (
                regex,
                r"k.\w",
                &[
                    r#"{"caseInsensitive": true}"#,
                    r#"{"dotMatchesNewline": true}"#,
                    r#"{"asciiClasses": true}"#,
                    r#"{"dialect": "ecma"}"#,
                    r#"{"search": true}"#,
                ],
            ),
            (gbnf, "other ::= \"b\"", &[r#"{"root": "other"}"#]),
            (lark, "other: \"b\"", &[r#"{"start": "other"}"#]),
            (
                structural_tag,
                r#"{"type": "structural_tag", "format": {"type": "grammar", "name": "x"}}"#,
                &[
                    r#"{"grammars": {"x": {"notation": "regex", "text": "b"}}}"#,
                    r#"{"grammars": {"x": {"notation": "lark", "text": "other: \"c\"", "start": "other"}}}"#,
                ],
            ),
        ];
        for (read, text, options) in cases {
            let plain = grammar(read, text, "{}").ok();
            let found: Vec<String> =
                options.iter().map(|given| grammar(read, text, given).unwrap()).collect();
            for (given, found) in options.iter().zip(&found) {
                assert_ne!(Some(found), plain.as_ref(), "{given}");
            }
        }
    }

    #[test]
    fn what_no_option_allows_is_an_error() {
        let cases: [(Read, &str); 7] = [
            (json_schema, r#"{"whitespace": "max=-1"}"#),
            (json_schema, r#"{"propertyOrder": "random"}"#),
            (json_schema, r#"{"documents": 3}"#),
            (regex, r#"{"dialect": "perl"}"#),
            (gbnf, r#"{"start": "root"}"#),
            (structural_tag, r#"{"grammars": {"x": {"text": "a"}}}"#),
            (structural_tag, r#"{"grammars": {"x": {"notation": "bnf", "text": "a"}}}"#),
        ];
        for (read, options) in cases {
            let error = grammar(read, "\"a\"", options).unwrap_err();
            assert_eq!(error.code(), "js/option", "{options}");
            assert!(error.diagnostic().allowed_text().is_some(), "{options}");
        }
    }
}
