//! Options, limits, statistics and diagnostics as JSON (feature `serde`).

use grammata::syntax::{automaton_spec, gbnf, json_schema, regex};
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary, VocabularyBuilder};
use grammata::{Compiler, LimitKind, Limits};
use grammata_agents::flows::{FlowOptions, Level, Thoughts, Within};
use grammata_agents::plan::SearchOptions;
use grammata_agents::procedures::{StepFormat, StepOptions, WalkOptions};
use grammata_agents::retrieval::fuse::Join;
use grammata_agents::retrieval::{Ranker, RetrievalOptions};
use grammata_agents_drive::flows::{ChooserOptions, ThoughtScore};
use grammata_agents_drive::plan::{PromptMode, PromptOptions};
use grammata_agents_drive::procedures::RunOptions;
use grammata_agents_drive::retrieval::WriterOptions;
use grammata_decode::{BeamOptions, GenerationOptions, SamplingParams};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::Arc;

/// Checks that options are read back as they were written, that `fields` are written with their values, that every
/// field may be left out, and that an unknown field is refused.
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

fn small() -> Limits {
    LimitKind::ALL
        .iter()
        .enumerate()
        .fold(Limits::default(), |limits, (index, &kind)| limits.with(kind, index))
}

#[test]
fn options_and_limits_are_read_as_they_are_written() {
    let all: Value = LimitKind::ALL
        .iter()
        .enumerate()
        .map(|(index, kind)| (kind.name().to_owned(), json!(index)))
        .collect();
    holds(&small(), all.clone());
    let load = LoadOptions::default().eos(vec![TokenId::new(2)]).width(Some(9)).limits(small());
    holds(&load, json!({"eos": [2], "width": 9, "limits": all}));
    let schema = json_schema::Options::default()
        .whitespace(json_schema::Whitespace::AtMost(3))
        .property_order(json_schema::PropertyOrder::Any);
    holds(&schema, json!({"whitespace": {"at_most": 3}, "property_order": "any", "formats": "assert"}));
    holds(&gbnf::Options::default().root("top".into()), json!({"root": "top"}));
    let pattern = regex::Options::default().dialect(regex::Dialect::Ecma262).search(true);
    holds(&pattern, json!({"dialect": "ecma262", "search": true}));
    holds(
        &automaton_spec::Options::default().format(automaton_spec::Format::Json),
        json!({"format": "json"}),
    );
    let sampling = SamplingParams::default().temperature(0.5).seed(7);
    holds(&sampling, json!({"temperature": 0.5, "seed": 7}));
    let sampling = json!(sampling);
    let generation =
        GenerationOptions::default().sampling(SamplingParams::default().temperature(0.5).seed(7));
    holds(&generation.stop(vec!["x".into()]), json!({"stop": ["x"], "sampling": sampling}));
    holds(&BeamOptions::default().width(2), json!({"width": 2}));
}

#[test]
fn options_of_agents_are_read_as_they_are_written() {
    holds(
        &FlowOptions::default().level(Level::Data).within(Within::Declared),
        json!({"level": "data", "within": "declared"}),
    );
    let score = ThoughtScore::default().lambda(0.5);
    let chooser = ChooserOptions::default().thoughts(Thoughts::Stated).score(score);
    holds(&chooser, json!({"thoughts": "stated", "score": json!(score)}));
    let prompts = PromptOptions::default().mode(PromptMode::Likelihood).orders(4);
    holds(&prompts, json!({"mode": "likelihood", "orders": 4}));
    holds(&SearchOptions::default().trace(true), json!({"trace": true, "max_free_steps": 100}));
    let retrieval = RetrievalOptions::default().ranker(Ranker::Hybrid).join(Join::ReciprocalRanks);
    holds(&retrieval, json!({"k": 11, "ranker": "hybrid", "join": "reciprocal_ranks"}));
    holds(&WriterOptions::default().max_tokens(9), json!({"max_tokens": 9, "format": "lines"}));
    holds(&RunOptions::default().acts(2), json!({"acts": 2, "tries": 3}));
    holds(&WalkOptions::default().eager(true), json!({"eager": true, "acts": 24}));
    let step = StepOptions::default().format(StepFormat::Json).thought(Some(80));
    holds(&step, json!({"format": "json", "thought": 80}));
}

#[test]
fn statistics_and_diagnostics_are_written() {
    let error = json_schema::compile("{\"type\": 7}", &json_schema::Options::default()).unwrap_err();
    let written = serde_json::to_value(error.diagnostic()).unwrap();
    assert_eq!(written["code"], error.code());
    assert_eq!(written["place"], json!({"pointer": "/type"}));
    assert_eq!(written["snippet"]["line"], 1);
    let error = Limits::exceeded(LimitKind::CacheBytes, 7, "more");
    assert_eq!(serde_json::to_value(error.diagnostic()).unwrap()["limit"], "cache_bytes");
    assert_eq!(serde_json::to_value(error.kind()).unwrap(), "limit");

    let mut builder = VocabularyBuilder::new(&Limits::default());
    (0..=255u8).for_each(|byte| builder.push(&[byte]));
    let vocabulary: Vocabulary = builder.eos([TokenId::new(0)]).build().unwrap();
    let grammar = regex::compile("ab*", &regex::Options::default()).unwrap();
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap();
    compiled.matcher().mask().unwrap();
    let written = serde_json::to_value(compiled.statistics()).unwrap();
    assert_eq!(written["masks_computed"], 1);
    let strategies = written["strategies"].as_object().unwrap();
    assert_eq!(strategies.len(), compiled.statistics().strategies.iter().count());
}
