//! JSON Schemas that are built to take much time or memory.

use super::{Case, Kind, family};
use serde_json::{Value, json};

const SIZES: &[usize] = &[3, 10, 30, 100, 300, 1_000, 3_000];
const SMALL: &[usize] = &[2, 5, 10, 20, 25, 40, 80];
const FORMATS: [&str; 6] = ["date-time", "email", "uri", "hostname", "ipv6", "uuid"];
const LARGE: &[usize] = &[10, 100, 1_000, 10_000, 50_000];

fn of(name: &str, sizes: &[usize], schema: impl Fn(usize) -> Value) -> Vec<Case> {
    family(Kind::JsonSchema, name, sizes, |n| schema(n).to_string())
}

fn text(name: &str, sizes: &[usize], schema: impl Fn(usize) -> String) -> Vec<Case> {
    family(Kind::JsonSchema, name, sizes, schema)
}

fn object(entries: impl Iterator<Item = (String, Value)>) -> Value {
    Value::Object(entries.collect())
}

/// Returns `inner` nested in `n` pairs of `open` and `close`. It is built without recursion.
fn around(n: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

/// Returns a pseudo-random number for a place: one step of a linear congruential generator.
fn scrambled(place: usize) -> usize {
    (place as u64).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) as usize
        >> 33
}

/// Returns `count` random clauses of three literals over the presence of `members` members: 3-SAT as a schema.
fn clauses(members: usize, count: usize) -> Value {
    let literal = |i: usize| {
        let required = json!({"required": [format!("p{}", scrambled(i) % members)]});
        if scrambled(i * 7 + 1).is_multiple_of(2) { required } else { json!({ "not": required }) }
    };
    (0..count).map(|i| json!({"anyOf": [literal(3 * i), literal(3 * i + 1), literal(3 * i + 2)]})).collect()
}

/// Returns the schema of a form: `n` questions with three answers each. Either all are answered or there is a waiver,
/// and a "no" needs a reason.
fn form(n: usize) -> Value {
    let names: Vec<String> = (0..n).map(|i| format!("question{i}")).collect();
    let mut properties = object(names.iter().map(|q| (q.clone(), json!({"enum": ["yes", "no", "unknown"]}))));
    properties["reason"] = json!({"type": "string"});
    properties["waiver"] = json!({"type": "integer"});
    let answered = object(names.iter().map(|q| (q.clone(), json!({"enum": ["yes", "no"]}))));
    let reasons = names.iter().map(|q| {
        json!({"if": {"properties": {q: {"const": "no"}}, "required": [q]}, "then": {"required": ["reason"]}})
    });
    json!({"type": "object", "properties": properties, "additionalProperties": false,
        "anyOf": [{"required": names, "properties": answered}, {"required": ["waiver"]}],
        "allOf": reasons.collect::<Vec<_>>()})
}

