//! A language model as a policy, against probabilities that are computed by feeding every text from its beginning.

use crate::byte_encoder::ByteEncoder;
use crate::models::Function;
use grammata::vocabulary::{Vocabulary, VocabularyBuilder};
use grammata::{Result, TokenId};
use grammata_agents::plan::{AnswerForm, Choice, Policy, Question};
use grammata_agents_drive::plan::{ModelPolicy, PromptMode, PromptOptions};
use grammata_decode::SamplingParams;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The texts of the tokens 256 to 258, after those of the 256 bytes. Token 258 spells `1`, as a byte does.
const MERGED: [&str; 3] = ["12", "20", "1"];
const END: u32 = 259;
pub(crate) const WIDTH: usize = 260;

pub(crate) fn vocabulary() -> Arc<Vocabulary> {
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let tokens = bytes.chain(MERGED.map(|text| text.as_bytes().to_vec()));
    let built = VocabularyBuilder::from_tokens(tokens).special(TokenId::new(END), "<end>");
    Arc::new(built.eos([TokenId::new(END)]).build().unwrap())
}

/// Returns logits that look random and depend on every token of the sequence.
pub(crate) fn noise(sequence: &[u32]) -> Vec<f32> {
    let seed = sequence.iter().fold(17u64, |hash, &token| mixed(hash ^ u64::from(token)));
    (0..WIDTH as u64).map(|token| (mixed(seed ^ token << 20) % 6000) as f32 / 1000.0 - 3.0).collect()
}

