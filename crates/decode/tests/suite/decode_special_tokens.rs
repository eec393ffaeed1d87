//! Drafts that contain special tokens.

use crate::decode_drivers::{Oracle, hashed};
use crate::models::Function;
use grammata::syntax::gbnf;
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler};
use grammata_decode::{Draft, ForcedDraft, GenerationOptions, SamplingParams, generate, speculative};
use proptest::prelude::*;
use std::sync::Arc;

/// Compiles a GBNF grammar for a vocabulary of a few texts, the special tokens 5 and 6, and token 7, which ends a
/// sequence or a call.
fn with_special_tokens(source: &str) -> CompiledGrammar {
    let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "c", "ab", "<think>"])
        .special(TokenId::new(5), "<think>")
        .special(TokenId::new(6), "</think>")
        .special(TokenId::new(7), "<|call|>")
        .eos([TokenId::new(7)])
        .build()
        .unwrap();
    let grammar = gbnf::compile(source, &gbnf::Options::default()).unwrap().grammar;
    Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap()
}

const WITH_SPECIAL_TOKENS: [&str; 4] = [
    "root ::= <think> [ab]{2,5} </think> (\"c\" <think> [ab]+ </think>){1,3} \"a\"?",
    "root ::= (<think> \"ab\"* </think> \"c\")+ <|call|>",
    "root ::= \"a\" (<|call|> \"b\" <think>)* (<|call|> | \"c\")",
    "root ::= @text(<think> [ab]* </think> root, $, ! \"cc\")",
];

proptest! {
    #![proptest_config(crate::properties::config(200))]

    /// Drafts with special tokens, some of which are rejected, change neither the output nor the state of the matcher.
    #[test]
    fn drafts_with_special_tokens_change_nothing(
        (seed, source) in (any::<u64>(), prop::sample::select(&WITH_SPECIAL_TOKENS[..])),
        temperature in prop_oneof![Just(0.0_f32), Just(1.0)],
        (max_tokens, complete, most) in (6..24_usize, any::<bool>(), 1..6_usize),
        (right, stray, forced) in (0..100_u64, any::<u64>(), any::<bool>()),
    ) {
        let compiled = with_special_tokens(source);
        let sampling = SamplingParams::default().temperature(temperature).seed(seed);
        let complete = complete && compiled.matcher().mask_within(max_tokens).is_ok();
        let options = GenerationOptions::default().max_tokens(max_tokens).complete(complete).sampling(sampling);
        let detokenizer = &**compiled.vocabulary();
        let mut model = Function::new(8, |sequence: &[u32]| hashed(seed, sequence)[..8].to_vec());
        let mut one = compiled.matcher();
        let plain = generate(&mut model, detokenizer, Some(&mut one), &[0, 0], &options).unwrap();
        let mut oracle = Oracle { tokens: plain.tokens.clone(), right, random: stray };
        let draft: &mut dyn Draft = if forced { &mut ForcedDraft } else { &mut oracle };
        let mut two = compiled.matcher();
        let drafted = speculative(&mut model, detokenizer, Some(&mut two), &[0, 0], &options, draft, most).unwrap();
        prop_assert!(model.sequences.is_empty());
        prop_assert_eq!((&drafted.tokens, &drafted.text, &drafted.finish), (&plain.tokens, &plain.text, &plain.finish));
        prop_assert_eq!((one.steps(), one.bytes(), one.mask().unwrap()), (two.steps(), two.bytes(), two.mask().unwrap()));
        // rolling back token by token leads through the same masks as accepting the tokens
        let mut again = compiled.matcher();
        let mut masks = vec![again.mask().unwrap()];
        for &token in &plain.tokens[..one.steps()] {
            again.accept_token(TokenId::new(token)).unwrap();
            masks.push(again.mask().unwrap());
        }
        for mask in masks.into_iter().rev() {
            prop_assert_eq!(two.mask().unwrap(), mask);
            if two.steps() > 0 {
                two.rollback(1).unwrap();
            }
        }
    }
}
