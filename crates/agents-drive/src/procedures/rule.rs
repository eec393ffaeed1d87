//! A reference agent without a model. It takes the first step, in the order of the text, that is open and not a
//! repetition and whose arguments are known. It asks for the missing arguments of a call if the user wants one of them.

use super::decision::DecisionRequest;
use super::record::Entry;
use super::{Agent, Situation};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::procedures::{Act, NodeKind, Offer, Origin, StepFormat, Text, Turns, Values};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An agent that follows the text of a procedure. It takes the values that users tell from the entries of the record
/// (`tells`), not from their words, and knows which optional slots the user wants.
#[derive(Clone, Debug, Default)]
pub struct RuleAgent {
    /// The values that the user wants, by slot. The agent asks for the missing slots of a call only if the user wants
    /// at least one of them.
    wants: Values,
    /// Conditions in words, and whether they hold. A missing condition does not hold.
    prose: BTreeMap<String, bool>,
    /// By slot, the latest value that the user told or decided. Values of a message out of the workflow count only for
    /// slots told before. A decision that is asked again is removed.
    told: Values,
    /// The number of entries of the record that were read.
    read: usize,
    /// By the index of an answer, its [`basis`](grammata_agents::procedures::Session::basis) when it was last said.
    said: FxHashMap<usize, String>,
}

impl RuleAgent {
    /// Creates an agent for a user who wants these values, with the truth of conditions in words.
    pub fn new(wants: Values, prose: BTreeMap<String, bool>) -> RuleAgent {
        RuleAgent { wants, prose, ..RuleAgent::default() }
    }

    /// Reads the values that the user told or decided since the last step.
    fn listen(&mut self, entries: &[(usize, Entry)]) {
        for (_, entry) in &entries[self.read.min(entries.len())..] {
            match entry {
                Entry::User { kind, tells, .. } => {
                    for (slot, value) in tells {
                        self.wants.insert(slot.clone(), value.clone());
                        // a value told out of the workflow counts only if the slot was told before
                        if kind.is_none() || self.told.contains_key(slot) {
                            self.told.insert(slot.clone(), value.clone());
                        }
                    }
                }
                Entry::Decide { slot, value: Some(value) } => {
                    self.told.insert(slot.clone(), value.clone());
                }
                _ => {}
            }
        }
        self.read = entries.len();
    }

    /// Returns the step at a call of the text. Returns `None` if the node is blocked, a condition does not hold, the
    /// step would be a repetition, a call lacks arguments of which the user wants none, or the node is an answer that
    /// is neither an inform nor followed by a decision.
    fn at_site(&mut self, situation: &Situation<'_, '_>, site: usize, node: usize) -> Option<String> {
        let session = situation.conversation.session();
        let procedure = session.procedure();
        if session.obstacle(node, None).is_some() || !session.holds_at(site, &self.told, &self.prose) {
            return None;
        }
        match procedure.nodes()[node].kind {
            NodeKind::Api => self.call(situation, node),
            kind => {
                let decisions = procedure.decisions(node);
                let basis = session.basis(node);
                if kind != NodeKind::Inform && decisions.is_empty() || self.said.get(&node) == Some(&basis) {
                    return None;
                }
                self.said.insert(node, basis);
                decisions.iter().for_each(|slot| drop(self.told.remove(slot)));
                let text = session.fill(node).0;
                let text = if text.is_empty() { procedure.nodes()[node].name.clone() } else { text };
                Some(answer(situation, &procedure.nodes()[node].name, &text))
            }
        }
    }

