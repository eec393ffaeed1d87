//! Sessions with tools: their masks compared with those of the whole grammar, the callable tools, and their events.

use super::properties::cases;
use grammata::matcher::Constraint;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, TokenId};
use grammata_agents::tools::session::{
    CompiledTools, Grounding, Session, ToolChoice, ToolCompiler, TurnOptions, most_probable_names,
    values_under,
};
use grammata_agents::tools::{CallFormat, Choice, GrammarOptions};
use grammata_testing::tool_sessions::session_agrees;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use std::sync::Arc;

const MUSIC: &str = r#"[{"name": "find", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}}},
    {"name": "play", "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}},
    {"name": "never", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5, "maximum": 1}}, "required": ["n"]}}]"#;
const SERVICES: &str = include_str!("../../../../catalogues/services/openapi.json");

fn compiler() -> ToolCompiler {
    let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"</s>".to_vec()]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build().unwrap();
    ToolCompiler::new(Compiler::new(Arc::new(vocabulary)))
}

fn compiled(compiler: &ToolCompiler, format: &str, text: &str) -> CompiledTools {
    let set = grammata_agents::tools::read(
        [grammata_agents::tools::Document { label: "t", text }],
        &grammata_agents::tools::ReadOptions::default(),
    );
    let format = CallFormat::named(format).unwrap();
    compiler.compile(Arc::new(set.unwrap()), format, &GrammarOptions::default()).unwrap()
}

fn required() -> TurnOptions {
    TurnOptions { choice: Choice::Required, ..TurnOptions::default() }
}

fn is_turn(tools: &CompiledTools, options: &TurnOptions, text: &str) -> bool {
    let mut turn = tools.turn(options).unwrap();
    turn.accept_bytes(text.as_bytes()).is_ok() && turn.is_accepting().unwrap()
}

#[test]
fn sessions_have_the_masks_of_the_whole_grammar() {
    for seed in 0..u64::from(cases(200)) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let walk = || session_agrees(&mut |bound| random.random_range(0..bound.max(1)));
        if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(walk)) {
            let message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            panic!("seed {seed}: {message}");
        }
    }
}

