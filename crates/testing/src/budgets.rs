//! Walks within budgets of tokens, over random schemas of objects with names of all kinds and over random grammars,
//! with vocabularies whose tokens are single bytes, so that bounds that are counted in letters are met exactly.

use super::differential::{Judge, has_long_number, validator};
use super::fuzz_limits::small_limits;
use super::generate::{Choices, GrammarShape, random_grammar, random_object_schema};
use super::names::has_repeated_name;
use grammata::grammar::Grammar;
use grammata::syntax::gbnf;
use grammata::syntax::json_schema::{self, PropertyOrder, compile_value};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, ErrorKind, Limits, Matcher, TokenId, Vocabulary};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

/// The counts of walks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walks {
    /// Walks that ended with a word within their budget.
    pub walks: usize,
    /// Masks within budgets.
    pub masks: usize,
    /// Tokens of these masks that were asked for one by one.
    pub asked: usize,
    /// Cases without words, and cases in which a limit ended the text or no distance was known at its start.
    pub undecided: usize,
}

impl Walks {
    /// Adds the counts of other walks.
    pub fn add(&mut self, other: Walks) {
        self.walks += other.walks;
        self.masks += other.masks;
        self.asked += other.asked;
        self.undecided += other.undecided;
    }
}

/// Tokens in addition to the single bytes: of punctuation, of names, with the ends of two names, and of both.
const LONGER: [&str; 12] =
    ["\":", "\",\"", "a\"", "{\"a\":", "aa", "\"a", "\":0}", "},\"", "ab", "\"a\":1,\"a\"", "00", "\"\":"];

fn of_tokens(longer: &[&str]) -> Arc<Vocabulary> {
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain(longer.iter().map(|text| text.as_bytes().to_vec()));
    let tokens: Vec<Vec<u8>> = tokens.chain([Vec::new()]).collect();
    let end = TokenId::new(tokens.len() as u32 - 1);
    let built = VocabularyBuilder::from_tokens(tokens).eos([end]).build();
    Arc::new(built.unwrap_or_else(|e| unreachable!("a good vocabulary: {e}")))
}

static VOCABULARIES: LazyLock<[Arc<Vocabulary>; 2]> = LazyLock::new(|| [of_tokens(&[]), of_tokens(&LONGER)]);

/// Draws a schema of objects with listed, free and patterned names, `propertyNames` and bounds of members.
pub fn random_named_schema(choices: &mut Choices<'_>, depth: usize) -> Value {
    const NAMES: [&str; 6] = ["a", "b", "ab", "", "aa", "\u{e9}"];
    const PATTERNS: [&str; 6] = ["^[ab]*$", "^a*$", "^[ab]{1,2}$", "^(a|b)$", "^x", "b"];
    let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
    let value = |choices: &mut Choices<'_>| match choices.below(if depth > 0 { 7 } else { 5 }) {
        0 => json!({"type": "integer"}),
        1 => json!({"const": 1}),
        2 => json!(true),
        3 => json!({"type": "string", "maxLength": 2}),
        4 => json!({"enum": [0, "a", null]}),
        5 => json!({"type": "array", "items": random_named_schema(choices, depth - 1), "maxItems": 2}),
        _ => random_named_schema(choices, depth - 1),
    };
    if choices.chance(50) {
        let names: Vec<&str> = NAMES.into_iter().filter(|_| choices.chance(35)).collect();
        let listed: Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), value(choices))).collect();
        schema.insert("properties".into(), listed.into());
        let required: Vec<&str> = names.into_iter().filter(|_| choices.chance(40)).collect();
        schema.insert("required".into(), json!(required));
    }
    if choices.chance(25) {
        let pattern = *choices.pick(&PATTERNS);
        schema.insert("patternProperties".into(), json!({ pattern: value(choices) }));
    }
    match choices.below(5) {
        0 => schema.insert("additionalProperties".into(), json!({"type": "integer"})),
        1 => schema.insert("additionalProperties".into(), value(choices)),
        2 if schema.contains_key("properties") => schema.insert("additionalProperties".into(), json!(false)),
        _ => None,
    };
    match choices.below(9) {
        0 => schema.insert("propertyNames".into(), json!({"maxLength": 1 + choices.below(2)})),
        1 | 2 => schema.insert("propertyNames".into(), json!({"pattern": *choices.pick(&PATTERNS)})),
        3 => schema.insert("propertyNames".into(), json!({"enum": ["a", "b", "aa", "ab"]})),
        _ => None,
    };
    if choices.chance(50) {
        schema.insert("minProperties".into(), json!(1 + choices.below(3)));
    }
    if choices.chance(15) {
        schema.insert("maxProperties".into(), json!(2 + choices.below(3)));
    }
    Value::Object(schema)
}

