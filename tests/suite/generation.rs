//! The generation loop, with a scripted model and a constraint made of words.

use grammata::decode::{
    Constraint, Detokenizer, Finish, Generation, GenerationOptions, LanguageModel, Sampling, Standing,
    generate,
};
use grammata::{Diagnostic, Error, ErrorKind, Result};

/// The id that ends a sequence.
const END: u32 = 256;
const TOKENS: usize = 257;

/// Wants to say `script`, one token a step, and notes what it is fed.
struct Scripted {
    script: Vec<u32>,
    fed: Vec<Vec<u32>>,
    sequence: Vec<u32>,
    prompt: usize,
    context: Option<usize>,
    vocabulary: usize,
    logits: Vec<f32>,
}

impl Scripted {
    fn new(script: &[u8], prompt: usize) -> Scripted {
        let script = script.iter().map(|&b| u32::from(b)).chain([END]).collect();
        Scripted {
            script,
            fed: vec![],
            sequence: vec![],
            prompt,
            context: None,
            vocabulary: TOKENS,
            logits: vec![],
        }
    }
}

impl LanguageModel for Scripted {
    fn vocabulary_size(&self) -> usize {
        self.vocabulary
    }

    fn context_length(&self) -> Option<usize> {
        self.context
    }

    fn length(&self) -> usize {
        self.sequence.len()
    }

    fn step(&mut self, tokens: &[u32]) -> Result<&[f32]> {
        assert!(!tokens.is_empty() && self.context.is_none_or(|c| self.sequence.len() + tokens.len() <= c));
        self.fed.push(tokens.to_vec());
        self.sequence.extend(tokens);
        // ids fall slowly, so that what is allowed instead of the script is known
        self.logits = (0..self.vocabulary).map(|id| -(id as f32) / 1000.0).collect();
        if let Some(&wish) = self.script.get(self.sequence.len() - self.prompt) {
            self.logits[wish as usize] = 10.0;
        }
        Ok(&self.logits)
    }

    fn truncate(&mut self, length: usize) -> Result<()> {
        self.sequence.truncate(length);
        Ok(())
    }
}

/// Tokens 0 to 255 are the bytes; 256 is the end.
struct Bytes(Vec<u8>);

impl Detokenizer for Bytes {
    fn token_count(&self) -> usize {
        TOKENS
    }

    fn bytes(&self, token: u32) -> &[u8] {
        self.0.get(token as usize..=token as usize).unwrap_or_default()
    }
}

/// Allows the given words.
struct Words {
    words: Vec<&'static [u8]>,
    taken: Vec<u8>,
    ended: bool,
    masks: usize,
}

impl Words {
    fn new(words: &[&'static str]) -> Words {
        Words { words: words.iter().map(|w| w.as_bytes()).collect(), taken: vec![], ended: false, masks: 0 }
    }

    fn next(&self) -> Vec<u32> {
        let going = self.words.iter().filter(|w| w.starts_with(&self.taken));
        going.map(|w| w.get(self.taken.len()).map_or(END, |&b| u32::from(b))).collect()
    }
}

impl Constraint for Words {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        self.masks += 1;
        assert_eq!(words.len(), TOKENS.div_ceil(32));
        assert!(words.iter().all(|&w| w == 0));
        for token in self.next() {
            words[token as usize / 32] |= 1 << (token % 32);
        }
        Ok(())
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        if !self.next().contains(&token) {
            return Err(Error::new(ErrorKind::Rejected, Diagnostic::new("test/rejected", "not allowed")));
        }
        match u8::try_from(token) {
            Ok(byte) => self.taken.push(byte),
            Err(_) => self.ended = true,
        }
        Ok(())
    }

    fn is_accepting(&mut self) -> Result<bool> {
        Ok(self.next().contains(&END))
    }

    fn is_finished(&mut self) -> Result<bool> {
        Ok(self.ended || self.next() == [END])
    }
}

fn options() -> GenerationOptions {
    GenerationOptions { max_tokens: 20, end_tokens: vec![END], ..GenerationOptions::default() }
}

/// Runs, and checks that the pieces are the text.
fn run(
    model: &mut Scripted,
    constraint: Option<&mut Words>,
    options: &GenerationOptions,
) -> Result<Generation> {
    let prompt = vec![u32::from(b'>'); model.prompt];
    let mut pieces = Vec::new();
    let bytes = Bytes((0..=255).collect());
    let constraint = constraint.map(|c| c as &mut dyn Constraint);
    let result =
        generate(model, &bytes, constraint, &prompt, options, &mut |piece| pieces.push(piece.to_owned()));
    if let Ok(generation) = &result {
        assert_eq!(pieces.concat(), generation.text);
        assert!(pieces.iter().all(|p| !p.is_empty()));
        assert_eq!(generation.timings.tokens, generation.tokens.len());
    }
    result
}