#[test]
fn arguments_are_compiled_when_a_name_has_been_chosen_and_shared_by_content() {
    let compiler = compiler();
    let tools = compiled(&compiler, "json", MUSIC);
    assert_eq!(tools.refused()[0].0, "never");
    assert_eq!(tools.all().len(), 2);
    let mut turn = tools.turn(&required()).unwrap();
    turn.accept_bytes(br#"{"name": "pl"#).unwrap();
    turn.mask().unwrap();
    assert_eq!(compiler.len(), 0);
    assert_eq!(turn.forced_bytes().unwrap(), b"ay\"");
    turn.accept_bytes(br#"ay""#).unwrap();
    assert_eq!(compiler.len(), 1);
    assert!(turn.accept_bytes(br#", "arguments": {"id": "a"#).is_err());
    turn.accept_bytes(br#", "arguments": {"id": 1}}"#).unwrap();
    assert!(turn.is_accepting().unwrap());
    let renamed = compiled(&compiler, "json", &MUSIC.replace("play", "play_it"));
    assert!(is_turn(&renamed, &required(), r#"{"name":"play_it","arguments":{"id":3}}"#));
    assert_eq!(compiler.len(), 1);
}

#[test]
fn a_request_says_which_tools_may_be_called() {
    let compiler = compiler();
    let tools = compiled(&compiler, "json", MUSIC);
    let (play, find, text) =
        (r#"{"name":"play","arguments":{"id":3}}"#, r#"{"name":"find","arguments":{}}"#, "No.");
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let allowed =
        json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "find"}]});
    for (choice, expected) in [
        (json!("auto"), [true, true, true]),
        (json!("required"), [true, true, false]),
        (json!({"type": "any"}), [true, true, false]),
        (json!("none"), [false, false, true]),
        (function("play"), [true, false, false]),
        (json!({"type": "tool", "name": "find"}), [false, true, false]),
        (allowed, [false, true, true]),
    ] {
        let options = ToolChoice::from_json(&choice).unwrap().options(&tools).unwrap();
        assert_eq!([play, find, text].map(|turn| is_turn(&tools, &options, turn)), expected, "{choice}");
    }
    assert_eq!(ToolChoice::from_json(&json!("some")).unwrap_err().code(), "tools/tool-choice");
    let unknown = ToolChoice::from_json(&function("plai")).unwrap().options(&tools).unwrap_err();
    assert_eq!(unknown.code(), "tools/unknown-tool");
    assert_eq!(tools.subset(["never"]).unwrap_err().code(), "tools/arguments");
    let none = TurnOptions { subset: Some(tools.subset([]).unwrap()), ..required() };
    assert_eq!(tools.turn(&none).unwrap_err().code(), "tools/no-tools");
    let two = TurnOptions { min_calls: 2, max_calls: Some(2), ..required() };
    assert_eq!(tools.turn(&two).unwrap_err().code(), "tools/call-count");
}

#[test]
fn arguments_take_only_values_that_were_seen() {
    let compiler = compiler();
    let tools = compiled(&compiler, "json", MUSIC);
    let grounding = Grounding { tool: None, member: "id".to_owned(), keys: vec!["id".to_owned()] };
    let mut session = Session::new(&tools, required()).unwrap();
    session.ground(vec![grounding]).unwrap();
    // no value was observed yet, so `play` cannot be called
    assert!(session.clone().accept_bytes(br#"{"name":"p"#).is_err());
    session.accept_bytes(br#"{"name":"find","arguments":{}}"#).unwrap();
    assert_eq!(session.observe("[]").unwrap_err().code(), "tools/open-turn");
    session.finish().unwrap();
    session.observe(r#"{"albums": [{"id": 12}, {"id": 7, "name": "x"}, {"id": "text"}]}"#).unwrap();
    session.accept_bytes(br#"{"name":"play","arguments":{"id":"#).unwrap();
    for (value, is_seen) in [("12}}", true), ("7}}", true), ("1}}", false), ("\"text\"}}", false)] {
        let mut turn = session.clone();
        assert_eq!(turn.accept_bytes(value.as_bytes()).is_ok(), is_seen, "{value}");
    }
    let value = json!([{"id": 1, "of": {"id": [2, 1]}}, {"id": {"id": 3}}]);
    assert_eq!(values_under(&value, "id"), [&json!(1), &json!(2), &json!(3)]);
}

const BUDGETS: &str = r#"[{"name": "find", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}},
    {"name": "play", "inputSchema": {"type": "object", "properties": {"id": {"type": "integer", "minimum": 1000}, "at": {"type": "string", "pattern": "^[0-9]{2}h$"}}, "required": ["id", "at"]}},
    {"name": "send", "inputSchema": {"type": "object", "properties": {"to": {"enum": ["alice", "bob"]}, "text": {"type": "string", "minLength": 12}}, "required": ["text", "to"]}}]"#;

/// A session accepts the same budgets as the grammar of the whole turn, from the first token on. After each token the
/// rest of the budget suffices for a complete turn, whichever tokens are chosen.
#[test]
fn turns_are_whole_within_budgets_before_a_name_is_chosen() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    for (format, choice, calls) in [
        ("json", Choice::Required, (1, 1)),
        ("json", Choice::Auto, (1, 1)),
        ("hermes", Choice::Required, (1, 2)),
        ("json-array", Choice::Required, (2, 3)),
        ("react", Choice::Required, (1, 1)),
    ] {
        let tools = compiled(&compiler(), format, BUDGETS);
        let options =
            TurnOptions { choice, min_calls: calls.0, max_calls: Some(calls.1), ..TurnOptions::default() };
        let whole = GrammarOptions::default().choice(choice).min_calls(calls.0).max_calls(Some(calls.1));
        let whole = tools.format().grammar(tools.set(), &whole).unwrap().grammar;
        let whole = compiler().compiler().compile(&whole).unwrap().matcher();
        let keeps = |matcher: &dyn Constraint, budget: usize| matcher.fork().check_budget(budget).is_ok();
        let turn = tools.turn(&options).unwrap();
        let least = (0..500).find(|&budget| keeps(&whole, budget)).unwrap();
        assert_eq!((0..500).find(|&budget| keeps(&turn, budget)), Some(least), "{format}");
        for budget in [least, least + 1, least + 9, 200, 400] {
            let mut turn: Box<dyn Constraint> = turn.fork();
            let (mut left, mut steps, mut text) = (budget, 0, Vec::new());
            while !turn.is_finished().unwrap() {
                let mut words = [0_u32; 9];
                turn.fill_mask_within(left, &mut words).unwrap();
                let allowed: Vec<u32> =
                    (0..257).filter(|id| words[*id as usize / 32] >> (id % 32) & 1 == 1).collect();
                assert!(!allowed.is_empty(), "{format} within {budget}: {}", String::from_utf8_lossy(&text));
                let token = allowed[random.random_range(0..allowed.len())];
                turn.accept_token(token).unwrap();
                if token == 256 {
                    break;
                }
                (left, steps) = (left - 1, steps + 1);
                text.push(token as u8);
                if random.random_range(0..9) == 0 {
                    let back = random.random_range(1..=steps.min(4));
                    turn.rollback(back).unwrap();
                    text.truncate(text.len() - back);
                    (left, steps) = (left + back, steps - back);
                }
            }
            let text = String::from_utf8(text).unwrap();
            let read = tools.format().read(&text, tools.set()).unwrap();
            assert!(text.len() <= budget, "{format} within {budget}: {text}");
            assert!(choice == Choice::Auto || read.calls.len() >= calls.0 as usize, "{text}");
        }
    }
}

/// The best-first search, which stops early, finds the three greatest probabilities that the sums over all names give.
#[test]
fn the_most_probable_names_are_those_of_all_sums() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..cases(200) {
        let count = random.random_range(1..8);
        let names: Vec<Vec<TokenId>> = (0..count)
            .map(|_| {
                let length = random.random_range(1..5);
                // token 3 ends a name, and occurs only there
                let inside = (1..length).map(|_| TokenId::new(random.random_range(0..3)));
                inside.chain([TokenId::new(3)]).collect()
            })
            .collect();
        let seed: u64 = random.random();
        let scores = |prefix: &[TokenId]| -> Vec<f32> {
            let mut own = prefix
                .iter()
                .fold(seed, |n, token| n.wrapping_mul(31).wrapping_add(u64::from(token.get()) + 1));
            let weights: Vec<f32> = (0..4)
                .map(|_| {
                    own = own.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (own >> 40) as f32 + 1.0
                })
                .collect();
            let sum: f32 = weights.iter().sum();
            weights.iter().map(|weight| (weight / sum).ln()).collect()
        };
        let sum = |name: &[TokenId]| -> f64 {
            (0..name.len()).map(|at| f64::from(scores(&name[..at])[name[at].index()])).sum()
        };
        let mut expected: Vec<(f64, usize)> = (0..count)
            .filter(|&at| !names[..at].contains(&names[at]))
            .map(|at| (sum(&names[at]), at))
            .collect();
        expected.sort_by(|one, other| other.0.total_cmp(&one.0));
        let found = most_probable_names(&names, 3, |prefix| Ok(scores(prefix))).unwrap();
        assert_eq!(found.len(), expected.len().min(3));
        for (found, (sum, _)) in found.iter().zip(&expected) {
            assert!((found.log_probability - sum).abs() < 1e-9, "{found:?} {expected:?}");
        }
    }
}

#[test]
fn all_tools_of_a_catalogue_can_be_called_and_bring_what_they_need() {
    let compiler = compiler();
    let tools = compiled(&compiler, "hermes", SERVICES);
    assert!(tools.refused().is_empty());
    assert_eq!(tools.all().len(), 528);
    for name in tools.names(tools.all()).step_by(7) {
        let mut turn = tools.turn(&required()).unwrap();
        let begun = turn.begin_call().unwrap();
        assert_eq!(begun.as_deref(), Some(&b"<tool_call>\n{\"name\": \""[..]));
        turn.accept_bytes(format!(r#"{name}","arguments":{{"#).as_bytes()).unwrap();
        assert!(!turn.mask().unwrap().is_empty(), "{name}");
    }
    let set = tools.set();
    let index = |name: &str| set.tools().iter().position(|tool| tool.name == name).unwrap();
    let brought: Vec<&str> = set
        .with_prerequisites([index("getRestaurants"), index("listBooks")])
        .into_iter()
        .map(|tool| set.tools()[tool].name.as_str())
        .collect();
    assert_eq!(brought.iter().filter(|name| **name == "getRestaurants").count(), 1);
    let place = |name: &str| brought.iter().position(|brought| *brought == name).unwrap();
    assert!(place("listRestaurants") < place("getRestaurants"));
    assert!(place("searchRestaurants") < place("getRestaurants"));
    assert_eq!(brought.len(), 4);
}

/// Responses of operations determine which other operations need them: by the name of a member, or by an `id` and the
/// end of the path.
#[test]
fn tools_bring_those_whose_answers_have_what_they_ask_for() {
    let list = |reference: &str| {
        json!({"200": {"content": {"application/json": {"schema": {"type": "object", "properties": {
            "results": {"type": "array", "items": {"$ref": reference}}}}}}}})
    };
    let get = |id: &str, parameters: &[(&str, &str)], responses: serde_json::Value| {
        let parameters: Vec<_> = parameters
            .iter()
            .map(|(name, place)| json!({"name": name, "in": place, "required": true, "schema": {"type": "string"}}))
            .collect();
        json!({"get": {"operationId": id, "parameters": parameters, "responses": responses}})
    };
    let none = || json!({"204": {"description": "nothing"}});
    let document = json!({"openapi": "3.0.0",
        "components": {"schemas": {
            "show": {"type": "object", "properties": {"id": {"type": "integer"}, "like": {"$ref": "#/components/schemas/show"}}},
            "credit": {"allOf": [{"type": "object", "properties": {"creditId": {"type": "string"}}}]}}},
        "paths": {
            "/search/tv": get("search", &[("query", "query")], list("#/components/schemas/show")),
            "/discover/tv": get("discover", &[], list("#/components/schemas/show")),
            "/trending/tv": get("trending", &[], list("#/components/schemas/show")),
            "/tv/{tv_id}/similar": get("similar", &[("tv_id", "path")], list("#/components/schemas/show")),
            "/tv/{tv_id}/credits": get("credits", &[("tv_id", "path")], list("#/components/schemas/credit")),
            "/credit/{credit_id}": get("credit", &[("credit_id", "path")], none()),
            "/lyrics": get("lyrics", &[("credit_id", "query"), ("language", "query")], list("#/nowhere")),
            "/artists": get("artists", &[("ids", "query")], list("#/components/schemas/show")),
            "/artists/{id}": get("artist", &[("id", "path")], none()),
            "/search": get("search_all", &[("q", "query")], json!({"200": {"content": {"application/json": {"schema": {
                "type": "object", "properties": {"artists": {"type": "array", "items": {"$ref": "#/components/schemas/show"}}}}}}}})),
            "/albums": get("albums", &[], none()),
            "/albums/{id}": get("album", &[("id", "path")], none())}});
    let document = document.to_string();
    let read = grammata_agents::tools::read(
        [grammata_agents::tools::Document { label: "t", text: &document }],
        &grammata_agents::tools::ReadOptions::default(),
    );
    let set = read.unwrap();
    let brought = |name: &str| -> Vec<String> {
        let tool = set.tools().iter().position(|tool| tool.name == name).unwrap();
        set.with_prerequisites([tool]).into_iter().map(|tool| set.tools()[tool].name.clone()).collect()
    };
    assert_eq!(brought("credit"), ["discover", "search", "credits", "credit"]);
    assert_eq!(brought("lyrics"), ["discover", "search", "credits", "lyrics"]);
    assert_eq!(brought("similar"), ["discover", "search", "similar"]);
    assert_eq!(brought("album"), ["albums", "album"]);
    // `artists` needs the ids of several artists, so they come from the search instead
    assert_eq!(brought("artist"), ["search_all", "artist"]);
    assert_eq!(brought("search"), ["search"]);
}

/// If a schema occurs several times in a response, its members count at the place that is nearest to the root.
#[test]
fn members_are_found_below_the_nearest_place_of_a_schema() {
    let get = |id: &str, parameters: serde_json::Value, schema: serde_json::Value| {
        json!({"get": {"operationId": id, "parameters": parameters,
            "responses": {"200": {"content": {"application/json": {"schema": schema}}}}}})
    };
    let object =
        |name: &str, schema: serde_json::Value| json!({"type": "object", "properties": {name: schema}});
    let shared = json!({"$ref": "#/components/schemas/shared"});
    let deep = ["d", "c", "b", "a"].into_iter().fold(shared.clone(), |schema, name| object(name, schema));
    for near_first in [false, true] {
        let mut members = serde_json::Map::new();
        let places = [("near", shared.clone()), ("deep", deep.clone())];
        let places = if near_first { places.to_vec() } else { places.into_iter().rev().collect() };
        members.extend(places.into_iter().map(|(name, schema)| (name.to_owned(), schema)));
        let key =
            json!([{"name": "invoice_id", "in": "query", "required": true, "schema": {"type": "string"}}]);
        let document = json!({"openapi": "3.0.1", "info": {"title": "t", "version": "1"},
            "components": {"schemas": {"shared": object("inner", object("invoice_id", json!({"type": "string"})))}},
            "paths": {
                "/all": get("all", json!([]), json!({"type": "object", "properties": members})),
                "/print": get("print", key, json!({}))}});
        let set = super::tools::set(&document.to_string()).unwrap();
        let print = set.tools().iter().position(|tool| tool.name == "print").unwrap();
        let names: Vec<&str> =
            set.with_prerequisites([print]).into_iter().map(|tool| set.tools()[tool].name.as_str()).collect();
        assert_eq!(names, ["all", "print"], "near first: {near_first}");
    }
}
