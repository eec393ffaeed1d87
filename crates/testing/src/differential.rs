//! Compares JSON Schema with another validator: both must accept the same values, with members in any order.

use super::generate::{Choices, random_object, random_object_schema};
use super::names::has_repeated_name;
use grammata::syntax::json_schema::{self, PropertyOrder, compile_value};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, Matcher, Place, TokenId, Vocabulary};
use serde_json::{Map, Value};
use std::sync::{Arc, LazyLock};

/// Decides whether a value is valid under one schema.
pub type Judge = Box<dyn Fn(&Value) -> bool>;

/// The counts of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Values that both accept.
    pub valid: usize,
    /// Values that both reject.
    pub invalid: usize,
    /// Texts made by walks through masks; all of them are valid.
    pub walks: usize,
    /// Compilations refused as unsupported or because of a limit.
    pub refused: usize,
    /// Compilations refused because no value satisfies the schema.
    pub unsatisfiable: usize,
}

impl Tally {
    /// Adds the counts of another tally.
    pub fn add(&mut self, other: Tally) {
        self.valid += other.valid;
        self.invalid += other.invalid;
        self.walks += other.walks;
        self.refused += other.refused;
        self.unsatisfiable += other.unsatisfiable;
    }
}

/// A vocabulary of one token for every byte, and an end token.
static BYTES: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain([Vec::new()]);
    let built = VocabularyBuilder::from_tokens(tokens).eos([END]).build();
    Arc::new(built.unwrap_or_else(|e| unreachable!("a good vocabulary: {e}")))
});

const END: TokenId = TokenId::new(256);

/// The error codes that mean that no value satisfies a schema.
const EMPTY: [&str; 3] = ["json-schema/unsatisfiable", "automaton/empty-language", "automaton/too-few-names"];

/// The length of a walk in bytes after which it prefers closing tokens.
const LONG: usize = 60;

/// The verdicts of the `jsonschema` crate, which shares no code with the engine.
///
/// # Panics
/// If the crate cannot read the schema.
pub fn validator(schema: &Value) -> Judge {
    match jsonschema::draft202012::new(schema) {
        Ok(validator) => Box::new(move |value| validator.is_valid(value)),
        Err(error) => panic!("{error} in {schema}"),
    }
}

/// The fuzz target: compares random object schemas with the `jsonschema` crate.
///
/// # Panics
/// If a verdict differs.
pub fn json_schema_differential(bytes: &[u8]) {
    objects_agree(bytes, validator).unwrap_or_else(|difference| panic!("{difference}"));
}

/// Draws a schema and values from `bytes`, and compares the verdicts.
///
/// # Errors
/// A description of the difference.
pub fn objects_agree(bytes: &[u8], validator: impl Fn(&Value) -> Judge) -> Result<Tally, String> {
    let mut choices = Choices::new(bytes);
    let schema = random_object_schema(&mut choices);
    let judge = validator(&schema);
    let values: Vec<Value> = (0..12).map(|_| random_object(&mut choices)).collect();
    let mut tally = Tally::default();
    for order in [PropertyOrder::Any, PropertyOrder::Declared] {
        let options = json_schema::Options::default().property_order(order);
        let grammar = compile_value(&schema, &options);
        let compiled = grammar.and_then(|made| Compiler::new(Arc::clone(&BYTES)).compile(&made.grammar));
        match compiled {
            Err(error) => {
                if *error.diagnostic().place() == Place::Whole {
                    return Err(format!("no place: {error}\n{schema}"));
                }
                if !EMPTY.contains(&error.code()) {
                    tally.refused += 1;
                    continue;
                }
                tally.unsatisfiable += 1;
                if let Some(value) = values.iter().find(|value| judge(value)) {
                    return Err(format!("{error}\nbut {value} satisfies {schema}"));
                }
            }
            Ok(compiled) => {
                verdicts(&schema, &compiled, order, &values, &judge, &mut tally)?;
                walks(&schema, &compiled, choices.clone(), &judge, &mut tally)?;
            }
        }
    }
    Ok(tally)
}

/// Compares the verdicts on some values. In declared order, a value counts as accepted if some order of its members is.
fn verdicts(
    schema: &Value,
    compiled: &CompiledGrammar,
    order: PropertyOrder,
    values: &[Value],
    judge: &Judge,
    tally: &mut Tally,
) -> Result<(), String> {
    for value in values {
        let expected = judge(value);
        let spellings = match order {
            PropertyOrder::Declared => orders(value),
            _ => vec![value.clone()],
        };
        let mut accepted = false;
        for spelling in &spellings {
            accepted |= accepts(compiled, &spelling.to_string())?;
        }
        if accepted != expected {
            let verdict = if expected { "valid, but rejected" } else { "invalid, but accepted" };
            return Err(format!("{order:?}: {value} is {verdict} under {schema}"));
        }
        *(if expected { &mut tally.valid } else { &mut tally.invalid }) += 1;
    }
    Ok(())
}

