//! A language model of one's own, and the ways to generate with it: `cargo run --example decoders`.
//!
//! The model counts pairs of letters in a sentence, so everything here runs without a file.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::syntax::regex;
use grammata::vocabulary::{TokenId, Vocabulary, VocabularyBuilder};
use grammata::{Compiler, Matcher, Result};
use grammata_decode::{
    BeamOptions, Decoder, Event, Feed, GenerationOptions, Logits, Model, NgramDraft, Poll, Request,
    SamplingParams, Scheduler, SchedulerOptions, SequenceId, Sequences, beam_search, best_of, check_batch,
    check_truncate, exact_samples, speculative,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The token that ends a text; tokens 0 to 127 are ASCII characters.
const END: u32 = 128;

fn main() -> Result<()> {
    let tokens = (0..END as u8).map(|byte| vec![byte]);
    let end = TokenId::new(END);
    let vocabulary =
        Arc::new(VocabularyBuilder::from_tokens(tokens).special(end, "<end>").eos([end]).build()?);
    let grammar = regex::compile("(the|these|other|nine) (cats?|hens?|ants?)", &regex::Options::default())?;
    let matcher = Compiler::new(Arc::clone(&vocabulary)).compile(&grammar)?.matcher();
    let mut model = Letters::of("the hen and the other cats then ran in the rain");
    let prompt = [u32::from(b' ')];
    stream(&mut model, &vocabulary, &matcher, &prompt)?;
    several(&mut model, &vocabulary, &matcher, &prompt)?;
    exactly(&mut model, &vocabulary, &matcher, &prompt)?;
    schedule(&mut model, &vocabulary, &matcher, &prompt)?;
    serve(&mut model, &vocabulary, &matcher, &prompt)
}

/// A model that counts pairs of letters. The state of a sequence is its tokens; a transformer would keep its caches
/// there.
struct Letters {
    /// How often each token follows each token, plus 0.01.
    pairs: Vec<Vec<f32>>,
    sequences: Sequences<Vec<u32>>,
    rows: Vec<Vec<f32>>,
}

impl Letters {
    fn of(text: &str) -> Letters {
        let mut pairs = vec![vec![0.01; END as usize + 1]; END as usize + 1];
        let mut count = |a: u8, b: u8| pairs[usize::from(a)][usize::from(b)] += 1.0;
        text.as_bytes().windows(2).for_each(|pair| count(pair[0], pair[1]));
        Letters { pairs, sequences: Sequences::new(), rows: Vec::new() }
    }
}

impl Model for Letters {
    fn vocabulary_size(&self) -> usize {
        self.pairs.len()
    }

    fn context_length(&self) -> Option<usize> {
        None
    }

    fn open(&mut self) -> Result<SequenceId> {
        Ok(self.sequences.open(Vec::new()))
    }

    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        check_truncate(self, sequence, length)?;
        self.sequences.get_mut(sequence)?.truncate(length);
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.close(sequence);
    }

    fn length(&self, sequence: SequenceId) -> Result<usize> {
        Ok(self.sequences.get(sequence)?.len())
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.sequences.fork(sequence)
    }

    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        check_batch(self, batch)?; // refuses what would leave some sequences moved and others not
        self.rows.clear();
        for feed in batch {
            self.sequences.get_mut(feed.sequence)?.extend(feed.tokens);
            for place in feed.rows.places(feed.tokens.len()) {
                let counts = &self.pairs[feed.tokens[place] as usize];
                self.rows.push(counts.iter().map(|count| count.ln()).collect());
            }
        }
        Ok(Logits::Host(self.rows.iter().map(Vec::as_slice).collect()))
    }
}

/// One output, event by event. The caller may stop at any of them.
fn stream(model: &mut dyn Model, vocabulary: &Vocabulary, matcher: &Matcher, prompt: &[u32]) -> Result<()> {
    let options = GenerationOptions::default().end_tokens(vec![END]).log_probabilities(true);
    let constraint = Box::new(matcher.fork());
    let mut decoder = Decoder::new(model, vocabulary, Some(constraint), prompt, &options)?;
    loop {
        match decoder.next(model)? {
            Event::Text(piece) => print!("{piece}"),
            Event::Token(token) if token.forced => print!("_"), // no choice: the model was not asked
            Event::Token(_) => {}
            Event::Finished(reason) => {
                println!(" [{reason}]");
                break;
            }
        }
    }
    let generation = decoder.close(model);
    println!("{}: log-probability {:.2}", generation.text, generation.log_probability());
    Ok(())
}