    fn call(&self, situation: &Situation<'_, '_>, api: usize) -> Option<String> {
        let session = situation.conversation.session();
        let procedure = session.procedure();
        let declared = &procedure.nodes()[api];
        // if arguments quote the user, a value told in other words must be asked for
        let is_said = |slot: &String, value: &Value| match session.origin(api, slot) {
            Origin::Words(words) if situation.binding.narrow => words.iter().any(|word| value == word),
            Origin::Told(values) if situation.binding.narrow && procedure.is_tellable(slot) => {
                values.contains(value)
            }
            _ => true,
        };
        let value = |slot: &String| {
            let of_session = session.known().get(slot).filter(|_| procedure.is_written(slot));
            let value = of_session.or_else(|| self.told.get(slot)).filter(|value| !value.is_null())?;
            is_said(slot, value).then(|| value.clone())
        };
        let mut arguments: Values =
            declared.request.iter().filter_map(|slot| Some((slot.clone(), value(slot)?))).collect();
        let is_made = |arguments: &Values| session.answered(api) == Some(arguments);
        if is_made(&arguments) {
            return None;
        }
        let is_missing = |slot: &&String| {
            let is_unsaid = || self.wants.get(*slot).is_some_and(|value| !is_said(slot, value));
            !arguments.contains_key(*slot) && (!declared.optional.contains(slot) || is_unsaid())
        };
        let missing: Vec<&String> = declared.request.iter().filter(is_missing).collect();
        if !missing.is_empty() {
            if !missing.iter().any(|slot| self.wants.contains_key(*slot)) {
                return None;
            }
            let request = procedure.nodes().iter().find(|node| node.kind == NodeKind::Request);
            let slots: Vec<&str> = missing.iter().map(|slot| slot.as_str()).collect();
            let name = format!("{}({})", request.map_or("ask", |node| node.name.as_str()), slots.join(", "));
            return Some(answer(
                situation,
                &name,
                &format!("Please tell me: {}.", slots.join(", ").replace('_', " ")),
            ));
        }
        for slot in &declared.optional {
            if let (false, Some(value)) = (arguments.contains_key(slot), self.wants.get(slot)) {
                arguments.insert(slot.clone(), value.clone());
            }
        }
        if is_made(&arguments) || session.obstacle(api, Some(&arguments)).is_some() {
            return None;
        }
        let members: Vec<String> = declared
            .request
            .iter()
            .filter_map(|slot| Some(format!("{}: {}", json!(slot), arguments.get(slot)?)))
            .collect();
        let (name, members) = (&declared.name, members.join(", "));
        Some(match situation.binding.format {
            StepFormat::Published => format!("Action: {name}\nAction Input: {{{members}}}"),
            StepFormat::Json => format!("{{\"call\": {}, \"arguments\": {{{members}}}}}", json!(name)),
        })
    }

    /// Returns the next step, in the step format of the options.
    fn step(&mut self, situation: &Situation<'_, '_>) -> String {
        self.listen(&situation.record.entries);
        let mut events = situation.record.entries.iter().rev().map(|(_, entry)| entry);
        let last = events.find(|entry| !matches!(entry, Entry::Decide { .. }));
        let session = situation.conversation.session();
        let is_outside = matches!(last, Some(Entry::User { kind: Some(_), tells, .. }) if tells.is_empty());
        if is_outside || session.is_cancelled() {
            return outside(situation, "I see. Let us go on where we were.");
        }
        for (site, node) in session.procedure().sites().enumerate() {
            if let Some(step) = self.at_site(situation, site, node) {
                return step;
            }
        }
        outside(situation, "Is there anything else?")
    }
}

/// Returns a step that says an answer. If the answer is offered with a verbatim text, the step has that text instead of
/// `text`.
fn answer(situation: &Situation<'_, '_>, name: &str, text: &str) -> String {
    let verbatim = situation.offers.iter().find_map(|offer| match offer {
        Offer::Answer { name: known, text: Text::Verbatim(text), .. } if known == name => Some(text.as_str()),
        _ => None,
    });
    let text = verbatim.unwrap_or(text);
    match situation.binding.format {
        StepFormat::Published => format!("Answer: {name}\nResponse: {text}"),
        StepFormat::Json => format!("{{\"say\": {}, \"text\": {}}}", json!(name), json!(text)),
    }
}

/// Returns a reply out of the workflow, or, if none is offered, a text under the first offered answer. Without offered
/// answers the reply is named `free`.
fn outside(situation: &Situation<'_, '_>, text: &str) -> String {
    let procedure = situation.conversation.session().procedure();
    let is_node = |name: &str| {
        procedure.node(name).is_some_and(|node| procedure.nodes()[node].kind == NodeKind::OutOfWorkflow)
    };
    let names = || {
        situation.offers.iter().filter_map(|offer| match offer {
            Offer::Answer { name, .. } => Some(name.as_str()),
            _ => None,
        })
    };
    let name = names().find(|name| *name == "free" || is_node(name)).or_else(|| names().next());
    answer(situation, name.unwrap_or("free"), text)
}

/// Returns a step in the call format of the options; unchanged if they have none or the step cannot be read.
fn written(situation: &Situation<'_, '_>, step: String) -> Result<String> {
    let binding = situation.binding;
    let (Some(calls), Some(act)) = (&binding.calls, Act::read(&step, binding.format)) else {
        return Ok(step);
    };
    let procedure = situation.conversation.session().procedure();
    let options = binding.step_options(&Limits::default());
    Turns::new(procedure, situation.offers, calls, &options)?.write(&act)
}

impl Agent for RuleAgent {
    fn write(&mut self, situation: &Situation<'_, '_>) -> Result<String> {
        let step = self.step(situation);
        written(situation, step)
    }

    /// Returns the choice whose name the reply tells for the slot, as `slot: name` between semicolons; `None` if it
    /// tells no choice.
    fn decide(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>> {
        let told = request.reply.split(';').find_map(|part| {
            let (slot, value) = part.split_once(':')?;
            (slot.trim() == request.slot).then(|| value.trim())
        });
        Ok(told.and_then(|told| {
            request.choices.iter().find(|(name, _)| name == told).map(|(_, value)| value.clone())
        }))
    }
}
