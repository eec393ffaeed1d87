//! The matcher: one sequence's walk through the automaton.
//!
//! A matcher is a list of configuration ids, one a step, and the bytes that led to them. So rollback drops
//! from the end of the list and fork copies it. The bytes are kept so that the walk can be found again when
//! the shared tables had to make room.

mod errors;
mod explain;
mod forced;
mod names;

pub use explain::{Expectation, Explanation};

use crate::automaton::names::{NameTables, Place};
use crate::automaton::{Automaton, ConfigurationId, Successors};
use crate::error::{ErrorKind, Result};
use crate::mask::{CompiledGrammar, Engine, NameEnds, Published, TokenMask};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// One sequence under a [`CompiledGrammar`].
#[derive(Clone, Debug)]
pub struct Matcher {
    compiled: CompiledGrammar,
    path: Path,
}

/// What was accepted so far, and the configurations that it led to.
#[derive(Clone, Debug)]
struct Path {
    /// The generation of tables that the ids in `steps` belong to.
    generation: u64,
    /// The configuration after each step; the first is the start. Empty before the first use.
    steps: Vec<Step>,
    bytes: Vec<u8>,
    /// Where the names of objects are before the first byte.
    start: Place,
    names: NameTables,
}

/// What it takes to find out more about a path.
struct At<'a> {
    compiled: &'a CompiledGrammar,
    engine: &'a mut Engine,
    path: &'a mut Path,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    /// How many bytes were accepted by then.
    end: usize,
    configuration: ConfigurationId,
    /// Which names of objects came.
    place: Place,
    /// Whether an end-of-sequence token has been accepted.
    ended: bool,
}

impl CompiledGrammar {
    /// A matcher at the beginning of a text.
    pub fn matcher(&self) -> Matcher {
        Matcher { compiled: self.clone(), path: Path::new(names::start(self)) }
    }
}

impl AsMut<Matcher> for Matcher {
    fn as_mut(&mut self) -> &mut Matcher {
        self
    }
}

impl Matcher {
    /// The compiled grammar.
    pub fn compiled(&self) -> &CompiledGrammar {
        &self.compiled
    }

    /// The bytes accepted so far.
    pub fn bytes(&self) -> &[u8] {
        &self.path.bytes
    }

    /// How many steps (tokens or byte strings) were accepted so far and can be rolled back.
    pub fn steps(&self) -> usize {
        self.path.steps.len().saturating_sub(1)
    }