/// Draws a grammar in GBNF of three rules, which may refer to later ones.
fn random_gbnf(choices: &mut Choices<'_>) -> String {
    fn part(choices: &mut Choices<'_>, rule: usize, depth: usize) -> String {
        match choices.below(if depth == 0 { 4 } else { 10 }) {
            0 => "\"a\"".into(),
            1 => "\"ab\"".into(),
            2 => "[a-c]".into(),
            3 if rule < 2 => format!("r{}", rule + 1),
            3 => "\"\\\"\"".into(),
            4 | 5 => format!("({} {})", part(choices, rule, depth - 1), part(choices, rule, depth - 1)),
            6 => format!("({} | {})", part(choices, rule, depth - 1), part(choices, rule, depth - 1)),
            7 => format!("({}){}", part(choices, rule, depth - 1), choices.pick(&["*", "?", "+"])),
            8 => format!("({}){{{},{}}}", part(choices, rule, depth - 1), choices.below(4), 4),
            _ => format!("\"(\" r{rule} \")\" | {}", part(choices, rule, depth - 1)),
        }
    }
    (0..3)
        .map(|rule| {
            format!("{} ::= {}\n", ["root", "r1", "r2"][rule], part(choices, rule, 3)).replace("r0", "root")
        })
        .collect()
}

/// Draws a grammar: of a schema, with a judge of its values, or of another kind.
fn drawn(choices: &mut Choices<'_>, limits: &Limits) -> Option<(String, Grammar, Option<Judge>)> {
    match choices.below(8) {
        0 => {
            let source = random_gbnf(choices);
            let compiled = gbnf::compile(&source, &gbnf::Options::default().limits(limits.clone())).ok()?;
            Some((source, compiled.grammar, None))
        }
        1 => {
            let shape = GrammarShape { locks: choices.chance(30), ..GrammarShape::default() };
            let grammar = random_grammar(choices, &shape);
            Some((grammar.to_string(), grammar, None))
        }
        kind => {
            let schema = match kind {
                2 => random_object_schema(choices),
                _ => random_named_schema(choices, 1),
            };
            let order = *choices.pick(&[PropertyOrder::Declared, PropertyOrder::Any]);
            let options = json_schema::Options::default().property_order(order).limits(limits.clone());
            let grammar = compile_value(&schema, &options).ok()?.grammar;
            Some((format!("{schema} {order:?}"), grammar, Some(validator(&schema))))
        }
    }
}