fn mixed(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Returns a model whose next tokens have the probabilities that `after` returns for the text after the last `?`. The
/// other tokens share the rest equally.
pub(crate) fn script(after: fn(&str) -> Vec<(char, f32)>) -> impl FnMut(&[u32]) -> Vec<f32> + Send {
    move |sequence| {
        let text: String = sequence.iter().filter_map(|&token| char::from_u32(token)).collect();
        let named = after(text.rsplit('?').next().unwrap());
        let left = 1.0 - named.iter().map(|(_, probability)| probability).sum::<f32>();
        let mut logits = vec![(left / WIDTH as f32).max(1e-9).ln(); WIDTH];
        for (token, probability) in named {
            logits[token as usize] = probability.ln();
        }
        logits
    }
}

fn question(labels: &[&str], form: AnswerForm) -> Question {
    let choice = |label: &&str| Choice {
        successor: None,
        label: (*label).to_owned(),
        cost: 0,
        completable: None,
        steps_left: None,
    };
    let choices: Vec<Choice> = labels.iter().map(choice).collect();
    let listed: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
    let wording = move |order: &[usize]| Ok(worded(&listed, order, form));
    Question::new(choices, None, form, Arc::new(wording)).unwrap()
}

fn worded(labels: &[String], order: &[usize], form: AnswerForm) -> String {
    let list: Vec<&str> = order.iter().map(|&place| labels[place].as_str()).collect();
    if form == AnswerForm::Open { "which?".to_owned() } else { format!("{} which?", list.join("/")) }
}

pub(crate) fn form(mode: PromptMode) -> AnswerForm {
    match mode {
        PromptMode::Answer | PromptMode::Likelihood => AnswerForm::Number,
        PromptMode::Text => AnswerForm::Text,
        _ => AnswerForm::Open,
    }
}

pub(crate) fn options(mode: PromptMode, orders: usize) -> PromptOptions {
    PromptOptions::default().mode(mode).orders(orders)
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

// ---- the naive reference

/// Returns the probability of a token under logits.
pub(crate) fn softmax(logits: &[f32], token: u32) -> f64 {
    let all: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
    f64::from(logits[token as usize]).exp() / all
}

/// Returns the probability that the tokens follow a prompt, one after the other.
pub(crate) fn probability(prompt: &[u32], tokens: &[u32]) -> f64 {
    let each = |place: usize| softmax(&noise(&[prompt, &tokens[..place]].concat()), tokens[place]);
    (0..tokens.len()).map(each).product()
}

pub(crate) fn bytes(text: &str) -> Vec<u32> {
    text.bytes().map(u32::from).collect()
}

/// Encodes a number with the longest token at each position.
pub(crate) fn spelled(number: &str) -> Vec<u32> {
    let mut tokens = vec![];
    let mut rest = number;
    while !rest.is_empty() {
        let merged =
            (0..MERGED.len()).filter(|&i| rest.starts_with(MERGED[i])).max_by_key(|&i| MERGED[i].len());
        let (token, length) = match merged {
            Some(i) if MERGED[i].len() > 1 => (256 + i as u32, MERGED[i].len()),
            _ => (u32::from(rest.as_bytes()[0]), 1),
        };
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens
}

/// Returns the probability of a number up to `count`, and that no token follows which continues it to a longer number.
fn number_probability(prompt: &[u32], number: &str, count: usize) -> f64 {
    let tokens = spelled(number);
    let logits = noise(&[prompt, &tokens].concat());
    let texts = (0..256u32).map(|byte| char::from(byte as u8).to_string()).chain(MERGED.map(str::to_owned));
    let numbers = numbered(count);
    let longer = |text: &str| {
        let longer = format!("{number}{text}");
        numbers.iter().any(|other| other.starts_with(&longer))
    };
    let others: f64 =
        texts.zip(0..).filter(|(text, _)| longer(text)).map(|(_, token)| softmax(&logits, token)).sum();
    probability(prompt, &tokens) * (1.0 - others)
}

pub(crate) fn normalised(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| (weight / sum).ln()).collect()
}

/// Returns the reference scores of options: the log-probabilities are normalised for each order, and their means over
/// the orders are normalised again.
fn reference(labels: &[String], mode: PromptMode, orders: &[Vec<usize>]) -> Vec<f64> {
    let mut mean = vec![0.0; labels.len()];
    for order in orders {
        let prompt = bytes(&worded(labels, order, form(mode)));
        let of = |place: usize| match mode {
            PromptMode::Answer | PromptMode::Likelihood => {
                let number = order.iter().position(|&other| other == place).unwrap() + 1;
                number_probability(&prompt, &number.to_string(), labels.len())
            }
            // the mean log-probability of a byte of the option, times the mean length of the options
            _ => {
                let all: usize = labels.iter().map(String::len).sum();
                let mean = all as f64 / labels.len() as f64;
                probability(&prompt, &bytes(&labels[place])).powf(mean / labels[place].len() as f64)
            }
        };
        let scores = normalised(&(0..labels.len()).map(of).collect::<Vec<_>>());
        mean.iter_mut().zip(scores).for_each(|(mean, score)| *mean += score / orders.len() as f64);
    }
    normalised(&mean.iter().map(|mean| mean.exp()).collect::<Vec<_>>())
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4 * expected.abs().max(1.0), "{found} is not {expected}");
    }
}

pub(crate) const ALL: [PromptMode; 4] =
    [PromptMode::Answer, PromptMode::Likelihood, PromptMode::Text, PromptMode::Open];

#[test]
fn scores_are_the_probabilities_that_feeding_again_gives() {
    let texts = ["go home", "go", "go west", "stay", "stay", "s", "1", "über"].map(str::to_owned);
    for (labels, mode) in [numbered(2), numbered(9), numbered(12), numbered(130), texts.to_vec()]
        .iter()
        .flat_map(|labels| ALL.map(|mode| (labels, mode)))
    {
        let mut model = Function::new(WIDTH, noise);
        let mut policy =
            ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 1)).unwrap();
        let question = question(&strs(labels), form(mode));
        let order: Vec<usize> = (0..labels.len()).collect();
        let found = policy.scores(&question).unwrap();
        assert_close(&found, &reference(labels, mode, &[order]));
        let sum: f64 = found.iter().map(|score| score.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{mode:?}: {sum}");
        // the scores are the same a second time, after another question
        policy.scores(&self::question(&["a", "b"], form(mode))).unwrap();
        assert_eq!(policy.scores(&question).unwrap(), found, "{mode:?}");
    }
}

