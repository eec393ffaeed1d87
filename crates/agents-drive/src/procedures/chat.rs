//! An agent whose steps a chat model writes.

use super::decision::{DecisionRequest, UNCLEAR};
use super::usage::Usage;
use super::{Agent, Mask, Situation, prompt};
use crate::chat::{self, CHOICE_TOKENS, Chat, Form, Request};
use crate::tools::OfferedTools;
use grammata::error::{ErrorKind, Result};
use grammata::limits::Limits;
use grammata_agents::procedures::{
    StepFormat, StepOptions, Turns, object_act, object_schema, one_line, step_grammar, step_text, word_error,
};
use grammata_agents::tools::{CallFormat, Turn};
use serde_json::Value;
use std::time::Instant;

/// The maximum number of tokens of one step.
const MOST_TOKENS: u32 = 1_024;

/// An agent whose steps a chat model writes. Without a call format the model writes a step as a JSON object, with a
/// schema that is built from the offered steps. With a call format it calls one of the offered tools or answers with a
/// text. The grammar of the offered steps checks the answer. If the check fails, the model is asked once more; a second
/// failure is an error (`chat/refused`). Under [`Mask::None`] a JSON object has no schema, all tools are offered, and no
/// grammar checks the answer.
pub struct ChatAgent<'m> {
    model: &'m mut dyn Chat,
    limits: Limits,
    usage: Usage,
}

impl std::fmt::Debug for ChatAgent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatAgent").field("usage", &self.usage).finish_non_exhaustive()
    }
}

impl<'m> ChatAgent<'m> {
    /// Creates an agent whose steps `model` writes. `limits` bound the grammars that check them.
    pub fn new(model: &'m mut dyn Chat, limits: &Limits) -> ChatAgent<'m> {
        ChatAgent { model, limits: limits.clone(), usage: Usage::default() }
    }

    fn step(&mut self, situation: &Situation<'_, '_>) -> Result<String> {
        let binding = situation.binding;
        let prompt = prompt::step(situation, StepFormat::Json, &self.limits)?;
        if binding.mask == Mask::None {
            let answer = self.model.ask(&Request::new(prompt, Form::Text, MOST_TOKENS))?;
            let act = object_act(&answer.text, situation.offers);
            return Ok(act.map_or(answer.text, |act| step_text(&act, situation.offers, binding.format)));
        }
        let options = StepOptions::default()
            .format(binding.format)
            .text_characters(binding.text_characters)
            .limits(self.limits.clone());
        let grammar = step_grammar(situation.offers, &options)?;
        self.usage.grammars += 1;
        let schema = object_schema(situation.offers, binding.thought, binding.text_characters);
        let request = Request::new(prompt, Form::Json { name: "step".to_owned(), schema }, MOST_TOKENS);
        let limits = &self.limits;
        chat::ask(self.model, request, |answer| {
            let Some(act) = object_act(&answer.text, situation.offers) else {
                return Ok(Err(
                    "it is not an object with `call` and `arguments`, or with `say` and `text`".to_owned()
                ));
            };
            let text = step_text(&act, situation.offers, binding.format);
            let Some(wrong) = word_error(&grammar, limits, &text)? else { return Ok(Ok(text)) };
            let conversation = situation.conversation;
            let obstacle = conversation.obstacle(&conversation.resolve(act));
            Ok(Err(obstacle.map_or(wrong, |obstacle| format!("the step is not allowed now: {obstacle}"))))
        })
    }

    /// Writes a step in a call format. The request has the offered calls as tools, with the schemas of their offered
    /// arguments.
    fn turn(&mut self, situation: &Situation<'_, '_>, calls: &CallFormat) -> Result<String> {
        let binding = situation.binding;
        let prompt = prompt::step(situation, binding.format, &self.limits)?;
        let conversation = situation.conversation;
        let procedure = conversation.session().procedure();
        let turns = Turns::new(procedure, situation.offers, calls, &binding.step_options(&self.limits))?;
        let grammar = turns.grammar()?;
        self.usage.grammars += 1;
        let offered = OfferedTools::new(turns.tools().tools());
        let tools = offered.requested();
        let form = match tools.is_empty() {
            true => Form::Text,
            false => Form::Tools { tools, is_required: false, is_several: false },
        };
        let limits = &self.limits;
        chat::ask(self.model, Request::new(prompt, form, MOST_TOKENS), |answer| {
            let mut turn = match offered.calls(answer) {
                Ok(calls) => Turn { calls, ..Turn::default() },
                Err(wrong) => return Ok(Err(wrong)),
            };
            if turn.calls.is_empty() {
                turn.text = one_line(&answer.text);
            }
            let text = match calls.render(&turn, turns.tools()) {
                Ok(text) => text,
                Err(error) if error.kind() == ErrorKind::Limit => return Err(error),
                Err(error) => return Ok(Err(error.diagnostic().message().to_owned())),
            };
            if binding.mask == Mask::None {
                return Ok(Ok(text));
            }
            let Some(wrong) = word_error(&grammar, limits, &text)? else { return Ok(Ok(text)) };
            let act = turns.read(&text)?;
            let obstacle = act.and_then(|act| conversation.obstacle(&conversation.resolve(act)));
            Ok(Err(obstacle.map_or(wrong, |obstacle| format!("the call may not come now: {obstacle}"))))
        })
    }

    fn decision(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>> {
        let mut names: Vec<String> = Vec::with_capacity(request.choices.len() + 1);
        for name in request.choices.iter().map(|(name, _)| name.as_str()).chain([UNCLEAR]) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        let form = Form::Choice(names.clone());
        let request_of = Request::new(prompt::decision(request), form, CHOICE_TOKENS);
        let name = chat::ask(self.model, request_of, |answer| {
            let text = answer.text.trim();
            let known = names.iter().find(|name| name.as_str() == text).cloned();
            Ok(known.ok_or_else(|| format!("it must be one of: {}", names.join(", "))))
        })?;
        Ok(request.choices.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()))
    }
}

impl Agent for ChatAgent<'_> {
    fn write(&mut self, situation: &Situation<'_, '_>) -> Result<String> {
        let start = Instant::now();
        let text = match &situation.binding.calls {
            Some(calls) => self.turn(situation, calls),
            None => self.step(situation),
        };
        self.usage.all += start.elapsed();
        text
    }

    fn decide(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>> {
        let start = Instant::now();
        let value = self.decision(request);
        self.usage.all += start.elapsed();
        value
    }

    fn usage(&self) -> Usage {
        let used = self.model.usage();
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        Usage {
            calls: count(used.answers),
            tokens: count(used.prompt_tokens.saturating_add(used.answer_tokens)),
            model: used.time,
            ..self.usage
        }
    }
}
