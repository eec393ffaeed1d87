//! Structural tags: words and errors from tables, and random tags compared with a reader that tries every way to split
//! a word.

use crate::language::Language;
use crate::structural_tag_ends::{GRAMMARS, pattern_of};
use grammata::syntax::structural_tag::{Options, compile, compile_value};
use grammata::syntax::{gbnf, regex};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, Matcher, TokenId, Vocabulary};
use grammata_testing::generate::Choices;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    name: String,
    format: Value,
    accepts: Vec<String>,
    rejects: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    tag: String,
    code: String,
    at: String,
}

/// Reads a table of `tests/data/structural-tags`.
fn table<C: serde::de::DeserializeOwned>(text: &str) -> Vec<C> {
    serde_json::from_str(text).expect("the table can be read")
}

pub(crate) fn wrapped(format: &Value) -> Value {
    json!({"type": "structural_tag", "format": format})
}

#[test]
fn formats_have_these_words() {
    let tables = [
        include_str!("../data/structural-tags/words.json"),
        include_str!("../data/structural-tags/styles.json"),
    ];
    for case in tables.into_iter().flat_map(table::<Words>) {
        let compiled = compile(&wrapped(&case.format).to_string(), &Options::default());
        let grammar = compiled.unwrap_or_else(|error| panic!("{}: {error}", case.name)).grammar;
        let language = Language::new(&grammar);
        for (words, expected) in [(&case.accepts, true), (&case.rejects, false)] {
            for word in words {
                assert_eq!(language.accepts(word.as_bytes()), expected, "{}: {word:?}", case.name);
            }
        }
    }
}