#[test]
fn scores_are_averaged_over_orders() {
    let labels: Vec<String> = ["red", "green", "blue", "black"].map(str::to_owned).to_vec();
    let rotated = |by: usize| (0..4).map(|place| (place + by) % 4).collect::<Vec<usize>>();
    let cases = [
        (2, vec![rotated(0), rotated(2)]),
        (4, (0..4).map(rotated).collect()),
        (3, [0, 1, 2].map(rotated).to_vec()),
    ];
    for (count, orders) in cases {
        for mode in [PromptMode::Answer, PromptMode::Likelihood, PromptMode::Text] {
            let mut model = Function::new(WIDTH, noise);
            let asked = options(mode, count);
            let mut policy =
                ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), asked).unwrap();
            let found = policy.scores(&question(&strs(&labels), form(mode))).unwrap();
            assert_close(&found, &reference(&labels, mode, &orders));
            assert_eq!(policy.usage().calls, count);
        }
    }
    // without a list of options in the question, one order is enough
    let mut model = Function::new(WIDTH, noise);
    let mut policy =
        ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(PromptMode::Open, 4))
            .unwrap();
    policy.scores(&question(&strs(&labels), AnswerForm::Open)).unwrap();
    assert_eq!(policy.usage().calls, 1);
}

/// A model that writes the first number of the list with a probability of 0.9, and prefers the right one only slightly.
/// Over as many orders as options the bias cancels out.
#[test]
fn as_many_orders_as_options_leave_no_bias_to_a_place() {
    let after = |_: &str| vec![('1', 0.9), ('2', 0.02), ('3', 0.02), ('4', 0.02)];
    let biased = move |sequence: &[u32]| {
        let mut logits = script(after)(sequence);
        let text: String = sequence.iter().filter_map(|&token| char::from_u32(token)).collect();
        let list = text.split(' ').next().unwrap();
        if let Some(right) = list.split('/').position(|label| label == "right") {
            logits['1' as usize + right] += 0.5;
        }
        logits
    };
    for right in 0..4 {
        let mut labels = vec!["wrong"; 4];
        labels[right] = "right";
        let chosen = |orders: usize| {
            let mut model = Function::new(WIDTH, biased);
            let asked = options(PromptMode::Likelihood, orders);
            let mut policy =
                ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), asked).unwrap();
            policy.choose(&question(&labels, AnswerForm::Number)).unwrap().places
        };
        assert_eq!(chosen(1), [0]);
        assert_eq!(chosen(4), [right]);
    }
}

#[test]
fn a_prompt_and_what_texts_begin_with_alike_are_fed_once() {
    let labels: Vec<String> = (1..=200).map(|n| format!("take step number {n} of the list")).collect();
    let prefixes: BTreeSet<&str> =
        labels.iter().flat_map(|label| (1..label.len()).map(move |end| &label[..end])).collect();
    for (mode, nodes) in [(PromptMode::Text, prefixes.len()), (PromptMode::Open, prefixes.len())] {
        let mut model = Function::new(WIDTH, noise);
        let mut policy =
            ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 1)).unwrap();
        let question = question(&strs(&labels), form(mode));
        let found = policy.scores(&question).unwrap();
        assert_eq!(policy.usage().tokens, question.text.len() + nodes);
        let order: Vec<usize> = (0..labels.len()).collect();
        assert_close(&found, &reference(&labels, mode, &[order]));
    }
    // of the 200 numbers, only 1 to 20 are prefixes of longer ones, so only these are fed
    let mut model = Function::new(WIDTH, noise);
    let asked = options(PromptMode::Likelihood, 1);
    let mut policy = ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), asked).unwrap();
    let question = question(&strs(&numbered(200)), AnswerForm::Number);
    policy.scores(&question).unwrap();
    assert_eq!(policy.usage().tokens, question.text.len() + 20);
    assert!(policy.usage().runs < 20, "{:?}", policy.usage());
}

