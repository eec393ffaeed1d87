//! Fuzzes `grammata_testing::differential`: schemas of objects against the `jsonschema` crate.

#![no_main]

use grammata_testing::differential::{Judge, objects_agree};

fn validator(schema: &serde_json::Value) -> Judge {
    match jsonschema::draft202012::new(schema) {
        Ok(validator) => Box::new(move |value| validator.is_valid(value)),
        Err(error) => panic!("{error} in {schema}"),
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = objects_agree(bytes, validator) {
        panic!("{difference}");
    }
});
