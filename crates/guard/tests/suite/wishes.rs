//! Files of wishes: hidden tools, questions before calls, and limits by time.

use crate::parts::{Bench, call, request, response};
use grammata::Limits;
use grammata_guard::Options;
use grammata_guard::rules::{Ask, Reply, Rules, WishRules, Wishes};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const TOOLS: [&str; 5] = ["read_file", "write_file", "delete_file", "admin_reset", "send_mail"];
const FILE: &str = r#"
rest = "pass"
ask = ["write_file", "delete_*"]
hide = ["admin_*"]

[[limit]]
calls = 3
per = "minute"

[[limit]]
tools = ["send_*"]
calls = 1
per = "hour"
each = true
"#;

fn wishes(text: &str) -> Wishes {
    Wishes::read(text, &Limits::default()).unwrap()
}

fn tools() -> Value {
    TOOLS.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect()
}

fn begin<'w>(rules: WishRules<'w>, epoch: u64) -> Bench<'w> {
    let now = Instant::now();
    let options = Options { epoch: Some((now, Duration::from_secs(epoch))), ..Options::default() };
    let mut bench = Bench::new(rules, options);
    bench.now = now;
    bench.begin_with(json!({ "elicitation": {} }), tools());
    bench
}

/// Calls a tool. Answers the question before the call, if there is one, with `action`, and the call if it reaches the
/// server. Returns the reason if the call is refused.
fn attempt(bench: &mut Bench<'_>, tool: &str, action: &str) -> Result<(), String> {
    bench.client(call("c", tool, json!({ "x": 1 })));
    let mut got = bench.take_for_client();
    if got.first().is_some_and(|message| message["method"] == "elicitation/create") {
        assert!(bench.take_for_server().is_empty());
        bench.client(response(&got[0]["id"], json!({ "action": action, "content": {} })));
        got = bench.take_for_client();
    }
    match bench.take_for_server().as_slice() {
        [] => Err(got.last().unwrap()["result"]["content"][0]["text"].as_str().unwrap().to_owned()),
        [sent] => {
            assert_eq!(sent["params"], json!({ "name": tool, "arguments": { "x": 1 } }));
            bench.server(response(&sent["id"], json!({ "content": [] })));
            bench.take_for_client();
            Ok(())
        }
        more => panic!("{more:?}"),
    }
}