/// Draws a grammar, a vocabulary and limits, and walks within budgets from the least one that is known upwards. No mask
/// may be empty before the end, no mask may fail that exists without the budget, each token of a mask may come by
/// itself, and the text must be a word in time.
///
/// # Errors
/// A description of the first walk that breaks one of these promises.
pub fn walks_within_budgets(bytes: &[u8]) -> Result<Walks, String> {
    let mut choices = Choices::new(bytes);
    let limits = if choices.chance(15) { small_limits().mask_work(200_000) } else { Limits::default() };
    let vocabulary = choices.pick(&*VOCABULARIES).clone();
    let undecided = Walks { undecided: 1, ..Walks::default() };
    let Some((source, grammar, judge)) = drawn(&mut choices, &limits) else { return Ok(undecided) };
    let Ok(compiled) = Compiler::new(vocabulary).limits(limits).compile(&grammar) else {
        return Ok(undecided);
    };
    let mut random = bytes.iter().fold(1, |all: u64, &byte| all.wrapping_mul(31) ^ u64::from(byte));
    let mut all = Walks::default();
    for _ in 0..2 {
        let mut matcher = compiled.matcher();
        let Ok(least) = matcher.distance() else { return Err(format!("no distance for {source}")) };
        let Some(least) = least.known() else { return Ok(undecided) };
        let budget = least + [0, 0, 1, 2, 3, 5, 9, 30][choices.below(8)];
        let walked = walk(&mut matcher, budget, &mut random, &mut all);
        let text = matcher.bytes();
        let shown = || format!("after {:?} within {budget} under {source}", text.escape_ascii().to_string());
        let is_word = walked.map_err(|error| format!("{error} {}", shown()))?;
        if !is_word {
            all.undecided += 1;
            continue;
        }
        if let Some(judge) = &judge {
            let value =
                serde_json::from_slice::<Value>(&text).map_err(|error| format!("{error} {}", shown()))?;
            let is_valid = has_long_number(&String::from_utf8_lossy(&text)) || judge(&value);
            if has_repeated_name(&text) || !is_valid {
                return Err(format!("an invalid text {}", shown()));
            }
        }
        all.walks += 1;
    }
    Ok(all)
}

fn next_random(random: &mut u64) -> usize {
    *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*random >> 33) as usize
}

/// Walks to the end of a text within a budget. Returns false if a limit ended the text.
fn walk(matcher: &mut Matcher, budget: usize, random: &mut u64, all: &mut Walks) -> Result<bool, String> {
    let is_limit = |error: &grammata::Error| error.kind() == ErrorKind::Limit;
    loop {
        let left = budget.checked_sub(matcher.steps()).ok_or("the budget is exceeded")?;
        let plain = match matcher.mask() {
            Ok(plain) => plain,
            Err(error) if is_limit(&error) => return Ok(false),
            Err(error) => return Err(error.to_string()),
        };
        let mask = match matcher.mask_within(left) {
            Ok(mask) => mask,
            // the distance may have been found with work that is left no more
            Err(error) if matcher.steps() == 0 && error.code() == "matcher/budget" => return Ok(false),
            Err(error) => return Err(format!("{left} tokens left: {error}")),
        };
        all.masks += 1;
        let allowed: Vec<TokenId> = mask.iter().collect();
        if allowed.is_empty() {
            return Err(format!("no token, and {left} tokens left"));
        }
        for &token in allowed
            .iter()
            .skip(next_random(random) % allowed.len().div_ceil(6))
            .step_by(allowed.len().div_ceil(6))
        {
            let may_come = matcher.is_token_allowed_within(token, left).map_err(|error| error.to_string())?;
            if !may_come || !plain.contains(token) {
                return Err(format!("{token:?} is allowed by the mask within {left} tokens, but not alone"));
            }
            all.asked += 1;
        }
        let number = next_random(random);
        if number.is_multiple_of(11) && matcher.steps() > 0 {
            matcher.rollback(1).map_err(|error| error.to_string())?;
            continue;
        }
        let liked: &[u8] = if !number.is_multiple_of(4) { b"\"a:,{" } else { b"" };
        let bytes = |token: TokenId| matcher.compiled().vocabulary().bytes(token).unwrap_or_default();
        let is_liked = |token: &&TokenId| bytes(**token).first().is_some_and(|byte| liked.contains(byte));
        let likely: Vec<TokenId> = allowed.iter().filter(is_liked).copied().collect();
        let from = if likely.is_empty() { &allowed } else { &likely };
        let token = from[number / 44 % from.len()];
        match matcher.accept_token(token) {
            Ok(()) => {}
            Err(error) if is_limit(&error) => return Ok(false),
            Err(error) => return Err(format!("{token:?} of the mask within {left} tokens: {error}")),
        }
        if matcher.is_finished() {
            return Ok(true);
        }
    }
}
