//! Converts programs with look-around to deterministic automata, and the automata to expressions.
//!
//! After a prefix, the set of possible suffixes is described by a disjunction of *terms*. A term is a conjunction of
//! instructions that read a character or require the end; an instruction may be negated (in a look-ahead that must
//! fail). Reading a character replaces each instruction by its successors, as in an alternating automaton. The states
//! are these disjunctions, without redundant terms, together with the facts about the prefix on which instructions
//! depend: each look-behind is simulated from every position, so its result is known when an instruction asks for it.
//! So the construction is exact, and no intersection remains.
//!
//! What an instruction becomes after a character depends on the facts about the prefix alone, which take few values. So
//! it is computed once for each of them, not in each state that has the instruction.

use super::errors;
use super::leaf::Hook;
use super::program::{END, Instruction, LINE_ENDS, Place, Program, WORD_FOLLOWS, YES};
use crate::collections::interner::Interner;
use crate::error::{Error, Result};
use crate::grammar::{CharClass, ExprId, GrammarBuilder};
use crate::syntax::deterministic::Automaton;
use crate::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// Maximum number of states of the deterministic automaton.
const MAX_STATES: usize = 20_000;
/// Maximum number of terms with more than one literal in one state. Bounds on intermediate terms are derived from it.
const MAX_TERMS: usize = 1_000;
/// Number of character ranges, or of tests of a class, that count as one step of work. Of pairs of terms, four times as
/// many do.
const CHEAP: usize = 16;
/// Maximum depth of look-aheads inside each other.
const MAX_DEPTH: usize = 32;
/// Maximum number of terms that [`Closures`] keeps, 24 bytes each.
const MAX_KEPT: usize = 1 << 18;

/// Twice the place of an instruction that reads a character or requires the end, plus one if it must fail.
type Literal = u32;
/// A conjunction of literals, sorted and without duplicates.
type Term = SmallVec<[Literal; 4]>;
/// A disjunction of terms, sorted by length and then by literals; no term contains all literals of another one.
type State = Vec<Term>;

/// The facts about the text before a position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Before {
    /// Whether the position is the start of the text.
    starts: bool,
    /// Whether a word character precedes the position.
    after_word: bool,
    /// Whether the position is the start of the text, or a line terminator precedes it.
    after_line: bool,
    /// For each look-behind, its simulation.
    behinds: Vec<Behind>,
}

/// The simulation of a look-behind at a position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Behind {
    /// The instructions that read the next character.
    waiting: Vec<Place>,
    /// Whether the look-behind matches here.
    holds: bool,
    /// The instructions that read the next character if the look-behind began before the match; empty unless the
    /// pattern is embedded.
    waiting_from_outside: Vec<Place>,
    /// Whether the look-behind would match here after some text before the match.
    may_hold: bool,
}

/// Index of [`Before`] in [`Closures`].
type BeforeId = u32;

/// Cache of the conditions on the following text.
#[derive(Default)]
struct Closures {
    befores: Interner<Before>,
    /// For the facts before a position, the condition under which the program accepts from a place; under which it does
    /// not, if the literal is negated.
    known: FxHashMap<(BeforeId, Literal), Rc<State>>,
    /// Number of terms in `known`.
    size: usize,
}

/// Lowers a program to the expression of the texts that it accepts. `hook`, if there is one, returns the expressions of
/// sets of characters.
///
/// # Errors
/// `limit/exceeded` if a bound of this file or the work of the builder's budget is exceeded; `regex/look-around` if a
/// look-behind reaches an assertion about the following text.
pub(super) fn lower(
    builder: &mut GrammarBuilder,
    program: &Program,
    pattern: &str,
    hook: Option<&mut Hook<'_>>,
) -> Result<ExprId> {
    let work = builder.work();
    let spent = |_| errors::too_complex(pattern, program.first_assertion, "steps of work", work.limit());
    let alphabet = Alphabet::of(&program.classes, work).map_err(spent)?;
    let asks = |of: fn(&Instruction) -> bool| program.instructions.iter().any(of);
    let asks_for_words = asks(|instruction| matches!(instruction, Instruction::Boundary(..)));
    let asks_for_lines = asks(|instruction| matches!(instruction, Instruction::Start { line: true, .. }));
    let endless = if program.embedded { endless(program) } else { Vec::new() };
    let maker =
        Maker { program, pattern, alphabet: &alphabet, work, asks_for_words, asks_for_lines, endless };
    let automaton = maker.automaton()?;
    let mut plain = |g: &mut GrammarBuilder, class: &CharClass| g.char_class(class.clone());
    let spell: &mut Hook<'_> = match hook {
        Some(hook) => hook,
        None => &mut plain,
    };
    Ok(automaton.expression(builder, &mut |g, symbols| {
        let ranges = symbols.iter().flat_map(|&symbol| alphabet.classes[symbol].ranges().iter().copied());
        let class = CharClass::new(ranges);
        spell(g, &class)
    }))
}