/// A tag refers to compiled grammars by their names, once or more often.
#[test]
fn formats_name_grammars_that_are_given() {
    let number = regex::compile("[0-9]+", &regex::Options::default()).unwrap();
    let list = gbnf::compile(r#"root ::= "[" root? "]""#, &gbnf::Options::default()).unwrap();
    let grammars = BTreeMap::from([("number".to_owned(), number), ("list".to_owned(), list.grammar)]);
    let tag = |names: &[&str]| {
        let element = |name: &&str| json!({"type": "grammar", "name": name});
        wrapped(&json!({"type": "sequence", "elements": names.iter().map(element).collect::<Vec<_>>()}))
    };
    let given = tag(&["number", "list", "number"]);
    let compiled = compile(&given.to_string(), &Options::default().grammars(grammars.clone())).unwrap();
    let language = Language::new(&compiled.grammar);
    for (word, expected) in
        [("1[]2", true), ("10[[]]23", true), ("[]2", false), ("1[2", false), ("12", false)]
    {
        assert_eq!(language.accepts(word.as_bytes()), expected, "{word}");
    }
    let both = wrapped(&json!({"type": "grammar", "name": "list", "grammar": "root ::= \"a\""}));
    for (tag, grammars, code, at, text) in [
        (tag(&["number", "lst"]), &grammars, "unknown-grammar", "/elements/1/name", "did you mean `list`?"),
        (
            tag(&["list"]),
            &BTreeMap::new(),
            "unknown-grammar",
            "/elements/0/name",
            "none: no grammars are given",
        ),
        (tag(&[""]), &grammars, "unknown-grammar", "/elements/0/name", "list, number"),
        (both, &grammars, "grammar-twice", "/name", "`grammar` or `name`"),
        (wrapped(&json!({"type": "grammar", "name": 1})), &grammars, "wrong-type", "/name", "a string"),
        (wrapped(&json!({"type": "grammar"})), &grammars, "missing-field", "", "`grammar`"),
    ] {
        let error = compile_value(&tag, &Options::default().grammars(grammars.clone())).unwrap_err();
        assert_eq!(error.code(), format!("structural-tag/{code}"));
        assert_eq!(error.diagnostic().place().to_string(), format!("#/format{at}"));
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn errors_have_a_code_a_place_and_help() {
    for case in table::<Refused>(include_str!("../data/structural-tags/errors.json")) {
        let error = compile(&case.tag, &Options::default()).expect_err(&case.tag);
        let diagnostic = error.diagnostic();
        assert_eq!(
            (diagnostic.code(), diagnostic.place().to_string()),
            (&*case.code, case.at),
            "{}",
            case.tag
        );
        assert!(diagnostic.help_text().is_some(), "{}", case.tag);
    }
}

#[test]
fn the_older_form_is_text_with_triggered_tags() {
    let older =
        r#"{"structures": [{"begin": "<f>", "schema": {"const": 1}, "end": "</f>"}], "triggers": ["<f"]}"#;
    for older in [older.to_owned(), older.replacen('{', r#"{"type": "structural_tag", "#, 1)] {
        let language = Language::new(&compile(&older, &Options::default()).unwrap().grammar);
        assert!(language.accepts(b"see <f>1</f> and <f>1</f>"));
        assert!(!language.accepts(b"see <f>2</f>"));
    }
}

#[test]
fn triggers_without_tags_are_warned_of_and_do_not_come() {
    let tag = wrapped(&json!({
        "type": "triggered_tags", "triggers": ["<a", "<b"],
        "tags": [{"begin": "<a>", "content": {"type": "const_string", "value": ""}, "end": "."}],
    }));
    let compiled = compile_value(&tag, &Options::default()).unwrap();
    let [warning] = &compiled.warnings[..] else { panic!("{:?}", compiled.warnings) };
    assert_eq!(warning.place().to_string(), "#/format/triggers/1");
    assert!(!Language::new(&compiled.grammar).accepts(b"<b"));
}

#[test]
fn large_and_hostile_tags_are_bounded() {
    let deep = format!(
        "{{\"type\":\"structural_tag\",\"format\":{}{}{}",
        "{\"type\":\"star\",\"content\":".repeat(100_000),
        "{\"type\":\"any_text\"}",
        "}".repeat(100_001)
    );
    assert_eq!(compile(&deep, &Options::default()).unwrap_err().code(), "structural-tag/not-json");
    let long = wrapped(&json!({"type": "const_string", "value": "a".repeat(50 << 20)})).to_string();
    assert_eq!(compile(&long, &Options::default()).unwrap_err().code(), "limit/exceeded");
    let tags: Vec<Value> = (0..100_000)
        .map(|at| json!({"begin": format!("<{at}>"), "content": {"type": "any_text"}, "end": ">"}))
        .collect();
    let many = wrapped(&json!({"type": "triggered_tags", "triggers": ["<"], "tags": tags})).to_string();
    match compile(&many, &Options::default()) {
        Ok(compiled) => assert!(compiled.grammar.expressions().len() > 100_000),
        Err(error) => assert_eq!(error.code(), "limit/exceeded"),
    }
    // nested triggers: the longer one can never be read, because the shorter one ends before it
    let nested = wrapped(&json!({"type": "dispatch", "rules": [
        ["a", {"type": "any_text"}], ["xax", {"type": "any_text"}],
    ]}));
    let error = compile_value(&nested, &Options::default()).unwrap_err();
    assert_eq!(error.diagnostic().place().to_string(), "#/format");
}

/// The tokens of the random tags: texts of one byte, and two special tokens.
const TEXTS: [&str; 4] = ["a", "b", "<", "1"];
const SPECIALS: [&str; 2] = ["[S]", "[T]"];
const TOKENS: usize = TEXTS.len() + SPECIALS.len();
/// The id of the end token.
const EOS: u32 = TOKENS as u32;
/// Words of up to this many tokens are compared.
const LONGEST: usize = 4;

fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = VocabularyBuilder::from_tokens(TEXTS);
    for (id, name) in (TEXTS.len() as u32..).zip(SPECIALS) {
        builder = builder.special(TokenId::new(id), name);
    }
    Arc::new(builder.special(TokenId::new(EOS), "[E]").eos([TokenId::new(EOS)]).build().unwrap())
}

fn string(draw: &mut Choices<'_>, least: usize) -> String {
    (0..least + draw.below(2)).map(|_| ["a", "b", "<"][draw.below(3)]).collect()
}

fn strings(draw: &mut Choices<'_>) -> Value {
    (0..draw.below(3)).map(|_| json!(string(draw, 1))).collect()
}

fn random_token(draw: &mut Choices<'_>) -> Value {
    match draw.below(3) {
        0 => json!(SPECIALS[draw.below(2)]),
        _ => json!(draw.below(TOKENS)),
    }
}

fn random_tokens(draw: &mut Choices<'_>, least: usize) -> Value {
    (0..least + draw.below(2)).map(|_| random_token(draw)).collect()
}

fn random_tag(draw: &mut Choices<'_>, depth: usize, begin: Value) -> Value {
    let end = match draw.below(4) {
        0 => json!([string(draw, 0), string(draw, 1)]),
        1 => json!({"type": "token", "token": random_token(draw)}),
        _ => json!(string(draw, 1)),
    };
    json!({"begin": begin, "content": random_format(draw, depth), "end": end})
}

fn random_format(draw: &mut Choices<'_>, depth: usize) -> Value {
    let leaves = 8;
    let kind = if depth == 0 { draw.below(leaves) } else { draw.below(leaves + 12) };
    let inner = |draw: &mut Choices<'_>| random_format(draw, depth.saturating_sub(1));
    let flag = |draw: &mut Choices<'_>| draw.below(2) == 1;
    match kind {
        0 | 1 => json!({"type": "const_string", "value": string(draw, 0)}),
        2 => json!({"type": "any_text", "excludes": strings(draw)}),
        3 => json!({"type": "any_text", "excludes": strings(draw), "max_chars": draw.below(3)}),
        4 if draw.below(3) == 0 => {
            let (grammar, _) = *draw.pick(&GRAMMARS);
            json!({"type": "grammar", "grammar": grammar})
        }
        4 => json!({"type": "regex", "pattern": *draw.pick(&["a+b?", "[ab<]", "b*", "(?:1|a*)", "|b"])}),
        5 => json!({"type": "token", "token": random_token(draw)}),
        6 => json!({"type": "exclude_token", "exclude_tokens": random_tokens(draw, 0)}),
        7 => {
            let most = match draw.below(3) {
                2 => Value::Null,
                most => json!(most),
            };
            json!({"type": "any_tokens", "exclude_tokens": random_tokens(draw, 0), "max_tokens": most})
        }
        8 | 9 => json!({"type": "sequence", "elements": [inner(draw), inner(draw)]}),
        10 => json!({"type": "or", "elements": [inner(draw), inner(draw)]}),
        11 => json!({"type": "optional", "content": inner(draw)}),
        12 => json!({"type": *draw.pick(&["plus", "star"]), "content": inner(draw)}),
        13 => {
            let min = draw.below(3);
            let max = min as i64 + draw.below(3) as i64;
            json!({"type": "repeat", "min": min, "max": if max == 4 { -1 } else { max }, "content": inner(draw)})
        }
        14 => {
            let begin = json!(string(draw, 1));
            let mut tag = random_tag(draw, depth - 1, begin);
            tag["type"] = json!("tag");
            tag
        }
        15 | 16 => {
            let trigger = string(draw, 1);
            let tags: Vec<Value> = (0..1 + draw.below(2))
                .map(|_| {
                    let begin = json!(trigger.clone() + &string(draw, 0));
                    random_tag(draw, depth - 1, begin)
                })
                .collect();
            json!({"type": "triggered_tags", "triggers": [trigger], "tags": tags, "excludes": strings(draw),
                   "at_least_one": flag(draw), "stop_after_first": flag(draw)})
        }
        17 => {
            let tags: Vec<Value> = (0..1 + draw.below(2))
                .map(|_| {
                    let begin = json!(string(draw, 1));
                    random_tag(draw, depth - 1, begin)
                })
                .collect();
            json!({"type": "tags_with_separator", "separator": string(draw, 0), "tags": tags,
                   "at_least_one": flag(draw), "stop_after_first": flag(draw)})
        }
        18 => {
            let rules: Vec<Value> =
                (0..1 + draw.below(2)).map(|_| json!([string(draw, 1), inner(draw)])).collect();
            json!({"type": "dispatch", "rules": rules, "excludes": strings(draw), "loop": flag(draw)})
        }
        _ => {
            let triggers = random_tokens(draw, 1);
            let tags: Vec<Value> = triggers
                .as_array()
                .unwrap()
                .iter()
                .map(|token| random_tag(draw, depth - 1, json!({"type": "token", "token": token})))
                .collect();
            json!({"type": "token_triggered_tags", "trigger_tokens": triggers, "tags": tags,
                   "exclude_tokens": random_tokens(draw, 0), "at_least_one": flag(draw), "stop_after_first": flag(draw)})
        }
    }
}

/// Places in a word, counted in tokens.
type Places = BTreeSet<usize>;

/// Reads the content after a trigger from a place on, and returns all places where it may end.
type Tail<'t> = dyn Fn(&str, usize) -> Places + 't;

/// The end of the tag around a format, if the format is at the end of the tag's content.
#[derive(Clone, Default)]
struct Around {
    texts: Vec<String>,
    token: Option<Value>,
}

/// Reads words by the definition of each format: from a place, all the places where a format may end.
struct Reader<'w> {
    word: &'w [usize],
}

impl Reader<'_> {
    fn text(&self, from: usize, to: usize) -> Option<String> {
        self.word[from..to].iter().map(|&token| TEXTS.get(token).copied()).collect()
    }

    fn literal(&self, from: usize, text: &str) -> Places {
        let to = from + text.len();
        let is = to <= self.word.len() && self.text(from, to).as_deref() == Some(text);
        is.then_some(to).into_iter().collect()
    }

    fn is_token(&self, at: usize, token: &Value) -> bool {
        self.word.get(at).is_some_and(|&id| match token.as_str() {
            Some(name) => id >= TEXTS.len() && SPECIALS[id - TEXTS.len()] == name,
            None => token.as_u64() == Some(id as u64),
        })
    }

    fn is_other(&self, at: usize, excluded: &[Value]) -> bool {
        at < self.word.len() && !excluded.iter().any(|token| self.is_token(at, token))
    }

    fn then(&self, from: &Places, next: impl Fn(usize) -> Places) -> Places {
        from.iter().flat_map(|&at| next(at)).collect()
    }

    /// Repeats what `once` reads, at least `min` and at most `max` times.
    fn times(&self, from: usize, min: usize, max: usize, once: impl Fn(usize) -> Places) -> Places {
        let (mut at, mut all) = (Places::from([from]), Places::new());
        // more rounds than there are tokens only change the count of rounds
        for round in 0..=max.min(min + self.word.len() + 1) {
            if round >= min {
                all.extend(&at);
            }
            at = self.then(&at, &once);
        }
        all
    }

    fn tag_after(&self, tag: &Value, from: usize) -> Places {
        let ends: Vec<String> = match &tag["end"] {
            Value::String(end) => vec![end.clone()],
            Value::Array(ends) => ends.iter().map(|end| end.as_str().unwrap().to_owned()).collect(),
            token => {
                let around = Around { texts: Vec::new(), token: Some(token["token"].clone()) };
                let inside = self.ends(&tag["content"], from, &around);
                return inside
                    .into_iter()
                    .filter(|&at| self.is_token(at, &token["token"]))
                    .map(|at| at + 1)
                    .collect();
            }
        };
        let texts = ends.iter().filter(|end| !end.is_empty()).cloned().collect();
        let inside = self.ends(&tag["content"], from, &Around { texts, token: None });
        self.then(&inside, |at| ends.iter().flat_map(|end| self.literal(at, end)).collect())
    }

    fn tag(&self, tag: &Value, from: usize) -> Places {
        let begun = match &tag["begin"] {
            Value::String(begin) => self.literal(from, begin),
            token => self.is_token(from, &token["token"]).then_some(from + 1).into_iter().collect(),
        };
        self.then(&begun, |at| self.tag_after(tag, at))
    }

    /// Reads text from a place on, in which triggers begin other content. Returns all places where it may end.
    fn triggered(
        &self,
        from: usize,
        forbidden: &[String],
        triggers: &[String],
        (is_loop, tail): (bool, &Tail<'_>),
    ) -> Places {
        let mut all = Places::new();
        for to in from..=self.word.len() {
            let Some(text) = self.text(from, to) else { break };
            if forbidden.iter().any(|string| text.contains(string.as_str())) {
                break;
            }
            let longest =
                triggers.iter().filter(|trigger| text.ends_with(trigger.as_str())).max_by_key(|t| t.len());
            let Some(trigger) = longest else {
                all.insert(to);
                continue;
            };
            let after = tail(trigger, to);
            match is_loop {
                true => all
                    .extend(self.then(&after, |at| self.triggered(at, forbidden, triggers, (is_loop, tail)))),
                false => all.extend(after),
            }
            break;
        }
        all
    }

    fn ends(&self, format: &Value, from: usize, around: &Around) -> Places {
        let list = |field: &str| format[field].as_array().cloned().unwrap_or_default();
        let texts = |field: &str| -> Vec<String> {
            list(field).iter().map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let is = |field: &str, default: bool| format[field].as_bool().unwrap_or(default);
        let content = |at| self.ends(&format["content"], at, around);
        let forbidden = || [texts("excludes"), around.texts.clone()].concat();
        let excluded = || [list("exclude_tokens"), around.token.iter().cloned().collect()].concat();
        let number = |field: &str| format[field].as_i64();
        match format["type"].as_str().unwrap() {
            "const_string" => self.literal(from, format["value"].as_str().unwrap()),
            "any_text" => {
                let most = number("max_chars").map_or(usize::MAX, |most| most as usize);
                let forbidden = forbidden();
                let ends = (from..=self.word.len()).take_while(|&to| {
                    to - from <= most
                        && self
                            .text(from, to)
                            .is_some_and(|text| !forbidden.iter().any(|f| text.contains(f.as_str())))
                });
                ends.collect()
            }
            "regex" | "grammar" => {
                let pattern = pattern_of(format);
                (from..=self.word.len())
                    .filter(|&to| self.text(from, to).is_some_and(|text| pattern(&text)))
                    .collect()
            }
            "token" => self.is_token(from, &format["token"]).then_some(from + 1).into_iter().collect(),
            "exclude_token" => self.is_other(from, &excluded()).then_some(from + 1).into_iter().collect(),
            "any_tokens" => {
                let excluded = excluded();
                let most = number("max_tokens").map_or(usize::MAX, |most| most as usize);
                let one = |at| self.is_other(at, &excluded).then_some(at + 1).into_iter().collect();
                self.times(from, 0, most, one)
            }
            "sequence" => {
                let elements = list("elements");
                let mut at = Places::from([from]);
                for (place, element) in elements.iter().enumerate() {
                    let is_last = elements[place + 1..].iter().all(may_be_left_out);
                    let around = if is_last { around.clone() } else { Around::default() };
                    at = self.then(&at, |at| self.ends(element, at, &around));
                }
                at
            }
            "or" => list("elements").iter().flat_map(|element| self.ends(element, from, around)).collect(),
            "optional" => self.times(from, 0, 1, content),
            "plus" => self.times(from, 1, usize::MAX, content),
            "star" => self.times(from, 0, usize::MAX, content),
            "repeat" => {
                let max = number("max").unwrap();
                let max = if max < 0 { usize::MAX } else { max as usize };
                self.times(from, number("min").unwrap() as usize, max, content)
            }
            "tag" => self.tag(format, from),
            "triggered_tags" => {
                let tags = list("tags");
                let tail = |trigger: &str, at: usize| {
                    let of = tags.iter().filter(|tag| tag["begin"].as_str().unwrap().starts_with(trigger));
                    of.flat_map(|tag| {
                        let rest = &tag["begin"].as_str().unwrap()[trigger.len()..];
                        self.then(&self.literal(at, rest), |at| self.tag_after(tag, at))
                    })
                    .collect()
                };
                let (forbidden, triggers) = (forbidden(), texts("triggers"));
                let is_loop = !is("stop_after_first", false);
                let text = |at| self.triggered(at, &forbidden, &triggers, (is_loop, &tail));
                if !is("at_least_one", false) {
                    return text(from);
                }
                let first: Places = tags.iter().flat_map(|tag| self.tag(tag, from)).collect();
                if is_loop { self.then(&first, text) } else { first }
            }
            "tags_with_separator" => {
                let tags = list("tags");
                let one = |at| tags.iter().flat_map(|tag| self.tag(tag, at)).collect::<Places>();
                let separator = format["separator"].as_str().unwrap();
                let next = |at| self.then(&self.literal(at, separator), one);
                let max = if is("stop_after_first", false) { 0 } else { usize::MAX };
                let mut all = self.then(&one(from), |at| self.times(at, 0, max, next));
                if !is("at_least_one", false) {
                    all.insert(from);
                }
                all
            }
            "dispatch" => {
                let rules = list("rules");
                let tail = |trigger: &str, at: usize| {
                    let of = rules.iter().filter(|rule| rule[0] == trigger);
                    of.flat_map(|rule| self.ends(&rule[1], at, &Around::default())).collect()
                };
                let triggers: Vec<String> =
                    rules.iter().map(|rule| rule[0].as_str().unwrap().to_owned()).collect();
                self.triggered(from, &forbidden(), &triggers, (is("loop", true), &tail))
            }
            "token_triggered_tags" => {
                let tags = list("tags");
                let excluded = [list("trigger_tokens"), excluded()].concat();
                let tag = |at| tags.iter().flat_map(|tag| self.tag(tag, at)).collect::<Places>();
                let one = |at| self.is_other(at, &excluded).then_some(at + 1).into_iter().collect();
                let tokens = |at| self.times(at, 0, usize::MAX, one);
                let next = |at| self.then(&tokens(at), tag);
                match (is("at_least_one", false), is("stop_after_first", false)) {
                    (true, true) => tag(from),
                    (false, true) => self.then(&tokens(from), |at| self.times(at, 0, 1, tag)),
                    (first, false) => {
                        let begun = if first { tag(from) } else { Places::from([from]) };
                        let more = self.then(&begun, |at| self.times(at, 0, usize::MAX, next));
                        self.then(&more, tokens)
                    }
                }
            }
            other => unreachable!("{other}"),
        }
    }
}

#[test]
fn values_nested_too_deep_are_refused() {
    let nested = |levels: usize| {
        let inner = json!({"type": "const_string", "value": "x"});
        let format = (0..levels).fold(inner, |content, _| json!({"type": "optional", "content": content}));
        compile_value(&wrapped(&format), &Options::default())
    };
    assert!(nested(30).is_ok());
    let error = nested(300).err().unwrap();
    assert_eq!(error.code(), "limit/exceeded");
    assert!(error.to_string().contains("at most"), "{error}");
}

/// Returns whether a format may be empty.
fn may_be_left_out(format: &Value) -> bool {
    let all = |list: &Value, each: fn(&Value) -> bool| list.as_array().unwrap().iter().all(each);
    match format["type"].as_str().unwrap() {
        "const_string" => format["value"] == "",
        "any_text" | "any_tokens" | "optional" | "star" | "dispatch" => true,
        "sequence" => all(&format["elements"], may_be_left_out),
        "or" => !all(&format["elements"], |element| !may_be_left_out(element)),
        "regex" | "grammar" => pattern_of(format)(""),
        "plus" => may_be_left_out(&format["content"]),
        "repeat" => format["min"] == 0 || may_be_left_out(&format["content"]),
        "triggered_tags" | "token_triggered_tags" | "tags_with_separator" => format["at_least_one"] != true,
        _ => false,
    }
}

/// Compares all words of up to [`LONGEST`] tokens. Returns how many are in the language.
fn compare(format: &Value, matcher: &Matcher) -> usize {
    let mut words = 0;
    let mut open: Vec<(Vec<usize>, Option<Matcher>)> = vec![(Vec::new(), Some(matcher.clone()))];
    while let Some((word, mut matcher)) = open.pop() {
        let accepts = Reader { word: &word }.ends(format, 0, &Around::default()).contains(&word.len());
        let found = matcher.as_ref().is_some_and(Matcher::is_accepting);
        assert_eq!(found, accepts, "{format}\n{word:?}");
        words += usize::from(found);
        if word.len() == LONGEST {
            continue;
        }
        let mask = matcher.as_mut().map(|matcher| matcher.mask().unwrap());
        for token in 0..TOKENS {
            let id = TokenId::new(token as u32);
            let next = matcher.as_ref().and_then(|matcher| {
                let mut next = matcher.fork();
                let accepted = next.try_accept(id).unwrap();
                assert_eq!(accepted, mask.as_ref().unwrap().contains(id), "{format}\n{word:?} {token}");
                accepted.then_some(next)
            });
            open.push(([&word[..], &[token]].concat(), next));
        }
    }
    words
}

#[test]
fn random_tags_have_the_words_of_their_definition() {
    let compiler = Compiler::new(vocabulary());
    let (mut cases, mut compiled, mut words) = (0, 0, 0);
    crate::random::each(300, 160, |draw| {
        cases += 1;
        let format = random_format(draw, 2);
        // some tags have no words, or triggers that can never be read
        let Ok(tag) = compile_value(&wrapped(&format), &Options::default()) else { return };
        let Ok(grammar) = compiler.compile(&tag.grammar) else { return };
        compiled += 1;
        words += compare(&format, &grammar.matcher());
    });
    assert!(compiled * 2 > cases, "{compiled} of {cases}");
    assert!(words > compiled as usize, "{words} words of {compiled} tags");
}
