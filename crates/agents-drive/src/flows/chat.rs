//! Plans queries by chat. The model is asked for each call, and chooses among the calls that the automaton allows.

use super::prompt::FlowPrompt;
use crate::chat::{self, CHOICE_TOKENS, Chat, Form, Request};
use grammata::error::Result;
use grammata::transitions::{Transition, TransitionSystem};
use grammata_agents::flows::{
    FlowAutomaton, FlowCall, FlowDomain, FlowOptions, FlowState, Thoughts, unknown_api,
};
use std::fmt::Write;

/// Asks a model for the calls of a plan. Each question lists the calls that the automaton of the domain allows; any
/// other answer is refused. If only one call is allowed, it is taken without a question. Calls are written without
/// thoughts and without the makers of their inputs.
pub struct ChatFlow<'m, 'd> {
    model: &'m mut dyn Chat,
    automaton: FlowAutomaton<'d>,
    state: FlowState,
    question: String,
    calls: Vec<FlowCall>,
    most: usize,
}

impl std::fmt::Debug for ChatFlow<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatFlow").field("calls", &self.calls).finish_non_exhaustive()
    }
}

impl<'m, 'd> ChatFlow<'m, 'd> {
    /// Starts a plan, before the first call after the prelude.
    ///
    /// # Errors
    /// Those of [`FlowAutomaton::new`] and [`FlowPrompt::new`].
    pub fn new(
        model: &'m mut dyn Chat,
        domain: &'d FlowDomain,
        options: &FlowOptions,
        query: &str,
    ) -> Result<ChatFlow<'m, 'd>> {
        let shown: Vec<usize> = match options.flow {
            Some(flow) => vec![flow],
            None => (0..domain.flows.len()).collect(),
        };
        let prompt = FlowPrompt::new(domain, &shown, query, Thoughts::None, &options.limits)?;
        let most = options.level.most_calls();
        let options = options.clone().by_step(false).arguments(false);
        let automaton = FlowAutomaton::new(domain, options)?;
        Ok(ChatFlow {
            model,
            state: automaton.start(),
            automaton,
            question: prompt.question,
            calls: Vec::new(),
            most,
        })
    }

    /// Returns the calls so far, without those of the prelude.
    pub fn calls(&self) -> &[FlowCall] {
        &self.calls
    }

    /// Asks for the next call, and takes it. If the API has outcomes, the model also chooses its answer. Returns `None`
    /// if the plan has ended, has the maximum number of calls, or allows no call.
    ///
    /// # Errors
    /// `chat/refused` if two answers are not among the allowed calls; errors of the model; limits.
    pub fn next_call(&mut self) -> Result<Option<FlowCall>> {
        let open = self.open()?;
        let domain = self.automaton.domain();
        let texts = open.iter().map(|one| one.label.text(domain)).collect();
        let Some(place) = self.choose(texts)? else { return Ok(None) };
        Ok(open.get(place).map(|one| self.take(one)))
    }

    /// Asks which API is called next, and returns its index; `None` as for [`next_call`](ChatFlow::next_call). The plan
    /// does not continue until [`answered`](ChatFlow::answered) is called with the API and its answer.
    ///
    /// # Errors
    /// Those of [`next_call`](ChatFlow::next_call).
    pub fn next_api(&mut self) -> Result<Option<usize>> {
        let mut apis: Vec<usize> = self.open()?.iter().map(|one| one.label.api).collect();
        apis.dedup();
        let domain = self.automaton.domain();
        let texts = apis.iter().map(|&api| format!("{}()", domain.apis[api].name)).collect();
        Ok(self.choose(texts)?.and_then(|place| apis.get(place).copied()))
    }

    /// Continues after a call and its answer.
    ///
    /// # Errors
    /// `flow/unknown-name` if no plan continues with the call and the answer; limits.
    pub fn answered(&mut self, api: usize, outcome: Option<usize>) -> Result<()> {
        let open = self.open()?;
        let found = open.iter().find(|one| one.label.api == api && one.label.outcome == outcome);
        match found {
            Some(one) => {
                self.take(one);
                Ok(())
            }
            None => {
                let domain = self.automaton.domain();
                let text = FlowCall { api, step: None, outcome }.text(domain);
                let known: Vec<String> = open.iter().map(|one| one.label.text(domain)).collect();
                Err(unknown_api(&text, known.iter().map(String::as_str)))
            }
        }
    }

    /// Returns whether the last call is that of the API that ends plans.
    pub fn is_finished(&self) -> bool {
        self.calls.last().is_some_and(|call| call.api == self.automaton.domain().end)
    }

    fn open(&mut self) -> Result<Vec<Transition<FlowState, FlowCall>>> {
        let mut open = Vec::new();
        if !self.is_finished() && self.calls.len() < self.most {
            let state = self.state;
            self.automaton.successors(&state, &mut open)?;
        }
        Ok(open)
    }

    fn take(&mut self, one: &Transition<FlowState, FlowCall>) -> FlowCall {
        self.state = one.to;
        self.calls.push(one.label);
        one.label
    }

    /// Returns the index of the text that the model chooses; `None` if there are no texts. A single text is chosen
    /// without a question.
    fn choose(&mut self, texts: Vec<String>) -> Result<Option<usize>> {
        if texts.len() <= 1 {
            return Ok(texts.first().map(|_| 0));
        }
        let domain = self.automaton.domain();
        let mut question = format!("{}\nThe calls so far:\n", self.question.trim_end());
        let prelude = domain.prelude_apis().iter().map(|&api| format!("{}()", domain.apis[api].name));
        for text in prelude.chain(self.calls.iter().map(|call| call.text(domain))) {
            let _ = writeln!(question, "- {text}");
        }
        let _ = write!(question, "Which call comes next? Answer with one of these:\n{}", texts.join("\n"));
        let request = Request::new(question, Form::Choice(texts.clone()), CHOICE_TOKENS);
        let place = chat::ask(self.model, request, |answer| {
            let text = answer.text.trim();
            let place = texts.iter().position(|known| known == text);
            Ok(place.ok_or_else(|| format!("the call must be one of: {}", texts.join(", "))))
        })?;
        Ok(Some(place))
    }
}