/// A partition of the characters into symbols. Each class of the program is a union of symbols.
struct Alphabet {
    /// The characters of each symbol.
    classes: Vec<CharClass>,
    /// For each class of the program and each symbol, whether the class contains the symbol.
    inside: Vec<Vec<bool>>,
}

impl Alphabet {
    fn of(classes: &[CharClass], work: &Budget) -> Result<Alphabet> {
        // a range of a symbol begins where a range of some class begins or has just ended
        let mut starts: Vec<u32> = vec![0, 0xE000];
        for &(low, high) in classes.iter().flat_map(|class| class.ranges()) {
            starts.extend([u32::from(low), u32::from(high) + 1]);
        }
        starts.sort_unstable();
        starts.dedup();
        work.spend(starts.len().saturating_mul(classes.len()) / CHEAP)?;
        let mut symbols: FxHashMap<Vec<bool>, Vec<(char, char)>> = FxHashMap::default();
        let mut order: Vec<Vec<bool>> = Vec::new();
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).map_or(u32::from(char::MAX), |next| next - 1);
            // surrogates are not characters
            let end = if (0xD800..0xE000).contains(&end) { 0xD7FF } else { end };
            let (Some(low), Some(high)) = (char::from_u32(start), char::from_u32(end)) else { continue };
            let signature: Vec<bool> = classes.iter().map(|class| class.contains(low)).collect();
            let ranges = symbols.entry(signature.clone()).or_insert_with(|| {
                order.push(signature);
                Vec::new()
            });
            ranges.push((low, high));
        }
        let inside = (0..classes.len()).map(|class| order.iter().map(|s| s[class]).collect()).collect();
        let classes = order.iter().map(|s| CharClass::new(symbols[s].iter().copied())).collect();
        Ok(Alphabet { classes, inside })
    }
}

/// The construction of the automaton of a program.
struct Maker<'m> {
    program: &'m Program,
    pattern: &'m str,
    alphabet: &'m Alphabet,
    work: &'m Budget,
    /// Whether some instruction depends on whether a word character precedes a position.
    asks_for_words: bool,
    /// Whether some instruction depends on whether a line terminator precedes a position.
    asks_for_lines: bool,
    /// By place, for an embedded pattern: whether the program may accept from there without coming to the end of the
    /// match, so that text after the match may matter.
    endless: Vec<bool>,
}

/// By place: whether the program may accept from there without requiring the end of the text.
fn endless(program: &Program) -> Vec<bool> {
    let mut before: Vec<Vec<Place>> = vec![Vec::new(); program.instructions.len()];
    for (place, instruction) in program.instructions.iter().enumerate() {
        let next: &[Place] = match instruction {
            Instruction::Yes
            | Instruction::End
            | Instruction::Start { line: false, .. }
            | Instruction::Finish { line: false, .. } => &[],
            Instruction::AnyOf(ways) => ways,
            Instruction::Char(_, next)
            | Instruction::Ahead(_, _, next)
            | Instruction::Behind(_, _, next)
            | Instruction::Start { next, .. }
            | Instruction::Finish { next, .. }
            | Instruction::Boundary(_, next) => std::slice::from_ref(next),
        };
        next.iter().for_each(|&next| before[next as usize].push(place as Place));
    }
    let mut endless = vec![false; program.instructions.len()];
    let mut open = vec![YES];
    while let Some(place) = open.pop() {
        if !std::mem::replace(&mut endless[place as usize], true) {
            open.extend(&before[place as usize]);
        }
    }
    endless
}

