//! An error leaves a matcher's state unchanged, whichever limit is exceeded at whichever step.

use grammata::grammar::Grammar;
use grammata::syntax::{gbnf, json_schema};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, Error, ErrorKind, Limits, Matcher, Result, TokenId};
use std::sync::Arc;

/// Grammars with parts that are bounded in tokens. `TAIL` is replaced with a text of some hundred bytes.
const BOUNDED: &[&str] = &[
    r#"root ::= @max_tokens(3, @text("<>")) [ab]*"#,
    r#"root ::= @max_tokens(6, @text("<>")) "TAIL""#,
    r#"root ::= @max_tokens(2, "a"*) ("a" "b" | "<") ("TAIL" | "b"+)"#,
    r#"root ::= (@max_tokens(3, [ab]+) "<")+ "TAIL"?"#,
    "root ::= @max_tokens(1, [ab]+) tail\ntail ::= \"<\" \"TAIL\" | \">\" end\nend ::= \"TAIL\" | \"b\"",
];

/// Returns some shipped grammars, one whose names may run out, and one whose items must differ.
fn unbounded() -> Vec<Grammar> {
    let shipped = |path: &str| std::fs::read_to_string(format!("grammars/{path}")).unwrap();
    let schema =
        |source: &str| json_schema::compile(source, &json_schema::Options::default()).unwrap().grammar;
    vec![
        gbnf::compile(&shipped("json/grammar.gbnf"), &gbnf::Options::default()).unwrap().grammar,
        schema(&shipped("person/schema.json")),
        schema(&shipped("function-call/schema.json")),
        schema(r#"{"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 3}"#),
        schema(
            r#"{"type": "array", "items": {"enum": ["a", "b", "ab"]}, "uniqueItems": true, "minItems": 2}"#,
        ),
    ]
}

fn compiler() -> Compiler {
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let longer = ["ab", "<>", ">b", "ba", "\": ", "{\"", "name", "\", \"", "\"}"];
    let tokens = bytes.chain(longer.map(|text| text.as_bytes().to_vec()));
    let end = TokenId::new(300);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).special(end, "<end>").eos([end]).build();
    Compiler::new(Arc::new(vocabulary.unwrap()))
}

/// A pseudo-random number generator: the linear congruential generator of Knuth's MMIX.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }

    /// Returns a random number from 1 to below 2 to the power of `most`, which is rarely large.
    fn scale(&mut self, most: u32) -> usize {
        let bits = self.below(most as usize) as u32;
        (1 << bits) + self.below(1 << bits)
    }
}

/// Returns limits, one of which is small.
fn small(random: &mut Random) -> Limits {
    let limits = Limits::default();
    match random.below(8) {
        0 => limits.lockstep_search(random.scale(6)),
        1 => limits.completion_search(random.scale(8)),
        2 | 3 => limits.cache_bytes(2_000 * random.scale(8)),
        _ => limits.mask_work(random.scale(10)),
    }
}

/// Returns the value, or `None` if a limit is exceeded or no completion within a budget is known. Panics on other
/// errors.
fn within<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let is_expected = error.kind() == ErrorKind::Limit || error.code() == "matcher/budget";
            assert!(is_expected, "{error}");
            None
        }
    }
}

/// Returns the part of a matcher's state that can be observed without work.
fn place(matcher: &Matcher) -> (Vec<u8>, usize, bool, bool) {
    (matcher.bytes(), matcher.steps(), matcher.is_accepting(), matcher.is_finished())
}

/// Makes a random query about the matcher's state.
fn ask(matcher: &mut Matcher, random: &mut Random) -> Result<()> {
    let budget = random.below(40);
    match random.below(7) {
        0 => matcher.mask().map(|_| ()),
        1 => matcher.mask_within(budget).map(|_| ()),
        2 => matcher.distance().map(|_| ()),
        3 => matcher.forced_tokens().map(|_| ()),
        4 => matcher.is_token_allowed_within(TokenId::new(random.below(265) as u32), budget).map(|_| ()),
        5 => matcher.explain(b"ab").map(|_| ()),
        _ => matcher.accepts_prefix(b"ab").map(|_| ()),
    }
}

