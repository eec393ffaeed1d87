//! The engine against the oracles: a random grammar, a random vocabulary and a random sequence of
//! operations, all drawn from one string of bytes.

use super::brute_mask::brute_mask;
use super::earley::{Recogniser, Refusal, State};
use super::generate::{
    Choices, GrammarShape, RandomVocabulary, random_grammar, random_tokenisation, random_vocabulary,
    random_word,
};
use crate::diagnostic::excerpt_bytes;
use crate::grammar::Grammar;
use crate::{CompiledGrammar, Compiler, Error, ErrorKind, Limits, Matcher, TokenId, TokenMask};
use std::sync::Arc;

/// What came of a case without disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Engine and oracles agreed.
    Agreed,
    /// They agreed that the language is empty.
    EmptyLanguage,
    /// The oracle could not decide within its budget, or the engine within its limits.
    Undecided,
}

/// Why a case ended before its end: a disagreement, in words, or what was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stop {
    Disagreement(String),
    Undecided,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        match error.kind() {
            ErrorKind::Limit => Stop::Undecided,
            _ => Stop::Disagreement(format!("the engine failed: {error}")),
        }
    }
}

type Step<T = ()> = Result<T, Stop>;

fn decided<T>(answer: Option<T>) -> Step<T> {
    answer.ok_or(Stop::Undecided)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, engine: T, oracle: T) -> Step {
    if engine == oracle {
        return Ok(());
    }
    Err(Stop::Disagreement(format!("{what}: the engine says {engine:?}, the oracle {oracle:?}")))
}

/// A grammar and a vocabulary drawn from bytes, compiled, with the oracle.
#[derive(Debug)]
pub struct Case<'g> {
    recogniser: Recogniser<'g>,
    vocabulary: RandomVocabulary,
    compiled: CompiledGrammar,
    words: Vec<Vec<u8>>,
}

/// Limits under which a case that would take long ends soon.
pub fn small_limits() -> Limits {
    Limits { lockstep_search: 300, cache_bytes: 4 << 20, ..Limits::default() }
}

/// Draws a grammar of `shape`, a vocabulary and a sequence of operations from `bytes`, and does them with
/// the engine and with the oracle.
///
/// # Errors
/// What they disagree on, with the case in words.
pub fn operations_agree(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, &mut choices, |case, choices| {
        let mut walk = Walk::new(case);
        let outcome = (0..10).try_for_each(|_| walk.operation(choices)).and_then(|()| walk.compare());
        outcome.map_err(|stop| walk.describe(stop))?;
        Ok(())
    })
}

/// Draws a grammar and words of it: the engine accepts them in random tokenisations, and nothing on the way
/// depends on the limit of its tables, or on what other grammars have found out.
///
/// # Errors
/// What they disagree on, with the case in words.
pub fn words_are_accepted(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, &mut choices, |case, choices| {
        let tight = Limits { cache_bytes: 2_000 + 64 * choices.below(256), ..small_limits() };
        let tight = Compiler::new(Arc::clone(case.compiled.vocabulary())).limits(tight).compile(&grammar)?;
        let compiler = Compiler::new(Arc::clone(case.compiled.vocabulary())).limits(small_limits());
        if let Ok(other) = compiler.compile(&random_grammar(choices, shape)) {
            wander(&other, choices);
        }
        wander(&compiler.compile(&grammar)?, choices);
        let informed = compiler.compile(&grammar)?;
        for word in &case.words {
            let tokens = random_tokenisation(choices, &case.vocabulary.tokens, word);
            let tokens = tokens.unwrap_or_else(|| unreachable!("all bytes of words are tokens"));
            case.accept_word(&tokens, &tight, &informed).map_err(|stop| match stop {
                Stop::Disagreement(what) => {
                    let word = excerpt_bytes(word);
                    Stop::Disagreement(format!("{what}\nin the word {word:?} as the tokens {tokens:?}"))
                }
                stop => stop,
            })?;
        }
        Ok(())
    })
}