impl Maker<'_> {
    fn too_complex(&self, what: &str, limit: usize) -> Error {
        errors::too_complex(self.pattern, self.program.first_assertion, what, limit)
    }

    fn spend(&self, steps: usize) -> Result<()> {
        self.work.spend(steps).map_err(|_| self.too_complex("steps of work", self.work.limit()))
    }

    fn automaton(&self) -> Result<Automaton> {
        let ranges: usize = self.alphabet.classes.iter().map(|class| class.ranges().len()).sum();
        let mut behinds = vec![Behind::default(); self.program.behinds.len()];
        self.begin_outside(&mut behinds);
        let mut before = Before { starts: true, after_word: false, after_line: true, behinds };
        self.run_behinds(&mut before, None)?;
        let mut closures = Closures::default();
        let before = closures.befores.intern(before);
        let start = self.closed(&mut closures, self.program.start * 2, before, 0)?;
        let mut states: Interner<(State, BeforeId)> = Interner::default();
        states.intern((State::clone(&start), before));
        let mut automaton = Automaton::new(self.alphabet.classes.len());
        while automaton.len() < states.len() {
            let (state, before) = states.get(automaton.len() as u32).clone();
            let classes = self.classes_of(&state);
            // building the character classes of the transitions of a state takes work, and so does comparing symbols
            self.spend((ranges + classes.len() * self.alphabet.classes.len()) / CHEAP)?;
            let mut next = Vec::with_capacity(self.alphabet.classes.len());
            // symbols in the same classes of the state, after which the facts are the same, have one successor
            let mut known: FxHashMap<(Vec<bool>, BeforeId), Option<u32>> = FxHashMap::default();
            for symbol in 0..self.alphabet.classes.len() {
                let after = self.after(closures.befores.get(before), symbol)?;
                let after = closures.befores.intern(after);
                let inside = classes.iter().map(|&class| self.alphabet.inside[class][symbol]).collect();
                let key = (inside, after);
                if let Some(&known) = known.get(&key) {
                    next.push(known);
                    continue;
                }
                let (state, after) = self.step(&mut closures, &state, symbol, after)?;
                let id = (!state.is_empty()).then(|| states.intern((state, after)));
                known.insert(key, id);
                next.push(id);
            }
            if states.len() > MAX_STATES {
                return Err(self.too_complex("states", MAX_STATES));
            }
            if self.program.embedded && self.looks_ahead(&state) {
                return Err(errors::looks_outside(self.pattern, self.program.first_assertion));
            }
            // at the end of the text, literals that require the end hold and those that read a character fail
            let holds = |&literal: &Literal| (literal / 2 == END) != (literal % 2 == 1);
            automaton.push(next, state.iter().any(|term| term.iter().all(holds)));
        }
        Ok(automaton)
    }

    /// The classes of the program that the literals of a state read, sorted.
    fn classes_of(&self, state: &State) -> Vec<usize> {
        let mut reads = vec![false; self.program.classes.len()];
        for &literal in state.iter().flatten() {
            if let Instruction::Char(class, _) = self.program.instructions[literal as usize / 2] {
                reads[class as usize] = true;
            }
        }
        (0..reads.len()).filter(|&class| reads[class]).collect()
    }

    /// The instruction after `place` if it reads `symbol`; otherwise `None`.
    fn reads(&self, place: Place, symbol: usize) -> Option<Place> {
        match self.program.instructions[place as usize] {
            Instruction::Char(class, next) => self.alphabet.inside[class as usize][symbol].then_some(next),
            _ => None,
        }
    }

    /// The facts after `symbol` is read. Facts that no instruction needs are left out, so that there are fewer states.
    fn after(&self, before: &Before, symbol: usize) -> Result<Before> {
        let is = |place: Place| self.reads(place, symbol).is_some();
        let mut after = Before {
            starts: false,
            after_word: self.asks_for_words && is(WORD_FOLLOWS),
            after_line: self.asks_for_lines && is(LINE_ENDS),
            behinds: before.behinds.clone(),
        };
        self.run_behinds(&mut after, Some(symbol))?;
        Ok(after)
    }

    /// The state after `symbol` is read, and the facts that matter there, given all facts `after` the symbol.
    fn step(
        &self,
        closures: &mut Closures,
        state: &State,
        symbol: usize,
        after: BeforeId,
    ) -> Result<(State, BeforeId)> {
        let mut all = Vec::new();
        for term in state {
            let mut product: Option<Rc<State>> = None;
            for &literal in term {
                let next = match self.reads(literal / 2, symbol) {
                    Some(next) => self.closed(closures, next * 2 + literal % 2, after, 0)?,
                    None if literal % 2 == 1 => Rc::new(vec![Term::new()]),
                    None => Rc::default(),
                };
                product = Some(match product {
                    Some(product) => Rc::new(self.product(&product, &next)?),
                    None => next,
                });
            }
            match product {
                Some(product) => {
                    self.spend(product.len() / CHEAP)?;
                    all.extend(product.iter().cloned());
                }
                None => all.push(Term::new()),
            }
        }
        let state = self.simplified(all)?;
        if state.iter().all(|term| term.is_empty()) && !state.is_empty() {
            // any text is accepted, so facts about the prefix do not matter any more
            let mut none =
                Before { starts: false, after_word: false, after_line: false, behinds: Vec::new() };
            none.behinds = vec![Behind::default(); self.program.behinds.len()];
            return Ok((state, closures.befores.intern(none)));
        }
        Ok((state, after))
    }

    /// Advances the simulation of each look-behind by `symbol`, if there is one, and begins each look-behind again at
    /// this position.
    ///
    /// # Errors
    /// `regex/look-around` if a look-behind reaches an assertion about the following text.
    fn run_behinds(&self, before: &mut Before, symbol: Option<usize>) -> Result<()> {
        for index in 0..self.program.behinds.len() {
            let Behind { waiting, waiting_from_outside, .. } = std::mem::take(&mut before.behinds[index]);
            self.spend(1 + waiting.len() + waiting_from_outside.len())?;
            let read = |waiting: &[Place]| -> Vec<Place> {
                let next = |&place: &Place| symbol.and_then(|symbol| self.reads(place, symbol));
                waiting.iter().filter_map(next).collect()
            };
            let mut places = read(&waiting);
            places.push(self.program.behinds[index]);
            let (waiting, holds) = self.run_behind(before, places, false)?;
            // at the start of the match, `begin_outside` has set the places of look-behinds that began before it
            let places = if symbol.is_some() { read(&waiting_from_outside) } else { waiting_from_outside };
            let (waiting_from_outside, may_hold) = self.run_behind(before, places, true)?;
            before.behinds[index] = Behind { waiting, holds, waiting_from_outside, may_hold };
        }
        Ok(())
    }

    /// Runs a look-behind from `places` without reading a character. Returns the instructions that read one, and
    /// whether it matches here. `from_outside` says whether it began before the match of an embedded pattern; then
    /// look-behinds in it are taken to hold.
    fn run_behind(
        &self,
        before: &Before,
        mut places: Vec<Place>,
        from_outside: bool,
    ) -> Result<(Vec<Place>, bool)> {
        let mut waiting = Vec::new();
        let mut seen = FxHashSet::default();
        let mut holds = false;
        while let Some(place) = places.pop() {
            if !seen.insert(place) {
                continue;
            }
            match &self.program.instructions[place as usize] {
                Instruction::Yes => holds = true,
                Instruction::Char(..) => waiting.push(place),
                Instruction::AnyOf(ways) => places.extend(ways),
                Instruction::Behind(inner, negated, next) => {
                    if from_outside || before.behinds[*inner].holds != *negated {
                        places.push(*next);
                    }
                }
                Instruction::Start { line, next } => {
                    // a look-behind that began before the match is past its start
                    if before.starts && !from_outside || *line && before.after_line {
                        places.push(*next);
                    }
                }
                Instruction::End
                | Instruction::Ahead(..)
                | Instruction::Finish { .. }
                | Instruction::Boundary(..) => return Err(errors::ahead_in_behind(self.pattern)),
            }
        }
        waiting.sort_unstable();
        Ok((waiting, holds))
    }

    /// Sets, for each look-behind of an embedded pattern, the places that it may have reached at the start of the match
    /// if it began before: all those after a character.
    fn begin_outside(&self, behinds: &mut [Behind]) {
        if !self.program.embedded {
            return;
        }
        for (behind, &start) in behinds.iter_mut().zip(&self.program.behinds) {
            let (mut open, mut seen) = (vec![start], FxHashSet::default());
            let mut after = FxHashSet::default();
            while let Some(place) = open.pop() {
                if !seen.insert(place) {
                    continue;
                }
                match &self.program.instructions[place as usize] {
                    Instruction::AnyOf(ways) => open.extend(ways),
                    Instruction::Char(_, next) => {
                        after.insert(*next);
                        open.push(*next);
                    }
                    Instruction::Behind(_, _, next) | Instruction::Start { next, .. } => open.push(*next),
                    // look-behinds with other instructions are refused
                    _ => {}
                }
            }
            behind.waiting_from_outside = after.into_iter().collect();
            behind.waiting_from_outside.sort_unstable();
        }
    }

    /// Whether, at the end of the match of an embedded pattern, the following text decides whether it matches.
    fn looks_ahead(&self, state: &State) -> bool {
        let mut at_end = state.iter().filter(|term| term.contains(&(END * 2))).peekable();
        // a term that only requires the end holds; the others have a literal that the following text may decide
        let is_decided = |term: &Term| {
            term.iter()
                .all(|&literal| literal == END * 2 || literal % 2 == 1 && !self.endless[literal as usize / 2])
        };
        at_end.peek().is_some() && !at_end.any(is_decided)
    }

    /// The condition on the following text under which the program accepts from the place of a literal, or does not if
    /// the literal is negated, given the facts about the text before. `depth` is the number of look-aheads that contain
    /// the place.
    fn closed(
        &self,
        closures: &mut Closures,
        literal: Literal,
        before: BeforeId,
        depth: usize,
    ) -> Result<Rc<State>> {
        if let Some(known) = closures.known.get(&(before, literal)) {
            return Ok(Rc::clone(known));
        }
        let state = match literal % 2 {
            0 => Rc::new(self.close(closures, literal / 2, before, depth)?),
            _ => {
                let holds = self.closed(closures, literal - 1, before, depth)?;
                Rc::new(self.negated(&holds)?)
            }
        };
        if closures.size + state.len() <= MAX_KEPT {
            closures.size += 1 + state.len();
            closures.known.insert((before, literal), Rc::clone(&state));
        }
        Ok(state)
    }

    /// The condition of [`closed`](Maker::closed) for a place.
    fn close(&self, closures: &mut Closures, start: Place, before: BeforeId, depth: usize) -> Result<State> {
        if depth > MAX_DEPTH {
            return Err(self.too_complex("look-aheads inside each other", MAX_DEPTH));
        }
        let mut all = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![(start, Term::new())];
        while let Some((place, term)) = work.pop() {
            if !seen.insert((place, term.clone())) {
                continue;
            }
            if seen.len() > 8 * MAX_TERMS + 2 * self.program.instructions.len() {
                return Err(self.too_complex("alternatives", MAX_TERMS));
            }
            let mut also = |next: Place, more: &State| {
                for more in more {
                    if let Some(term) = self.joined(&term, more) {
                        work.push((next, term));
                    }
                }
            };
            let (yes, no) =
                (|place: Place| vec![smallvec![place * 2]], |place: Place| vec![smallvec![place * 2 + 1]]);
            match &self.program.instructions[place as usize] {
                Instruction::Yes => all.push(term),
                Instruction::End | Instruction::Char(..) => all.extend(self.joined(&term, &[place * 2])),
                Instruction::AnyOf(ways) => work.extend(ways.iter().map(|&way| (way, term.clone()))),
                Instruction::Ahead(body, negated, next) => {
                    let literal = body * 2 + u32::from(*negated);
                    also(*next, &*self.closed(closures, literal, before, depth + 1)?);
                }
                Instruction::Behind(index, negated, next) => {
                    let behind = &closures.befores.get(before).behinds[*index];
                    if behind.may_hold && !behind.holds {
                        return Err(errors::looks_outside(self.pattern, self.program.first_assertion));
                    }
                    if behind.holds != *negated {
                        work.push((*next, term));
                    }
                }
                Instruction::Start { line, next } => {
                    let before = closures.befores.get(before);
                    if before.starts || *line && before.after_line {
                        work.push((*next, term));
                    }
                }
                Instruction::Finish { line, next } => {
                    also(*next, &yes(END));
                    if *line {
                        also(*next, &yes(LINE_ENDS));
                    }
                }
                Instruction::Boundary(is, next) => {
                    if self.program.embedded && closures.befores.get(before).starts {
                        return Err(errors::looks_outside(self.pattern, self.program.first_assertion));
                    }
                    let word_follows = closures.befores.get(before).after_word != *is;
                    also(*next, &if word_follows { yes(WORD_FOLLOWS) } else { no(WORD_FOLLOWS) });
                }
            }
        }
        self.spend(seen.len() / 2)?;
        self.simplified(all)
    }

    /// The negation of a state.
    fn negated(&self, state: &State) -> Result<State> {
        let mut all = vec![Term::new()];
        for term in state {
            let one_fails: State = term.iter().map(|literal| smallvec![literal ^ 1]).collect();
            all = self.product(&all, &one_fails)?;
        }
        Ok(all)
    }

    /// The conjunction of two states.
    fn product(&self, a: &State, b: &State) -> Result<State> {
        if a.len().saturating_mul(b.len()) > MAX_TERMS * MAX_TERMS / 16 {
            return Err(self.too_complex("alternatives", MAX_TERMS));
        }
        let pairs = a.iter().flat_map(|a| b.iter().filter_map(|b| self.joined(a, b)));
        self.simplified(pairs.collect())
    }

    /// Sorts a state and drops every term that contains all literals of another one.
    fn simplified(&self, mut state: State) -> Result<State> {
        self.spend(2 * (1 + state.len()))?;
        state.sort_unstable_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        state.dedup();
        // different terms of one literal do not contain each other
        let singles: FxHashSet<Literal> = state
            .iter()
            .filter_map(|term| <[Literal; 1]>::try_from(term.as_slice()).ok())
            .map(|[l]| l)
            .collect();
        let mut kept: State = Vec::new();
        for term in state {
            self.spend(kept.len() / (4 * CHEAP))?;
            let needless = match term.len() {
                0 => return Ok(vec![term]),
                1 => false,
                _ => {
                    term.iter().any(|literal| singles.contains(literal))
                        || kept.iter().filter(|k| k.len() > 1).any(|k| k.iter().all(|l| term.contains(l)))
                }
            };
            if !needless {
                kept.push(term);
            }
        }
        if kept.iter().filter(|term| term.len() > 1).count() > MAX_TERMS {
            return Err(self.too_complex("alternatives", MAX_TERMS));
        }
        Ok(kept)
    }

    /// The conjunction of two terms; `None` if it can never hold.
    fn joined(&self, a: &[Literal], b: &[Literal]) -> Option<Term> {
        let mut term: Term = a.iter().chain(b).copied().collect();
        term.sort_unstable();
        term.dedup();
        let opposed = term.windows(2).any(|pair| pair[0] / 2 == pair[1] / 2);
        // a text cannot both end and continue, but an embedded match can end where a look-ahead continues
        let continues =
            |place: Place| !self.endless.get(place as usize).is_some_and(|is_endless| *is_endless);
        let ends = term.contains(&(END * 2));
        let reads = |&literal: &Literal| {
            literal % 2 == 0 && literal / 2 != END && literal / 2 != YES && continues(literal / 2)
        };
        if opposed || ends && term.iter().any(reads) { None } else { Some(term) }
    }
}