/// The best of several outputs, and one with fewer runs of the model.
fn several(model: &mut dyn Model, vocabulary: &Vocabulary, matcher: &Matcher, prompt: &[u32]) -> Result<()> {
    let options = BeamOptions::default().width(3).end_tokens(vec![END]);
    for hypothesis in beam_search(model, vocabulary, Some(matcher), prompt, &options)? {
        println!("beam: {} {:.2}", hypothesis.text, hypothesis.log_probability);
    }
    let sampling = SamplingParams::default().temperature(1.0).seed(7);
    let options = GenerationOptions::default().sampling(sampling).end_tokens(vec![END]);
    // 8 samples, ranked by the mean log-probability of a token
    let samples = best_of(model, vocabulary, Some(matcher), prompt, &options, 8, 1.0)?;
    println!("best of 8: {}", samples[0].text);
    // each run verifies up to 4 tokens that followed the same letters before
    let mut draft = NgramDraft::default();
    let drafted = speculative(model, vocabulary, Some(&mut matcher.fork()), prompt, &options, &mut draft, 4)?;
    println!("with drafts: {} in {} runs", drafted.text, 1 + drafted.timings.model_steps);
    Ok(())
}

/// Samples outputs with the probabilities that the model gives them under the condition that they are words of the
/// grammar.
fn exactly(model: &mut dyn Model, vocabulary: &Vocabulary, matcher: &Matcher, prompt: &[u32]) -> Result<()> {
    let sampling = SamplingParams::default().temperature(1.0).seed(7);
    let options = GenerationOptions::default().sampling(sampling).end_tokens(vec![END]);
    for output in exact_samples(model, vocabulary, matcher, prompt, &options, 3)? {
        let exact = output.exact.unwrap_or_default();
        println!("exact: {}, tries {}, refused {:.5}", output.text, exact.tries, exact.refused_mass);
    }
    Ok(())
}

/// Continuous batching: requests join and leave between steps.
fn schedule(model: &mut dyn Model, vocabulary: &Vocabulary, matcher: &Matcher, prompt: &[u32]) -> Result<()> {
    let mut scheduler = Scheduler::new(vocabulary, SchedulerOptions::default().batch(2));
    for seed in 0..4 {
        let sampling = SamplingParams::default().temperature(1.0).seed(seed);
        let options = GenerationOptions::default().sampling(sampling).end_tokens(vec![END]);
        let request = Request::new(prompt.to_vec(), Some(Box::new(matcher.fork())), options);
        scheduler.submit(request.deadline(Duration::from_secs(60)))?; // an error if the queue is full
    }
    while !scheduler.is_empty() {
        // events come as in a decoder's loop, each with its request
        for ended in scheduler.step(model, &mut |_id, _event| {}) {
            match ended.result {
                Ok(generation) => println!("request {}: {}", ended.id, generation.text),
                Err(error) => println!("request {}: {error}", ended.id), // the others go on
            }
        }
    }
    scheduler.close(model);
    Ok(())
}

/// A serving loop of one's own: decoders join and leave, and all decoders that wait for logits share one batch.
fn serve(model: &mut dyn Model, vocabulary: &Vocabulary, matcher: &Matcher, prompt: &[u32]) -> Result<()> {
    let mut decoders: Vec<Decoder<'_>> = Vec::new();
    for seed in 0..4 {
        let sampling = SamplingParams::default().temperature(1.0).seed(seed);
        let options = GenerationOptions::default().sampling(sampling).end_tokens(vec![END]);
        let constraint = Box::new(matcher.fork());
        decoders.push(Decoder::new(model, vocabulary, Some(constraint), prompt, &options)?);
    }
    while !decoders.is_empty() {
        let mut waiting = Vec::new();
        for mut decoder in decoders {
            let reason = loop {
                match decoder.poll()? {
                    Poll::Feed => break None,
                    Poll::Rewind => decoder.rewind(model)?, // only with exact sampling
                    Poll::Event(Event::Finished(reason)) => break Some(reason),
                    Poll::Event(_) => {} // to the client of this decoder
                }
            };
            match reason {
                None => waiting.push(decoder),
                Some(_) => println!("served: {}", decoder.close(model).text),
            }
        }
        let batch: Vec<Feed<'_>> = waiting.iter().map(Decoder::feed).collect();
        let start = Instant::now();
        let logits = model.feed(&batch)?;
        let time: Duration = start.elapsed();
        let mut row = 0;
        for decoder in &mut waiting {
            let rows = decoder.row_count();
            decoder.supply(&logits, row, time)?;
            row += rows;
        }
        decoders = waiting;
    }
    Ok(())
}