#[test]
fn tools_are_asked_for_hidden_and_limited() {
    let wishes = wishes(FILE);
    let mut bench = begin(WishRules::new(&wishes, Ask::Elicit), 1_000_000);
    bench.client(request(1, "tools/list", json!({})));
    let list = bench.take_for_client().remove(0);
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["read_file", "write_file", "delete_file", "send_mail"]);
    let refused = attempt(&mut bench, "admin_reset", "accept").unwrap_err();
    assert!(refused.contains("hidden"), "{refused}");
    assert!(attempt(&mut bench, "other", "accept").unwrap_err().contains("unknown"));

    // the question shows the tool and its arguments, and no hidden characters
    bench.client(call("w", "write_file", json!({ "path": "a\u{202e}b" })));
    let asked = bench.take_for_client().remove(0);
    assert_eq!(
        asked["params"]["message"],
        "The agent wants to call the tool write_file with these arguments:\n{\n  \"path\": \"a\\u{202e}b\"\n}"
    );
    bench.client(response(&asked["id"], json!({ "action": "decline" })));
    let answer = bench.take_for_client().remove(0);
    assert!(answer.to_string().contains("the user was asked and declined"), "{answer}");
    assert!(bench.take_for_server().is_empty());

    attempt(&mut bench, "write_file", "accept").unwrap();
    // each call is asked for
    assert!(attempt(&mut bench, "write_file", "cancel").unwrap_err().contains("dismissed"));
    bench.now += Duration::from_secs(20);
    attempt(&mut bench, "send_mail", "accept").unwrap();
    attempt(&mut bench, "read_file", "accept").unwrap();
    let refused = attempt(&mut bench, "read_file", "accept").unwrap_err();
    assert!(refused.contains("limit: 3 per minute; call again in 40 s"), "{refused}");
    bench.now += Duration::from_secs(40);
    attempt(&mut bench, "read_file", "accept").unwrap();
    let refused = attempt(&mut bench, "send_mail", "accept").unwrap_err();
    assert!(refused.contains("limit: 1 per hour, each tool apart; call again in 3560 s"), "{refused}");

    // the session is continued with its limits, even if the clock was set back
    let log: String = bench.log.iter().map(|event| format!("{event}\n")).collect();
    for (epoch, wait) in [(1_000_070, 3550), (1, 3600)] {
        let mut rules = WishRules::new(&wishes, Ask::Elicit);
        assert_eq!(rules.resume(&log).unwrap(), None);
        let mut bench = begin(rules, epoch);
        let refused = attempt(&mut bench, "send_mail", "accept").unwrap_err();
        assert!(refused.contains(&format!("call again in {wait} s")), "{refused}");
    }
    // the time of a call is that of the clock, however long nothing was called before
    let mut bench = begin(WishRules::new(&wishes, Ask::Elicit), 1_000);
    bench.now += Duration::from_secs(62);
    attempt(&mut bench, "read_file", "accept").unwrap();
    assert_eq!(bench.log[0][3], json!({ "at": 1_062.0 }));

    let unfinished = log.lines().filter(|line| !line.contains("guide")).collect::<Vec<_>>();
    let unfinished = unfinished[..unfinished.len() - 1].join("\n");
    assert!(WishRules::new(&wishes, Ask::Elicit).resume(&unfinished).unwrap().is_some());
    for broken in ["x", "[\"call\",\"read_file\",{}]", "[\"result\",{}]", "[\"call\",1,{},{\"at\":-1}]"] {
        let error = WishRules::new(&wishes, Ask::Elicit).resume(broken).unwrap_err();
        assert_eq!(error.code(), "guard/trace", "{broken}");
    }
}

#[test]
fn without_a_person_no_call_that_needs_one_is_carried_out() {
    let wishes = wishes("rest = \"ask\"\npass = [\"read_file\"]");
    for (ask, capabilities, expected) in [
        (Ask::Refuse, json!({ "elicitation": {} }), "asks nobody"),
        (Ask::Elicit, json!({}), "does not support elicitation"),
        (Ask::Agent, json!({}), "does not support elicitation"),
    ] {
        let mut bench = Bench::new(WishRules::new(&wishes, ask), Options::default());
        bench.begin_with(capabilities, tools());
        let refused = attempt(&mut bench, "send_mail", "accept").unwrap_err();
        assert!(refused.contains(expected), "{refused}");
        attempt(&mut bench, "read_file", "accept").unwrap();
    }
    let mut bench = begin(WishRules::new(&wishes, Ask::Elicit), 0);
    bench.client(call("long", "send_mail", json!({ "x": "y".repeat(20_000) })));
    let answer = bench.take_for_client().remove(0);
    assert!(answer.to_string().contains("too long to be shown"), "{answer}");
}

#[test]
fn calls_that_arrive_before_the_list_are_judged_by_it() {
    let wishes = wishes("rest = \"pass\"\nhide = [\"admin_*\"]");
    let mut bench = Bench::new(WishRules::new(&wishes, Ask::Elicit), Options::default());
    bench.client(call(1, "read_file", json!({})));
    bench.client(call(2, "admin_reset", json!({})));
    let sent = bench.take_for_server();
    bench.server(response(&sent[0]["id"], json!({ "tools": tools() })));
    let sent = bench.take_for_server();
    assert_eq!(sent[0]["params"]["name"], "read_file");
    bench.server(response(&sent[0]["id"], json!({ "content": [] })));
    assert!(bench.take_for_server().is_empty());
    assert!(bench.take_for_client()[1].to_string().contains("hidden"));
}

