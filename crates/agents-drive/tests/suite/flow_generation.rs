//! Plans that a model writes with and without a grammar, up to the bounds on calls.

use crate::flow_vocabulary::{tokens, vocabulary};
use grammata::{Limits, Result, TokenId, Vocabulary};
use grammata_agents::flows::{FlowDomain, FlowOptions, Level, Thoughts, grammar};
use grammata_agents_drive::flows::{FlowPlanner, FlowPrompt, PlannerOptions, PromptEncoder};
use grammata_decode::{
    Feed, Logits, Model, SamplingParams, SequenceId, Sequences, check_batch, check_truncate,
};

/// A model that writes one text again and again after a prompt of one token. Where a mask forbids the text, the
/// lowest allowed token is written.
struct Parrot {
    /// The tokens of the text.
    text: Vec<usize>,
    width: usize,
    sequences: Sequences<usize>,
    rows: Vec<Vec<f32>>,
}

impl Model for Parrot {
    fn vocabulary_size(&self) -> usize {
        self.width
    }

    fn context_length(&self) -> Option<usize> {
        None
    }

    fn open(&mut self) -> Result<SequenceId> {
        Ok(self.sequences.open(0))
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.sequences.fork(sequence)
    }

    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        check_truncate(self, sequence, length)?;
        *self.sequences.get_mut(sequence)? = length;
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.close(sequence);
    }

    fn length(&self, sequence: SequenceId) -> Result<usize> {
        Ok(*self.sequences.get(sequence)?)
    }

    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        check_batch(self, batch)?;
        self.rows.clear();
        for feed in batch {
            let length = self.sequences.get_mut(feed.sequence)?;
            let before = *length;
            *length += feed.tokens.len();
            for place in feed.rows.places(feed.tokens.len()) {
                let next = self.text[(before + place) % self.text.len()];
                self.rows.push((0..self.width).map(|token| f32::from(u8::from(token == next))).collect());
            }
        }
        Ok(Logits::Host(self.rows.iter().map(Vec::as_slice).collect()))
    }
}

/// Encodes each prompt as one token.
struct OneToken;

impl PromptEncoder for OneToken {
    fn prompt(&self, _: &FlowPrompt) -> Result<Vec<u32>> {
        Ok(vec![0])
    }

    fn text(&self, _: &str) -> Result<Vec<u32>> {
        Ok(vec![0])
    }
}

fn token(vocabulary: &Vocabulary, byte: u8) -> usize {
    let is_byte = |token: &usize| vocabulary.bytes(TokenId::new(*token as u32)) == Some(&[byte]);
    (0..vocabulary.width()).find(is_byte).unwrap()
}

/// Arms without a grammar write at most 30 calls, whatever the level of their options; their figures in
/// `labs/results/flows` depend on it.
#[test]
fn a_plan_without_a_grammar_is_cut_after_30_calls() {
    let text = include_str!("../../../../tests/cases/flows/refund.toml");
    let domain = FlowDomain::read(text, &Limits::default()).unwrap();
    let vocabulary = vocabulary(&tokens(&domain));
    let written = "FindOrder(), ";
    for (thoughts, written) in
        [(Thoughts::None, written), (Thoughts::Free, " so [API] FindOrder()\n[thought]")]
    {
        for level in Level::ALL {
            let text = written.bytes().map(|byte| token(&vocabulary, byte)).collect();
            let width = vocabulary.width();
            let mut model = Parrot { text, width, sequences: Sequences::new(), rows: Vec::new() };
            let mut planner = FlowPlanner::new(&mut model, &vocabulary, &OneToken, None, &Limits::default());
            let options = PlannerOptions::default().level(level).thoughts(thoughts);
            let sampling = SamplingParams::default();
            let found = planner.generate(&options, &domain, sampling, &[0], None, 4_000).unwrap();
            let calls = found.text.matches("FindOrder()").count();
            assert_eq!(calls, 30, "{level:?} {thoughts:?}: {}", found.text);
            assert!(found.text.ends_with("FindOrder()"), "{}", found.text);
        }
    }
    // under a grammar that does not bound calls, the cut is the same
    let options = FlowOptions::default().level(Level::Names);
    let constraint = grammata::Compiler::new(vocabulary.clone())
        .compile(&grammar(&domain, &options, Thoughts::None).unwrap());
    let text = written.bytes().map(|byte| token(&vocabulary, byte)).collect();
    let mut model = Parrot { text, width: vocabulary.width(), sequences: Sequences::new(), rows: Vec::new() };
    let mut planner = FlowPlanner::new(&mut model, &vocabulary, &OneToken, None, &Limits::default());
    let options = PlannerOptions::default().level(Level::Names);
    let constraint = Box::new(constraint.unwrap().matcher());
    let found = planner
        .generate(&options, &domain, SamplingParams::default(), &[0], Some(constraint), 4_000)
        .unwrap();
    assert_eq!(found.text.matches("()").count(), 30, "{}", found.text);
}
