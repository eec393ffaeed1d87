//! Plans as texts: masks against brute force, bounds of thoughts, and plans written with random and adversarial logits.
//! `GRAMMATA_CASES` sets the number of plans of a domain; the default is 40, and fewer plans are written with thoughts.

use crate::flow_cases::naive;
use crate::flow_metrics::{calls, measure};
use crate::flow_vocabulary::{tokens, vocabulary};
use grammata::matcher::Constraint;
use grammata::{CompiledGrammar, Compiler, Limits, Matcher, TokenId, Vocabulary};
use grammata_agents::flows::{
    FlowDomain, FlowOptions, Level, THOUGHT_CHARS, Thoughts, WithinBudget, grammar, parse,
};
use grammata_testing::brute_mask::brute_mask;
use grammata_testing::earley::Recogniser;
use rand::seq::IteratorRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::sync::Arc;

const DOMAINS: [&str; 4] = ["trip-booking", "insurance", "banking", "restaurant-and-ride"];

fn domain(name: &str) -> FlowDomain {
    let path = format!("{}/grammars/flows/{name}.toml", crate::ROOT);
    FlowDomain::read(&std::fs::read_to_string(path).unwrap(), &Limits::default()).unwrap()
}

fn at(level: Level) -> FlowOptions {
    FlowOptions::default().level(level)
}

fn compile(
    domain: &FlowDomain,
    level: Level,
    thoughts: Thoughts,
    vocabulary: &Arc<Vocabulary>,
) -> CompiledGrammar {
    let grammar = grammar(domain, &at(level), thoughts).unwrap_or_else(|error| panic!("{error}"));
    Compiler::new(Arc::clone(vocabulary)).compile(&grammar).unwrap()
}

/// A domain with API names that are prefixes of other API names.
fn names() -> FlowDomain {
    let text = "kind = 'flows'\nprelude = 'p'\nend = 'E'\n[apis]\n\
        P = { description = 'begins' }\nGet = { description = 'gets' }\nGetTime = { description = 'gets a time' }\n\
        GetTimeZone = { description = 'gets a zone' }\nE = { description = 'ends' }\n[steps]\n\
        p = { text = 'begin', apis = ['P'] }\ng = { text = 'get it', apis = ['Get', 'GetTime', 'GetTimeZone'] }\n\
        e = { text = 'end it', apis = ['E'] }\n\
        [[flows]]\nid = 'f'\nintent = 'get'\nsteps = ['p', 'g', 'e']\n";
    FlowDomain::read(text, &Limits::default()).unwrap()
}

#[test]
fn masks_are_those_of_brute_force_at_every_byte() {
    let domain = names();
    let tokens = tokens(&domain);
    let vocabulary = vocabulary(&tokens);
    let words = [
        (Thoughts::None, " GetTime(), GetTimeZone(), Get(), E()"),
        (
            Thoughts::Free,
            " a [API] GetTimeZone()\n[thought] b c [API] Get()\n[thought] the zone é [API] GetTime()\n[thought] x [API] E()",
        ),
        (Thoughts::Stated, " get it: a [API] Get()\n[thought] get it: b [API] GetTime()"),
        (Thoughts::After, " Get() [thought] as a\n[API] GetTime() [thought] b"),
        (
            Thoughts::Guided,
            "[now] Get: gets; GetTime: gets a time; GetTimeZone: gets a zone\n[thought] a [API] GetTime()\n[now] Get: gets; ",
        ),
    ];
    let eos = [tokens.len() as u32 - 1];
    for (thoughts, word) in words {
        for level in [Level::Names, Level::Steps] {
            let is_of_level = thoughts == Thoughts::None || level == Level::Steps;
            if !is_of_level {
                continue;
            }
            let made = grammar(&domain, &at(level), thoughts).unwrap();
            let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&made).unwrap();
            let recogniser = Recogniser::new(&made).unwrap_or_else(|refusal| panic!("{refusal:?}"));
            let (mut matcher, mut state) = (compiled.matcher(), recogniser.start());
            for (place, &byte) in word.as_bytes().iter().enumerate() {
                let mask = matcher.mask().unwrap().to_bits().into_vec();
                let brute = brute_mask(&recogniser, &state, &tokens, &eos, mask.len()).unwrap();
                assert_eq!(mask, brute, "{thoughts:?}: after {:?}", &word[..place]);
                matcher.accept_bytes(&[byte]).unwrap_or_else(|error| panic!("{thoughts:?} {place}: {error}"));
                recogniser.advance(&mut state, byte);
            }
        }
    }
}

