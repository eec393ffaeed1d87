//! The generation loop, with a scripted model and a constraint that is a list of words.

use crate::models::{Bytes, END, Function, TOKENS, Words};
use grammata::Result;
use grammata::matcher::Constraint;
use grammata_decode::{
    Decoder, Event, FinishReason, Generation, GenerationOptions, OutputStatus, SamplingParams, generate_with,
};
use std::ops::ControlFlow;
use std::time::Duration;

type LogitsOf = Box<dyn FnMut(&[u32]) -> Vec<f32> + Send>;

struct Scripted {
    model: Function<LogitsOf>,
    prompt: usize,
}

/// Returns a model that prefers the tokens of `script`, one a step, after a prompt of `prompt` tokens.
fn speaker(script: Vec<u32>, prompt: usize, vocabulary: usize) -> Scripted {
    let logits = move |sequence: &[u32]| {
        // logits fall slowly with the id, so if the script's token is not allowed, the allowed one with the least id
        // wins
        let mut row: Vec<f32> = (0..vocabulary).map(|id| -(id as f32) / 1000.0).collect();
        if let Some(&wish) = script.get(sequence.len() - prompt) {
            row[wish as usize] = 10.0;
        }
        row
    };
    Scripted { model: Function::new(vocabulary, Box::new(logits)), prompt }
}

/// Returns a model that prefers the bytes of `script`, and then the end token.
fn scripted(script: &[u8], prompt: usize) -> Scripted {
    speaker(script.iter().map(|&b| u32::from(b)).chain([END]).collect(), prompt, TOKENS)
}

fn in_context(context: usize, mut model: Scripted) -> Scripted {
    model.model.context = Some(context);
    model
}

fn options() -> GenerationOptions {
    GenerationOptions::default().max_tokens(20).end_tokens(vec![END])
}