#[test]
fn files_that_are_wrong_are_refused() {
    for (text, expected) in [
        ("", "guard/wishes"),
        ("rest = \"maybe\"", "guard/wishes"),
        ("rest = \"pass\"\nhid = []", "guard/wishes"),
        ("rest = \"pass\"\nask = [\"\"]", "guard/wishes"),
        ("rest = \"pass\"\n[[limit]]\ncalls = 0\nper = \"hour\"", "guard/wishes"),
        ("rest = \"pass\"\n[[limit]]\ncalls = 1\nper = \"hour\"\ntools = []", "guard/wishes"),
        ("rest = \"pass\"\n[[limit]]\ncalls = 1", "guard/wishes"),
        ("rest = [", "guard/wishes"),
    ] {
        let error = Wishes::read(text, &Limits::default()).unwrap_err();
        assert_eq!(error.code(), expected, "{text}");
    }
    let error = Wishes::read("rest = \"pass\"\nhid = []", &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("did you mean `hide`?"), "{error}");

    let wishes = wishes("rest = \"pass\"\nask = [\"writ_file\"]");
    let mut bench = Bench::new(WishRules::new(&wishes, Ask::Elicit), Options::default());
    bench.begin_with(json!({}), tools());
    let error = bench.stopped.unwrap();
    assert_eq!(error.code(), "guard/unused-wish");
    assert!(error.to_string().contains("did you mean `write_file`?"), "{error}");
}

#[test]
fn a_consent_is_for_one_call() {
    let wishes = wishes("rest = \"ask\"");
    let mut rules = WishRules::new(&wishes, Ask::Elicit);
    rules.bind(&TOOLS).unwrap();
    let shown = json!({ "path": "a" }).as_object().cloned().unwrap();
    let other = json!({ "path": "b" }).as_object().cloned().unwrap();
    for (tool, arguments, is_allowed) in
        [("write_file", &shown, true), ("write_file", &other, false), ("delete_file", &shown, false)]
    {
        rules.call("write_file", &shown).unwrap_err();
        assert!(rules.question().is_some());
        rules.reply(Reply::Accepted(shown.clone())).unwrap();
        assert_eq!(rules.call(tool, arguments).is_ok(), is_allowed, "{tool}");
        // a consent is used up by the next call, whether that is carried out or not
        rules.call("write_file", &shown).unwrap_err();
        rules.reply(Reply::Declined).unwrap_err();
        rules.call("write_file", &shown).unwrap_err();
    }
}

/// A naive count over all earlier calls decides the same.
#[test]
fn limits_are_those_of_a_naive_count() {
    let (mut passed, mut refused) = (0, 0);
    for seed in 0..60 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (calls, each) = (random.random_range(1..5), random.random::<bool>());
        let text = format!(
            "rest = \"pass\"\n[[limit]]\ncalls = {calls}\nper = \"minute\"\neach = {each}\ntools = [\"*_file\"]"
        );
        let wishes = wishes(&text);
        let mut bench = begin(WishRules::new(&wishes, Ask::Elicit), 5);
        let start = bench.now;
        let mut made: Vec<(&str, Duration)> = Vec::new();
        for _ in 0..60 {
            bench.now += Duration::from_secs(random.random_range(0..25));
            let tool = TOOLS[random.random_range(0..TOOLS.len())];
            let now = bench.now - start;
            let counted = |(other, at): &&(&str, Duration)| {
                (!each || *other == tool) && other.ends_with("_file") && *at + Duration::from_secs(60) > now
            };
            let is_allowed = !tool.ends_with("_file") || made.iter().filter(counted).count() < calls;
            assert_eq!(attempt(&mut bench, tool, "accept").is_ok(), is_allowed, "{seed} {text}");
            match is_allowed {
                true => made.push((tool, now)),
                false => refused += 1,
            }
            passed += usize::from(is_allowed);
        }
    }
    assert!(passed > 500 && refused > 300, "{passed} {refused}");
}