#[test]
fn the_likelihood_of_1_is_not_that_of_10() {
    // the model writes 1, and 1 again, with a probability of 0.95 each
    let after = |text: &str| match text {
        "" => vec![('1', 0.95), ('2', 0.04)],
        "1" => vec![('1', 0.95), ('0', 0.02)],
        _ => vec![],
    };
    let asked = |count: usize| {
        let mut model = Function::new(WIDTH, script(after));
        let asked = options(PromptMode::Likelihood, 1);
        let mut policy = ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), asked).unwrap();
        let question = question(&strs(&numbered(count)), AnswerForm::Number);
        (policy.scores(&question).unwrap(), policy.choose(&question).unwrap().places[0])
    };
    let (scores, place) = asked(11);
    assert_eq!(place, 10);
    assert!(scores[10].exp() > 0.85 && scores[0].exp() < 0.05, "{scores:?}");
    // with nine options, no number is longer than one digit
    assert_eq!(asked(9).1, 0);
}

fn chosen(
    mode: PromptMode,
    logits: impl FnMut(&[u32]) -> Vec<f32> + Send,
) -> Result<(Vec<usize>, Option<f64>)> {
    let mut model = Function::new(WIDTH, logits);
    let mut policy =
        ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 1)).unwrap();
    let answer = policy.choose(&question(&["1", "2", "3"], form(mode)))?;
    Ok((answer.places, answer.log_probability))
}

#[test]
fn ties_take_the_first_and_what_is_no_number_is_never_chosen() {
    for mode in ALL {
        let places = |named: fn(&str) -> Vec<(char, f32)>| chosen(mode, script(named)).unwrap().0;
        assert_eq!(places(|_| vec![('1', 0.3), ('2', 0.3), ('3', 0.3)]), [0], "{mode:?}");
        assert_eq!(places(|_| vec![('1', 0.1), ('2', 0.3), ('3', 0.3)]), [1], "{mode:?}");
        assert_eq!(places(|_| vec![('1', f32::NAN), ('2', 0.1), ('3', 0.3)]), [2], "{mode:?}");
        assert_eq!(places(|_| vec![('1', 0.0), ('2', 0.1), ('3', 0.0)]), [1], "{mode:?}");
        let (places, probability) = chosen(mode, |_| {
            let mut logits = vec![0.0; WIDTH];
            logits['3' as usize] = f32::INFINITY;
            logits
        })
        .unwrap();
        assert_eq!((places, probability), (vec![2], Some(0.0)), "{mode:?}");
        for broken in [f32::NAN, f32::NEG_INFINITY] {
            let error = chosen(mode, |_| vec![broken; WIDTH]).unwrap_err();
            let codes = ["plan/model", "decode/no-candidate"];
            assert!(codes.contains(&error.code()), "{mode:?} {}", error.code());
        }
    }
}

#[test]
fn the_log_probability_is_that_of_the_answer() {
    let labels = numbered(12);
    for mode in ALL {
        let mut model = Function::new(WIDTH, noise);
        let mut policy =
            ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 1)).unwrap();
        let question = question(&strs(&labels), form(mode));
        let answer = policy.choose(&question).unwrap();
        let found = answer.log_probability.unwrap();
        if mode == PromptMode::Answer {
            assert_close(&[found], &[greedily_written(&bytes(&question.text), labels.len()).1]);
        } else {
            let scores = policy.scores(&question).unwrap();
            assert!(scores.iter().all(|&score| score <= found), "{mode:?}");
            assert_eq!(found, scores[answer.places[0]], "{mode:?}");
        }
    }
}