/// Runs a generation. Checks that the events agree with the result, that the end is final, and that the sequence is
/// closed.
fn run(
    model: &mut Scripted,
    constraint: Option<&mut Words>,
    options: &GenerationOptions,
) -> Result<Generation> {
    let prompt = vec![u32::from(b'>'); model.prompt];
    let mut pieces = Vec::new();
    let mut tokens = Vec::new();
    let bytes = Bytes::new();
    let constraint = constraint.map(|c| Box::new(c) as Box<dyn Constraint + '_>);
    let mut decoder = Decoder::new(&mut model.model, &bytes, constraint, &prompt, options)?;
    let ended = loop {
        match decoder.next(&mut model.model) {
            Ok(Event::Token(token)) => tokens.push(token),
            Ok(Event::Text(piece)) => pieces.push(piece),
            Ok(Event::Finished(reason)) => {
                assert_eq!(decoder.next(&mut model.model), Ok(Event::Finished(reason)), "it stays ended");
                break Ok(());
            }
            Err(error) => {
                assert_eq!(decoder.next(&mut model.model), Err(error.clone()), "it stays failed");
                break Err(error);
            }
        }
    };
    let generation = decoder.close(&mut model.model);
    let result = ended.map(|()| generation);
    assert!(model.model.sequences.is_empty(), "the sequence is closed");
    if let Ok(generation) = &result {
        assert_eq!(pieces.concat(), generation.text);
        assert!(pieces.iter().all(|p| !p.is_empty()));
        assert_eq!(generation.timings.tokens, generation.tokens.len());
        assert_eq!(tokens.iter().map(|token| token.id).collect::<Vec<_>>(), generation.tokens);
        assert_eq!(tokens.iter().filter(|token| token.forced).count(), generation.timings.forced_tokens);
        let told: Vec<f64> = tokens.iter().filter_map(|token| token.log_probability).collect();
        assert_eq!(told, generation.log_probabilities);
    }
    result
}

#[test]
fn without_a_constraint_the_model_speaks() {
    let mut model = scripted(b"hello", 3);
    let generation = run(&mut model, None, &options()).unwrap();
    assert_eq!(generation.text, "hello");
    assert_eq!(generation.finish, FinishReason::EndOfSequence);
    assert_eq!(generation.tokens.last(), Some(&END));
    assert_eq!(model.model.fed[0].len(), 3, "the prompt at once");
    assert!(model.model.fed[1..].iter().all(|step| step.len() == 1));
    assert_eq!(generation.timings.prefill_tokens, 3);
    assert_eq!(generation.timings.model_steps, 5);
    assert_eq!(generation.timings.masks, 0);
    assert!(generation.finish.is_complete());
}

#[test]
fn the_constraint_changes_what_the_model_says() {
    let mut model = scripted(b"hello", 1);
    let mut words = Words::new(&["help", "hat", "hop"]);
    let generation = run(&mut model, Some(&mut words), &options()).unwrap();
    assert_eq!(generation.text, "help");
    assert_eq!(generation.finish, FinishReason::Complete);
    assert_eq!(generation.finish.to_string(), "the output is complete: the grammar allows nothing more");
}

#[test]
fn forced_tokens_and_the_end_need_no_step() {
    let mut model = scripted(b"xyz", 2);
    let mut words = Words::new(&["abcx1", "abcy2"]);
    let generation = run(&mut model, Some(&mut words), &options()).unwrap();
    // "abc" is forced, and fed with the prompt. Then the script wants END, which is not allowed, so the lowest allowed
    // id wins: "x". After it "1" is forced and nothing more is fed.
    assert_eq!(generation.text, "abcx1");
    assert_eq!(model.model.fed, [vec![62, 62, 97, 98, 99]]);
    assert_eq!(generation.timings.forced_tokens, 4);
    assert_eq!(generation.timings.masks, 5);
    assert_eq!(words.masks, 5);
}

#[test]
fn a_finished_constraint_needs_no_model() {
    let mut model = scripted(b"x", 1);
    let generation = run(&mut model, Some(&mut Words::new(&[""])), &options()).unwrap();
    assert_eq!((generation.text.as_str(), generation.finish), ("", FinishReason::Complete));
    assert!(model.model.fed.is_empty());
}

#[test]
fn the_model_may_end_where_the_grammar_lets_it() {
    let mut words = Words::new(&["he", "hello!"]);
    let generation = run(&mut scripted(b"he", 1), Some(&mut words), &options()).unwrap();
    assert_eq!((generation.text.as_str(), generation.finish), ("he", FinishReason::EndOfSequence));
    assert_eq!(words.taken.last(), Some(&END));
}

#[test]
fn the_token_limit_says_what_the_output_is() {
    let limited = |max_tokens| options().max_tokens(max_tokens);
    let generation =
        run(&mut scripted(b"hello!", 1), Some(&mut Words::new(&["hello!", "he"])), &limited(3)).unwrap();
    assert_eq!(generation.text, "hel");
    assert_eq!(generation.finish, FinishReason::TokenLimit { limit: 3, status: OutputStatus::Prefix });
    assert_eq!(
        generation.finish.to_string(),
        "stopped at the limit of 3 tokens: the output is only a prefix of a word of the grammar, not a word"
    );
    assert!(!generation.finish.is_complete());
    let generation =
        run(&mut scripted(b"hello!", 1), Some(&mut Words::new(&["hello!", "he"])), &limited(2)).unwrap();
    assert_eq!(generation.finish, FinishReason::TokenLimit { limit: 2, status: OutputStatus::Word });
    assert!(generation.finish.is_complete());
    let generation = run(&mut scripted(b"hello!", 1), None, &limited(0)).unwrap();
    assert_eq!(generation.finish, FinishReason::TokenLimit { limit: 0, status: OutputStatus::Unconstrained });
    assert_eq!(generation.text, "");
}

#[test]
fn the_context_limit_ends_in_time() {
    let mut model = in_context(6, scripted(b"hello!", 3));
    let generation = run(&mut model, None, &options()).unwrap();
    assert_eq!(generation.text, "hel");
    assert_eq!(
        generation.finish,
        FinishReason::ContextLimit { limit: 6, status: OutputStatus::Unconstrained }
    );
    assert_eq!(
        generation.finish.to_string(),
        "stopped because the model's context of 6 tokens is full: the output may be incomplete"
    );
    let mut model = in_context(3, scripted(b"hello!", 3));
    assert_eq!(run(&mut model, None, &options()).unwrap_err().code(), "decode/prompt-too-long");
    // forced tokens use up the context, too
    let mut model = in_context(4, scripted(b"", 2));
    let generation = run(&mut model, Some(&mut Words::new(&["abcdef"])), &options()).unwrap();
    assert_eq!((generation.text.as_str(), model.model.fed.len()), ("ab", 0));
    assert_eq!(generation.finish, FinishReason::ContextLimit { limit: 4, status: OutputStatus::Prefix });
}

#[test]
fn stop_strings_end_the_text_before_them() {
    let stop = |stop: &str| options().stop(vec![stop.to_owned()]);
    let generation = run(&mut scripted(b"one, two; three", 1), None, &stop("wo;")).unwrap();
    assert_eq!(generation.text, "one, t");
    assert_eq!(
        generation.finish,
        FinishReason::StopString { stop: "wo;".to_owned(), status: OutputStatus::Unconstrained }
    );
    assert_eq!(generation.tokens.len(), 9);
    let generation =
        run(&mut scripted(b"ab", 1), Some(&mut Words::new(&["abc", "abd"])), &stop("b")).unwrap();
    assert_eq!(
        generation.finish,
        FinishReason::StopString { stop: "b".to_owned(), status: OutputStatus::Prefix }
    );
    assert!(!generation.finish.is_complete());
    let generation = run(&mut scripted(b"ending w", 1), None, &stop("wo;")).unwrap();
    assert_eq!(generation.text, "ending w", "what was held back comes at the end");
    assert_eq!(run(&mut scripted(b"x", 1), None, &stop("")).unwrap_err().code(), "decode/empty-stop");
}

#[test]
fn a_callback_stops_and_the_text_so_far_is_kept() {
    let mut model = scripted(b"one, two", 1);
    let mut seen = String::new();
    let stop_at_comma = &mut |event: &Event| {
        if let Event::Text(piece) = event {
            seen += piece;
        }
        if seen.ends_with(',') { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let bytes = Bytes::new();
    let generation = generate_with(&mut model.model, &bytes, None, &[62], &options(), stop_at_comma).unwrap();
    assert_eq!((generation.text.as_str(), generation.finish), ("one,", FinishReason::Abandoned));
    assert!(model.model.sequences.is_empty(), "the sequence is closed");
    let mut model = scripted(b"one, two", 1);
    let go_on = &mut |_: &Event| ControlFlow::Continue(());
    let generation = generate_with(&mut model.model, &bytes, None, &[62], &options(), go_on).unwrap();
    assert_eq!((generation.text.as_str(), generation.finish), ("one, two", FinishReason::EndOfSequence));
}

#[test]
fn an_output_ends_when_its_time_is_over() {
    let timeout = Some(Duration::ZERO);
    let generation = run(&mut scripted(b"ab", 1), None, &options().timeout(timeout)).unwrap();
    let status = OutputStatus::Unconstrained;
    assert_eq!(generation.finish, FinishReason::Timeout { limit: Duration::ZERO, status });
    assert!(generation.text.is_empty() && !generation.finish.is_complete());
    let timeout = Some(Duration::from_secs(3600));
    let generation = run(&mut scripted(b"ab", 1), None, &options().timeout(timeout)).unwrap();
    assert_eq!(generation.finish, FinishReason::EndOfSequence);
}

#[test]
fn characters_are_never_split() {
    let text = "é😀ж";
    let mut model = scripted(text.as_bytes(), 1).model;
    let mut pieces = Vec::new();
    let bytes = Bytes::new();
    let mut decoder = Decoder::new(&mut model, &bytes, None, &[62], &options()).unwrap();
    while pieces.concat() != text {
        if let Event::Text(piece) = decoder.next(&mut model).unwrap() {
            pieces.push(piece);
        }
    }
    assert_eq!(decoder.close(&mut model).finish, FinishReason::Abandoned);
    assert_eq!(pieces, ["é", "😀", "ж"]);
    // the token limit truncates within a character
    let limited = options().max_tokens(4);
    let generation = run(&mut scripted(text.as_bytes(), 1), None, &limited).unwrap();
    assert_eq!(generation.text, "é\u{FFFD}");
}

#[test]
fn dead_ends_and_wrong_uses_are_errors() {
    // no word continues the accepted tokens, so nothing is allowed
    let mut words = Words::new(&["ab"]);
    words.taken = vec![u32::from(b'x')];
    assert_eq!(
        run(&mut scripted(b"x", 1), Some(&mut words), &options()).unwrap_err().code(),
        "decode/empty-mask"
    );
    assert_eq!(run(&mut scripted(b"x", 0), None, &options()).unwrap_err().code(), "decode/empty-prompt");
    let wild = options().sampling(SamplingParams::default().top_p(2.0));
    assert_eq!(run(&mut scripted(b"x", 1), None, &wild).unwrap_err().code(), "decode/sampling");
    // the grammar forces a token that the model does not have
    let mut model = speaker(vec![], 1, 97);
    assert_eq!(
        run(&mut model, Some(&mut Words::new(&["z1"])), &options()).unwrap_err().code(),
        "decode/empty-mask"
    );
}

#[test]
fn sampled_output_depends_on_the_seed_alone() {
    let sampled = |seed| {
        let sampling = SamplingParams::default().temperature(1.0).seed(seed);
        let options = GenerationOptions::default().sampling(sampling).max_tokens(12);
        run(&mut speaker(vec![], 1, TOKENS), None, &options).unwrap().tokens
    };
    assert_eq!(sampled(3), sampled(3));
    assert_ne!(sampled(3), sampled(4));
}