#[test]
fn without_a_constraint_the_model_speaks() {
    let mut model = Scripted::new(b"hello", 3);
    let generation = run(&mut model, None, &options()).unwrap();
    assert_eq!(generation.text, "hello");
    assert_eq!(generation.finish, Finish::EndOfSequence);
    assert_eq!(generation.tokens.last(), Some(&END));
    assert_eq!(model.fed[0].len(), 3, "the prompt at once");
    assert!(model.fed[1..].iter().all(|step| step.len() == 1));
    assert_eq!(generation.timings.prefill_tokens, 3);
    assert_eq!(generation.timings.model_steps, 5);
    assert_eq!(generation.timings.masks, 0);
    assert!(generation.finish.is_whole());
}

#[test]
fn the_constraint_changes_what_the_model_says() {
    let mut model = Scripted::new(b"hello", 1);
    let mut words = Words::new(&["help", "hat", "hop"]);
    let generation = run(&mut model, Some(&mut words), &options()).unwrap();
    assert_eq!(generation.text, "help");
    assert_eq!(generation.finish, Finish::Complete);
    assert_eq!(generation.finish.to_string(), "the output is complete: the grammar allows nothing more");
}

#[test]
fn forced_tokens_and_the_end_need_no_step() {
    let mut model = Scripted::new(b"xyz", 2);
    let mut words = Words::new(&["abcx1", "abcy2"]);
    let generation = run(&mut model, Some(&mut words), &options()).unwrap();
    // "abc" is fed with the prompt; the model speaks at its third letter, where the script says END, which is not
    // allowed: the lowest id wins; then "1" is forced, and after it nothing is asked
    assert_eq!(generation.text, "abcx1");
    assert_eq!(model.fed, [vec![62, 62, 97, 98, 99]]);
    assert_eq!(generation.timings.forced_tokens, 4);
    assert_eq!(generation.timings.masks, 5);
    assert_eq!(words.masks, 5);
}

#[test]
fn a_finished_constraint_needs_no_model() {
    let mut model = Scripted::new(b"x", 1);
    let generation = run(&mut model, Some(&mut Words::new(&[""])), &options()).unwrap();
    assert_eq!((generation.text.as_str(), generation.finish), ("", Finish::Complete));
    assert!(model.fed.is_empty());
}

#[test]
fn the_model_may_end_where_the_grammar_lets_it() {
    let mut words = Words::new(&["he", "hello!"]);
    let generation = run(&mut Scripted::new(b"he", 1), Some(&mut words), &options()).unwrap();
    assert_eq!((generation.text.as_str(), generation.finish), ("he", Finish::EndOfSequence));
    assert!(words.ended);
}

#[test]
fn the_token_limit_says_what_the_output_is() {
    let limited = |max_tokens| GenerationOptions { max_tokens, ..options() };
    let generation =
        run(&mut Scripted::new(b"hello!", 1), Some(&mut Words::new(&["hello!", "he"])), &limited(3)).unwrap();
    assert_eq!(generation.text, "hel");
    assert_eq!(generation.finish, Finish::TokenLimit { limit: 3, standing: Standing::Prefix });
    assert_eq!(
        generation.finish.to_string(),
        "stopped at the limit of 3 tokens: the output is only a prefix of a word of the grammar, not a word"
    );
    assert!(!generation.finish.is_whole());
    let generation =
        run(&mut Scripted::new(b"hello!", 1), Some(&mut Words::new(&["hello!", "he"])), &limited(2)).unwrap();
    assert_eq!(generation.finish, Finish::TokenLimit { limit: 2, standing: Standing::Word });
    assert!(generation.finish.is_whole());
    let generation = run(&mut Scripted::new(b"hello!", 1), None, &limited(0)).unwrap();
    assert_eq!(generation.finish, Finish::TokenLimit { limit: 0, standing: Standing::Unconstrained });
    assert_eq!(generation.text, "");
}

