//! The work of compiling, in the steps that `compile_work` counts, for kinds of input that took much of a second before
//! results were cached. Each bound is about twice what its input takes now.

use grammata::syntax::{json_schema, regex};
use grammata::{ErrorKind, Limits, Result};

/// Returns the least work with which `compile` does not end at its limit, rounded up by at most an eighth.
fn least<T>(compile: impl Fn(Limits) -> Result<T>) -> usize {
    let mut work = 1_000;
    let is_short = |work| {
        let limits = Limits::default().compile_work(work).compile_work_per_byte(0);
        compile(limits).is_err_and(|error| error.kind() == ErrorKind::Limit)
    };
    while is_short(work) {
        work += work / 8;
        assert!(work < 1 << 30, "there is another limit");
    }
    work
}

#[test]
fn what_follows_a_character_before_a_word_boundary_is_found_once() {
    let characters = r"[-a-zA-Z0-9@:%._\+~#=]{1,256}\.[a-zA-Z0-9()]{1,6}\b([-a-zA-Z0-9()@:%_\+.~#?&//=]*)";
    let pattern = format!(r"^https?://(www\.)?{characters}$");
    let work = least(|limits| regex::compile(&pattern, &regex::Options::default().limits(limits)));
    assert!(work < 3_000_000, "{work}");
}

/// Objects in a `oneOf` that exclude each other nowhere, and whose members are alternatives.
#[test]
fn whether_members_exclude_each_other_is_asked_once() {
    let member = |n: usize| {
        let pair = r#"{"type":"object","properties":{"t":{"enum":["a","b"]},"u":{"type":"string"}},
            "required":["t","u"]}"#;
        let list = r#"{"type":"array","items":{"type":"string"},"minItems":2}"#;
        format!(r#""m{n}":{{"anyOf":[{pair},{list},{{"type":"null"}}]}}"#)
    };
    let members = (0..8).map(member).collect::<Vec<_>>().join(",");
    let required = (0..8).map(|n| format!(r#""m{n}""#)).collect::<Vec<_>>().join(",");
    let object = |n: usize| {
        let properties = format!(r#"{{"k{n}":{{"type":"integer"}},{members}}}"#);
        format!(r#"{{"type":"object","properties":{properties},"required":["k{n}",{required}]}}"#)
    };
    let objects = (0..12).map(object).collect::<Vec<_>>().join(",");
    let schema = format!(r#"{{"oneOf":[{objects}]}}"#);
    let work = least(|limits| json_schema::compile(&schema, &json_schema::Options::default().limits(limits)));
    assert!(work < 400_000, "{work}");
}

#[test]
fn equal_multiples_have_one_automaton() {
    let size = |schema: &str| {
        let compiled = json_schema::compile(schema, &json_schema::Options::default()).expect("a schema");
        compiled.grammar.to_string().len()
    };
    // without bounds, both signs have the same magnitudes
    let one_sign = size(r#"{"multipleOf":997,"minimum":0}"#);
    assert!(size(r#"{"multipleOf":997}"#) < one_sign + one_sign / 8);
    // the least common multiple is the same, and so is what is left without needless non-divisors
    let one = size(r#"{"properties":{"a":{"multipleOf":997},"b":{"multipleOf":997}}}"#);
    let equal =
        r#"{"properties":{"a":{"multipleOf":997},"b":{"allOf":[{"multipleOf":997},{"multipleOf":1}]}}}"#;
    assert!(size(equal) < one + one / 8);
    let excluded = r#"{"properties":{"a":{"not":{"multipleOf":97}},
        "b":{"allOf":[{"not":{"multipleOf":97}},{"not":{"multipleOf":194}}]}}}"#;
    let alone = size(r#"{"properties":{"a":{"not":{"multipleOf":97}}}}"#);
    assert!(size(excluded) < alone + alone / 8);
}
