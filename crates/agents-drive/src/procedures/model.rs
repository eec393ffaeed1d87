//! An agent that is a language model under masks.

use super::decision::{DecisionRequest, UNCLEAR};
use super::usage::Usage;
use super::{Agent, Mask, Situation, prompt};
use crate::plan::ModelPolicy;
use grammata::error::Result;
use grammata::grammar::GrammarBuilder;
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::vocabulary::Vocabulary;
use grammata_agents::procedures::{Turns, step_grammar};
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// The most tokens of a step under a mask, and of a decision.
const MOST_TOKENS: usize = 160;
/// The maximum number of tokens of a step without a mask. No grammar ends such a step, so the bound is lower.
const MOST_FREE_TOKENS: usize = 64;
/// The maximum number of cached grammars. If the cache is full, all are dropped before the next one is compiled.
const MOST_KEPT: usize = 256;

/// An agent whose steps a language model writes under masks. Compiled grammars are cached by the offered steps and the
/// options of their form.
pub struct ModelAgent<'m> {
    policy: ModelPolicy<'m>,
    compiler: Compiler,
    grammars: FxHashMap<String, CompiledGrammar>,
    limits: Limits,
    usage: Usage,
}

impl std::fmt::Debug for ModelAgent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelAgent").field("usage", &self.usage).finish_non_exhaustive()
    }
}

impl<'m> ModelAgent<'m> {
    /// Creates an agent that samples steps with the model and the sampling options of a policy. `vocabulary` is that of
    /// the model.
    pub fn new(policy: ModelPolicy<'m>, vocabulary: &Arc<Vocabulary>, limits: &Limits) -> ModelAgent<'m> {
        ModelAgent {
            policy,
            compiler: Compiler::new(Arc::clone(vocabulary)).limits(limits.clone()),
            grammars: FxHashMap::default(),
            limits: limits.clone(),
            usage: Usage::default(),
        }
    }

    fn compiled(
        &mut self,
        key: String,
        grammar: impl FnOnce(&Limits) -> Result<grammata::grammar::Grammar>,
    ) -> Result<CompiledGrammar> {
        if let Some(known) = self.grammars.get(&key) {
            return Ok(known.clone());
        }
        if self.grammars.len() >= MOST_KEPT {
            self.grammars.clear();
        }
        let compiled = self.compiler.compile(&grammar(&self.limits)?)?;
        self.usage.grammars += 1;
        self.grammars.insert(key, compiled.clone());
        Ok(compiled)
    }

    fn written(&mut self, prompt: &str, grammar: Option<&CompiledGrammar>) -> Result<String> {
        let most = if grammar.is_some() { MOST_TOKENS } else { MOST_FREE_TOKENS };
        Ok(self.policy.write(prompt, grammar, most)?.text)
    }
}

impl Agent for ModelAgent<'_> {
    fn write(&mut self, situation: &Situation<'_, '_>) -> Result<String> {
        let start = Instant::now();
        let binding = situation.binding;
        let grammar = match binding.mask {
            Mask::None => None,
            Mask::Form | Mask::Open(_) => {
                let key = format!(
                    "{:?} {:?} {:?} {} {:?}",
                    binding.format, binding.calls, binding.thought, binding.text_characters, situation.offers
                );
                let procedure = situation.conversation.session().procedure();
                Some(self.compiled(key, |limits| {
                    let options = binding.step_options(limits);
                    match &binding.calls {
                        Some(calls) => Turns::new(procedure, situation.offers, calls, &options)?.grammar(),
                        None => step_grammar(situation.offers, &options),
                    }
                })?)
            }
        };
        let text = self.written(&prompt::step(situation, binding.format, &self.limits)?, grammar.as_ref());
        self.usage.all += start.elapsed();
        text
    }

    fn decide(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>> {
        const LABEL: &str = "Decision: ";
        let start = Instant::now();
        let names: Vec<&str> =
            request.choices.iter().map(|(name, _)| name.as_str()).chain([UNCLEAR]).collect();
        let grammar = self.compiled(format!("decision {names:?}"), |limits| {
            let mut builder = GrammarBuilder::with_limits(limits.clone());
            let label = builder.text(LABEL);
            let names: Vec<_> = names.iter().map(|name| builder.text(name)).collect();
            let names = builder.choice(names);
            let body = builder.sequence([label, names]);
            let root = builder.declare("decision");
            builder.define(root, body);
            builder.build(root)
        })?;
        let text = self.written(&prompt::decision(request), Some(&grammar))?;
        self.usage.all += start.elapsed();
        let name = text.strip_prefix(LABEL).unwrap_or_default();
        Ok(request.choices.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()))
    }

    fn usage(&self) -> Usage {
        let used = self.policy.usage();
        Usage { calls: used.calls, tokens: used.tokens, model: used.time, ..self.usage }
    }
}