#[test]
fn the_context_limit_ends_in_time() {
    let mut model = Scripted { context: Some(6), ..Scripted::new(b"hello!", 3) };
    let generation = run(&mut model, None, &options()).unwrap();
    assert_eq!(generation.text, "hel");
    assert_eq!(generation.finish, Finish::ContextLimit { limit: 6, standing: Standing::Unconstrained });
    assert_eq!(
        generation.finish.to_string(),
        "stopped because the model's context of 6 tokens is full: the output may be incomplete"
    );
    let mut model = Scripted { context: Some(3), ..Scripted::new(b"hello!", 3) };
    assert_eq!(run(&mut model, None, &options()).unwrap_err().code(), "decode/prompt-too-long");
    // forced tokens count as well
    let mut model = Scripted { context: Some(4), ..Scripted::new(b"", 2) };
    let generation = run(&mut model, Some(&mut Words::new(&["abcdef"])), &options()).unwrap();
    assert_eq!((generation.text.as_str(), model.fed.len()), ("ab", 0));
    assert_eq!(generation.finish, Finish::ContextLimit { limit: 4, standing: Standing::Prefix });
}

#[test]
fn stop_strings_end_the_text_before_them() {
    let stop = |stop: &str| GenerationOptions { stop: vec![stop.to_owned()], ..options() };
    let generation = run(&mut Scripted::new(b"one, two; three", 1), None, &stop("wo;")).unwrap();
    assert_eq!(generation.text, "one, t");
    assert_eq!(
        generation.finish,
        Finish::StopString { stop: "wo;".to_owned(), standing: Standing::Unconstrained }
    );
    assert_eq!(generation.tokens.len(), 9);
    let generation =
        run(&mut Scripted::new(b"ab", 1), Some(&mut Words::new(&["abc", "abd"])), &stop("b")).unwrap();
    assert_eq!(generation.finish, Finish::StopString { stop: "b".to_owned(), standing: Standing::Prefix });
    assert!(!generation.finish.is_whole());
    let generation = run(&mut Scripted::new(b"ending w", 1), None, &stop("wo;")).unwrap();
    assert_eq!(generation.text, "ending w", "what was held back comes at the end");
    assert_eq!(run(&mut Scripted::new(b"x", 1), None, &stop("")).unwrap_err().code(), "decode/empty-stop");
}

#[test]
fn characters_are_never_split() {
    let text = "é😀ж";
    let mut model = Scripted::new(text.as_bytes(), 1);
    let mut pieces = Vec::new();
    let bytes = Bytes((0..=255).collect());
    let result =
        generate(&mut model, &bytes, None, &[62], &options(), &mut |piece| pieces.push(piece.to_owned()));
    assert_eq!(result.unwrap().text, text);
    assert_eq!(pieces, ["é", "😀", "ж"]);
    // cut inside a character
    let limited = GenerationOptions { max_tokens: 4, ..options() };
    let generation = run(&mut Scripted::new(text.as_bytes(), 1), None, &limited).unwrap();
    assert_eq!(generation.text, "é\u{FFFD}");
}

#[test]
fn dead_ends_and_wrong_uses_are_errors() {
    // words without a continuation: nothing is allowed
    let mut words = Words::new(&["ab"]);
    words.taken = b"x".to_vec();
    assert_eq!(
        run(&mut Scripted::new(b"x", 1), Some(&mut words), &options()).unwrap_err().code(),
        "decode/empty-mask"
    );
    assert_eq!(run(&mut Scripted::new(b"x", 0), None, &options()).unwrap_err().code(), "decode/empty-prompt");
    let wild = GenerationOptions { sampling: Sampling { top_p: 2.0, ..Sampling::default() }, ..options() };
    assert_eq!(run(&mut Scripted::new(b"x", 1), None, &wild).unwrap_err().code(), "decode/sampling");
    // the grammar forces a token that the model does not have
    let mut model = Scripted { vocabulary: 97, script: vec![], ..Scripted::new(b"", 1) };
    assert_eq!(
        run(&mut model, Some(&mut Words::new(&["z1"])), &options()).unwrap_err().code(),
        "decode/empty-mask"
    );
}

#[test]
fn sampled_output_depends_on_the_seed_alone() {
    let sampled = |seed| {
        let sampling = Sampling { temperature: 1.0, seed, ..Sampling::default() };
        let options = GenerationOptions { sampling, max_tokens: 12, ..GenerationOptions::default() };
        run(&mut Scripted { script: vec![], ..Scripted::new(b"", 1) }, None, &options).unwrap().tokens
    };
    assert_eq!(sampled(3), sampled(3));
    assert_ne!(sampled(3), sampled(4));
}
