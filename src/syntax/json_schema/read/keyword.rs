//! The table of all keywords of the drafts 3 to 2020-12, with everything that depends only on a keyword's name.

use super::draft::Version::{Draft3, Draft4, Draft6, Draft7, Draft2019, Draft2020};
use super::draft::{Draft, Versions};
use super::policies;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A row of the table.
#[derive(Debug)]
pub(super) struct Keyword {
    pub(super) name: &'static str,
    pub(super) family: Family,
    pub(super) status: Status,
    /// The drafts that have it.
    pub(super) drafts: Versions,
    /// The places of schemas in its value.
    pub(super) schemas: Schemas,
    /// The members or items that it evaluates.
    #[allow(dead_code)] // only the tests below use it, to check the pass `unevaluated`
    evaluates: Evaluates,
}

impl Keyword {
    /// Whether the keyword may restrict values.
    pub(super) fn restricts(&self) -> bool {
        self.status != Annotation
    }
}

/// The file of `keywords` that reads a keyword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Family {
    Types,
    Values,
    Number,
    String,
    Array,
    Object,
    Combine,
    Dependent,
    Draft3,
    /// Read for every schema, elsewhere, or not at all.
    Other,
}

/// The role of a keyword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Status {
    /// An assertion of the schema itself; read by its family.
    Assertion,
    /// Applies schemas to the same value.
    Applicator,
    /// Does not restrict values.
    Annotation,
}

/// The places of schemas in the value of a keyword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Schemas {
    Nowhere,
    /// The value itself, or the items of a list.
    Value,
    /// The members of an object.
    Members,
}

/// The members or items that a keyword evaluates: `unevaluatedProperties` and `unevaluatedItems` next to it do not
/// apply to these.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Evaluates {
    Nothing,
    /// Some members.
    Members,
    /// Some items.
    Items,
    /// What its schemas evaluate, which it applies to the same value.
    Same,
}

/// A word that occurs as a key of schemas.
pub(super) struct Word {
    /// Number of schemas that have it.
    pub(super) count: usize,
    /// The keyword of this name, if any draft has it.
    pub(super) known: Option<&'static Keyword>,
}

impl Word {
    pub(super) fn of(word: &str) -> Word {
        Word { count: 0, known: named(word) }
    }

    /// Returns the family and status of the keyword in a document of a draft; `None` if the draft does not have it.
    pub(super) fn status(&self, draft: Draft) -> Option<(Family, Status)> {
        let keyword = self.known.filter(|keyword| draft.is_within(keyword.drafts))?;
        Some((keyword.family, keyword.status))
    }

    /// Returns the word for a report.
    pub(super) fn text(&self, word: &str) -> Cow<'static, str> {
        self.known.map_or_else(|| word.to_owned().into(), |known| known.name.into())
    }
}

const fn row(
    name: &'static str,
    family: Family,
    status: Status,
    drafts: Versions,
    schemas: Schemas,
    evaluates: Evaluates,
) -> Keyword {
    Keyword { name, family, status, drafts, schemas, evaluates }
}

const ALL: Versions = Versions::ALL;
const ONLY_3: Versions = Versions::only(Draft3);
const SINCE_4: Versions = Versions::since(Draft4);
const SINCE_6: Versions = Versions::since(Draft6);
const SINCE_7: Versions = Versions::since(Draft7);
const SINCE_2019: Versions = Versions::since(Draft2019);
const SINCE_2020: Versions = Versions::since(Draft2020);

use Evaluates::{Items, Nothing, Same};
use Family::{Array, Combine, Dependent, Number, Object, Other, String, Types, Values};
use Schemas::{Members, Nowhere, Value};
use Status::{Annotation, Applicator, Assertion};

