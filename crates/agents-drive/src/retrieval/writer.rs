//! Generation of queries with a model.

use super::read::{Draft, read};
use super::{Encoded, Encoder, Example, Format, Mode, Prompt};
use grammata::error::Result;
use grammata::mask::CompiledGrammar;
use grammata::matcher::Constraint;
use grammata::vocabulary::Vocabulary;
use grammata_decode::{
    Decoder, Event, Feed, Generation, GenerationOptions, Model, Rows, SamplingParams, SequenceId,
    run_together,
};
use std::sync::Arc;

grammata_base::options! {
    /// Options for generating queries.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct WriterOptions {
        /// What the prompt asks the model for.
        pub mode: Mode = Mode::ZeroShot,
        /// The format of the output.
        pub format: Format = Format::Lines,
        /// How tokens are sampled. Default: greedy.
        pub sampling: SamplingParams,
        /// The maximum number of tokens of an output. Default: 160.
        pub max_tokens: usize = 160,
        /// The token ids that end an output; if empty, the end tokens of the vocabulary.
        pub end_tokens: Vec<u32>,
        /// Whether to compute the log-probability of each query.
        pub log_probabilities: bool,
    }
}

/// Asks a model for queries. The constant prefix of its prompts is fed to the model only once.
pub struct QueryWriter<'m> {
    model: &'m mut dyn Model,
    vocabulary: Arc<Vocabulary>,
    encoder: Box<dyn Encoder + 'm>,
    prompt: Prompt,
    grammar: Option<CompiledGrammar>,
    options: WriterOptions,
    /// The sequence that holds the constant prefix of prompts.
    constant: Option<(SequenceId, Vec<u32>)>,
}

impl std::fmt::Debug for QueryWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryWriter").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'m> QueryWriter<'m> {
    /// Creates a writer. `grammar` is that of [`format_grammar`](super::format_grammar) for the mode and format of
    /// `options`; `None` does not constrain the output.
    pub fn new(
        model: &'m mut dyn Model,
        vocabulary: Arc<Vocabulary>,
        encoder: Box<dyn Encoder + 'm>,
        prompt: Prompt,
        grammar: Option<CompiledGrammar>,
        options: WriterOptions,
    ) -> QueryWriter<'m> {
        QueryWriter { model, vocabulary, encoder, prompt, grammar, options, constant: None }
    }

    /// Returns the options of the writer.
    pub fn options(&self) -> &WriterOptions {
        &self.options
    }

    /// Returns the prompt of the writer.
    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// Generates queries for a request.
    ///
    /// # Errors
    /// The prompt cannot be rendered or tokenised, is longer than the model's context (`decode/prompt-too-long`), or
    /// the model fails.
    pub fn write(&mut self, request: &str, examples: &[Example]) -> Result<Draft> {
        let seed = self.options.sampling.seed;
        Ok(self.drafts(request, examples, &[seed])?.pop().unwrap_or_default())
    }

    /// Generates one draft of queries per seed in one batch; the prompt is fed once.
    ///
    /// # Errors
    /// Those of [`write`](QueryWriter::write).
    pub fn drafts(&mut self, request: &str, examples: &[Example], seeds: &[u64]) -> Result<Vec<Draft>> {
        let rest = self.prompt.render(request, examples, "")?;
        let Encoded { constant, rest } = self.encoder.encode(self.prompt.instruction(), &rest)?;
        let prompt = [&constant[..], &rest].concat();
        // a prompt that does not fit is rejected as a whole
        let fits = self.model.context_length().is_none_or(|context| prompt.len() < context);
        let sequence = if fits && !rest.is_empty() { self.constant(&constant)? } else { None };
        let options = self.generation_options();
        let vocabulary = Arc::clone(&self.vocabulary);
        let constraint =
            self.grammar.as_ref().map(|grammar| Box::new(grammar.matcher()) as Box<dyn Constraint>);
        let first = match sequence {
            Some(sequence) => {
                Decoder::after(self.model, sequence, &*vocabulary, constraint, &prompt, &options)?
            }
            None => Decoder::new(self.model, &*vocabulary, constraint, &prompt, &options)?,
        };
        let mut decoders = vec![first];
        let ran = self.run(&mut decoders, seeds);
        let generations: Vec<Generation> =
            decoders.into_iter().map(|decoder| decoder.close(self.model)).collect();
        ran?;
        let (format, mode) = (self.options.format, self.options.mode);
        Ok(generations.iter().skip(1).map(|generation| read(generation, format, mode, &vocabulary)).collect())
    }

    /// Feeds the prompt to the first decoder, and runs a fork of the decoder per seed.
    fn run(&mut self, decoders: &mut Vec<Decoder<'_>>, seeds: &[u64]) -> Result<()> {
        if let Some(first) = decoders.first_mut() {
            first.prefill(self.model)?;
        }
        for &seed in seeds {
            let fork = decoders.first().map(|first| first.fork(self.model, seed));
            decoders.extend(fork.transpose()?);
        }
        let mut failure = None;
        let mut note = |_: usize, event: Result<Event>| failure = failure.take().or(event.err());
        run_together(self.model, decoders.get_mut(1..).unwrap_or_default(), &mut note)?;
        failure.map_or(Ok(()), Err)
    }

    /// Returns an open sequence that holds exactly `tokens`, and closes the previous sequence if it holds other tokens.
    /// Returns `None` if `tokens` is empty.
    fn constant(&mut self, tokens: &[u32]) -> Result<Option<SequenceId>> {
        if tokens.is_empty() {
            return Ok(None);
        }
        if let Some((sequence, held)) = &self.constant
            && held == tokens
        {
            return Ok(Some(*sequence));
        }
        self.forget();
        let sequence = self.model.open()?;
        match self.model.feed(&[Feed { sequence, tokens, rows: Rows::None }]) {
            Ok(_) => {}
            Err(error) => {
                self.model.close(sequence);
                return Err(error);
            }
        }
        self.constant = Some((sequence, tokens.to_vec()));
        Ok(Some(sequence))
    }

    fn forget(&mut self) {
        if let Some((sequence, _)) = self.constant.take() {
            self.model.close(sequence);
        }
    }

    fn generation_options(&self) -> GenerationOptions {
        let eos = || self.vocabulary.eos().iter().map(|id| id.get()).collect();
        let end_tokens =
            if self.options.end_tokens.is_empty() { eos() } else { self.options.end_tokens.clone() };
        // a raw output may continue with invented turns of the dialogue
        let stop = if self.options.format == Format::Raw { vec!["\nHuman:".to_owned()] } else { Vec::new() };
        GenerationOptions::default()
            .max_tokens(self.options.max_tokens)
            .complete(false)
            .timeout(None)
            .sampling(self.options.sampling.clone())
            .end_tokens(end_tokens)
            .stop(stop)
            .log_probabilities(self.options.log_probabilities)
    }
}

impl Drop for QueryWriter<'_> {
    fn drop(&mut self) {
        self.forget();
    }
}
