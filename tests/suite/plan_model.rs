//! A language model as a policy, played by a script.

use crate::models::Function;
use grammata::decode::SamplingParams;
use grammata::plan::policy::{ModelPolicy, PromptMode};
use grammata::plan::{Choice, Policy, Question};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Result, TokenId};
use std::sync::Arc;

const PROMPT: u32 = 256;
const END: u32 = 257;

/// Gives each token after a text its probability; tokens that are not named share what is left.
fn script(after: fn(&str) -> Vec<(char, f32)>) -> Function<impl FnMut(&[u32]) -> Vec<f32>> {
    Function::new(258, move |sequence| {
        let text: String = sequence.iter().filter_map(|&t| char::from_u32(t).filter(|_| t < 128)).collect();
        let named = after(&text);
        let left = 1.0 - named.iter().map(|(_, p)| p).sum::<f32>();
        let mut logits = vec![(left / 258.0).max(1e-9).ln(); 258];
        for (token, probability) in named {
            logits[token as usize] = probability.ln();
        }
        logits
    })
}

fn question(choices: usize) -> Question {
    let choice = |n: usize| Choice {
        successor: None,
        label: n.to_string(),
        cost: 0,
        completable: None,
        steps_left: None,
    };
    Question { text: "which?".to_owned(), choices: (1..=choices).map(choice).collect(), set: None }
}

/// The scores and the choice among so many.
fn asked(choices: usize, after: fn(&str) -> Vec<(char, f32)>) -> (Vec<f64>, Result<usize>) {
    let tokens = (0..=255u8).map(|byte| vec![byte]);
    let built = VocabularyBuilder::from_tokens(tokens).special(TokenId::new(PROMPT), "<prompt>");
    let built = built.special(TokenId::new(END), "<end>").eos([TokenId::new(END)]).build().unwrap();
    let mut model = script(after);
    let encode = Box::new(|_: &str| Ok(vec![PROMPT]));
    let mut policy = ModelPolicy::new(
        &mut model,
        Arc::new(built),
        encode,
        PromptMode::Likelihood,
        SamplingParams::default(),
    )
    .unwrap();
    let question = question(choices);
    (policy.scores(&question).unwrap_or_default(), policy.choose(&question).map(|answer| answer.places[0]))
}

#[test]
fn the_likelihood_of_1_is_not_that_of_10() {
    // the model says 12 nine times out of ten
    let after = |text: &str| match text {
        "" => vec![('1', 0.95), ('2', 0.04)],
        "1" => vec![('2', 0.95), ('0', 0.02)],
        _ => vec![],
    };
    let (scores, choice) = asked(12, after);
    assert_eq!(choice.unwrap(), 11);
    let sum: f64 = scores.iter().map(|score| score.exp()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    // 1 ends where neither 0, 1 nor 2 follows
    assert!(scores[11].exp() > 0.85 && scores[0].exp() < 0.05, "{scores:?}");
    // with nine answers there is nothing to tell 1 from
    assert_eq!(asked(9, after).1.unwrap(), 0);
}

#[test]
fn ties_take_the_first_and_no_number_is_never_chosen() {
    assert_eq!(asked(3, |_| vec![('1', 0.3), ('2', 0.3), ('3', 0.3)]).1.unwrap(), 0);
    assert_eq!(asked(3, |_| vec![('1', f32::NAN), ('2', 0.1), ('3', 0.3)]).1.unwrap(), 2);
    let nothing = asked(3, |_| (0..=257).map(|t| (char::from_u32(t).unwrap(), f32::NAN)).collect()).1;
    assert_eq!(nothing.unwrap_err().code(), "plan/model");
}