/// The table. Its last column is about the drafts since 2019-09, which have `unevaluatedProperties` and
/// `unevaluatedItems`.
#[rustfmt::skip]
const KEYWORDS: &[Keyword] = &[
    row("type", Types, Assertion, ALL, Value, Nothing),
    row("disallow", Types, Applicator, ONLY_3, Value, Nothing),
    row("enum", Values, Assertion, ALL, Nowhere, Nothing),
    row("const", Values, Assertion, SINCE_6, Nowhere, Nothing),
    row("minimum", Number, Assertion, ALL, Nowhere, Nothing),
    row("maximum", Number, Assertion, ALL, Nowhere, Nothing),
    row("exclusiveMinimum", Number, Assertion, ALL, Nowhere, Nothing),
    row("exclusiveMaximum", Number, Assertion, ALL, Nowhere, Nothing),
    row("multipleOf", Number, Assertion, SINCE_4, Nowhere, Nothing),
    row("minLength", String, Assertion, ALL, Nowhere, Nothing),
    row("maxLength", String, Assertion, ALL, Nowhere, Nothing),
    row("pattern", String, Assertion, ALL, Nowhere, Nothing),
    row("format", String, Assertion, ALL, Nowhere, Nothing),
    row("x-grammata-pattern", String, Assertion, ALL, Nowhere, Nothing),
    row("x-grammata-grammar", String, Assertion, ALL, Nowhere, Nothing),
    row("x-grammata-integer", Types, Assertion, ALL, Nowhere, Nothing),
    row("items", Array, Assertion, ALL, Value, Items),
    row("minItems", Array, Assertion, ALL, Nowhere, Nothing),
    row("maxItems", Array, Assertion, ALL, Nowhere, Nothing),
    row("uniqueItems", Array, Assertion, ALL, Nowhere, Nothing),
    row("additionalItems", Array, Assertion, Versions::until(Draft2019), Value, Items),
    // it evaluates since 2020-12
    row("contains", Array, Assertion, SINCE_6, Value, Items),
    row("minContains", Array, Assertion, SINCE_2019, Nowhere, Nothing),
    row("maxContains", Array, Assertion, SINCE_2019, Nowhere, Nothing),
    row("prefixItems", Array, Assertion, SINCE_2020, Value, Items),
    row("properties", Object, Assertion, ALL, Members, Evaluates::Members),
    row("additionalProperties", Object, Assertion, ALL, Value, Evaluates::Members),
    row("patternProperties", Object, Assertion, ALL, Members, Evaluates::Members),
    row("required", Object, Assertion, ALL, Nowhere, Nothing),
    row("minProperties", Object, Assertion, SINCE_4, Nowhere, Nothing),
    row("maxProperties", Object, Assertion, SINCE_4, Nowhere, Nothing),
    row("propertyNames", Object, Assertion, SINCE_6, Value, Nothing),
    row("$ref", Combine, Applicator, ALL, Nowhere, Same),
    row("$recursiveRef", Combine, Applicator, Versions::only(Draft2019), Nowhere, Same),
    row("$dynamicRef", Combine, Applicator, SINCE_2020, Nowhere, Same),
    row("allOf", Combine, Applicator, SINCE_4, Value, Same),
    row("anyOf", Combine, Applicator, SINCE_4, Value, Same),
    row("oneOf", Combine, Applicator, SINCE_4, Value, Same),
    row("not", Combine, Applicator, SINCE_4, Value, Nothing),
    row("if", Combine, Applicator, SINCE_7, Value, Same),
    row("then", Combine, Applicator, SINCE_7, Value, Same),
    row("else", Combine, Applicator, SINCE_7, Value, Same),
    row("dependencies", Dependent, Applicator, Versions::until(Draft7), Members, Same),
    row("dependentRequired", Dependent, Applicator, SINCE_2019, Nowhere, Nothing),
    row("dependentSchemas", Dependent, Applicator, SINCE_2019, Members, Same),
    row("divisibleBy", Family::Draft3, Assertion, ONLY_3, Nowhere, Nothing),
    row("extends", Family::Draft3, Applicator, ONLY_3, Value, Same),
    row("unevaluatedItems", Other, Applicator, SINCE_2019, Value, Items),
    row("unevaluatedProperties", Other, Applicator, SINCE_2019, Value, Evaluates::Members),
    row("title", Other, Annotation, ALL, Nowhere, Nothing),
    row("description", Other, Annotation, ALL, Nowhere, Nothing),
    row("default", Other, Annotation, ALL, Nowhere, Nothing),
    row("examples", Other, Annotation, ALL, Nowhere, Nothing),
    row("$comment", Other, Annotation, ALL, Nowhere, Nothing),
    row("$schema", Other, Annotation, ALL, Nowhere, Nothing),
    row("readOnly", Other, Annotation, ALL, Nowhere, Nothing),
    row("writeOnly", Other, Annotation, ALL, Nowhere, Nothing),
    row("deprecated", Other, Annotation, ALL, Nowhere, Nothing),
    row("$defs", Other, Annotation, ALL, Members, Nothing),
    row("definitions", Other, Annotation, ALL, Members, Nothing),
    row("$id", Other, Annotation, ALL, Nowhere, Nothing),
    row("id", Other, Annotation, ALL, Nowhere, Nothing),
    row("$vocabulary", Other, Annotation, ALL, Nowhere, Nothing),
    row("$anchor", Other, Annotation, ALL, Nowhere, Nothing),
    row("$dynamicAnchor", Other, Annotation, ALL, Nowhere, Nothing),
    row("$recursiveAnchor", Other, Annotation, ALL, Nowhere, Nothing),
    row("contentEncoding", Other, Annotation, ALL, Nowhere, Nothing),
    row("contentMediaType", Other, Annotation, ALL, Nowhere, Nothing),
    row("contentSchema", Other, Annotation, ALL, Value, Nothing),
    row(policies::KEYWORD, Other, Annotation, ALL, Nowhere, Nothing),
];

