//! Conversations: turns of a model under masks, and observations of the host, such as results of calls.

use super::compiled::{CompiledTools, TurnOptions};
use super::event::{Event, Teller, Telling, of_turn};
use super::turn::{TurnMatcher, spelled};
use super::values::{Limited, values_under};
use crate::tools::errors;
use crate::tools::format::Turn;
use grammata::error::Result;
use grammata::mask::TokenMask;
use grammata::vocabulary::TokenId;
use serde_json::Value;
use std::sync::Arc;

/// Limits an argument to values that occurred in observations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounding {
    /// The name of the tool; if `None`, all tools with such a member.
    pub tool: Option<String>,
    /// The name of the member of the argument object.
    pub member: String,
    /// The keys of the observations, at any depth, whose values are allowed. Only scalars count, and the scalar items
    /// of lists.
    pub keys: Vec<String>,
}

/// One conversation over a compiled set.
///
/// Pass the model's tokens to [`accept_token`](Session::accept_token) under the masks of [`mask`](Session::mask). Pass
/// the host's messages to [`observe`](Session::observe); nothing in them is a call.
#[derive(Clone, Debug)]
pub struct Session {
    options: TurnOptions,
    groundings: Vec<Grounding>,
    turn: TurnMatcher,
    text: Vec<u8>,
    teller: Teller,
    /// For each step, a token or bytes: the length of the text before it, and the state of the teller.
    history: Vec<(usize, Teller)>,
    seen: Vec<Value>,
    turns: Vec<Turn>,
}

impl Session {
    /// Creates a session at the start of the model's first turn.
    ///
    /// # Errors
    /// Those of [`CompiledTools::turn`].
    pub fn new(tools: &CompiledTools, options: TurnOptions) -> Result<Session> {
        Ok(Session {
            turn: tools.turn(&options)?,
            options,
            groundings: Vec::new(),
            text: Vec::new(),
            teller: Teller::default(),
            history: Vec::new(),
            seen: Vec::new(),
            turns: Vec::new(),
        })
    }

    /// Returns the compiled set.
    pub fn tools(&self) -> &CompiledTools {
        self.turn.tools()
    }

    /// Returns the matcher of the current turn.
    pub fn turn(&self) -> &TurnMatcher {
        &self.turn
    }

    /// Returns the completed turns of the model.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// Returns the text of the current turn so far; special tokens appear as their names.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns whether the current turn has begun: a token or bytes were accepted and not undone.
    pub fn has_begun(&self) -> bool {
        self.turn.steps() > 0
    }

    /// Limits arguments to values of observations, from the next turn on; if the current turn has not begun, from this
    /// turn on. Replaces the earlier groundings.
    ///
    /// # Errors
    /// Those of [`CompiledTools::turn`].
    pub fn ground(&mut self, groundings: Vec<Grounding>) -> Result<()> {
        self.groundings = groundings;
        if self.has_begun() { Ok(()) } else { self.restart() }
    }

    /// Sets the options of later turns. A turn that has begun keeps its options, unless it is
    /// [restarted](Session::restart).
    ///
    /// # Errors
    /// Those of [`CompiledTools::turn`].
    pub fn set_options(&mut self, options: TurnOptions) -> Result<()> {
        self.options = options;
        if self.has_begun() { Ok(()) } else { self.restart() }
    }

    /// Restarts the current turn with the current options and groundings. Its text is dropped.
    ///
    /// # Errors
    /// Those of [`CompiledTools::turn`].
    pub fn restart(&mut self) -> Result<()> {
        let mut options = self.options.clone();
        for grounding in &self.groundings {
            let found = grounding
                .keys
                .iter()
                .flat_map(|key| self.seen.iter().flat_map(|seen| values_under(seen, key)));
            let mut values: Vec<Value> = Vec::new();
            for value in found {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            let (tool, member) = (grounding.tool.clone(), grounding.member.clone());
            options.limited.push(Limited { tool, member, values });
        }
        self.turn = self.turn.tools().turn(&options)?;
        self.text.clear();
        self.teller = Teller::default();
        self.history.clear();
        Ok(())
    }

    /// Writes the mask of the allowed tokens, as [`TurnMatcher::fill_mask`] does.
    ///
    /// # Errors
    /// `mask/buffer-too-short`; limits.
    pub fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        self.turn.fill_mask(words)
    }

    /// Returns the mask of the allowed tokens.
    ///
    /// # Errors
    /// Limits.
    pub fn mask(&mut self) -> Result<Arc<TokenMask>> {
        self.turn.mask()
    }