/// Returns the number that greedy decoding under the masks writes, and its log-probability.
fn greedily_written(prompt: &[u32], count: usize) -> (String, f64) {
    let texts: Vec<String> =
        (0..256u32).map(|byte| char::from(byte as u8).to_string()).chain(MERGED.map(str::to_owned)).collect();
    let (mut sequence, mut written, mut score) = (prompt.to_vec(), String::new(), 0.0);
    loop {
        let fits =
            |text: &str| (1..=count).any(|other| other.to_string().starts_with(&format!("{written}{text}")));
        let mut allowed: Vec<usize> = (0..texts.len()).filter(|&token| fits(&texts[token])).collect();
        let is_number = written.parse::<usize>().is_ok_and(|number| number <= count);
        if is_number && allowed.is_empty() {
            return (written, score);
        }
        if is_number {
            allowed.push(END as usize);
        }
        let logits = noise(&sequence);
        let all: f64 = allowed.iter().map(|&token| softmax(&logits, token as u32)).sum();
        let best = *allowed.iter().max_by(|&&a, &&b| logits[a].total_cmp(&logits[b])).unwrap();
        if allowed.len() > 1 {
            score += (softmax(&logits, best as u32) / all).ln();
        }
        if best == END as usize {
            return (written, score);
        }
        written.push_str(&texts[best]);
        sequence.push(best as u32);
    }
}

#[test]
fn samples_have_the_frequencies_of_the_scores() {
    const DRAWS: usize = 500;
    let labels = ["ant", "bee", "cat", "dog"];
    for mode in ALL {
        let sampled = |seed: u64| {
            let sampling = SamplingParams::default().temperature(1.0).seed(seed);
            let mut model = Function::new(WIDTH, noise);
            let asked = PromptOptions::default().mode(mode).sampling(sampling);
            let mut policy =
                ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), asked).unwrap();
            let question = question(&labels, form(mode));
            let scores = policy.scores(&question).unwrap();
            let draws: Vec<usize> = (0..DRAWS).map(|_| policy.choose(&question).unwrap().places[0]).collect();
            (scores, draws)
        };
        let (scores, draws) = sampled(1);
        for (place, score) in scores.iter().enumerate() {
            let share = draws.iter().filter(|&&drawn| drawn == place).count() as f64 / DRAWS as f64;
            // a tolerance of four standard deviations
            let near = 4.0 * (score.exp() * (1.0 - score.exp()) / DRAWS as f64).sqrt();
            assert!((share - score.exp()).abs() <= near, "{mode:?} {place}: {share} of {}", score.exp());
        }
        assert_eq!(sampled(1).1, draws, "{mode:?}");
        assert_ne!(sampled(2).1, draws, "{mode:?}");
    }
}

#[test]
fn a_context_that_is_full_is_an_error_of_the_plan() {
    for mode in ALL {
        let labels = ["walk", "ride"];
        let asked = |context: usize| {
            let mut model = Function::new(WIDTH, noise);
            model.context = Some(context);
            let mut policy =
                ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 1)).unwrap();
            let found = policy.choose(&question(&labels, form(mode)));
            drop(policy);
            assert_eq!(model.sequences.len(), 0, "{mode:?}: every sequence is closed");
            found
        };
        let prompt = question(&labels, form(mode)).text.len();
        for context in [1, prompt - 1] {
            let error = asked(context).unwrap_err();
            assert_eq!(error.code(), "plan/model", "{mode:?}");
            let text = error.to_string();
            assert!(text.contains(&format!("{context} tokens, the context of the model")), "{text}");
            assert!(text.contains("shorten the task"), "{text}");
        }
        assert!(asked(prompt + 4).is_ok(), "{mode:?}");
    }
}

#[test]
fn a_model_that_fails_leaves_no_sequence_open_and_can_be_asked_again() {
    let labels: Vec<String> = (0..12).map(|n| format!("{} {n}", ["go", "stop", "turn"][n % 3])).collect();
    for mode in ALL {
        let expected = {
            let mut model = Function::new(WIDTH, noise);
            let mut policy =
                ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 2)).unwrap();
            policy.scores(&question(&strs(&labels), form(mode))).unwrap()
        };
        let mut calls = 0;
        for failing in 1.. {
            let mut model = Function::new(WIDTH, noise);
            model.failing = Some(failing);
            let mut policy =
                ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 2)).unwrap();
            let question = question(&strs(&labels), form(mode));
            match policy.scores(&question) {
                Ok(_) => break,
                Err(error) => assert_eq!(error.code(), "test/model"),
            }
            assert_eq!(policy.scores(&question).unwrap(), expected, "{mode:?}, after failure {failing}");
            drop(policy);
            assert_eq!(model.sequences.len(), 0, "{mode:?}");
            calls = failing;
        }
        assert!(calls >= 2, "{mode:?}: {calls}");
    }
}