/// Draws a grammar and words of it, which threads then walk along at once, each in an order of its own:
/// the masks are those that one thread gets alone.
///
/// # Errors
/// What they disagree on, with the case in words.
pub fn threads_agree(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, &mut choices, |case, _| {
        let masks = |compiled: &CompiledGrammar, word: &Vec<u8>| -> crate::Result<Vec<Arc<TokenMask>>> {
            let mut matcher = compiled.matcher();
            let mut masks = vec![matcher.mask()?];
            for byte in word {
                matcher.accept_bytes(&[*byte])?;
                masks.push(matcher.mask()?);
            }
            Ok(masks)
        };
        let alone = case.words.iter().map(|word| masks(&case.compiled, word));
        let alone = alone.collect::<crate::Result<Vec<_>>>()?;
        let vocabulary = Arc::clone(case.compiled.vocabulary());
        let shared = Compiler::new(vocabulary).limits(small_limits()).compile(&grammar)?;
        let (shared, words) = (&shared, &case.words);
        let together = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|first: usize| {
                    scope.spawn(move || {
                        let order = (0..words.len()).map(|n| (n + first) % words.len());
                        order.map(|n| Ok((n, masks(shared, &words[n])?))).collect::<crate::Result<Vec<_>>>()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
        });
        for thread in together {
            for (n, masks) in thread.map_err(|_| Stop::Disagreement("a thread panicked".into()))?? {
                same("the masks on a thread", &masks, &alone[n])?;
            }
        }
        Ok(())
    })
}

/// Takes some tokens that a grammar allows, for what is found out on the way.
fn wander(compiled: &CompiledGrammar, choices: &mut Choices<'_>) {
    let mut matcher = compiled.matcher();
    for _ in 0..8 {
        let allowed: Vec<TokenId> = match matcher.mask() {
            Ok(mask) => mask.iter().collect(),
            Err(_) => return,
        };
        if allowed.is_empty() || matcher.accept_token(*choices.pick(&allowed)).is_err() {
            return;
        }
    }
}

fn run_case(
    grammar: &Grammar,
    choices: &mut Choices<'_>,
    body: impl FnOnce(&Case<'_>, &mut Choices<'_>) -> Step,
) -> Result<Outcome, String> {
    let mut shown = None;
    let outcome = Case::new(grammar, choices).and_then(|case| match case {
        None => Ok(Outcome::EmptyLanguage),
        Some(case) => {
            shown = Some(case.vocabulary.clone());
            body(&case, choices).map(|()| Outcome::Agreed)
        }
    });
    match outcome {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Undecided) => Ok(Outcome::Undecided),
        Err(Stop::Disagreement(what)) => {
            let mut text = format!("{what}\nthe grammar:\n{grammar}");
            for (id, token) in shown.iter().flat_map(|v| v.tokens.iter().enumerate()) {
                let token = token.as_ref().map(|bytes| excerpt_bytes(bytes));
                text.push_str(&format!("token {id}: {token:?}\n"));
            }
            Err(text)
        }
    }
}

