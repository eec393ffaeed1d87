//! Compares each mask strategy by itself with the walk over all tokens, on random grammars and a given vocabulary.

use super::generate::{Choices, random_object_schema, random_schema};
use grammata::grammar::Grammar;
use grammata::syntax::{json_schema, regex};
use grammata::{CompiledGrammar, Compiler, ErrorKind, Limits, Matcher, TokenId, TokenMask, Vocabulary};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Classes for patterns, the simplest first; both Rust's syntax and ECMA-262 can read them.
const CLASSES: [&str; 14] = [
    "[a-z]",
    "[a-zA-Z0-9_]",
    "[0-9]",
    "[^\"\\\\]",
    "[ \\t\\n\\r]",
    "[^/]",
    "[^a-z]",
    "[a-fA-F0-9]",
    "[A-Z]",
    "[^ ]",
    "[à-ü]",
    "[a-zé]",
    "[^0-9]",
    ".",
];

const WORDS: [&str; 8] = ["end", "a", "\"", " the ", "é", "://", "0x", "ing"];

/// The most tokens of a walk.
const STEPS: usize = 5;

/// The number of random tokens that are checked individually against each mask.
const TRIED: usize = 16;

/// Compilers for one vocabulary: one for each strategy by itself, one with all of them, and one with only the full
/// walk.
#[derive(Debug)]
pub struct Strategies {
    full_walk: Compiler,
    others: Vec<(&'static str, Compiler)>,
}

/// How often each strategy, by name, computed something when it was used by itself.
pub type Usage = BTreeMap<&'static str, u64>;

impl Strategies {
    /// The name for all strategies together.
    pub const ALL: &str = "all of them";

    /// Creates the compilers for a vocabulary.
    ///
    /// # Errors
    /// The errors of compiling a fixed pattern, which does not fail.
    pub fn new(vocabulary: Arc<Vocabulary>) -> grammata::Result<Strategies> {
        let limits = Limits::default().lockstep_search(2_000).cache_bytes(64 << 20);
        let all = Compiler::new(vocabulary).limits(limits);
        let counts = all.compile(&regex::compile("a", &regex::Options::default())?)?.statistics().strategies;
        let alone = counts.iter().map(|(name, _)| (name, all.clone().only_strategies(&[name])));
        let others = alone.chain([(Strategies::ALL, all.clone())]).collect();
        Ok(Strategies { full_walk: all.only_strategies(&[]), others })
    }

    /// The names of the strategies, including the full walk, and [`ALL`](Strategies::ALL) for all of them together.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.others.iter().map(|other| other.0)
    }

    /// Draws a grammar and a walk, and compares masks along it until a limit is met. Returns how often each strategy
    /// was used; empty if the grammar does not compile.
    ///
    /// # Errors
    /// A description of the difference.
    pub fn agree(&self, bytes: &[u8]) -> Result<Usage, String> {
        let mut choices = Choices::new(bytes);
        let Some((source, grammar)) = random_source(&mut choices) else { return Ok(Usage::new()) };
        let Ok(full_walk) = self.full_walk.compile(&grammar) else { return Ok(Usage::new()) };
        if choices.chance(50) {
            self.others.iter().for_each(|(_, compiler)| compiler.clear_cache());
        }
        let compile = |(name, compiler): &(&'static str, Compiler)| {
            compiler.compile(&grammar).map(|compiled| (*name, compiled)).map_err(|error| error.to_string())
        };
        let others = self.others.iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        walk(&mut choices, &full_walk, &others).map_err(|what| format!("{what}\nof {source}"))?;
        let used = |(name, compiled): &(&'static str, CompiledGrammar)| {
            let counts = compiled.statistics().strategies;
            let own = counts.iter().find(|count| count.0 == *name);
            (*name, own.map_or_else(|| counts.iter().map(|count| count.1).sum(), |own| own.1))
        };
        Ok(others.iter().map(used).collect())
    }
}