#[test]
fn thoughts_have_bounds() {
    let domain = names();
    let vocabulary = vocabulary(&tokens(&domain));
    let compiled = compile(&domain, Level::Steps, Thoughts::Free, &vocabulary);
    let most = THOUGHT_CHARS as usize;
    let cases = [
        (String::new(), false),
        ("a".to_owned(), true),
        ("é".repeat(most), true),
        ("a".repeat(most + 1), false),
        (" a".to_owned(), false),
        ("a ".to_owned(), false),
        ("a b".to_owned(), true),
        ("a[b".to_owned(), false),
        ("a]".to_owned(), false),
        ("a\nb".to_owned(), false),
        ("a [API] E() b".to_owned(), false),
    ];
    for (thought, is_allowed) in cases {
        let text = format!(" {thought} [API] GetTime()\n[thought] x");
        let accepted = compiled.matcher().accept_bytes(text.as_bytes()).is_ok();
        assert_eq!(accepted, is_allowed, "{thought:?}");
    }
    let error = grammar(&domain, &at(Level::Apis), Thoughts::Stated).unwrap_err();
    assert_eq!(error.code(), "flow/stated");
}

/// How a token is chosen from a mask.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Logits {
    /// Any allowed token, with equal probability.
    Random,
    /// With probability 0.8 a token with a bracket or a line end, or the beginning of `Finish`, if one is allowed;
    /// otherwise any token.
    Adversarial,
    /// With probability 0.8 the token that ends a thought (` [API]`), if it is allowed; otherwise any token.
    Short,
}

fn choose(
    matcher: &mut Matcher,
    vocabulary: &Vocabulary,
    logits: Logits,
    random: &mut ChaCha8Rng,
) -> TokenId {
    let mask = matcher.mask().unwrap();
    let any = |random: &mut ChaCha8Rng| mask.iter().choose(random).expect("no dead end");
    let wants = |token: &TokenId| {
        let bytes = vocabulary.bytes(*token).unwrap_or_default();
        match logits {
            Logits::Random => false,
            Logits::Adversarial => {
                bytes.iter().any(|byte| b"[]()\n".contains(byte)) || bytes.starts_with(b"Fin")
            }
            Logits::Short => bytes.starts_with(b" [API]"),
        }
    };
    match random.random_bool(0.8) {
        true => mask.iter().filter(wants).choose(random).unwrap_or_else(|| any(random)),
        false => any(random),
    }
}

/// Writes a whole text under the masks of a grammar.
pub(crate) fn write(compiled: &CompiledGrammar, logits: Logits, random: &mut ChaCha8Rng) -> String {
    let vocabulary = compiled.vocabulary();
    let mut matcher = compiled.matcher();
    while !matcher.is_finished() {
        let token = choose(&mut matcher, vocabulary, logits, random);
        if vocabulary.bytes(token).is_none() {
            break;
        }
        matcher.accept_token(token).unwrap();
    }
    String::from_utf8(matcher.bytes()).unwrap()
}