    /// Writes the mask of the tokens that may come next: bit `i % 32` of word `i / 32` for token `i`. Words
    /// past the vocabulary's are cleared. After an end-of-sequence token nothing may come.
    ///
    /// # Errors
    /// `mask/buffer-too-short`; limits `cache_bytes` and `lockstep_search`.
    pub fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        self.with_mask(|mask| mask.write_to(words))?
    }

    /// Looks at the mask of the tokens that may come next where it lies. That neither copies it nor counts a reference,
    /// over which threads on one grammar would wait for each other.
    ///
    /// # Errors
    /// Limits `cache_bytes` and `lockstep_search`.
    pub fn with_mask<R>(&mut self, mut look: impl FnMut(&TokenMask) -> R) -> Result<R> {
        if !self.has_ended()
            && self.path.place().is_outside()
            && let Some(seen) = self.known(|_, published, at| published.mask(at).map(|mask| look(mask)))
        {
            return Ok(seen);
        }
        Ok(look(&*self.mask()?))
    }

    /// The mask of the tokens that may come next, shared, not copied.
    ///
    /// # Errors
    /// Limits `cache_bytes` and `lockstep_search`.
    pub fn mask(&mut self) -> Result<Arc<TokenMask>> {
        if self.has_ended() {
            let width = self.compiled.vocabulary().width();
            return Ok(Arc::new(TokenMask::sparse(Vec::new(), width)));
        }
        let known = self.known(|_, published, at| published.mask(at).map(Arc::clone));
        let mask = match known {
            Some(mask) => mask,
            None => self.with_engine(|At { compiled, engine, .. }, configuration| {
                engine.mask(compiled.automaton(), compiled.vocabulary(), configuration)
            })?,
        };
        self.without_repeated_names(mask)
    }

    /// Accepts a token: ordinary ones by their bytes, end-of-sequence ones where the text is a word.
    ///
    /// # Errors
    /// `matcher/rejected` with what was expected, if the mask does not allow it (the matcher stays where it
    /// was); limits.
    pub fn accept_token(&mut self, token: TokenId) -> Result<()> {
        if self.accept_known(token) {
            return Ok(());
        }
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        if vocabulary.is_eos(token) {
            if self.has_ended() || !self.is_accepting()? {
                return Err(errors::rejected_end(self)?);
            }
            if let Some(&last) = self.path.steps.last() {
                self.path.steps.push(Step { ended: true, ..last });
            }
            return Ok(());
        }
        match vocabulary.bytes(token) {
            Some(bytes) => self.accept_bytes(bytes),
            None => Err(errors::not_text(&vocabulary, token, self.path.bytes.len())),
        }
    }

    /// Accepts bytes, as one step.
    ///
    /// # Errors
    /// `matcher/rejected` with the place and what was expected there, if no word goes on so (the matcher
    /// stays where it was); limits.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        if self.has_ended() {
            return Err(errors::after_end(self.path.bytes.len()));
        }
        let known = self.known(|compiled, published, at| published.run(compiled.automaton(), at, bytes));
        let (end, names) = match known {
            Some(known) => known,
            None => self.with_engine(|At { compiled, engine, .. }, mut configuration| {
                let mut names = NameEnds::new();
                for (place, &byte) in bytes.iter().enumerate() {
                    configuration = engine.tables.step(compiled.automaton(), configuration, byte)?;
                    if configuration == ConfigurationId::DEAD {
                        break;
                    }
                    if engine.tables.successors().is_named(configuration) {
                        names.push(place);
                    }
                }
                Ok((configuration, names))
            })?,
        };
        let place = match end {
            ConfigurationId::DEAD => None,
            _ => self.place_after(bytes, &names)?,
        };
        let Some(place) = place else {
            let explanation = self.explain(bytes)?;
            return Err(errors::rejected(&explanation));
        };
        self.path.push(bytes, end, place);
        Ok(())
    }

    /// Accepts a token if it is known where it leads; nothing is shared with other threads but reading.
    fn accept_known(&mut self, token: TokenId) -> bool {
        let vocabulary = self.compiled.vocabulary();
        let Some(bytes) = vocabulary.bytes(token).filter(|_| !vocabulary.is_eos(token)) else { return false };
        if self.has_ended() {
            return false;
        }
        let published = self.compiled.published();
        let end =
            self.path.known(&published).and_then(|at| published.run(self.compiled.automaton(), at, bytes));
        match end {
            Some((end, names)) if end != ConfigurationId::DEAD => {
                let place = self.path.place();
                // where names are followed, it is looked at more closely
                let is_plain = place.is_outside() && names.is_empty();
                if is_plain {
                    self.path.push(bytes, end, place);
                }
                is_plain
            }
            _ => false,
        }
    }

    /// Takes back the last `steps` steps.
    ///
    /// # Errors
    /// `matcher/rollback-too-far` if there were fewer.
    pub fn rollback(&mut self, steps: usize) -> Result<()> {
        if steps > self.steps() {
            return Err(errors::rollback_too_far(steps, self.steps()));
        }
        self.path.steps.truncate(self.path.steps.len() - steps);
        self.path.bytes.truncate(self.path.steps.last().map_or(0, |step| step.end));
        Ok(())
    }

    /// A matcher of its own at the same place.
    pub fn fork(&self) -> Matcher {
        self.clone()
    }

    /// Back to the beginning.
    pub fn reset(&mut self) {
        self.path = Path::new(self.path.start);
    }

    /// Whether the text so far is a word of the language, so that it may end here.
    ///
    /// # Errors
    /// Limits.
    pub fn is_accepting(&mut self) -> Result<bool> {
        self.successors_say(Successors::is_accepting)
    }

    /// Whether the text has ended, or is a word that nothing can be added to.
    ///
    /// # Errors
    /// Limits.
    pub fn is_finished(&mut self) -> Result<bool> {
        Ok(self.has_ended() || self.successors_say(Successors::is_final)?)
    }

    fn successors_say(&mut self, ask: impl Fn(&Successors, ConfigurationId) -> bool) -> Result<bool> {
        match self.known(|_, published, at| Some(ask(published.successors(), at))) {
            Some(answer) => Ok(answer),
            None => self.with_engine(|with, at| Ok(ask(with.engine.tables.successors(), at))),
        }
    }

    fn has_ended(&self) -> bool {
        self.path.steps.last().is_some_and(|step| step.ended)
    }

    /// Reads what is known of the current configuration, without a lock; `None` if something is missing.
    fn known<R>(
        &mut self,
        read: impl FnOnce(&CompiledGrammar, &Published, ConfigurationId) -> Option<R>,
    ) -> Option<R> {
        let published = self.compiled.published();
        let at = self.path.known(&published)?;
        read(&self.compiled, &published, at)
    }

    /// Runs `work` on the current configuration. Where the tables are full they are dropped, the walk is
    /// found again, and the work is done once more with all the room there is.
    fn with_engine<R>(
        &mut self,
        mut work: impl FnMut(&mut At<'_>, ConfigurationId) -> Result<R>,
    ) -> Result<R> {
        let compiled = &self.compiled;
        let mut engine = compiled.engine();
        if engine.memory_usage() > compiled.automaton().limits().cache_bytes {
            engine.reset();
        }
        let generation = engine.generation();
        let fresh = engine.tables.configuration_count() <= 1;
        let find = |path: &mut Path, engine: &mut Engine| path.find(compiled.automaton(), engine);
        let mut work =
            |path: &mut Path, engine: &mut Engine, at| work(&mut At { compiled, engine, path }, at);
        let attempt = find(&mut self.path, &mut engine).and_then(|at| work(&mut self.path, &mut engine, at));
        let result = match attempt {
            Err(error) if error.kind() == ErrorKind::Limit && !fresh => {
                if engine.generation() == generation {
                    engine.reset();
                }
                find(&mut self.path, &mut engine).and_then(|at| work(&mut self.path, &mut engine, at))
            }
            result => result,
        };
        engine.publish_size();
        result.map_err(|error| error.or_at(&crate::Place::Byte(self.path.bytes.len())))
    }
}

