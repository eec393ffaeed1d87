//! A conversation: turns of a model under masks, and of the host, who says what calls came to.

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

/// An argument that takes only values which observations had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounding {
    /// The tool; all tools with such a member if there is none.
    pub tool: Option<String>,
    /// The member of the argument object.
    pub member: String,
    /// The keys of observations whose values it takes, at any depth.
    pub keys: Vec<String>,
}

/// One conversation over a compiled set.
///
/// The model's tokens go to [`accept_token`](Session::accept_token) under the masks of [`mask`](Session::mask); what the host says
/// goes to [`observe`](Session::observe), in which nothing is a call.
#[derive(Clone, Debug)]
pub struct Session {
    options: TurnOptions,
    groundings: Vec<Grounding>,
    turn: TurnMatcher,
    text: Vec<u8>,
    teller: Teller,
    /// After each token: the bytes before it, and what had been told.
    history: Vec<(usize, Teller)>,
    seen: Vec<Value>,
    turns: Vec<Turn>,
}

impl Session {
    /// At the first turn of the model.
    ///
    /// # Errors
    /// As of [`CompiledTools::turn`].
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

    /// The compiled set.
    pub fn tools(&self) -> &CompiledTools {
        self.turn.tools()
    }

    /// The matcher of the turn.
    pub fn turn(&self) -> &TurnMatcher {
        &self.turn
    }

    /// The turns of the model that have ended.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The text of the turn so far, special tokens as their names.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Whether the turn that goes on has begun.
    pub fn has_begun(&self) -> bool {
        self.turn.steps() > 0
    }

    /// Arguments that take only values of observations, from the next turn on; of one that has not begun yet, at once.
    ///
    /// # Errors
    /// As of [`CompiledTools::turn`].
    pub fn ground(&mut self, groundings: Vec<Grounding>) -> Result<()> {
        self.groundings = groundings;
        if self.has_begun() { Ok(()) } else { self.restart() }
    }

    /// What the turns from now on may do; a turn that has begun ends as it may, unless it is [begun again](Session::restart).
    ///
    /// # Errors
    /// As of [`CompiledTools::turn`].
    pub fn set_options(&mut self, options: TurnOptions) -> Result<()> {
        self.options = options;
        if self.has_begun() { Ok(()) } else { self.restart() }
    }

    /// Begins the turn again.
    ///
    /// # Errors
    /// As of [`CompiledTools::turn`].
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

    /// Writes the mask of the tokens that may come next, as [`TurnMatcher::fill_mask`] does.
    ///
    /// # Errors
    /// `mask/buffer-too-short`; limits.
    pub fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        self.turn.fill_mask(words)
    }

    /// The mask of the tokens that may come next.
    ///
    /// # Errors
    /// Limits.
    pub fn mask(&mut self) -> Result<Arc<TokenMask>> {
        self.turn.mask()
    }

    /// Whether the turn may end here.
    ///
    /// # Errors
    /// Limits.
    pub fn is_accepting(&mut self) -> Result<bool> {
        self.turn.is_accepting()
    }

    /// Accepts a token of the model. What the turn says by then is told; an end-of-sequence token ends it.
    ///
    /// # Errors
    /// `matcher/rejected`, `tools/rejected` (the session stays where it was); limits.
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

    /// Accepts bytes that the turn must have: those that are [forced](TurnMatcher::forced_bytes), or a beginning that the host
    /// gives the model.
    ///
    /// # Errors
    /// `matcher/rejected`, `tools/rejected` (the session stays where it was); limits.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<Vec<Event>> {
        self.turn.accept_bytes(bytes)?;
        self.history.push((self.text.len(), self.teller.clone()));
        self.text.extend_from_slice(bytes);
        Ok(self.tell(false))
    }

    /// The bytes that every completion of the turn begins with.
    ///
    /// # Errors
    /// Limits.
    pub fn forced_bytes(&mut self) -> Result<Vec<u8>> {
        self.turn.forced_bytes()
    }

    /// Takes back the last steps of the turn. What was told is told again if it comes again.
    ///
    /// # Errors
    /// `matcher/rollback-too-far` if there were fewer.
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

    /// The turn as it ended. The next turn begins.
    ///
    /// # Errors
    /// `tools/open-turn`: it cannot end here; as of [`CompiledTools::turn`].
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

    /// What the host says after a turn: the result of a call, for instance. Nothing in it is a call. Its JSON, if it is any, has
    /// the values that [grounded](Session::ground) arguments may take.
    ///
    /// # Errors
    /// `tools/open-turn`: the model's turn has begun and not ended; as of [`CompiledTools::turn`].
    pub fn observe(&mut self, observation: &str) -> Result<()> {
        if self.has_begun() {
            return Err(errors::open_turn(self.text.len()));
        }
        let values = serde_json::Deserializer::from_str(observation).into_iter::<Value>();
        self.seen.extend(values.map_while(|value| value.ok()));
        self.restart()
    }
}
