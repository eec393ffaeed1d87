//! Exact sampling, compared with the conditional distribution, which is computed by enumerating all outputs.

use crate::decode_drivers::Reference;
use crate::models::{Bytes, END, Function, TOKENS, Words};
use grammata::matcher::Constraint;
use grammata_decode::{
    Decoder, Event, ExactSampling, Exhaustion, FinishReason, Generation, GenerationOptions, Model,
    SamplingParams, best_of, exact_samples, generate, run_together,
};
use std::collections::BTreeMap;
use std::time::Duration;

const PROMPT: [u32; 2] = [62, 62];

/// A model of a few tokens, a language, and the limits of an output.
struct Case {
    name: &'static str,
    words: Vec<String>,
    /// Returns the weights of the tokens that may follow a text. All other tokens have the weight 0.
    next: fn(&[u32]) -> Vec<(u32, f64)>,
    max_tokens: usize,
    complete: bool,
}

fn byte(byte: char) -> u32 {
    u32::from(byte)
}

/// Returns all texts of at most `most` letters of an alphabet that satisfy a predicate.
fn texts(alphabet: &str, most: usize, is_word: fn(&str) -> bool) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..most {
        last = last.iter().flat_map(|text| alphabet.chars().map(move |c| format!("{text}{c}"))).collect();
        all.extend(last.clone());
    }
    all.retain(|text| is_word(text));
    all
}

fn cases() -> Vec<Case> {
    vec![
        // under masks more than half of the outputs are 00000, which the model itself hardly ever writes
        Case {
            name: "trap",
            words: texts("01", 5, |text| text == "00000" || text.len() == 5 && text.starts_with('1')),
            next: |text| match text.first() {
                Some(&first) if first == byte('0') => {
                    vec![(byte('0'), 0.3), (byte('1'), 0.6), (END, 0.1)]
                }
                _ => vec![(byte('0'), 0.5), (byte('1'), 0.4), (byte('2'), 0.1)],
            },
            max_tokens: 50,
            complete: true,
        },
        // words that can be continued to other words, and a probability of the end that depends on the text
        Case {
            name: "even",
            words: texts("ab", 6, |text| text.matches('a').count() % 2 == 0),
            next: |text| {
                let count = text.iter().filter(|&&token| token == byte('a')).count() as f64;
                let end = 0.1 + 0.1 * count;
                vec![(byte('a'), 0.5), (byte('b'), 0.4 - 0.1 * count / 2.0), (END, end), (7, 0.05)]
            },
            max_tokens: 50,
            complete: true,
        },
        // most outputs of the model are longer than the limit
        Case {
            name: "limit",
            words: texts("ab", 6, |text| text.len() % 3 == 0 || text.ends_with("bb")),
            next: |text| match text.last() {
                Some(&last) if last == byte('b') => vec![(byte('a'), 0.7), (byte('b'), 0.1), (END, 0.2)],
                _ => vec![(byte('a'), 0.6), (byte('b'), 0.3), (END, 0.1)],
            },
            max_tokens: 5,
            complete: true,
        },
        Case {
            name: "cut",
            words: texts("ab", 6, |text| text.len() == 6 && text.contains("ab")),
            next: |text| match text.len() {
                0 => vec![(byte('a'), 0.2), (byte('b'), 0.3), (byte('c'), 0.5)],
                _ if text.last() == Some(&byte('a')) => vec![(byte('a'), 0.6), (byte('b'), 0.3), (END, 0.1)],
                _ => vec![(byte('a'), 0.1), (byte('b'), 0.2), (END, 0.7)],
            },
            max_tokens: 3,
            complete: false,
        },
    ]
}

type Distribution = BTreeMap<Vec<u32>, f64>;