    /// Returns whether the turn may end here.
    ///
    /// # Errors
    /// None at present.
    pub fn is_accepting(&mut self) -> Result<bool> {
        self.turn.is_accepting()
    }

    /// Accepts a token of the model, and returns the events that are certain after the token. An end-of-sequence token
    /// ends the turn.
    ///
    /// # Errors
    /// `matcher/rejected`, `tools/rejected` (the session is unchanged); limits. For an end-of-sequence token also those
    /// of [`finish`](Session::finish), except `tools/open-turn`.
    pub fn accept_token(&mut self, token: TokenId) -> Result<Vec<Event>> {
        self.turn.accept_token(token)?;
        let vocabulary = Arc::clone(self.tools().vocabulary());
        self.history.push((self.text.len(), self.teller.clone()));
        if vocabulary.is_eos(token) {
            return self.end();
        }
        if vocabulary.bytes(token).is_none() {
            self.teller.special(self.text.len());
        }
        self.text.extend_from_slice(spelled(&vocabulary, token));
        Ok(self.tell(false))
    }

    /// Accepts bytes of the turn: [forced](TurnMatcher::forced_bytes) bytes, or a prefix that the host gives the model.
    ///
    /// # Errors
    /// `matcher/rejected`, `tools/rejected` (the session is unchanged); limits.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<Vec<Event>> {
        self.turn.accept_bytes(bytes)?;
        self.history.push((self.text.len(), self.teller.clone()));
        self.text.extend_from_slice(bytes);
        Ok(self.tell(false))
    }

    /// Returns the forced bytes: every completion of the turn continues with them.
    ///
    /// # Errors
    /// Limits.
    pub fn forced_bytes(&mut self) -> Result<Vec<u8>> {
        self.turn.forced_bytes()
    }

    /// Undoes the last steps of the turn. Their events are reported again if the same text is accepted again.
    ///
    /// # Errors
    /// `matcher/rollback-too-far` if the turn has fewer steps.
    pub fn rollback(&mut self, steps: usize) -> Result<()> {
        self.turn.rollback(steps)?;
        for _ in 0..steps {
            if let Some((bytes, teller)) = self.history.pop() {
                self.text.truncate(bytes);
                self.teller = teller;
            }
        }
        Ok(())
    }

    fn tell(&mut self, has_ended: bool) -> Vec<Event> {
        if !self.turn.is_in_parts() {
            return Vec::new();
        }
        let tools = self.turn.tools();
        self.teller.tell(Telling {
            text: &self.text,
            calls: self.turn.calls(),
            format: tools.format(),
            set: tools.set(),
            names: tools.ranked(),
            by_token: tools.calls_begin_with_token(),
            has_ended,
        })
    }

    /// Ends the turn and returns its last events. The next turn of the model begins.
    ///
    /// # Errors
    /// `tools/open-turn` if the turn cannot end here; those of [`CompiledTools::turn`], and of
    /// [`CallFormat::read`](crate::tools::CallFormat::read) in formats that do not write names first.
    pub fn finish(&mut self) -> Result<Vec<Event>> {
        if !self.turn.is_accepting()? && !self.turn.is_finished()? {
            return Err(errors::open_turn(self.text.len()));
        }
        self.end()
    }

    fn end(&mut self) -> Result<Vec<Event>> {
        let mut events = self.tell(true);
        let turn = match self.turn.is_in_parts() {
            true => self.teller.turn().clone(),
            false => {
                let tools = self.turn.tools();
                let turn = tools.format().read(&String::from_utf8_lossy(&self.text), tools.set())?;
                events = of_turn(&turn);
                turn
            }
        };
        events.push(Event::Finished(turn.clone()));
        self.turns.push(turn);
        self.restart()?;
        Ok(events)
    }

    /// Passes a text of the host to the session, such as the result of a call. No part of the text is read as a call.
    /// If it begins with JSON values, these become available to [grounded](Session::ground) arguments.
    ///
    /// # Errors
    /// `tools/open-turn` if the model's turn has begun but not ended; those of [`CompiledTools::turn`].
    pub fn observe(&mut self, observation: &str) -> Result<()> {
        if self.has_begun() {
            return Err(errors::open_turn(self.text.len()));
        }
        let values = serde_json::Deserializer::from_str(observation).into_iter::<Value>();
        self.seen.extend(values.map_while(|value| value.ok()));
        self.restart()
    }
}