impl Path {
    fn new(start: Place) -> Path {
        Path { generation: 0, steps: Vec::new(), bytes: Vec::new(), start, names: NameTables::default() }
    }

    fn push(&mut self, bytes: &[u8], configuration: ConfigurationId, place: Place) {
        self.bytes.extend_from_slice(bytes);
        self.steps.push(Step { end: self.bytes.len(), configuration, place, ended: false });
    }

    /// Which names of objects came.
    #[inline]
    fn place(&self) -> Place {
        self.steps.last().map_or(self.start, |step| step.place)
    }

    /// The current configuration, if it belongs to the published tables.
    fn known(&mut self, published: &Published) -> Option<ConfigurationId> {
        if self.steps.is_empty() {
            let start = published.start()?;
            self.steps.push(Step { end: 0, configuration: start, place: self.start, ended: false });
            self.generation = published.generation;
        }
        let last = self.steps.last().filter(|_| self.generation == published.generation);
        last.map(|step| step.configuration)
    }

    /// The current configuration in the engine's tables.
    fn find(&mut self, automaton: &Automaton, engine: &mut Engine) -> Result<ConfigurationId> {
        if self.steps.is_empty() || self.generation != engine.generation() {
            let mut at = engine.start(automaton)?;
            let mut from = 0;
            let mut found = Vec::with_capacity(self.steps.len().max(1));
            found.push(Step { end: 0, configuration: at, place: self.start, ended: false });
            for step in self.steps.iter().skip(1) {
                for &byte in &self.bytes[from..step.end] {
                    at = engine.tables.step(automaton, at, byte)?;
                }
                from = step.end;
                found.push(Step { configuration: at, ..*step });
            }
            self.steps = found;
            self.generation = engine.generation();
        }
        Ok(self.steps.last().map_or(ConfigurationId::DEAD, |step| step.configuration))
    }
}