/// Each written plan is a plan of some flow by definition, so it has no inconsistent, repeated or hallucinated API.
#[test]
fn no_logits_write_a_wrong_plan() {
    let cases: usize =
        std::env::var("GRAMMATA_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40);
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for name in DOMAINS {
        let domain = domain(name);
        let vocabulary = vocabulary(&tokens(&domain));
        let mut expected: BTreeSet<String> = BTreeSet::new();
        (0..domain.flows.len()).for_each(|flow| expected.extend(naive(&domain, flow)));
        let kinds = [
            (Thoughts::None, Logits::Random, cases),
            (Thoughts::None, Logits::Adversarial, cases),
            (Thoughts::Free, Logits::Short, cases / 4),
            (Thoughts::Stated, Logits::Short, cases / 10),
            (Thoughts::Guided, Logits::Short, cases / 10),
            (Thoughts::Free, Logits::Adversarial, cases / 20),
            (Thoughts::After, Logits::Random, cases / 60),
        ];
        for (thoughts, logits, cases) in kinds {
            let compiled = compile(&domain, Level::Steps, thoughts, &vocabulary);
            for _ in 0..cases {
                let text = write(&compiled, logits, &mut random);
                let plan = parse(&text, "Finish", thoughts);
                assert!(plan.is_finished && plan.is_parsable && plan.length == text.len(), "{text}");
                let names: Vec<&str> = plan.calls.iter().map(|call| call.name.as_str()).collect();
                assert!(expected.contains(&names.join(" ")), "{name}: {text}");
                let is_free_of_faults = (0..domain.flows.len()).any(|flow| {
                    let found = measure(&domain, flow, &calls(&domain, names.iter().copied()));
                    let edits = (found.api_edits, found.step_edits);
                    let faults = [
                        found.inconsistent_apis,
                        found.inconsistent_steps,
                        found.repeated,
                        found.hallucinated,
                    ];
                    edits == (0, 0) && faults == [0.0; 4]
                });
                assert!(is_free_of_faults, "{name}: {text}");
            }
        }
    }
}

/// Each level enforces its own rules and those of the lower levels, and no others.
#[test]
fn weaker_levels_keep_what_they_say() {
    let domain = domain("trip-booking");
    let vocabulary = vocabulary(&tokens(&domain));
    let plans: [(&str, [bool; 6]); 6] = [
        (" FindFlights(), Finish()", [true, false, false, false, false, false]),
        (" FindFlight(), FindFlight(), Finish()", [true, true, false, false, false, false]),
        (" FindFlight(), Finish()", [true, true, true, false, false, false]),
        (
            " GetAirports(), FindHotel(), Confirm(), CreateTrip(), GetPaymentInformation(), OrderTrip(), Finish()",
            [true, true, true, true, false, false],
        ),
        (
            " FindHotel(), GetPaymentInformation(), Confirm(), CreateTrip(), OrderTrip(), Finish()",
            [true, true, true, true, true, false],
        ),
        (" FindHotel(), Confirm(), CreateTrip(), GetPaymentInformation(), OrderTrip(), Finish()", [true; 6]),
    ];
    for (place, level) in Level::ALL.into_iter().enumerate() {
        let compiled = compile(&domain, level, Thoughts::None, &vocabulary);
        for (text, allowed) in &plans {
            let mut matcher = compiled.matcher();
            let accepted = matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting();
            assert_eq!(accepted, allowed[place], "level {}: {text}", level.number());
        }
    }
}

#[test]
fn what_models_write_is_read_as_far_as_it_can_be() {
    // thoughts, text, names of the calls, and whether the plan is parsable, finished, broken
    type Row<'a> = (Thoughts, &'a str, &'a str, [bool; 3]);
    let rows: [Row<'_>; 12] = [
        (Thoughts::None, " A(), B(), Finish()", "A B Finish", [true, true, false]),
        (Thoughts::None, " A(), B(), Finish() and more", "A B Finish", [true, true, false]),
        (Thoughts::None, " A(), B(", "A", [false, false, false]),
        (Thoughts::None, " A(x), B()", "", [false, false, true]),
        (Thoughts::None, " A() B()", "A", [false, false, true]),
        (Thoughts::None, " A()", "A", [true, false, false]),
        (Thoughts::None, "", "", [true, false, false]),
        (Thoughts::Free, " a [API] A()\n[thought] [API] Finish()\n", "A Finish", [true, true, false]),
        (Thoughts::Free, " a [API] A()\n[tho", "A", [false, false, false]),
        (Thoughts::Free, " a\nb [API] A()", "", [false, false, true]),
        (Thoughts::After, " A() [thought] x\n[API] Finish() [thought] y", "A Finish", [true, true, false]),
        (Thoughts::Guided, "[now] A: x\n[thought] t [API] A()\n[now] B", "A", [false, false, false]),
    ];
    for (thoughts, text, names, expected) in rows {
        let plan = parse(text, "Finish", thoughts);
        let found: Vec<&str> = plan.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(found.join(" "), names, "{text:?}");
        assert_eq!([plan.is_parsable, plan.is_finished, plan.is_broken], expected, "{text:?}");
    }
}

/// Whatever tokens are chosen, a plan ends within its budget. A budget below the least is refused with the least
/// number.
#[test]
fn plans_end_within_their_budget() {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    for domain in [names(), domain("trip-booking")] {
        let vocabulary = vocabulary(&tokens(&domain));
        let end = domain.apis[domain.end].name.clone();
        for (name, thoughts) in Thoughts::ALL {
            let compiled = compile(&domain, Level::Steps, thoughts, &vocabulary);
            let within = |tokens| WithinBudget::new(&compiled, &domain, &at(Level::Steps), thoughts, tokens);
            let refused = within(0).unwrap_err();
            assert_eq!(refused.code(), "flow/budget");
            let least = refused.diagnostic().allowed_text().and_then(|text| text.strip_prefix("at least "));
            let least: usize = least.unwrap().parse().unwrap();
            assert!(within(least - 1).is_err());
            for more in [0, 3, 40] {
                let mut constraint = within(least + more).unwrap();
                let mut text = Vec::new();
                let mut words = vec![0; vocabulary.width().div_ceil(32)];
                for _ in 0..least + more {
                    if constraint.is_finished().unwrap() {
                        break;
                    }
                    constraint.fill_mask(&mut words).unwrap();
                    let allowed = (0..vocabulary.width() as u32)
                        .filter(|token| words[*token as usize / 32] >> (token % 32) & 1 == 1);
                    let token = allowed.choose(&mut random).expect("no dead end");
                    constraint.accept_token(token).unwrap();
                    text.extend_from_slice(vocabulary.bytes(TokenId::new(token)).unwrap_or_default());
                }
                assert!(constraint.is_accepting().unwrap() || constraint.is_finished().unwrap());
                let text = String::from_utf8(text).unwrap();
                let plan = parse(&text, &end, thoughts);
                assert!(plan.is_finished && plan.length == text.len(), "{name} {least} + {more}: {text}");
            }
        }
    }
}