static BY_NAME: LazyLock<FxHashMap<&str, &Keyword>> =
    LazyLock::new(|| KEYWORDS.iter().map(|keyword| (keyword.name, keyword)).collect());

/// Returns the keyword of a name; `None` for a word of no draft.
pub(super) fn named(name: &str) -> Option<&'static Keyword> {
    BY_NAME.get(name).copied()
}

/// Returns the names of all keywords.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|keyword| keyword.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json_schema::read::refs;
    use crate::syntax::json_schema::{Options, compile_value};
    use serde_json::{Value as Json, json};

    /// Whether a schema admits a value. The schema names no draft or 2020-12, so it may use all keywords.
    fn admits(mut schema: Json, value: &Json) -> bool {
        schema["const"] = value.clone();
        match compile_value(&schema, &Options::default()) {
            Ok(_) => true,
            Err(error) if error.code() == "json-schema/unsatisfiable" => false,
            Err(error) => panic!("{schema}: {error:?}"),
        }
    }

    /// Returns a schema with a keyword; if the keyword applies schemas to the same value, it applies `inner`.
    fn with(keyword: &Keyword, inner: &Json) -> Option<Json> {
        let name = keyword.name;
        let mut schema = json!({});
        schema[name] = match name {
            "allOf" | "anyOf" | "oneOf" => json!([inner]),
            "$ref" | "$dynamicRef" | "$recursiveRef" => json!("#/$defs/inner"),
            "dependentSchemas" | "dependencies" => json!({ "a": inner }),
            "propertyNames" | "items" | "additionalItems" | "contains" => json!(true),
            "additionalProperties" | "unevaluatedItems" | "unevaluatedProperties" => json!(true),
            "prefixItems" => json!([true]),
            "properties" | "patternProperties" => json!({ "a": true }),
            "not" => json!({ "allOf": [inner, false] }),
            "disallow" => json!([{ "allOf": [inner, false] }]),
            "required" => json!(["a"]),
            "dependentRequired" => json!({ "a": ["a"] }),
            "minProperties" | "minItems" | "minContains" | "minLength" => json!(0),
            "maxProperties" | "maxItems" | "maxContains" | "maxLength" => json!(1),
            "uniqueItems" => json!(true),
            "if" | "then" | "extends" => inner.clone(),
            "else" => inner.clone(),
            "$defs" | "definitions" => json!({ "inner": inner }),
            _ => return None,
        };
        match name {
            "then" => schema["if"] = json!(true),
            "else" => schema["if"] = json!(false),
            // has no effect without a list of items
            "additionalItems" => schema["items"] = json!([]),
            _ if schema[name] == json!("#/$defs/inner") => schema["$defs"] = json!({ "inner": inner }),
            _ => {}
        }
        Some(schema)
    }

    #[test]
    fn keywords_evaluate_what_the_table_says() {
        let mut tested = 0;
        for keyword in KEYWORDS {
            let kinds = [
                (
                    "unevaluatedProperties",
                    "properties",
                    json!({ "a": true }),
                    json!({ "a": 1 }),
                    Evaluates::Members,
                ),
                ("unevaluatedItems", "prefixItems", json!([true]), json!([1]), Items),
            ];
            for (unevaluated, own, evaluating, value, kind) in kinds {
                let mut inner = json!({});
                inner[own] = evaluating;
                let schema = with(keyword, &inner);
                let Some(mut schema) = schema.filter(|_| keyword.name != unevaluated) else {
                    let is_read = keyword.evaluates != Nothing && keyword.name != unevaluated;
                    assert!(!is_read, "{}: not tested", keyword.name);
                    continue;
                };
                assert!(admits(schema.clone(), &value), "{}", keyword.name);
                schema[unevaluated] = json!(false);
                // whether a dependency applies depends on members, so not for arrays
                let applies = keyword.family != Dependent || kind == Evaluates::Members;
                let expected = keyword.evaluates == kind || keyword.evaluates == Same && applies;
                assert_eq!(admits(schema.clone(), &value), expected, "{schema} {value}");
                tested += 1;
            }
        }
        assert!(tested > 60, "{tested}");
    }

    #[test]
    fn names_stand_once() {
        assert_eq!(BY_NAME.len(), KEYWORDS.len());
        for name in refs::KEYWORDS {
            assert!(named(name).is_some_and(|keyword| keyword.evaluates == Same), "{name}");
        }
    }
}
