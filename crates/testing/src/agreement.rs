//! Compares the engine with the oracles on a random grammar, a random vocabulary and a random sequence of operations,
//! all drawn from one string of bytes.

use super::brute_mask::brute_mask_with;
use super::earley::{Recogniser, Refusal, State, Symbol};
use super::end_tokens;
use super::fuzz_limits::small_limits;
use super::generate::{
    Choices, GrammarShape, RandomVocabulary, name_specials, random_grammar, random_symbols,
    random_tokenisation, random_vocabulary,
};
use super::mask_files::loaded;
use super::outcome::{Step, Stop, decided, same};
use super::taken::{Taken, texts};
use super::token_sets::TokenSets;
use grammata::diagnostic::excerpt_bytes;
use grammata::grammar::{Expression, Grammar};
use grammata::{CompiledGrammar, Compiler, ErrorKind, Matcher, TokenId, TokenMask};
use std::sync::Arc;

pub use super::outcome::Outcome;

/// A grammar and a vocabulary drawn from bytes, compiled, with the oracle.
#[derive(Debug)]
pub struct Case<'g> {
    pub(super) recogniser: Recogniser<'g>,
    pub(super) vocabulary: RandomVocabulary,
    pub(super) compiled: CompiledGrammar,
    /// The tokens of the grammar's token terminals.
    pub(super) sets: TokenSets,
    words: Vec<Vec<Symbol>>,
}

/// Draws a grammar of `shape`, a vocabulary and a sequence of operations from `bytes`, and performs the operations with
/// the engine and with the oracle.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn operations_agree(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, shape, &mut choices, |case, choices| operate(Walk::new(case, &case.compiled), choices))
}

/// Like [`operations_agree`], with an engine that starts from a mask file in which little was explored.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn operations_agree_from_files(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, shape, &mut choices, |case, choices| {
        let words: Vec<Vec<u32>> = case.words.iter().map(|word| case.tokenised(choices, word)).collect();
        let loaded = loaded(&case.compiled, &words, choices)?;
        operate(Walk::new(case, &loaded), choices)
    })
}

fn operate(mut walk: Walk<'_, '_>, choices: &mut Choices<'_>) -> Step {
    let outcome = (0..10).try_for_each(|_| walk.operation(choices)).and_then(|()| walk.compare());
    outcome.map_err(|stop| walk.describe(stop)).map(|_| ())
}

/// Draws a grammar and words of it. The engine must accept the words in random tokenisations, and no result on the way
/// may depend on the memory limit of its tables or on earlier work with other grammars.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn words_are_accepted(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, shape, &mut choices, |case, choices| {
        let tight = small_limits().cache_bytes(2_000 + 64 * choices.below(256));
        let tight = Compiler::new(Arc::clone(case.compiled.vocabulary())).limits(tight).compile(&grammar)?;
        let compiler = Compiler::new(Arc::clone(case.compiled.vocabulary())).limits(small_limits());
        if let Ok(other) = compiler.compile(&random_grammar(choices, shape)) {
            wander(&other, choices);
        }
        wander(&compiler.compile(&grammar)?, choices);
        let informed = compiler.compile(&grammar)?;
        for word in &case.words {
            let tokens = case.tokenised(choices, word);
            case.accept_word(&tokens, &tight, &informed).map_err(|stop| match stop {
                Stop::Disagreement(what) => {
                    Stop::Disagreement(format!("{what}\nin the word {word:?} as the tokens {tokens:?}"))
                }
                stop => stop,
            })?;
        }
        Ok(())
    })
}