fn combinations() -> Vec<Vec<Case>> {
    vec![
        of("allOf", SIZES, |n| json!({"allOf": (0..n).map(|i| json!({"minLength": i})).collect::<Vec<_>>()})),
        of(
            "anyOf of lengths",
            SIZES,
            |n| json!({"type": "string", "anyOf": (0..n).map(|i| json!({"minLength": i, "maxLength": 2 * i + 1})).collect::<Vec<_>>()}),
        ),
        of(
            "anyOf of anyOf",
            SMALL,
            |n| json!({"allOf": (0..n).map(|i| json!({"anyOf": [{"minimum": i}, {"maximum": 2 * i}, {"multipleOf": i + 1}]})).collect::<Vec<_>>()}),
        ),
        of(
            "oneOf of patterns",
            &[10, 50, 100, 200, 400, 800, 1_600],
            |n| json!({"oneOf": (0..n).map(|i| json!({"type": "string", "pattern": format!("^a{{{i}}}b")})).collect::<Vec<_>>()}),
        ),
        of(
            "oneOf of patterns anywhere",
            &[10, 50, 100, 200, 400],
            |n| json!({"oneOf": (0..n).map(|i| json!({"type": "string", "pattern": format!("x{{{i}}}y")})).collect::<Vec<_>>()}),
        ),
        of(
            "oneOf of objects",
            &[10, 50, 100, 200, 400, 800],
            |n| json!({"oneOf": (0..n).map(|i| json!({"type": "object", "required": [format!("k{i}")]})).collect::<Vec<_>>()}),
        ),
        of(
            "oneOf of constants",
            LARGE,
            |n| json!({"oneOf": (0..n).map(|i| json!({"const": i})).collect::<Vec<_>>()}),
        ),
        of("oneOf of tagged objects", SIZES, |n| {
            let of = |i: usize| json!({"type": "object", "properties": {"kind": {"const": format!("k{i}")}, "v": {"type": "integer"}}, "required": ["kind"]});
            json!({"oneOf": (0..n).map(of).collect::<Vec<_>>()})
        }),
        text("oneOf within not", SIZES, |n| {
            around(n, r#"{"not":{"oneOf":[{"type":"string"},"#, r#"{"minimum":1}"#, "]}}")
        }),
        text("not within not", LARGE, |n| around(n, r#"{"not":"#, r#"{"type":"string"}"#, "}")),
        text("if within then", SIZES, |n| {
            around(n, r#"{"if":{"minLength":1},"then":"#, r#"{"maxLength":9}"#, r#","else":{"type":"null"}}"#)
        }),
        text("if within if", SMALL, |n| {
            around(
                n,
                r#"{"if":"#,
                r#"{"required":["a"]}"#,
                r#","then":{"required":["b"]},"else":{"required":["c"]}}"#,
            )
        }),
        of(
            "not anyOf multipleOf",
            SMALL,
            |n| json!({"type": "integer", "not": {"anyOf": (2..n + 2).map(|i| json!({"multipleOf": i})).collect::<Vec<_>>()}}),
        ),
        of("multipleOf with bounds", SMALL, |n| {
            let member = |i: usize| {
                (
                    format!("m{i}"),
                    json!({"type": "number", "multipleOf": 0.01 * (i + 1) as f64, "minimum": i, "maximum": 1_000_000}),
                )
            };
            json!({"type": "object", "properties": object((0..n).map(member))})
        }),
        of(
            "allOf multipleOf",
            SMALL,
            |n| json!({"type": "integer", "allOf": (2..n + 2).map(|i| json!({"multipleOf": i})).collect::<Vec<_>>()}),
        ),
        of("unevaluatedProperties", SIZES, |n| {
            let part = |i: usize| json!({"properties": {format!("p{i}"): {"type": "integer"}}});
            json!({"type": "object", "allOf": (0..n).map(part).collect::<Vec<_>>(), "unevaluatedProperties": false})
        }),
        of("unevaluatedProperties with anyOf", SMALL, |n| {
            let part = |i: usize| json!({"properties": {format!("p{i}"): {"type": "integer"}}, "required": [format!("p{i}")]});
            json!({"type": "object", "anyOf": (0..n).map(part).collect::<Vec<_>>(), "unevaluatedProperties": false})
        }),
        of(
            "unevaluatedItems with contains",
            SMALL,
            |n| json!({"type": "array", "allOf": (0..n).map(|i| json!({"contains": {"const": i}})).collect::<Vec<_>>(), "unevaluatedItems": false}),
        ),
    ]
}

fn references() -> Vec<Vec<Case>> {
    let chain = |n: usize, link: &dyn Fn(usize) -> Value| {
        let mut defs = object((0..n).map(|i| (format!("d{i}"), link(i + 1))));
        defs[format!("d{n}")] = json!({"type": "integer"});
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    };
    vec![
        of("a chain of references", LARGE, |n| chain(n, &|i| json!({"$ref": format!("#/$defs/d{i}")}))),
        of("references that double", SIZES, |n| {
            chain(n, &|i| {
                let next = json!({"$ref": format!("#/$defs/d{i}")});
                json!({"anyOf": [next.clone(), next]})
            })
        }),
        of("lists that double", SIZES, |n| {
            chain(n, &|i| {
                let next = json!({"$ref": format!("#/$defs/d{i}")});
                json!({"type": "array", "prefixItems": [next.clone(), next]})
            })
        }),
        of("a circle of references", SIZES, |n| {
            object(
                [
                    ("$ref".to_owned(), json!("#/$defs/d0")),
                    (
                        "$defs".to_owned(),
                        object((0..n).map(|i| {
                            (format!("d{i}"), json!({"$ref": format!("#/$defs/d{}", (i + 1) % n)}))
                        })),
                    ),
                ]
                .into_iter(),
            )
        }),
        of("a web of dynamic references", SMALL, |n| {
            let of = |i: usize| {
                (
                    format!("d{i}"),
                    json!({"$id": format!("http://x/{i}"), "$dynamicAnchor": "a", "type": "object", "properties": {"x": {"$dynamicRef": "#a"}, "y": {"$ref": format!("http://x/{}", (i + 1) % n)}}}),
                )
            };
            json!({"$ref": "http://x/0", "$defs": object((0..n).map(of))})
        }),
        of(
            "a recursive object",
            SMALL,
            |n| json!({"type": "object", "properties": object((0..n).map(|i| (format!("p{i}"), json!({"$ref": "#"})))), "additionalProperties": {"$ref": "#"}}),
        ),
        of(
            "references to nothing",
            SMALL,
            |n| json!({"anyOf": (0..n).map(|i| json!({"$ref": format!("#/$defs/none{i}")})).collect::<Vec<_>>()}),
        ),
        of(
            "references with allOf to themselves",
            SMALL,
            |n| json!({"$ref": "#/$defs/d", "$defs": {"d": {"allOf": (0..n).map(|_| json!({"$ref": "#/$defs/d"})).collect::<Vec<_>>()}}}),
        ),
    ]
}

fn objects() -> Vec<Vec<Case>> {
    let names = |n: usize| (0..n).map(|i| format!("p{i}")).collect::<Vec<_>>();
    let members = move |n: usize| object(names(n).into_iter().map(|name| (name, json!({}))));
    vec![
        of("properties", LARGE, move |n| json!({"properties": members(n)})),
        of(
            "required of names that are not listed",
            SIZES,
            move |n| json!({"type": "object", "required": names(n)}),
        ),
        of(
            "clauses over members, few",
            SMALL,
            move |n| json!({"type": "object", "properties": members(n), "additionalProperties": false, "allOf": clauses(n, 2 * n)}),
        ),
        of(
            "clauses over members",
            SMALL,
            move |n| json!({"type": "object", "properties": members(n), "additionalProperties": false, "allOf": clauses(n, 4 * n)}),
        ),
        of(
            "clauses over members, with bounds",
            SMALL,
            move |n| json!({"type": "object", "properties": members(n), "additionalProperties": false, "allOf": clauses(n, 3 * n), "minProperties": n / 2}),
        ),
        of("a form", SMALL, form),
        of("required alternatives with values", SMALL, |n| {
            let names: Vec<String> = (0..n).map(|i| format!("m{i}")).collect();
            let part = |i: usize| json!({"required": names, "properties": object(names.iter().map(|m| (m.clone(), json!({"enum": [i, i + 1]}))))});
            json!({"type": "object", "properties": object(names.iter().map(|m| (m.clone(), json!({"type": "integer"})))), "anyOf": (0..n.min(12)).map(part).collect::<Vec<_>>()})
        }),
        of("dependentRequired in a circle", SIZES, move |n| {
            let next = |i: usize| (format!("p{i}"), json!([format!("p{}", (i + 1) % n)]));
            json!({"type": "object", "properties": members(n), "dependentRequired": object((0..n).map(next))})
        }),
        of(
            "dependentRequired of all",
            SMALL,
            move |n| json!({"type": "object", "properties": members(n), "dependentRequired": object(names(n).into_iter().map(|name| (name, json!(names(n)))))}),
        ),
        of("dependentSchemas", SMALL, move |n| {
            let next = |i: usize| {
                (format!("p{i}"), json!({"properties": {format!("p{}", (i + 1) % n): {"type": "integer"}}}))
            };
            json!({"type": "object", "dependentSchemas": object((0..n).map(next))})
        }),
        of(
            "patternProperties",
            SMALL,
            |n| json!({"type": "object", "patternProperties": object((0..n).map(|i| (format!("^.{{{i}}}a"), json!({"minimum": i})))), "additionalProperties": false}),
        ),
        of(
            "patternProperties of few names",
            SMALL,
            |n| json!({"type": "object", "patternProperties": {format!("^[ab]{{1,{n}}}$"): {"type": "integer"}}, "additionalProperties": false, "minProperties": n}),
        ),
        of(
            "propertyNames with minProperties",
            SMALL,
            |n| json!({"type": "object", "propertyNames": {"pattern": "^[a-c]{1,2}$"}, "minProperties": n}),
        ),
        of(
            "minProperties and maxProperties",
            LARGE,
            |n| json!({"type": "object", "minProperties": n, "maxProperties": 2 * n}),
        ),
        of(
            "bounds that cross",
            LARGE,
            |n| json!({"minProperties": n + 1, "maxProperties": n, "minItems": n + 1, "maxItems": n}),
        ),
    ]
}

fn values() -> Vec<Vec<Case>> {
    let pattern = |name: &str, sizes: &[usize], pattern: fn(usize) -> String| {
        of(name, sizes, move |n| json!({"type": "string", "pattern": pattern(n)}))
    };
    vec![
        pattern("words that are counted", &[10, 100, 300, 700, 1_000, 5_000], |n| {
            format!("^([a-z]+ ?){{1,{n}}}$")
        }),
        pattern("letters that may be left out", &[10, 100, 1_000, 2_000], |n| format!("^(a?b?c?){{{n}}}$")),
        pattern("parts of a path", &[10, 100, 256, 1_000], |n| {
            format!("^([A-Za-z0-9_.-]{{1,64}}/?){{1,{n}}}$")
        }),
        pattern("words within a length", SIZES, |n| format!(r"^(?:\S+\s+){{0,{n}}}\S+$")),
        of(
            "a pattern with a length",
            SIZES,
            |n| json!({"type": "string", "pattern": "^[a-z]+( [a-z]+)*$", "minLength": n, "maxLength": 2 * n}),
        ),
        of(
            "patterns that hold together",
            SMALL,
            |n| json!({"type": "string", "allOf": (0..n).map(|i| json!({"pattern": format!("{}", char::from(b'a' + (i % 26) as u8))})).collect::<Vec<_>>()}),
        ),
        of(
            "patterns that exclude each other late",
            SMALL,
            |n| json!({"allOf": [{"type": "string", "pattern": format!("^[ab]*a[ab]{{{n}}}$")}, {"pattern": format!("^[ab]*b[ab]{{{n}}}$")}]}),
        ),
        of(
            "patterns that must not hold",
            SMALL,
            |n| json!({"type": "string", "not": {"anyOf": (0..n).map(|i| json!({"pattern": format!("[a-f]{{{i}}}x")})).collect::<Vec<_>>()}}),
        ),
        of("enum", LARGE, |n| json!({"enum": (0..n).map(|i| format!("value {i}")).collect::<Vec<_>>()})),
        of(
            "enum of lists",
            SIZES,
            |n| json!({"enum": (0..n).map(|i| (0..i % 40).collect::<Vec<_>>()).collect::<Vec<_>>()}),
        ),
        text("a constant that nests", LARGE, |n| format!(r#"{{"const":{}}}"#, around(n, "[", "1", "]"))),
        text("a constant with a large exponent", &[10, 308, 1_000, 1_000_000], |n| {
            format!(r#"{{"const":1e{n}}}"#)
        }),
        text("bounds with large exponents", &[10, 308, 1_000, 100_000, 1_000_000], |n| {
            format!(r#"{{"type":"number","minimum":1e-{n},"maximum":1e{n}}}"#)
        }),
        text("multipleOf with an exponent", &[1, 10, 100, 300, 10_000], |n| {
            format!(r#"{{"type":"number","multipleOf":1e-{n}}}"#)
        }),
        text("integers of many digits", SIZES, |n| {
            format!(r#"{{"type":"integer","minimum":1{},"maximum":2{}}}"#, "0".repeat(n), "7".repeat(n))
        }),
        text("multipleOf of many digits", SIZES, |n| {
            format!(r#"{{"type":"integer","multipleOf":1{}3}}"#, "0".repeat(n))
        }),
        of(
            "a length",
            &[10, 1_000, 100_000, 10_000_000, 4_000_000_000],
            |n| json!({"type": "string", "minLength": n, "maxLength": n}),
        ),
        of(
            "formats with lengths",
            SMALL,
            |n| json!({"anyOf": FORMATS.map(|format| json!({"type": "string", "format": format, "minLength": n, "maxLength": 3 * n}))}),
        ),
        of(
            "formats that must not hold",
            &[0, 1, 2, 3, 4, 5],
            |n| json!({"type": "string", "not": {"format": (FORMATS[n])}}),
        ),
    ]
}

fn arrays() -> Vec<Vec<Case>> {
    vec![
        of(
            "lists of a length",
            &[10, 1_000, 100_000, 10_000_000, 4_000_000_000],
            |n| json!({"type": "array", "minItems": n, "maxItems": n}),
        ),
        of(
            "different items of an enum",
            SIZES,
            |n| json!({"type": "array", "uniqueItems": true, "items": {"enum": (0..n).collect::<Vec<_>>()}, "minItems": n}),
        ),
        of(
            "different items, fewer than there must be",
            SIZES,
            |n| json!({"type": "array", "uniqueItems": true, "items": {"enum": (0..n).collect::<Vec<_>>()}, "minItems": n + 1}),
        ),
        of(
            "different lists of different items",
            SMALL,
            |n| json!({"type": "array", "uniqueItems": true, "minItems": n, "items": {"type": "array", "uniqueItems": true, "items": {"enum": [1, 2, 3]}}}),
        ),
        of(
            "contains",
            SMALL,
            |n| json!({"type": "array", "allOf": (0..n).map(|i| json!({"contains": {"const": i}})).collect::<Vec<_>>()}),
        ),
        of(
            "contains a number of times",
            SIZES,
            |n| json!({"type": "array", "contains": {"type": "integer"}, "minContains": n, "maxContains": 2 * n}),
        ),
        of(
            "prefixItems",
            LARGE,
            |n| json!({"type": "array", "prefixItems": (0..n).map(|i| json!({"const": i})).collect::<Vec<_>>()}),
        ),
        text("items within items", LARGE, |n| around(n, r#"{"type":"array","items":"#, "{}", "}")),
        text("properties within properties", LARGE, |n| {
            around(n, r#"{"type":"object","properties":{"a":"#, "{}", "}}")
        }),
    ]
}

fn texts() -> Vec<Vec<Case>> {
    vec![
        text("brackets", LARGE, |n| "[".repeat(n)),
        text("braces", LARGE, |n| r#"{"a":"#.repeat(n)),
        text("a name twice", SIZES, |n| format!("{{{}\"a\":1}}", r#""a":{},"#.repeat(n))),
        text("truncated", &[1, 2, 5, 10, 20, 30, 40, 50], |n| {
            r#"{"type": "object", "properties": {"a": {"enum": [1]}}}"#[..n].to_owned()
        }),
        text("a keyword of another type", &[0, 1, 2, 3, 4, 5, 6, 7, 8], |n| {
            let keywords =
                ["properties", "required", "items", "enum", "pattern", "minimum", "allOf", "$ref", "if"];
            format!("{{\"{}\":1.5e300}}", keywords[n])
        }),
        text("a long name", LARGE, |n| format!("{{\"properties\":{{\"{}\":{{}}}}}}", "n".repeat(n))),
        text("surrogates and controls", &[0, 1, 2, 3, 4], |n| {
            let texts = [r"\ud800", r"\udc00", r"\u0000", r"\ud83d\ude00", "\u{7f}"];
            format!("{{\"properties\":{{\"{0}\":{{\"const\":\"{0}\"}}}},\"required\":[\"{0}\"]}}", texts[n])
        }),
        text("something else", &[0, 1, 2, 3, 4, 5], |n| {
            ["", "null", "1", "\u{feff}{}", "{}{}", r#"{"openapi":"3.1.0","paths":{}}"#][n].to_owned()
        }),
    ]
}

/// Returns all JSON Schema inputs.
pub(super) fn cases() -> Vec<Case> {
    let all = [combinations(), references(), objects(), values(), arrays(), texts()];
    all.into_iter().flatten().flatten().collect()
}