fn accepts(compiled: &CompiledGrammar, text: &str) -> Result<bool, String> {
    let mut matcher = compiled.matcher();
    match matcher.accept_bytes(text.as_bytes()) {
        Ok(()) => Ok(matcher.is_accepting()),
        Err(error) if error.kind() == grammata::ErrorKind::Rejected => Ok(false),
        Err(error) => Err(format!("{error} in {text}")),
    }
}

/// The variants of a value that differ in the order of the members of its objects. Arrays with several items are not
/// varied.
fn orders(value: &Value) -> Vec<Value> {
    match value {
        Value::Object(map) => {
            let mut all: Vec<Vec<(String, Value)>> = vec![Vec::new()];
            for (name, value) in map {
                let mut longer = Vec::new();
                for value in orders(value) {
                    for list in &all {
                        longer.extend((0..=list.len()).map(|at| {
                            let mut list = list.clone();
                            list.insert(at, (name.clone(), value.clone()));
                            list
                        }));
                    }
                }
                all = longer;
            }
            all.into_iter().map(|list| Value::Object(list.into_iter().collect::<Map<_, _>>())).collect()
        }
        Value::Array(list) => match &list[..] {
            [one] => orders(one).into_iter().map(|one| Value::Array(vec![one])).collect(),
            _ => vec![value.clone()],
        },
        _ => vec![value.clone()],
    }
}

/// Checks that texts made by choosing tokens from masks are valid, and that there is always a token to choose.
fn walks(
    schema: &Value,
    compiled: &CompiledGrammar,
    mut choices: Choices<'_>,
    judge: &Judge,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut random = choices.rest().iter().fold(1, |all: u64, &byte| all.wrapping_mul(31) ^ u64::from(byte));
    for _ in 0..3 {
        let mut matcher = compiled.matcher();
        let Some(text) = walk(&mut matcher, &mut choices, &mut random).map_err(|error| {
            format!("{error} after {:?} under {schema}", matcher.bytes().escape_ascii().to_string())
        })?
        else {
            continue;
        };
        let Ok(value) = serde_json::from_str::<Value>(&text) else {
            return Err(format!("{text} is no JSON, under {schema}"));
        };
        if has_long_number(&text) {
            continue;
        }
        if has_repeated_name(text.as_bytes()) || !judge(&value) {
            return Err(format!("{text} is allowed by masks, and invalid under {schema}"));
        }
        tally.walks += 1;
    }
    Ok(())
}

/// Whether a number has an exponent or more than 12 characters, which is beyond what a validator considers.
pub(super) fn has_long_number(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !".+-".contains(c));
    let is_number = |word: &&str| word.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    words.filter(is_number).any(|word| word.len() > 12 || word.contains(['e', 'E']))
}

fn walk(
    matcher: &mut Matcher,
    choices: &mut Choices<'_>,
    random: &mut u64,
) -> Result<Option<String>, String> {
    for length in 0..4 * LONG {
        let accepting = matcher.is_accepting();
        if accepting && (length > LONG || choices.chance(30)) {
            return Ok(String::from_utf8(matcher.bytes()).ok());
        }
        let mask = matcher.mask().map_err(|e| e.to_string())?;
        if mask.is_empty() {
            return Err("a dead end".into());
        }
        let allowed: Vec<u8> = mask.iter().filter_map(|token| u8::try_from(token.get()).ok()).collect();
        *random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let number = (*random >> 33) as usize;
        let liked: &[u8] = match number % 16 {
            _ if length > LONG => b"\"}]0:",
            0..4 => b"\"}]:,",
            4..14 => b"abx{[\"1}]:,",
            _ => b"",
        };
        let liked: Vec<u8> = allowed.iter().copied().filter(|byte| liked.contains(byte)).collect();
        let from = if liked.is_empty() { &allowed } else { &liked };
        let Some(&byte) = from.get(number / 16 % from.len().max(1)) else { return Ok(None) };
        matcher.accept_token(TokenId::new(u32::from(byte))).map_err(|e| e.to_string())?;
    }
    Ok(None)
}
