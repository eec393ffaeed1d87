//! Options are read as they are written, and missing ones are the defaults.

use grammata_labs::flap::{FlapOptions, Incomplete};
use grammata_labs::retrieval::drafts::Selection;
use grammata_labs::retrieval::training::{PromptForm, TrainingOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;

/// Checks that every field is written and read back unchanged and may be left out, and that unknown fields are refused.
fn holds<T: Serialize + DeserializeOwned + Default + Debug>(options: &T, fields: Value) {
    let written = serde_json::to_value(options).unwrap();
    let read: T = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(format!("{read:?}"), format!("{options:?}"));
    let default: T = serde_json::from_value(json!({})).unwrap();
    assert_eq!(format!("{default:?}"), format!("{:?}", T::default()));
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&written[name], value, "{name} in {written}");
    }
    assert!(serde_json::from_value::<T>(json!({"no_such_field": 1})).is_err());
}

#[test]
fn options_of_experiments_are_read_as_they_are_written() {
    let score = FlapOptions::default().incomplete(Incomplete::Partial);
    holds(&score, json!({"incomplete": "partial", "lambda": 0.7}));
    let training = TrainingOptions::default().prompts(PromptForm::Chat).selection(Selection::default());
    holds(&training, json!({"prompts": "chat", "drafts": 24}));
}