impl<'g> Case<'g> {
    /// `None` if oracle and engine agree that the language is empty.
    fn new(grammar: &'g Grammar, choices: &mut Choices<'_>) -> Step<Option<Case<'g>>> {
        let recogniser = match Recogniser::new(grammar) {
            Ok(recogniser) => recogniser,
            Err(Refusal::Undecided) => return Err(Stop::Undecided),
            Err(Refusal::Cyclic) => unreachable!("the generator makes no cycles through locks"),
        };
        let mut words = Vec::new();
        for wanted in [0, 4, 8] {
            let length = wanted + choices.below(4);
            words.extend(random_word(choices, &recogniser, length));
        }
        let vocabulary = random_vocabulary(choices, recogniser.alphabet(), &words);
        let built = Arc::new(vocabulary.build()?);
        let compiled = Compiler::new(built).limits(small_limits()).compile(grammar);
        let viable = decided(recogniser.is_viable(&recogniser.start()))?;
        match compiled {
            Ok(compiled) => {
                same("the language has words", true, viable)?;
                Ok(Some(Case { recogniser, vocabulary, compiled, words }))
            }
            Err(error) if error.code() == "automaton/empty-language" => {
                same("the language has words", false, viable)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn accept_word(&self, tokens: &[u32], tight: &CompiledGrammar, informed: &CompiledGrammar) -> Step {
        let (mut matcher, mut under_pressure) = (self.compiled.matcher(), tight.matcher());
        let mut informed = informed.matcher();
        for (place, &token) in tokens.iter().enumerate() {
            let mask = matcher.mask()?;
            same(&format!("token {place} is in the mask"), mask.contains(TokenId::new(token)), true)?;
            same("the mask by what others have found out", informed.mask()?, Arc::clone(&mask))?;
            informed.accept_token(TokenId::new(token))?;
            match under_pressure.mask() {
                Ok(other) => same("the mask under a tight limit", other, mask)?,
                Err(error) if error.kind() == ErrorKind::Limit => {}
                Err(error) => return Err(error.into()),
            }
            matcher.accept_token(TokenId::new(token))?;
            // past its limit a matcher must still say so, and stay where it was
            if let Err(error) = under_pressure.accept_token(TokenId::new(token)) {
                same("an error under a tight limit", error.kind(), ErrorKind::Limit)?;
                under_pressure = matcher.clone();
            }
        }
        same("the word is accepted", matcher.is_accepting()?, true)?;
        matcher.accept_token(TokenId::new(self.vocabulary.eos[0]))?;
        same("the word is finished", matcher.is_finished()?, true)
    }
}

/// A matcher and the oracle's states, step by step.
struct Walk<'c, 'g> {
    case: &'c Case<'g>,
    matcher: Matcher,
    states: Vec<State>,
    /// What was accepted, for the report.
    steps: Vec<Vec<u8>>,
}

impl<'c, 'g> Walk<'c, 'g> {
    fn new(case: &'c Case<'g>) -> Walk<'c, 'g> {
        let (matcher, start) = (case.compiled.matcher(), case.recogniser.start());
        Walk { case, matcher, states: vec![start], steps: Vec::new() }
    }

    fn state(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    fn describe(&self, stop: Stop) -> Stop {
        match stop {
            Stop::Disagreement(what) => {
                let steps: Vec<String> = self.steps.iter().map(|step| excerpt_bytes(step)).collect();
                Stop::Disagreement(format!("{what}\nafter the steps {steps:?}"))
            }
            stop => stop,
        }
    }

    fn oracle_mask(&self) -> Step<Vec<u32>> {
        let Case { recogniser, vocabulary: v, .. } = self.case;
        decided(brute_mask(recogniser, self.state(), &v.tokens, &v.eos, v.mask_words()))
    }

    /// Everything that can be said of the place where the walk is.
    fn compare(&mut self) -> Step<Vec<u32>> {
        let oracle = self.oracle_mask()?;
        let mut engine = vec![u32::MAX; self.case.vocabulary.mask_words() + 1];
        self.matcher.fill_mask(&mut engine)?;
        let ids = |mask: &[u32]| -> Vec<usize> {
            (0..mask.len() * 32).filter(|&id| mask[id / 32] >> (id % 32) & 1 == 1).collect()
        };
        same("the mask", ids(&engine), ids(&oracle))?;
        if oracle.iter().all(|&word| word == 0) {
            return Err(Stop::Disagreement("a dead end: the mask is empty".into()));
        }
        let accepting = self.case.recogniser.is_accepting(self.state());
        same("is accepting", self.matcher.is_accepting()?, accepting)?;
        let viable = decided(self.case.recogniser.viable_bytes(self.state()))?;
        same("the allowed bytes", self.matcher.allowed_bytes()?, viable)?;
        same("is finished", self.matcher.is_finished()?, accepting && viable.is_empty())?;
        Ok(oracle)
    }

    fn operation(&mut self, choices: &mut Choices<'_>) -> Step {
        match choices.below(10) {
            0..=4 => self.accept_allowed(choices),
            5 => self.offer_any(choices),
            6 => self.offer_bytes(choices),
            7 => self.forced(),
            8 => self.roll_back(choices),
            _ => self.fork(choices),
        }
    }

    fn accept_allowed(&mut self, choices: &mut Choices<'_>) -> Step {
        let mask = self.compare()?;
        let ids: Vec<u32> = (0..self.case.vocabulary.width as u32)
            .filter(|id| mask[*id as usize / 32] >> (id % 32) & 1 == 1)
            .collect();
        let token = *choices.pick(&ids);
        self.matcher.accept_token(TokenId::new(token))?;
        if self.case.vocabulary.eos.contains(&token) {
            return self.after_end();
        }
        let bytes = self.case.vocabulary.tokens[token as usize].clone().unwrap_or_default();
        self.took(&bytes);
        Ok(())
    }

    fn took(&mut self, bytes: &[u8]) {
        let mut state = self.state().clone();
        bytes.iter().for_each(|&byte| self.case.recogniser.advance(&mut state, byte));
        self.states.push(state);
        self.steps.push(bytes.to_vec());
    }

    /// After the end nothing may come; the end is taken back.
    fn after_end(&mut self) -> Step {
        same("finished after the end", self.matcher.is_finished()?, true)?;
        let mut mask = vec![u32::MAX; self.case.vocabulary.mask_words()];
        self.matcher.fill_mask(&mut mask)?;
        same("tokens after the end", mask.iter().any(|&word| word != 0), false)?;
        for token in 0..self.case.vocabulary.width as u32 {
            let refused = self.matcher.accept_token(TokenId::new(token)).is_err();
            same("a token after the end is refused", refused, true)?;
        }
        self.matcher.rollback(1)?;
        Ok(())
    }

    /// A random token, allowed or not.
    fn offer_any(&mut self, choices: &mut Choices<'_>) -> Step {
        let token = choices.below(self.case.vocabulary.width) as u32;
        let allowed = self.oracle_mask()?[token as usize / 32] >> (token % 32) & 1 == 1;
        let accepted = accepted(self.matcher.accept_token(TokenId::new(token)))?;
        same(&format!("token {token} is accepted"), accepted, allowed)?;
        match self.case.vocabulary.tokens.get(token as usize).and_then(Clone::clone) {
            Some(bytes) if accepted => self.took(&bytes),
            _ if accepted => self.matcher.rollback(1)?,
            _ => {}
        }
        Ok(())
    }

    /// Random bytes, likely ones of a word.
    fn offer_bytes(&mut self, choices: &mut Choices<'_>) -> Step {
        let alphabet = self.case.recogniser.alphabet();
        let mut bytes: Vec<u8> = (0..choices.below(3)).map(|_| *choices.pick(alphabet)).collect();
        if choices.chance(50) && !self.case.words.is_empty() {
            let word = choices.pick(&self.case.words);
            bytes = word[choices.below(word.len() + 1).min(word.len())..].to_vec();
        }
        let mut state = self.state().clone();
        bytes.iter().for_each(|&byte| self.case.recogniser.advance(&mut state, byte));
        let viable = decided(self.case.recogniser.is_viable(&state))?;
        let accepted = accepted(self.matcher.accept_bytes(&bytes))?;
        same(&format!("the bytes {:?} are accepted", excerpt_bytes(&bytes)), accepted, viable)?;
        if accepted {
            self.took(&bytes);
        }
        Ok(())
    }

    /// Forced bytes are what every completion begins with, and no shorter than that.
    fn forced(&mut self) -> Step {
        let forced = self.matcher.forced_bytes()?;
        let mut state = self.state().clone();
        // a language may be one endless-looking word; a part of it will do
        for (place, &byte) in forced.iter().take(100).enumerate() {
            let only = !self.case.recogniser.is_accepting(&state)
                && decided(self.case.recogniser.viable_bytes(&state))?.iter().eq([byte]);
            same(&format!("forced byte {place}, {byte:02X}, is the only one"), true, only)?;
            self.case.recogniser.advance(&mut state, byte);
        }
        if forced.len() < 100 {
            let viable = decided(self.case.recogniser.viable_bytes(&state))?.len();
            let more = !self.case.recogniser.is_accepting(&state) && viable == 1;
            same("a further byte is forced", false, more)?;
        }
        let mut spelled = Vec::new();
        for token in self.matcher.forced_tokens()? {
            let bytes = self.case.vocabulary.tokens.get(token.index()).and_then(Option::as_deref);
            spelled.extend_from_slice(bytes.unwrap_or_default());
        }
        same("forced tokens spell forced bytes", forced.starts_with(&spelled), true)
    }

    /// Taking steps back and doing them again changes nothing.
    fn roll_back(&mut self, choices: &mut Choices<'_>) -> Step {
        let count = choices.below(self.steps.len() + 1);
        let before = self.matcher.mask()?;
        let again = self.steps[self.steps.len() - count..].to_vec();
        self.matcher.rollback(count)?;
        if choices.chance(50) {
            for bytes in &again {
                self.matcher.accept_bytes(bytes)?;
            }
            return same("the mask after rollback and replay", self.matcher.mask()?, before);
        }
        self.steps.truncate(self.steps.len() - count);
        self.states.truncate(self.states.len() - count);
        let steps = self.matcher.steps();
        same("one step too many cannot be taken back", self.matcher.rollback(steps + 1).is_err(), true)?;
        self.compare().map(drop)
    }

    /// What one fork does, the other does not see.
    fn fork(&mut self, choices: &mut Choices<'_>) -> Step {
        let before = self.matcher.mask()?;
        let mut other = Walk {
            case: self.case,
            matcher: self.matcher.fork(),
            states: self.states.clone(),
            steps: self.steps.clone(),
        };
        other.accept_allowed(choices).map_err(|stop| other.describe(stop))?;
        same("the mask after a fork went on", self.matcher.mask()?, before)?;
        if choices.chance(50) {
            *self = other;
        }
        Ok(())
    }
}

/// Whether something offered was accepted; errors other than a rejection stop the case.
fn accepted(result: crate::Result<()>) -> Step<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::Rejected => Ok(false),
        Err(error) => Err(error.into()),
    }
}
