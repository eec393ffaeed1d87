//! Schemas: a generator for each keyword and shape. A refusal at a limit is an outcome like another one; the work until
//! then is bounded as well.

use crate::growth;
use grammata::syntax::json_schema::{Options, Undeclared, compile};
use grammata_testing::growth::Order::{self, Linear, Quadratic};

/// Doubling sizes, in numbers of members, items and the like.
const SIZES: [usize; 4] = [1_000, 2_000, 4_000, 8_000];

/// Compiles generated schemas of doubling sizes.
fn grows(name: &str, order: Order, schema: impl Fn(usize) -> String) {
    growth(name, order, SIZES, schema, |schema| compile(schema, &Options::default()));
}

/// Returns `part(0),part(1),…`.
fn list(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect::<Vec<_>>().join(",")
}

/// Returns the definitions `d0`, `d1`, … next to the keywords of a root.
fn definitions(count: usize, root: &str, part: impl Fn(usize) -> String) -> String {
    format!(r#"{{{root},"$defs":{{{}}}}}"#, list(count, |n| format!(r#""d{n}":{}"#, part(n))))
}

fn constants(count: usize) -> String {
    list(count, |n| format!(r#"{{"const":{n}}}"#))
}

fn members(count: usize, value: &str) -> String {
    list(count, |n| format!(r#""m{n}":{value}"#))
}

fn names(count: usize) -> String {
    list(count, |n| format!(r#""m{n}""#))
}

#[test]
fn objects() {
    grows("properties", Linear, |n| {
        format!(r#"{{"properties":{{{}}}}}"#, members(n, r#"{"type":"integer"}"#))
    });
    grows("required", Linear, |n| format!(r#"{{"required":[{}]}}"#, names(n)));
    grows("required and closed", Linear, |n| {
        let properties = members(n, "{}");
        format!(r#"{{"properties":{{{properties}}},"required":[{}],"additionalProperties":false}}"#, names(n))
    });
    grows("patternProperties", Linear, |n| {
        format!(r#"{{"patternProperties":{{{}}}}}"#, list(n, |n| format!(r#""^p{n}$":{{}}"#)))
    });
    grows("properties and patternProperties", Quadratic, |n| {
        let patterns = list(n, |n| format!(r#""^p{n}":{{}}"#));
        format!(r#"{{"properties":{{{}}},"patternProperties":{{{patterns}}}}}"#, members(n, "{}"))
    });
    grows("patternProperties of long patterns", Linear, |n| {
        let patterns = list(9, |at| format!(r#""{}{at}$":{{}}"#, "[ab]".repeat(n)));
        format!(r#"{{"patternProperties":{{{patterns}}}}}"#)
    });
    grows("propertyNames", Linear, |n| format!(r#"{{"propertyNames":{{"enum":[{}]}}}}"#, names(n)));
}

#[test]
fn arrays() {
    grows("prefixItems and contains", Linear, |n| {
        let contains = list(6, |at| format!(r#"{{"contains":{{"const":{at}}}}}"#));
        format!(r#"{{"prefixItems":[{}],"allOf":[{contains}]}}"#, constants(n))
    });
    grows("prefixItems", Linear, |n| format!(r#"{{"prefixItems":[{}]}}"#, constants(n)));
    for keyword in ["not", "if", "contains", "oneOf", "dependentSchemas"] {
        grows(&format!("{keyword} prefixItems"), Linear, |n| {
            let prefix = format!(r#"{{"prefixItems":[{}]}}"#, constants(n));
            match keyword {
                "oneOf" => format!(r#"{{"oneOf":[{prefix},{{"minItems":3}}]}}"#),
                "dependentSchemas" => format!(r#"{{"dependentSchemas":{{"a":{{"not":{prefix}}}}}}}"#),
                _ => format!(r#"{{"{keyword}":{prefix}}}"#),
            }
        });
    }
    grows("a prefix and a negated one", Quadratic, |n| {
        let prefix = constants(n);
        format!(r#"{{"prefixItems":[{prefix}],"not":{{"prefixItems":[{}]}}}}"#, list(n, |_| "true".into()))
    });
    grows("nested lists", Linear, |n| {
        definitions(n, r##""$ref":"#/$defs/d0""##, |n| {
            format!(r##"{{"items":{{"$ref":"#/$defs/d{}"}}}}"##, n.saturating_sub(1))
        })
    });
    grows("contains of many", Linear, |n| {
        format!(r#"{{"contains":{{"enum":[{}]}}}}"#, list(n, |n| n.to_string()))
    });
    grows("unique items of many", Linear, |n| {
        format!(r#"{{"uniqueItems":true,"items":{{"enum":[{}]}}}}"#, list(n, |n| n.to_string()))
    });
    grows("unevaluatedItems", Linear, |n| {
        format!(r#"{{"allOf":[{{"prefixItems":[{}]}}],"unevaluatedItems":false}}"#, constants(n))
    });
}

#[test]
fn values() {
    grows("enum", Linear, |n| format!(r#"{{"enum":[{}]}}"#, list(n, |n| format!(r#""v{n}""#))));
    grows("not enum", Linear, |n| format!(r#"{{"not":{{"enum":[{}]}}}}"#, list(n, |n| format!(r#""v{n}""#))));
    grows("enum and not enum", Quadratic, |n| {
        let values = list(n, |n| format!(r#""v{n}""#));
        format!(r#"{{"enum":[{values}],"not":{{"enum":[{}]}}}}"#, list(n, |n| format!(r#""w{n}""#)))
    });
}

#[test]
fn numbers() {
    grows("bounds", Linear, |n| {
        format!(r#"{{"allOf":[{}]}}"#, list(n, |n| format!(r#"{{"minimum":{n},"maximum":1{n}}}"#)))
    });
}

#[test]
fn combinations() {
    for keyword in ["allOf", "anyOf"] {
        grows(keyword, Linear, |n| {
            format!(r#"{{"{keyword}":[{}]}}"#, list(n, |n| format!(r#"{{"required":["m{n}"]}}"#)))
        });
    }
    grows("oneOf of constants", Linear, |n| format!(r#"{{"oneOf":[{}]}}"#, constants(n)));
    grows("oneOf", Quadratic, |n| {
        let part =
            |n| format!(r#"{{"properties":{{"k":{{"const":{n}}}}},"required":["k"],"type":"object"}}"#);
        format!(r#"{{"oneOf":[{}]}}"#, list(n, part))
    });
    grows("oneOf of overlapping ones", Quadratic, |n| {
        format!(r#"{{"oneOf":[{}]}}"#, list(n, |n| format!(r#"{{"minimum":{n}}}"#)))
    });
    grows("oneOf in oneOf", Quadratic, |n| {
        let part = |m, n| {
            format!(r#"{{"type":"object","properties":{{"k":{{"const":"{m}-{n}"}}}},"required":["k"]}}"#)
        };
        format!(
            r#"{{"oneOf":[{}]}}"#,
            list(n / 8, |m| format!(r#"{{"oneOf":[{}]}}"#, list(8, |n| part(m, n))))
        )
    });
    grows("two anyOf", Quadratic, |n| {
        let part = |k: &str| list(n, |n| format!(r#"{{"required":["{k}{n}"]}}"#));
        format!(r#"{{"type":"object","allOf":[{{"anyOf":[{}]}},{{"anyOf":[{}]}}]}}"#, part("a"), part("b"))
    });
    grows("many anyOf", Quadratic, |n| {
        let part = |n| format!(r#"{{"anyOf":[{{"required":["a{n}"]}},{{"required":["b{n}"]}}]}}"#);
        format!(r#"{{"type":"object","allOf":[{}]}}"#, list(n, part))
    });
    grows("many if", Quadratic, |n| {
        let part = |n| format!(r#"{{"if":{{"required":["a{n}"]}},"then":{{"required":["b{n}"]}}}}"#);
        format!(r#"{{"type":"object","allOf":[{}]}}"#, list(n, part))
    });
    grows("alternatives next to members", Quadratic, |n| {
        let some = list(n, |n| format!(r#"{{"required":["m{n}"],"properties":{{"m{n}":{{"const":{n}}}}}}}"#));
        let properties = members(n, r#"{"type":"integer"}"#);
        format!(r#"{{"type":"object","properties":{{{properties}}},"anyOf":[{some}]}}"#)
    });
}

#[test]
fn references() {
    let to = |n: usize| format!(r##"{{"$ref":"#/$defs/d{n}"}}"##);
    let root = r##""$ref":"#/$defs/d0""##;
    grows("a chain of $ref", Linear, |n| {
        definitions(n, root, |m| if m + 1 < n { to(m + 1) } else { "{}".into() })
    });
}

#[test]
fn documents() {
    grows("unknown words", Linear, |n| format!("{{{}}}", list(n, |n| format!(r#""wrod{n}":1"#))));
    grows("unknown formats", Linear, |n| {
        format!(r#"{{"allOf":[{}]}}"#, list(n, |n| format!(r#"{{"format":"f{n}"}}"#)))
    });
    grows("one unknown word", Linear, |n| {
        format!(r#"{{"allOf":[{}]}}"#, list(n, |_| r#"{"wrod":1}"#.into()))
    });
    grows("repeated names", Linear, |n| format!("{{{}}}", list(n, |_| r#""title":1"#.into())));
    grows("schemas that nothing satisfies", Linear, |n| {
        format!(r#"{{"properties":{{{}}}}}"#, members(n, r#"{"type":"string","minLength":2,"maxLength":1}"#))
    });
    grows("deep nesting", Linear, |n| {
        let part = format!("{}{}{}", r#"{"items":"#.repeat(60), "{}", "}".repeat(60));
        format!(r#"{{"prefixItems":[{}]}}"#, list(n / 60, |_| part.clone()))
    });
    growth(
        "undeclared members refused",
        Linear,
        SIZES,
        |n| {
            let part =
                |n| format!(r##"{{"allOf":[{{"$ref":"#/$defs/a"}},{{"properties":{{"m{n}":{{}}}}}}]}}"##);
            format!(r#"{{"prefixItems":[{}],"$defs":{{"a":{{"properties":{{"a":{{}}}}}}}}}}"#, list(n, part))
        },
        |schema| compile(schema, &Options::default().undeclared(Undeclared::Refused)),
    );
}

/// A megabyte of negated items, each of which is a small schema.
#[test]
fn a_long_negated_prefix_takes_memory_linear_in_its_length() {
    let sizes = [6_250, 12_500, 25_000, 50_000];
    let schema = |n| format!(r#"{{"not":{{"prefixItems":[{}]}}}}"#, list(n, |_| r#"{"type":"null"}"#.into()));
    growth("a long negated prefix", Linear, sizes, schema, |schema| compile(schema, &Options::default()));
}
