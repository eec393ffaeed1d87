//! Explanations and distances of a matcher.

use crate::border::fields;
use grammata::grammar::ByteSet;
use grammata::mask::Distance;
use grammata::matcher::{Expectation, Explanation};
use serde_json::Value;

/// The fields of the TypeScript interface `Explanation`.
pub(crate) fn explanation(found: &Explanation) -> Value {
    fields([
        ("position", found.position().into()),
        ("found", found.found().into()),
        ("isViable", found.is_viable().into()),
        ("mayEnd", found.may_end().into()),
        ("expected", Value::Array(found.expected().iter().map(expectation).collect())),
        ("text", found.to_string().into()),
    ])
}

fn expectation(one: &Expectation) -> Value {
    fields([
        ("rule", one.rule.as_str().into()),
        ("label", one.label.as_deref().into()),
        ("bytes", bytes(&one.bytes)),
        ("terminals", one.terminals.clone().into()),
        ("text", one.to_string().into()),
    ])
}

fn bytes(set: &ByteSet) -> Value {
    set.iter().collect::<Vec<u8>>().into()
}

/// The fields of the TypeScript interface `Distance`.
pub(crate) fn distance(found: Distance) -> Value {
    let kind = match found {
        Distance::Exact(_) => "exact",
        Distance::AtMost(_) => "at most",
        Distance::Unreachable => "unreachable",
        Distance::Unknown => "unknown",
    };
    fields([("kind", kind.into()), ("known", found.known().into())])
}

#[cfg(test)]
mod tests {
    use super::{distance, explanation};
    use grammata::mask::Distance;
    use grammata::syntax::{Source, parse};
    use grammata::vocabulary::VocabularyBuilder;
    use grammata::{Compiler, TokenId};
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn a_refusal_says_what_was_expected() {
        let builder = VocabularyBuilder::from_tokens(["a", "b"]).eos([TokenId::new(1)]);
        let compiler = Compiler::new(Arc::new(builder.build().unwrap()));
        let grammar = parse(&Source::gbnf("root ::= \"a\" [ab]?")).unwrap().grammar;
        let mut matcher = compiler.compile(&grammar).unwrap().matcher();
        let found = explanation(&matcher.explain(b"ax").unwrap());
        assert_eq!(found["position"], 1);
        assert_eq!(found["found"], b'x');
        assert_eq!(found["isViable"], false);
        assert_eq!(found["mayEnd"], true);
        assert_eq!(found["expected"][0]["bytes"], json!([b'a', b'b']));
        assert_eq!(found["expected"][0]["rule"], "root");
    }

    #[test]
    fn distances_have_their_kind() {
        let cases = [
            (Distance::Exact(3), json!({"kind": "exact", "known": 3})),
            (Distance::AtMost(4), json!({"kind": "at most", "known": 4})),
            (Distance::Unreachable, json!({"kind": "unreachable", "known": null})),
            (Distance::Unknown, json!({"kind": "unknown", "known": null})),
        ];
        for (found, expected) in cases {
            assert_eq!(distance(found), expected);
        }
    }
}