/// Accepts a token with one of the methods. Returns whether it was accepted.
fn accept(matcher: &mut Matcher, token: TokenId, random: &mut Random) -> Result<bool> {
    let vocabulary = Arc::clone(matcher.compiled().vocabulary());
    let bytes = vocabulary.bytes(token).filter(|_| !vocabulary.is_eos(token));
    match (random.below(4), bytes) {
        (0, Some(bytes)) => matcher.accept_bytes(bytes).map(|()| true),
        (1, _) => matcher.try_accept(token),
        (2, _) => matcher.accept_tokens(&[token]).map(|taken| taken == 1),
        _ => matcher.accept_token(token).map(|()| true),
    }
}

/// Walks with small limits next to a matcher with large ones. Returns the numbers of errors at steps and at queries.
fn walk(mut tight: Matcher, mut ample: Matcher, is_bounded: bool, random: &mut Random) -> (usize, usize) {
    let (mut at_steps, mut at_questions) = (0, 0);
    let kept = |before: &Matcher, after: &Matcher, error: &Error| {
        assert_eq!(place(before), place(after), "{error}");
    };
    for _ in 0..25 {
        let before = tight.fork();
        if let Err(error) = ask(&mut tight, random) {
            kept(&before, &tight, &error);
            at_questions += usize::from(within::<()>(Err(error)).is_none());
        }
        let allowed: Vec<TokenId> = ample.mask().unwrap().iter().collect();
        if let Some(mask) = within(tight.mask()) {
            let mask: Vec<TokenId> = mask.iter().collect();
            match is_bounded {
                // tokens that are not found within the limits are forbidden
                true => assert!(mask.iter().all(|token| allowed.binary_search(token).is_ok())),
                false => assert_eq!(mask, allowed),
            }
        }
        if ample.is_finished() || allowed.is_empty() {
            break;
        }
        let token = allowed[random.below(allowed.len())];
        let mut has_moved = false;
        for _ in 0..4 {
            let before = tight.fork();
            match accept(&mut tight, token, &mut Random(random.below(1 << 20) as u64)) {
                Ok(true) => has_moved = true,
                Ok(false) => {
                    assert!(is_bounded, "a token of the mask was refused");
                    assert_eq!(place(&before), place(&tight));
                    return (at_steps, at_questions);
                }
                Err(error) => {
                    kept(&before, &tight, &error);
                    at_steps += 1;
                    // a part may have no way out that is found within the limits
                    if error.kind() != ErrorKind::Limit {
                        assert!(is_bounded, "{error}");
                        return (at_steps, at_questions);
                    }
                }
            }
            if has_moved {
                break;
            }
        }
        if has_moved {
            ample.accept_token(token).unwrap();
            assert_eq!(tight.bytes(), ample.bytes());
        }
    }
    (at_steps, at_questions)
}

/// Walks under a grammar several times, each time with a small limit of a random kind. Returns the numbers of errors at
/// steps and at queries (see [`ask`]).
fn walks(grammar: &Grammar, is_bounded: bool, seed: u64) -> (usize, usize) {
    let compiler = compiler();
    let ample = compiler.compile(grammar).unwrap();
    let cases: u64 = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let mut random = Random(seed);
    let (mut steps, mut questions) = (0, 0);
    for _ in 0..cases.div_ceil(10) {
        let tight = compiler.detached().limits(small(&mut random)).compile(grammar);
        if let Ok(tight) = tight {
            let (at_steps, at_questions) = walk(tight.matcher(), ample.matcher(), is_bounded, &mut random);
            (steps, questions) = (steps + at_steps, questions + at_questions);
        }
    }
    (steps, questions)
}

/// Walks under all the grammars, and checks that there were errors at steps and at queries.
fn all_walks(grammars: impl Iterator<Item = Grammar>, is_bounded: bool) {
    let errors = grammars.zip(0..).map(|(grammar, seed)| walks(&grammar, is_bounded, seed));
    let (steps, questions): (Vec<usize>, Vec<usize>) = errors.unzip();
    assert!(steps.iter().any(|&errors| errors > 0), "errors at steps: {steps:?}");
    assert!(questions.iter().any(|&errors| errors > 0), "errors at questions: {questions:?}");
}

#[test]
fn limits_leave_a_matcher_where_it_was() {
    all_walks(unbounded().into_iter(), false);
}

#[test]
fn limits_leave_a_matcher_where_it_was_beside_bounded_parts() {
    let tail = "the tail ".repeat(60);
    let grammar = |source: &&str| {
        gbnf::compile(&source.replace("TAIL", &tail), &gbnf::Options::default()).unwrap().grammar
    };
    all_walks(BOUNDED.iter().map(grammar), true);
}