#[test]
fn an_observer_is_told_of_each_batch() {
    let labels: Vec<String> = (0..40).map(|n| format!("take number {n}")).collect();
    for mode in [PromptMode::Likelihood, PromptMode::Open] {
        let mut seen = vec![];
        let mut model = Function::new(WIDTH, noise);
        let mut policy =
            ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 1)).unwrap();
        policy.observe(|used| seen.push(used.tokens));
        policy.choose(&question(&strs(&labels), form(mode))).unwrap();
        let used = policy.usage();
        drop(policy);
        assert!(seen.len() == used.runs && seen.is_sorted_by(|a, b| a < b), "{mode:?}: {seen:?}");
        assert_eq!(seen.last(), Some(&used.tokens), "{mode:?}");
    }
}

/// In every mode, a question for a set is answered with numbers, in the one order in which the options are listed.
#[test]
fn a_set_is_written_and_its_probability_known() {
    for mode in ALL {
        let mut question = question(&["salt", "tea", "rice"], form(mode));
        question.set = Some((1, 2));
        let mut model = Function::new(WIDTH, |sequence: &[u32]| {
            let mut logits = noise(sequence);
            // the model prefers the answer `1, 3`
            let written = sequence.iter().rposition(|&token| token == u32::from(b'?')).unwrap();
            match sequence.len() - written - 1 {
                0 => logits[258] += 50.0,
                1 => logits[b',' as usize] += 3.0,
                3 => logits[b'3' as usize] += 2.0,
                _ => {}
            }
            logits
        });
        let mut policy =
            ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), options(mode, 3)).unwrap();
        let answer = policy.choose(&question).unwrap();
        assert_eq!(answer.places, [0, 2], "{mode:?}");
        let probability = answer.log_probability.unwrap();
        assert!(probability < 0.0 && probability > -2.0, "{mode:?}: {probability}");
        assert_eq!(question.completion(&answer.places), "1, 3");
    }
}

#[test]
fn a_vocabulary_that_cannot_spell_numbers_is_an_error() {
    let tokens = (b'a'..=b'z').map(|byte| vec![byte]);
    let built = VocabularyBuilder::from_tokens(tokens).special(TokenId::new(26), "<end>");
    let vocabulary = Arc::new(built.eos([TokenId::new(26)]).build().unwrap());
    let mut model = Function::new(256, |_: &[u32]| vec![0.0; 256]);
    let asked = options(PromptMode::Likelihood, 1);
    let mut policy = ModelPolicy::new(&mut model, vocabulary, Box::new(ByteEncoder), asked).unwrap();
    let error = policy.choose(&question(&["a", "b"], AnswerForm::Number)).unwrap_err();
    assert_eq!(error.code(), "plan/model");
    assert!(error.to_string().contains("no tokens that spell the answer `1`"), "{error}");
}

#[test]
fn texts_are_scored_as_the_beginning_or_the_whole_of_an_answer() {
    let mut model = Function::new(WIDTH, noise);
    let mut policy =
        ModelPolicy::new(&mut model, vocabulary(), Box::new(ByteEncoder), PromptOptions::default()).unwrap();
    let texts = ["go", "go on", "", "go"];
    let prompt = bytes("where?");
    let naive = texts.map(|text| probability(&prompt, &bytes(text)).ln());
    assert_close(&policy.log_likelihoods("where?", &texts, false).unwrap(), &naive);
    let naive = texts.map(|text| probability(&prompt, &[bytes(text), vec![END]].concat()).ln());
    assert_close(&policy.log_likelihoods("where?", &texts, true).unwrap(), &naive);
    assert!(policy.log_likelihoods("where?", &[], true).unwrap().is_empty());
}