/// Compares masks along a random walk.
fn walk(
    choices: &mut Choices<'_>,
    full_walk: &CompiledGrammar,
    others: &[(&'static str, CompiledGrammar)],
) -> Result<(), String> {
    let mut matcher = full_walk.matcher();
    let mut others: Vec<(&str, Matcher)> =
        others.iter().map(|(name, compiled)| (*name, compiled.matcher())).collect();
    for _ in 0..STEPS {
        let Some(expected) = within_limits(matcher.mask())? else { return Ok(()) };
        let after = || String::from_utf8_lossy(&matcher.bytes()).into_owned();
        for (name, other) in &mut others {
            // a strategy may take other steps than the walk, and so meet a limit alone
            let Some(found) = within_limits(other.mask())? else { continue };
            if found != expected {
                let differing: Vec<TokenId> = (0..expected.width() as u32)
                    .map(TokenId::new)
                    .filter(|&token| found.contains(token) != expected.contains(token))
                    .take(5)
                    .collect();
                let (found, expected) = (found.len(), expected.len());
                let after = after();
                return Err(format!(
                    "{name}: {found} tokens, not {expected}, after {after:?}: {differing:?}"
                ));
            }
        }
        tokens_are_right(choices, &matcher, &expected)?;
        let ordinary = |token: &TokenId| full_walk.vocabulary().bytes(*token).is_some();
        let tokens: Vec<TokenId> = expected.iter().filter(ordinary).collect();
        if tokens.is_empty() {
            return Ok(());
        }
        let token = *choices.pick(&tokens);
        if within_limits(matcher.accept_token(token))?.is_none() {
            return Ok(());
        }
        for (_, other) in &mut others {
            within_limits(other.accept_token(token))?;
        }
        others.retain(|(_, other)| other.bytes() == matcher.bytes());
    }
    Ok(())
}

/// Checks some tokens individually, byte by byte.
fn tokens_are_right(choices: &mut Choices<'_>, matcher: &Matcher, mask: &TokenMask) -> Result<(), String> {
    for _ in 0..TRIED {
        let token = TokenId::new(choices.below(mask.width()) as u32);
        let Some(bytes) = matcher.compiled().vocabulary().bytes(token) else { continue };
        let bytes = bytes.to_vec();
        let Some(accepts) = accepts(&mut matcher.clone(), &bytes)? else { continue };
        if accepts != mask.contains(token) {
            let after = String::from_utf8_lossy(&matcher.bytes()).into_owned();
            return Err(format!("full walk: {token:?} is {accepts} by itself after {after:?}"));
        }
    }
    Ok(())
}

/// Whether a matcher accepts some bytes.
fn accepts(matcher: &mut Matcher, bytes: &[u8]) -> Result<Option<bool>, String> {
    match matcher.accept_bytes(bytes) {
        Ok(()) => Ok(Some(true)),
        Err(error) if error.kind() == ErrorKind::Rejected => Ok(Some(false)),
        other => within_limits(other).map(|_| None),
    }
}

fn within_limits<T>(result: grammata::Result<T>) -> Result<Option<T>, String> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::Limit => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Draws a grammar with its source text; `None` if it does not compile.
fn random_source(choices: &mut Choices<'_>) -> Option<(String, Grammar)> {
    let schema = match choices.below(6) {
        0 => {
            let text = pattern(choices, 2);
            let grammar = regex::compile(&text, &regex::Options::default()).ok()?;
            return Some((text, grammar));
        }
        1 | 2 => string_schema(choices),
        3 => {
            let (name, value) = (pattern(choices, 1), string_schema(choices));
            json!({"type": "object", "patternProperties": {(name): value}, "properties": {
                "name": string_schema(choices), "id": {"type": "integer"}, "note": {"type": "string"}
            }, "additionalProperties": string_schema(choices)})
        }
        4 => random_object_schema(choices),
        _ => random_schema(choices),
    };
    let grammar = json_schema::compile_value(&schema, &Default::default()).ok()?.grammar;
    Some((schema.to_string(), grammar))
}

/// Draws a schema of strings.
fn string_schema(choices: &mut Choices<'_>) -> Value {
    let mut schema = json!({"type": "string"});
    if choices.chance(40) {
        schema["minLength"] = json!(choices.below(40));
    }
    if choices.chance(40) {
        schema["maxLength"] = json!(40 + choices.below(100));
    }
    if choices.chance(60) {
        schema["pattern"] = json!(pattern(choices, 2));
    }
    schema
}

/// Draws a pattern.
fn pattern(choices: &mut Choices<'_>, depth: usize) -> String {
    let text = sequence(choices, depth);
    match choices.below(4) {
        0 => format!("^{text}$"),
        1 => format!("^{text}"),
        2 => format!("{text}$"),
        _ => text,
    }
}

/// Draws a pattern without anchors, whose groups are nested at most `depth` deep.
fn sequence(choices: &mut Choices<'_>, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..=choices.below(3) {
        match choices.below(if depth == 0 { 2 } else { 4 }) {
            0 => text.push_str(CLASSES[choices.below(CLASSES.len())]),
            1 => text.push_str(WORDS[choices.below(WORDS.len())]),
            2 => text.push_str(&format!("({})", sequence(choices, depth - 1))),
            _ => {
                let (one, other) = (sequence(choices, depth - 1), sequence(choices, depth - 1));
                text.push_str(&format!("({one}|{other})"));
            }
        }
        // the quantifier applies to the last character of a word
        match choices.below(6) {
            0 | 1 => text.push('*'),
            2 => text.push('+'),
            3 => {
                let least = choices.below(30);
                text.push_str(&format!("{{{least},{}}}", least + choices.below(40)));
            }
            _ => {}
        }
    }
    text
}