impl Case {
    fn logits(&self, temperature: f64) -> impl FnMut(&[u32]) -> Vec<f32> + Send + use<> {
        let next = self.next;
        move |sequence| {
            let mut row = vec![f32::NEG_INFINITY; TOKENS];
            for (token, probability) in next(&sequence[PROMPT.len()..]) {
                // logits that give these probabilities at the temperature
                row[token as usize] = (probability.ln() * temperature) as f32 + 3.0;
            }
            row
        }
    }

    fn model(&self, temperature: f64) -> Function<impl FnMut(&[u32]) -> Vec<f32> + Send> {
        Function::new(TOKENS, self.logits(temperature))
    }

    fn words(&self) -> Words {
        Words::new(&self.words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn options(&self, temperature: f32, seed: u64) -> GenerationOptions {
        let sampling = SamplingParams::default().temperature(temperature).seed(seed);
        GenerationOptions::default()
            .max_tokens(self.max_tokens)
            .complete(self.complete)
            .sampling(sampling)
            .end_tokens(vec![END])
    }

    /// Returns two distributions of outputs: of the model under the condition that the output is valid, and under
    /// masks. The latter includes truncated outputs.
    fn distributions(&self) -> (Distribution, Distribution) {
        let reference = Reference {
            end: END,
            bytes: (0..=255).map(|byte| vec![byte]).chain([vec![]]).collect(),
            words: self.words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            logits: Box::new(|_| vec![]),
            context: usize::MAX,
        };
        let (mut exact, mut masked) = (Distribution::new(), Distribution::new());
        let mut open = vec![(vec![], 1.0, 1.0)];
        while let Some((tokens, of_model, of_masks)) = open.pop() {
            if let Some(finish) = reference.finish(&tokens, PROMPT.len(), self.max_tokens) {
                if finish.is_complete() || !self.complete {
                    exact.insert(tokens.clone(), of_model);
                }
                masked.insert(tokens, of_masks);
                continue;
            }
            let allowed = reference.allowed(&tokens);
            let next: Vec<(u32, f64)> =
                (self.next)(&tokens).into_iter().filter(|(token, _)| allowed.contains(token)).collect();
            let total: f64 = (self.next)(&tokens).iter().map(|(_, p)| p).sum();
            let mass: f64 = next.iter().map(|(_, p)| p).sum();
            for (token, probability) in next {
                let longer = [&tokens[..], &[token]].concat();
                open.push((longer, of_model * probability / total, of_masks * probability / mass));
            }
        }
        let sum: f64 = exact.values().sum();
        exact.values_mut().for_each(|probability| *probability /= sum);
        (exact, masked)
    }
}

fn total_variation(a: &Distribution, b: &Distribution) -> f64 {
    let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let of = |distribution: &Distribution, key| distribution.get(key).copied().unwrap_or_default();
    keys.into_iter().map(|key| (of(a, key) - of(b, key)).abs()).sum::<f64>() / 2.0
}

fn frequencies(outputs: &[Generation]) -> Distribution {
    let mut counted = Distribution::new();
    for output in outputs {
        assert!(!matches!(output.finish, FinishReason::Exhausted { .. }), "{:?}", output.finish);
        *counted.entry(output.tokens.clone()).or_default() += 1.0 / outputs.len() as f64;
    }
    counted
}

/// Returns the chi-square statistic of samples, in standard deviations above its mean. Outcomes of which fewer than 5
/// samples are expected are counted as one, if at least 1 sample of them is expected.
fn chi_square(found: &Distribution, expected: &Distribution, samples: usize) -> f64 {
    let samples = samples as f64;
    let (mut statistic, mut cells, mut rare) = (0.0, 0.0, (0.0, 0.0));
    for (tokens, probability) in expected {
        let (seen, mean) = (found.get(tokens).copied().unwrap_or_default() * samples, probability * samples);
        if mean < 5.0 {
            rare = (rare.0 + seen, rare.1 + mean);
            continue;
        }
        statistic += (seen - mean).powi(2) / mean;
        cells += 1.0;
    }
    if rare.1 >= 1.0 {
        statistic += (rare.0 - rare.1).powi(2) / rare.1;
        cells += 1.0;
    }
    let freedom: f64 = cells - 1.0;
    (statistic - freedom) / (2.0 * freedom).sqrt()
}

#[track_caller]
fn assert_drawn_from(expected: &Distribution, outputs: &[Generation], name: &str) -> f64 {
    let found = frequencies(outputs);
    assert!(found.keys().all(|tokens| expected.contains_key(tokens)), "{name}: {found:?}");
    let chi = chi_square(&found, expected, outputs.len());
    assert!(chi < 4.0, "{name}: {chi} standard deviations: {found:?}, {expected:?}");
    total_variation(&found, expected)
}

/// The outputs of a run share what they know of refused prefixes. The test prints the table of docs/library.md.
#[test]
fn outputs_have_the_conditional_distribution() {
    const SAMPLES: usize = 10_000;
    for case in cases() {
        let (exact, masked) = case.distributions();
        let mut model = case.model(1.0);
        let options = case.options(1.0, 5);
        let outputs =
            exact_samples(&mut model, &Bytes::new(), &case.words(), &PROMPT, &options, SAMPLES).unwrap();
        assert!(model.sequences.is_empty());
        let far = assert_drawn_from(&exact, &outputs, case.name);
        let of_masks = total_variation(&masked, &exact);
        assert!(far < 0.03 && of_masks > 0.1, "{}: {far}, {of_masks}", case.name);
        let tries: usize = outputs.iter().map(|output| output.exact.unwrap().tries).sum();
        let fed: usize = model.fed.iter().map(Vec::len).sum();
        eprintln!(
            "{:<6} {:>3} outputs, total variation {far:.4} (masks {of_masks:.4}), {tries} tries, {fed} tokens fed, refused {:.4}",
            case.name,
            exact.len(),
            outputs.last().unwrap().exact.unwrap().refused_mass
        );
    }
}

/// The first output of a decoder has the right distribution, too, with memory for many prefixes, for a few, and for
/// none.
#[test]
fn first_outputs_have_the_conditional_distribution() {
    const SAMPLES: usize = 800;
    for case in cases() {
        let (exact, _) = case.distributions();
        for (memory, temperature) in [(1 << 20, 1.0), (800, 0.5), (0, 1.0)] {
            let (mut tries, mut fed) = (0, 0);
            let options = |seed| {
                let options = case.options(temperature, seed);
                options.exact(Some(ExactSampling::default().tries(100_000).memory_bytes(memory)))
            };
            let outputs: Vec<Generation> = (0..SAMPLES as u64)
                .map(|seed| {
                    let mut model = case.model(f64::from(temperature));
                    let mut words = case.words();
                    let output =
                        generate(&mut model, &Bytes::new(), Some(&mut words), &PROMPT, &options(seed))
                            .unwrap();
                    tries += output.exact.unwrap().tries;
                    fed += model.fed.iter().map(Vec::len).sum::<usize>();
                    output
                })
                .collect();
            let far = assert_drawn_from(&exact, &outputs, &format!("{} {memory}", case.name));
            eprintln!(
                "{:<6} memory {memory:>7}: total variation {far:.4}, {:.2} tries and {:.1} tokens fed an output",
                case.name,
                tries as f64 / SAMPLES as f64,
                fed as f64 / SAMPLES as f64
            );
        }
    }
}

/// Decoders in batches, and the samples of `best_of`, give the same outputs as decoders that run alone.
#[test]
fn batches_equal_decoders_alone() {
    for case in cases() {
        let options = |seed| {
            let exact = Some(ExactSampling::default().tries(100_000));
            case.options(1.0, seed).exact(exact).log_probabilities(true).refused_mass(true)
        };
        let alone: Vec<Generation> = (0..8)
            .map(|seed| {
                let mut words = case.words();
                generate(&mut case.model(1.0), &Bytes::new(), Some(&mut words), &PROMPT, &options(seed))
                    .unwrap()
            })
            .collect();
        let (bytes, mut model) = (Bytes::new(), case.model(1.0));
        let mut decoders: Vec<Decoder<'_>> = (0..8)
            .map(|seed| {
                let words: Box<dyn Constraint> = Box::new(case.words());
                Decoder::new(&mut model, &bytes, Some(words), &PROMPT, &options(seed)).unwrap()
            })
            .collect();
        let mut texts = vec![String::new(); 8];
        run_together(&mut model, &mut decoders, &mut |place, event| {
            if let Ok(Event::Text(piece)) = event {
                texts[place] += &piece;
            }
        })
        .unwrap();
        for ((decoder, alone), text) in decoders.into_iter().zip(&alone).zip(texts) {
            let together = decoder.close(&mut model);
            assert_eq!((&together.tokens, &together.finish), (&alone.tokens, &alone.finish), "{}", case.name);
            assert_eq!(together.text, text);
            assert_eq!(together.exact, alone.exact);
            assert_eq!(together.log_probabilities, alone.log_probabilities);
            let mut product = 1.0;
            for (place, &token) in alone.tokens.iter().enumerate() {
                let next = (case.next)(&alone.tokens[..place]);
                let total: f64 = next.iter().map(|(_, p)| p).sum();
                product *= next.iter().find(|(other, _)| *other == token).unwrap().1 / total;
            }
            assert!((together.log_probabilities.iter().sum::<f64>() - f64::ln(product)).abs() < 1e-5);
            assert_eq!(together.refused_mass.len(), together.tokens.len());
        }
        assert!(model.sequences.is_empty());
        let best =
            best_of(&mut model, &Bytes::new(), Some(&case.words()), &PROMPT, &options(0), 8, 0.0).unwrap();
        let mut sorted: Vec<Vec<u32>> = best.into_iter().map(|output| output.tokens).collect();
        let mut expected: Vec<Vec<u32>> = alone.into_iter().map(|output| output.tokens).collect();
        sorted.sort();
        expected.sort();
        assert_eq!(sorted, expected);
    }
}

/// A chain of forced tokens is fed in one run, and its probability counts.
#[test]
fn forced_tokens_are_fed_together() {
    let case = Case {
        name: "forced",
        words: vec!["xabcdefgh".to_owned(), "yz".to_owned()],
        next: |text| match text.len() {
            0 => vec![(byte('x'), 0.5), (byte('y'), 0.5)],
            length => {
                let right = "xabcdefgh".as_bytes()[length % 9];
                let right = if text[0] == byte('y') { byte('z') } else { u32::from(right) };
                vec![(right, 0.9), (END, 0.1)]
            }
        },
        max_tokens: 20,
        complete: true,
    };
    let (exact, _) = case.distributions();
    let mut model = case.model(1.0);
    let options = case.options(1.0, 1);
    let outputs = exact_samples(&mut model, &Bytes::new(), &case.words(), &PROMPT, &options, 2_000).unwrap();
    assert_drawn_from(&exact, &outputs, case.name);
    // one run for the prompt, and one for what follows each of the two first letters
    assert_eq!(model.calls, 3, "{:?}", model.fed);
    let refused = outputs[0].exact.unwrap();
    assert!(
        refused.prefixes <= 10 && outputs.iter().skip(100).all(|output| output.exact.unwrap().tries == 1)
    );
}

#[test]
fn exhausted_tries_give_no_text() {
    let case = &cases()[0];
    // a model that hardly ever writes a word
    let model = |word: char| {
        let row = move |sequence: &[u32]| {
            let mut row = vec![f32::NEG_INFINITY; TOKENS];
            row[7] = 0.0;
            if sequence.len() == PROMPT.len() {
                row[word as usize] = -20.0;
            }
            row
        };
        Function::new(TOKENS, row)
    };
    let run = |model: &mut dyn Model, options: &GenerationOptions| {
        generate(model, &Bytes::new(), Some(&mut case.words()), &PROMPT, options).unwrap()
    };
    let exact = |tries| case.options(1.0, 3).exact(Some(ExactSampling::default().tries(tries)));
    let output = run(&mut model('1'), &exact(7));
    assert!(matches!(output.finish, FinishReason::Exhausted { tries: 1..=7, .. }), "{:?}", output.finish);
    assert_eq!((output.text.as_str(), output.tokens.len()), ("", 0));
    assert!(!output.finish.is_complete());
    assert!(output.exact.unwrap().refused_mass > 0.999_999);
    // no word begins with a token that has a probability, which the first row proves
    let output = run(&mut model('2'), &exact(7));
    assert_eq!(output.finish, FinishReason::Exhausted { tries: 1, cause: Exhaustion::NoOutput });
    // no word fits into the token limit
    let output = run(&mut case.model(1.0), &exact(1_000).max_tokens(2));
    assert!(matches!(output.finish, FinishReason::Exhausted { cause: Exhaustion::NoOutput, .. }));
    let late = exact(7).timeout(Some(Duration::ZERO));
    let output = run(&mut case.model(1.0), &late);
    assert_eq!(output.finish, FinishReason::Exhausted { tries: 1, cause: Exhaustion::Time(Duration::ZERO) });
}

#[test]
fn settings_without_a_distribution_are_refused() {
    let case = &cases()[0];
    let sampling = SamplingParams::default().temperature(1.0);
    let table = [
        ("temperature", sampling.clone().temperature(0.0)),
        ("top_k", sampling.clone().top_k(3)),
        ("top_p", sampling.clone().top_p(0.9)),
        ("min_p", sampling.clone().min_p(0.1)),
        ("repetition_penalty", sampling.repetition_penalty(1.1)),
    ];
    for (name, sampling) in table {
        let options = case.options(1.0, 0).sampling(sampling).exact(Some(ExactSampling::default()));
        let mut model = case.model(1.0);
        let error =
            generate(&mut model, &Bytes::new(), Some(&mut case.words()), &PROMPT, &options).unwrap_err();
        assert_eq!((error.code(), model.sequences.len()), ("decode/exact-sampling", 0));
        assert!(error.to_string().contains(name), "{error}");
    }
}

/// With plain masks, the refused mass of each token equals the mass that the masks refuse in the table of the case.
#[test]
fn masks_report_the_mass_that_they_refuse() {
    let case = &cases()[1];
    let options = case.options(1.0, 4).refused_mass(true);
    let mut words = case.words();
    let mut forced = 0;
    for seed in 0..20 {
        let mut options = options.clone();
        options.sampling.seed = seed;
        words.taken.clear();
        let output =
            generate(&mut case.model(1.0), &Bytes::new(), Some(&mut words), &PROMPT, &options).unwrap();
        assert_eq!(output.refused_mass.len(), output.tokens.len());
        assert_eq!(output.log_probabilities.len(), output.tokens.len());
        assert_eq!(output.exact, None);
        let mut constraint = case.words();
        for (place, (&token, refused)) in output.tokens.iter().zip(&output.refused_mass).enumerate() {
            let mut mask = vec![0; TOKENS.div_ceil(32)];
            constraint.fill_mask(&mut mask).unwrap();
            let next = (case.next)(&output.tokens[..place]);
            let total: f64 = next.iter().map(|(_, p)| p).sum();
            let allowed = |token: &u32| mask[*token as usize / 32] >> (token % 32) & 1 == 1;
            let mass: f64 = next.iter().filter(|(token, _)| allowed(token)).map(|(_, p)| p).sum();
            forced += usize::from(mask.iter().map(|word| word.count_ones()).sum::<u32>() == 1);
            assert!((refused - (1.0 - mass / total)).abs() < 1e-6, "{refused}, {mass}, {total}");
            constraint.accept_token(token).unwrap();
        }
    }
    assert!(forced > 0, "no token was forced");
}