/// Draws a grammar and some of its words, which several threads then follow concurrently, each in its own order. The
/// masks must equal those of a single thread.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn threads_agree(bytes: &[u8], shape: &GrammarShape) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let grammar = random_grammar(&mut choices, shape);
    run_case(&grammar, shape, &mut choices, |case, choices| {
        let masks =
            |compiled: &CompiledGrammar, word: &Vec<Taken>| -> grammata::Result<Vec<Arc<TokenMask>>> {
                let mut matcher = compiled.matcher();
                let mut masks = vec![matcher.mask()?];
                for step in word {
                    // an end token may have ended the text
                    if masks.last().is_some_and(|mask| mask.is_empty()) {
                        break;
                    }
                    step.accept(&mut matcher)?;
                    masks.push(matcher.mask()?);
                }
                Ok(masks)
            };
        let words: Vec<Vec<Taken>> = case.words.iter().map(|word| case.steps(choices, word)).collect();
        let alone = words.iter().map(|word| masks(&case.compiled, word));
        let alone = alone.collect::<grammata::Result<Vec<_>>>()?;
        let vocabulary = Arc::clone(case.compiled.vocabulary());
        let shared = Compiler::new(vocabulary).limits(small_limits()).compile(&grammar)?;
        let (shared, words) = (&shared, &words);
        let together = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3)
                .map(|first: usize| {
                    scope.spawn(move || {
                        let order = (0..words.len()).map(|n| (n + first) % words.len());
                        order
                            .map(|n| Ok((n, masks(shared, &words[n])?)))
                            .collect::<grammata::Result<Vec<_>>>()
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

/// Takes some tokens that a grammar allows, to fill its tables.
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

pub(super) fn run_case(
    grammar: &Grammar,
    shape: &GrammarShape,
    choices: &mut Choices<'_>,
    body: impl FnOnce(&Case<'_>, &mut Choices<'_>) -> Step,
) -> Result<Outcome, String> {
    let mut shown = None;
    let outcome = Case::new(grammar, choices).and_then(|case| match case {
        None => Ok(Outcome::EmptyLanguage),
        Some(mut case) => {
            shown = Some(case.vocabulary.clone());
            if shape.ends {
                let has_token_terminals = !case.sets.is_empty();
                case.compiled =
                    end_tokens::given(&case.compiled, &case.vocabulary, has_token_terminals, choices)?;
            }
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
    /// Draws a case; `None` if oracle and engine agree that the language is empty or that a token terminal is invalid.
    fn new(grammar: &'g Grammar, choices: &mut Choices<'_>) -> Step<Option<Case<'g>>> {
        let recogniser = match Recogniser::new(grammar) {
            Ok(recogniser) => recogniser,
            Err(Refusal::Undecided) => return Err(Stop::Undecided),
            Err(Refusal::Cyclic) => unreachable!("the generator makes no cycles through locks"),
        };
        let mut words = Vec::new();
        for wanted in [0, 4, 8] {
            let length = wanted + choices.below(4);
            words.extend(random_symbols(choices, &recogniser, length));
        }
        let pieces: Vec<Vec<u8>> = words.iter().flat_map(|word| texts(word)).collect();
        let mut vocabulary = random_vocabulary(choices, recogniser.alphabet(), &pieces);
        if grammar.expressions().iter().any(|expression| matches!(expression, Expression::Token(_))) {
            name_specials(choices, &mut vocabulary);
        }
        let sets = match TokenSets::of(grammar, &vocabulary) {
            Ok(sets) => sets,
            Err(expected) => {
                let built = Arc::new(vocabulary.build()?);
                return match Compiler::new(built).limits(small_limits()).compile(grammar) {
                    // the engine ignores parts that the root does not reach
                    Ok(_) => Err(Stop::Undecided),
                    Err(error) if error.kind() == ErrorKind::Limit => Err(Stop::Undecided),
                    Err(error) if error.code() == "automaton/empty-language" => Ok(None),
                    Err(error) if expected.contains(&error.code()) => Ok(None),
                    Err(error) => Err(Stop::Disagreement(format!("{error}, but not one of {expected:?}"))),
                };
            }
        };
        let built = Arc::new(vocabulary.build()?);
        let compiled = Compiler::new(built).limits(small_limits()).compile(grammar);
        let viable = decided(recogniser.is_viable(&recogniser.start()))?;
        match compiled {
            Ok(compiled) => {
                same("the language has words", true, viable)?;
                Ok(Some(Case { recogniser, vocabulary, compiled, sets, words }))
            }
            Err(error) if error.code() == "automaton/empty-language" => {
                same("the language has words", false, viable)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Writes a word as random tokens.
    fn tokenised(&self, choices: &mut Choices<'_>, word: &[Symbol]) -> Vec<u32> {
        let mut tokens = Vec::new();
        for (place, text) in texts(word).enumerate() {
            if place > 0 {
                let mut terminals = word.iter().filter_map(|symbol| match symbol {
                    Symbol::Terminal(terminal) => Some(*terminal),
                    Symbol::Byte(_) => None,
                });
                let terminal = terminals.nth(place - 1);
                tokens.extend(terminal.map(|terminal| *choices.pick(&self.sets.tokens(terminal))));
            }
            let text = random_tokenisation(choices, &self.vocabulary.tokens, &text);
            tokens.extend(text.unwrap_or_else(|| unreachable!("all bytes of words are tokens")));
        }
        tokens
    }

    /// Writes a word byte by byte, with a token for each token terminal.
    fn steps(&self, choices: &mut Choices<'_>, word: &[Symbol]) -> Vec<Taken> {
        let step = |symbol: &Symbol| match symbol {
            Symbol::Byte(byte) => Taken::Bytes(vec![*byte]),
            Symbol::Terminal(terminal) => Taken::Token(*choices.pick(&self.sets.tokens(*terminal))),
        };
        word.iter().map(step).collect()
    }

    /// The fewest tokens after which a state accepts: `None` if undecided, `Some(None)` if no tokens do.
    pub(super) fn fewest_tokens(&self, state: &State) -> Option<Option<usize>> {
        let mut tokens = self.vocabulary.tokens.clone();
        // padding can match token terminals by its ids
        tokens.resize(self.vocabulary.width, None);
        self.recogniser.fewest_tokens(state, &tokens, |terminal, token| self.sets.has(terminal, token))
    }

    /// The state after a token, and whether a token terminal accepts the token.
    pub(super) fn after_token(&self, state: &State, token: u32) -> (State, bool) {
        let mut after = state.clone();
        let bytes = self.vocabulary.tokens.get(token as usize).and_then(Option::as_deref).unwrap_or_default();
        self.recogniser.advance_token(&mut after, bytes, |terminal| self.sets.has(terminal, token));
        let terminals = self.recogniser.viable_terminals(state);
        (after, terminals.into_iter().any(|terminal| self.sets.has(terminal, token)))
    }

    /// Whether a token accepted by a token terminal has ended the text, given the state after it.
    pub(super) fn is_end(&self, after: &State, token: u32) -> bool {
        self.vocabulary.eos.contains(&token) && self.recogniser.is_accepting(after)
    }

    /// Whether the text read so far is a word and not a proper prefix of another word.
    fn is_finished(&self, state: &State) -> Step<bool> {
        let viable = decided(self.recogniser.viable_bytes(state))?;
        let goes_on = !viable.is_empty() || !self.recogniser.viable_terminals(state).is_empty();
        Ok(self.recogniser.is_accepting(state) && !goes_on)
    }

    fn accept_word(&self, tokens: &[u32], tight: &CompiledGrammar, informed: &CompiledGrammar) -> Step {
        let (mut matcher, mut under_pressure) = (self.compiled.matcher(), tight.matcher());
        let mut informed = informed.matcher();
        let mut state = self.recogniser.start();
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
            state = self.after_token(&state, token).0;
            if self.is_end(&state, token) {
                return same("finished after an end token", matcher.is_finished(), true);
            }
            // under a tight limit only an error of the limit is allowed; the walk then continues with a copy of the
            // other matcher
            if let Err(error) = under_pressure.accept_token(TokenId::new(token)) {
                same("an error under a tight limit", error.kind(), ErrorKind::Limit)?;
                under_pressure = matcher.clone();
            }
        }
        same("the word is accepted", matcher.is_accepting(), true)?;
        // an end token that a token terminal accepts may not end the word
        let is_plain = |&end: &u32| {
            let (after, by_id) = self.after_token(&state, end);
            !by_id || self.recogniser.is_accepting(&after)
        };
        let Some(end) = self.vocabulary.eos.iter().copied().find(is_plain) else { return Ok(()) };
        matcher.accept_token(TokenId::new(end))?;
        same("the word is finished", matcher.is_finished(), true)
    }
}

/// A matcher and the oracle's states, step by step.
struct Walk<'c, 'g> {
    case: &'c Case<'g>,
    matcher: Matcher,
    states: Vec<State>,
    /// The steps taken so far, for the report.
    steps: Vec<Taken>,
}

impl<'c, 'g> Walk<'c, 'g> {
    fn new(case: &'c Case<'g>, compiled: &CompiledGrammar) -> Walk<'c, 'g> {
        let (matcher, start) = (compiled.matcher(), case.recogniser.start());
        Walk { case, matcher, states: vec![start], steps: Vec::new() }
    }

    fn state(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    fn describe(&self, stop: Stop) -> Stop {
        match stop {
            Stop::Disagreement(what) => {
                Stop::Disagreement(format!("{what}\nafter the steps {:?}", self.steps))
            }
            stop => stop,
        }
    }

    fn oracle_mask(&self) -> Step<Vec<u32>> {
        let Case { recogniser, vocabulary: v, sets, .. } = self.case;
        let tokens = (&v.tokens[..], sets);
        decided(brute_mask_with(recogniser, self.state(), tokens, &v.eos, v.mask_words()))
    }

    /// Compares every property of the current position.
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
        same("is accepting", self.matcher.is_accepting(), accepting)?;
        let viable = decided(self.case.recogniser.viable_bytes(self.state()))?;
        same("the allowed bytes", self.matcher.allowed_bytes()?, viable)?;
        same("is finished", self.matcher.is_finished(), self.case.is_finished(self.state())?)?;
        Ok(oracle)
    }

    fn operation(&mut self, choices: &mut Choices<'_>) -> Step {
        match choices.below(if self.case.sets.is_empty() { 10 } else { 11 }) {
            10 => {
                self.case.compiled.drop_tables();
                self.compare().map(drop)
            }
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
        self.took_token(token)
    }

    fn took(&mut self, bytes: &[u8]) {
        let mut state = self.state().clone();
        bytes.iter().for_each(|&byte| self.case.recogniser.advance(&mut state, byte));
        self.states.push(state);
        self.steps.push(Taken::Bytes(bytes.to_vec()));
    }

    /// Handles an accepted token. If it ends the text, it is undone.
    fn took_token(&mut self, token: u32) -> Step {
        let (after, by_id) = self.case.after_token(self.state(), token);
        let is_end = self.case.vocabulary.eos.contains(&token);
        if is_end && (!by_id || self.case.recogniser.is_accepting(&after)) {
            return self.after_end();
        }
        if self.case.sets.is_empty() {
            let bytes = self.case.vocabulary.tokens[token as usize].clone().unwrap_or_default();
            self.took(&bytes);
            return Ok(());
        }
        self.states.push(after);
        self.steps.push(Taken::Token(token));
        Ok(())
    }

    /// Checks that nothing is accepted after the end, then undoes the end.
    fn after_end(&mut self) -> Step {
        same("finished after the end", self.matcher.is_finished(), true)?;
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

    /// Offers a random token, allowed or not.
    fn offer_any(&mut self, choices: &mut Choices<'_>) -> Step {
        let width = self.case.vocabulary.width;
        let token = choices.below(width) as u32;
        self.offer_draft(&[token, token, choices.below(width) as u32].map(TokenId::new))?;
        let allowed = self.oracle_mask()?[token as usize / 32] >> (token % 32) & 1 == 1;
        let accepted = accepted(self.matcher.accept_token(TokenId::new(token)))?;
        same(&format!("token {token} is accepted"), accepted, allowed)?;
        if accepted { self.took_token(token) } else { Ok(()) }
    }

    /// Checks that a draft is accepted up to the same token as its tokens one by one.
    fn offer_draft(&mut self, draft: &[TokenId]) -> Step {
        let (mut one_by_one, mut together) = (self.matcher.fork(), self.matcher.fork());
        let count = draft.iter().take_while(|&&token| one_by_one.accept_token(token).is_ok()).count();
        let validated = self.matcher.validate_tokens(draft)?;
        same("tokens of a draft", (validated, together.accept_tokens(draft)?), (count, count))?;
        same(
            "the text with a draft",
            (together.bytes(), together.steps()),
            (one_by_one.bytes(), one_by_one.steps()),
        )
    }

    /// Offers random bytes that are likely to continue a word.
    fn offer_bytes(&mut self, choices: &mut Choices<'_>) -> Step {
        let alphabet = self.case.recogniser.alphabet();
        let mut bytes: Vec<u8> = (0..choices.below(3)).map(|_| *choices.pick(alphabet)).collect();
        if choices.chance(50) && !self.case.words.is_empty() {
            let word: &Vec<Symbol> = choices.pick(&self.case.words);
            let word = texts(word).last().unwrap_or_default();
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

    /// Checks that the forced bytes, up to the first 100, are the longest common prefix of all completions, and that
    /// the forced tokens are forced and spell them.
    fn forced(&mut self) -> Step {
        let forced = self.matcher.forced_bytes()?;
        let mut state = self.state().clone();
        // the forced text can be very long; its beginning is enough
        for (place, &byte) in forced.iter().take(100).enumerate() {
            let only = self.is_only_byte(&state, byte)?;
            same(&format!("forced byte {place}, {byte:02X}, is the only one"), true, only)?;
            self.case.recogniser.advance(&mut state, byte);
        }
        if forced.len() < 100 {
            let viable = decided(self.case.recogniser.viable_bytes(&state))?.len();
            let terminals = self.case.recogniser.viable_terminals(&state).len();
            let more = !self.case.recogniser.is_accepting(&state) && viable == 1 && terminals == 0;
            same("a further byte is forced", false, more)?;
        }
        let mut state = self.state().clone();
        let mut spelled = Vec::new();
        for token in self.matcher.forced_tokens()?.into_iter().take(100) {
            let (after, by_id) = self.case.after_token(&state, token.get());
            if by_id {
                let only = self.is_only_token(&state, token.get())?;
                same(&format!("the forced token {token} is the only one"), true, only)?;
                state = after;
                continue;
            }
            let bytes = self.case.vocabulary.tokens.get(token.index()).and_then(Option::as_deref);
            for &byte in bytes.unwrap_or_default() {
                same(&format!("the forced token {token} is text"), true, self.is_only_byte(&state, byte)?)?;
                self.case.recogniser.advance(&mut state, byte);
                spelled.push(byte);
            }
        }
        let compared = spelled.len().min(forced.len());
        same("forced tokens spell forced bytes", &spelled[..compared], &forced[..compared])
    }

    /// Whether every completion begins with this byte.
    fn is_only_byte(&self, state: &State, byte: u8) -> Step<bool> {
        let recogniser = &self.case.recogniser;
        let alone = !recogniser.is_accepting(state) && recogniser.viable_terminals(state).is_empty();
        Ok(alone && decided(recogniser.viable_bytes(state))?.iter().eq([byte]))
    }

    /// Whether every completion begins with this token by its id.
    fn is_only_token(&self, state: &State, token: u32) -> Step<bool> {
        let recogniser = &self.case.recogniser;
        let alone = !recogniser.is_accepting(state) && decided(recogniser.viable_bytes(state))?.is_empty();
        let terminals = recogniser.viable_terminals(state);
        Ok(alone && terminals.into_iter().all(|terminal| self.case.sets.tokens(terminal) == [token]))
    }

    /// Checks that undoing steps and repeating them changes nothing.
    fn roll_back(&mut self, choices: &mut Choices<'_>) -> Step {
        let count = choices.below(self.steps.len() + 1);
        let before = self.matcher.mask()?;
        let again = self.steps[self.steps.len() - count..].to_vec();
        self.matcher.rollback(count)?;
        if choices.chance(50) {
            for step in &again {
                step.accept(&mut self.matcher)?;
            }
            return same("the mask after rollback and replay", self.matcher.mask()?, before);
        }
        self.steps.truncate(self.steps.len() - count);
        self.states.truncate(self.states.len() - count);
        let steps = self.matcher.steps();
        same("one step too many cannot be taken back", self.matcher.rollback(steps + 1).is_err(), true)?;
        self.compare().map(drop)
    }

    /// Checks that steps of one fork do not affect the other.
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

/// Whether an offer was accepted; errors other than a rejection stop the case.
fn accepted(result: grammata::Result<()>) -> Step<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::Rejected => Ok(false),
        Err(error) => Err(error.into()),
    }
}
