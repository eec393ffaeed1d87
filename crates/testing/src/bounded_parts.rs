//! Compares parts bounded in tokens with a search over all ways to read a text.
//!
//! The oracle keeps each way to read a text separately: a list of the pieces still to be read, and the number of tokens
//! that the open part has left.

use super::generate::Choices;
use super::outcome::{Outcome, Step, Stop, decided, same};
use grammata::grammar::analysis;
use grammata::grammar::{
    ExprId, Expression, Grammar, GrammarBuilder, RuleId, TokenScope, TokenSelector, TokenTerminal,
};
use grammata::mask::Distance;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, Limits, Matcher, TokenId};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A piece still to be read. Lists of pieces hold the next one last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Piece {
    Expr(ExprId),
    /// A literal from a byte index on.
    Bytes(ExprId, usize),
    Repeat(ExprId, u32, Option<u32>),
    EndPart,
}

/// One way to read a text: the remaining pieces, and how many more tokens may begin in the open part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Way {
    rest: Vec<Piece>,
    left: Option<u32>,
}

type Ways = BTreeSet<Way>;

struct Oracle<'g> {
    grammar: &'g Grammar,
    /// The bytes of each ordinary token. The one special token is known by its id.
    tokens: Vec<Option<Vec<u8>>>,
    special: u32,
    /// For the rest of a part: the bound up to which was searched, and the fewest tokens, if at most that many, that
    /// read the rest exactly to its end.
    fewest: HashMap<Vec<Piece>, (u32, Option<u32>)>,
    /// Whether the parts of a way can end within their bounds.
    can_end: HashMap<Way, bool>,
    /// The number of ways examined so far.
    work: Cell<usize>,
}

/// The most ways that the oracle examines in one case; larger cases are undecided.
const MOST_WAYS: usize = 300_000;

impl Oracle<'_> {
    fn start(&self) -> Ways {
        let body = self.grammar.rule(self.grammar.root()).body;
        self.expand([Way { rest: vec![Piece::Expr(body)], left: None }])
    }

    /// Expands ways until each has a byte or token to read next, or is complete.
    fn expand(&self, ways: impl IntoIterator<Item = Way>) -> Ways {
        let mut open: Vec<Way> = ways.into_iter().collect();
        let (mut seen, mut found) = (Ways::new(), Ways::new());
        while let Some(way) = open.pop() {
            self.work.set(self.work.get() + 1);
            if self.is_exhausted() {
                return Ways::new();
            }
            if !seen.insert(way.clone()) {
                continue;
            }
            let Some((last, rest)) = way.rest.split_last() else {
                found.insert(way);
                continue;
            };
            let with = |pieces: &[Piece], left: Option<u32>| {
                let rest = rest.iter().chain(pieces.iter().rev()).cloned().collect();
                Way { rest, left }
            };
            let left = way.left;
            match last {
                Piece::EndPart => open.push(with(&[], None)),
                Piece::Bytes(of, at) => match self.grammar.expression(*of) {
                    Expression::Bytes(bytes) if *at == bytes.len() => open.push(with(&[], left)),
                    _ => _ = found.insert(way),
                },
                &Piece::Repeat(body, min, max) => {
                    if min == 0 {
                        open.push(with(&[], left));
                    }
                    if max != Some(0) {
                        let again = Piece::Repeat(body, min.saturating_sub(1), max.map(|max| max - 1));
                        open.push(with(&[Piece::Expr(body), again], left));
                    }
                }
                &Piece::Expr(id) => match self.grammar.expression(id) {
                    Expression::Empty => open.push(with(&[], left)),
                    Expression::Never => {}
                    Expression::Bytes(_) => open.push(with(&[Piece::Bytes(id, 0)], left)),
                    Expression::ByteSet(_) | Expression::Token(_) => _ = found.insert(way),
                    Expression::Sequence(list) => {
                        let list: Vec<Piece> = list.iter().copied().map(Piece::Expr).collect();
                        open.push(with(&list, left));
                    }
                    Expression::Choice(list) => {
                        open.extend(list.iter().map(|&one| with(&[Piece::Expr(one)], left)));
                    }
                    &Expression::Repeat { body, min, max } => {
                        open.push(with(&[Piece::Repeat(body, min, max)], left));
                    }
                    Expression::Rule(rule) => {
                        open.push(with(&[Piece::Expr(self.grammar.rule(*rule).body)], left));
                    }
                    &Expression::MaxTokens { body, most } => {
                        open.push(with(&[Piece::Expr(body), Piece::EndPart], Some(most)));
                    }
                    other => unreachable!("the generator makes no {other:?}"),
                },
            }
        }
        found
    }

    fn is_exhausted(&self) -> bool {
        self.work.get() > MOST_WAYS
    }

    fn byte(&self, ways: &Ways, byte: u8) -> Ways {
        let next = ways.iter().filter_map(|way| {
            let (last, rest) = way.rest.split_last()?;
            let piece = match last {
                Piece::Bytes(of, at) => match self.grammar.expression(*of) {
                    Expression::Bytes(bytes) if bytes[*at] == byte => Some(Piece::Bytes(*of, at + 1)),
                    _ => return None,
                },
                Piece::Expr(id) => match self.grammar.expression(*id) {
                    Expression::ByteSet(set) if set.contains(byte) => None,
                    _ => return None,
                },
                _ => return None,
            };
            Some(Way { rest: rest.iter().cloned().chain(piece).collect(), left: way.left })
        });
        self.expand(next.collect::<Vec<_>>())
    }

    /// The ways after a token, without a check that they can continue.
    fn token(&self, ways: &Ways, token: u32) -> Ways {
        // the token begins in the parts that are open
        let begun: Ways = ways
            .iter()
            .filter_map(|way| match way.left {
                Some(left) => Some(Way { left: Some(left.checked_sub(1)?), ..way.clone() }),
                None => Some(way.clone()),
            })
            .collect();
        let mut after = Ways::new();
        if let Some(bytes) = &self.tokens[token as usize] {
            after = bytes.iter().fold(begun.clone(), |ways, &byte| self.byte(&ways, byte));
        }
        if token == self.special {
            let by_id = begun.iter().filter_map(|way| {
                let (last, rest) = way.rest.split_last()?;
                let is_token =
                    matches!(last, Piece::Expr(id) if matches!(self.grammar.expression(*id), Expression::Token(_)));
                is_token.then(|| Way { rest: rest.to_vec(), left: way.left })
            });
            after.extend(self.expand(by_id.collect::<Vec<_>>()));
        }
        after
    }

    /// Whether tokens lead out of the open part of a way, and out of the parts entered before that, each within its
    /// bound.
    fn can_go_on(&mut self, way: &Way) -> bool {
        if way.left.is_none() {
            return true;
        }
        if let Some(&known) = self.can_end.get(way) {
            return known;
        }
        let mut level = Ways::from([way.clone()]);
        let mut seen = level.clone();
        let mut found = false;
        while !found && !level.is_empty() {
            let mut next = Ways::new();
            for token in 0..self.tokens.len() as u32 {
                next.extend(self.token(&level, token));
            }
            found = next.iter().any(|way| way.left.is_none());
            level = next.difference(&seen).cloned().collect();
            seen.extend(level.iter().cloned());
        }
        self.can_end.insert(way.clone(), found);
        found
    }

    /// The fewest tokens, at most `most`, that read the rest of a part exactly to its end.
    fn fewest(&mut self, inside: Vec<Piece>, most: u32) -> Option<u32> {
        if let Some(&(asked, known)) = self.fewest.get(&inside)
            && (asked >= most || known.is_some())
        {
            return known.filter(|&known| known <= most);
        }
        let mut level = Ways::from([Way { rest: inside.clone(), left: None }]);
        let mut seen = level.clone();
        let mut found = None;
        for count in 1..=most {
            let mut next = Ways::new();
            for token in 0..self.tokens.len() as u32 {
                next.extend(self.token(&level, token));
            }
            if next.iter().any(|way| way.rest.is_empty()) {
                found = Some(count);
                break;
            }
            level = next.difference(&seen).cloned().collect();
            seen.extend(level.iter().cloned());
        }
        self.fewest.insert(inside, (most, found));
        found
    }

    /// The ways after a token that can continue.
    fn accept(&mut self, ways: &Ways, token: u32) -> Ways {
        self.token(ways, token).into_iter().filter(|way| self.can_go_on(way)).collect()
    }

    /// The fewest tokens, at most `most`, to a complete word, where each step is as in [`accept`](Oracle::accept).
    fn fewest_to_end(&mut self, ways: &Ways, most: u32) -> Step<Option<u32>> {
        let mut level = ways.clone();
        let mut seen = level.clone();
        for count in 0..=most {
            if level.iter().any(|way| way.rest.is_empty()) {
                return Ok(Some(count));
            }
            let mut next = Ways::new();
            for token in 0..self.tokens.len() as u32 {
                next.extend(self.accept(&level, token));
            }
            decided(Some(()).filter(|()| !self.is_exhausted()))?;
            level = next.difference(&seen).cloned().collect();
            seen.extend(level.iter().cloned());
        }
        Ok(None)
    }

    /// Whether each part of the grammar can end within its bound.
    fn parts_can_end(&mut self) -> bool {
        let grammar = self.grammar;
        let parts: Vec<(ExprId, u32)> = grammar
            .reached()
            .into_iter()
            .filter_map(|(_, expression)| match expression {
                &Expression::MaxTokens { body, most } => Some((body, most)),
                _ => None,
            })
            .collect();
        parts.into_iter().all(|(body, most)| {
            let start = self.expand([Way { rest: vec![Piece::Expr(body)], left: None }]);
            start.iter().any(|way| way.rest.is_empty())
                || start.into_iter().any(|way| self.fewest(way.rest, most).is_some())
        })
    }
}

struct Generator<'c, 'b> {
    builder: GrammarBuilder,
    choices: &'c mut Choices<'b>,
    rules: Vec<RuleId>,
    room: usize,
    has_tokens: bool,
}

impl Generator<'_, '_> {
    fn word(&mut self) -> ExprId {
        let letters: String =
            (0..1 + self.choices.below(3)).map(|_| *self.choices.pick(&['a', 'b', 'c'])).collect();
        self.builder.text(&letters)
    }

    /// Draws an expression. Rules are referenced only after a word, so that no rule is left-recursive. Bounded parts do
    /// not nest (`inside`).
    fn expression(&mut self, depth: usize, inside: bool) -> ExprId {
        if depth == 0 || self.room == 0 {
            return self.word();
        }
        self.room -= 1;
        match self.choices.below(12) {
            0 => self.word(),
            1 | 2 => {
                let set = *self.choices.pick(&["ab", "abc", "c"]);
                self.builder.byte_set(set.bytes().collect())
            }
            3 | 4 => {
                let parts: Vec<ExprId> =
                    (0..2 + self.choices.below(2)).map(|_| self.expression(depth - 1, inside)).collect();
                self.builder.sequence(parts)
            }
            5 => {
                let parts = [0, 1].map(|_| self.expression(depth - 1, inside));
                self.builder.choice(parts)
            }
            6 | 7 => {
                let body = self.expression(depth - 1, inside);
                let (min, max) = *self.choices.pick(&[(0, None), (1, None), (0, Some(1)), (2, Some(3))]);
                self.builder.repeat(body, min, max)
            }
            8 if !inside => {
                let rule = *self.choices.pick(&self.rules);
                let (word, rule) = (self.word(), self.builder.rule(rule));
                self.builder.sequence([word, rule])
            }
            9 if self.has_tokens => {
                let name = TokenSelector::Name("<x>".into());
                self.builder.token(TokenTerminal::new(TokenScope::Listed, [name]))
            }
            8 | 9 => self.word(),
            _ if !inside => {
                let body = self.expression(depth - 1, true);
                let most = 1 + self.choices.below(4) as u32;
                self.builder.max_tokens(body, most)
            }
            _ => self.builder.empty(),
        }
    }
}

/// Draws a grammar with parts bounded in tokens, a vocabulary and a walk with undone steps, resets and forks. The masks
/// must be those of trying all ways, and never empty.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn bounded_parts_agree(bytes: &[u8], has_tokens: bool) -> Result<Outcome, String> {
    agree(bytes, has_tokens, walk)
}

/// Like [`bounded_parts_agree`], with a token budget for the whole text, at least the least one known to suffice. After
/// each token of a mask within the budget there must be a completion in time that keeps the bounds of parts, masks must
/// never be empty, and the walk must end with a word.
///
/// # Errors
/// A description of the first disagreement and of the case.
pub fn budgets_beside_bounded_parts_agree(bytes: &[u8], has_tokens: bool) -> Result<Outcome, String> {
    agree(bytes, has_tokens, walk_within)
}

type Walk = fn(&mut Oracle<'_>, &CompiledGrammar, u32, &mut Choices<'_>) -> Step<Outcome>;

fn agree(bytes: &[u8], has_tokens: bool, walk: Walk) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let mut builder = GrammarBuilder::new();
    let rules: Vec<RuleId> = (0..1 + choices.below(3)).map(|i| builder.declare(format!("r{i}"))).collect();
    let mut generator =
        Generator { builder, choices: &mut choices, rules: rules.clone(), room: 24, has_tokens };
    for &rule in &rules {
        let body = generator.expression(4, false);
        generator.builder.define(rule, body);
    }
    let Generator { builder, .. } = generator;
    let grammar = builder.build(rules[0]).map_err(|error| error.to_string())?;
    // the oracle would not terminate on unproductive parts
    let productive = analysis::productive(&grammar);
    if grammar.reached().iter().any(|(id, _)| !productive.holds(*id)) {
        return Ok(Outcome::EmptyLanguage);
    }
    let mut words: Vec<String> = ["a", "b", "c"].map(String::from).into();
    for _ in 0..choices.below(6) {
        words.push((0..2 + choices.below(2)).map(|_| *choices.pick(&['a', 'b', 'c'])).collect());
    }
    words.sort_by_key(|word| word.len());
    words.dedup();
    let (special, eos) = (words.len() as u32, words.len() as u32 + 1);
    let vocabulary = VocabularyBuilder::from_tokens(&words)
        .special(TokenId::new(special), "<x>")
        .special(TokenId::new(eos), "<end>")
        .eos([TokenId::new(eos)])
        .build()
        .map_err(|error| error.to_string())?;
    let tokens = words.iter().map(|word| Some(word.clone().into_bytes())).chain([None]).collect();
    let oracle = Oracle {
        grammar: &grammar,
        tokens,
        special,
        fewest: HashMap::new(),
        can_end: HashMap::new(),
        work: Cell::new(0),
    };
    let limits = match choices.below(4) {
        // so little memory that tables are dropped often
        3 => Limits::default().cache_bytes(4 << 10),
        _ => Limits::default(),
    };
    let compiler = Compiler::new(Arc::new(vocabulary)).limits(limits);
    match compile_and_walk(oracle, &compiler, eos, (&mut choices, walk)) {
        Ok(outcome) => Ok(outcome),
        Err(Stop::Undecided) => Ok(Outcome::Undecided),
        Err(Stop::Disagreement(what)) => Err(format!("{what}\n{grammar}\ntokens {words:?}")),
    }
}

fn compile_and_walk(
    mut oracle: Oracle<'_>,
    compiler: &Compiler,
    eos: u32,
    (choices, walk): (&mut Choices<'_>, Walk),
) -> Step<Outcome> {
    let compiled = match compiler.compile(oracle.grammar) {
        Err(error) if error.code() == "automaton/empty-language" => return Ok(Outcome::EmptyLanguage),
        Err(error) if error.code() == "mask/part-bound" => {
            let can_end = oracle.parts_can_end();
            decided(Some(()).filter(|()| !oracle.is_exhausted()))?;
            same("whether parts can end", false, can_end)?;
            return Ok(Outcome::Agreed);
        }
        compiled => compiled?,
    };
    let can_end = oracle.parts_can_end();
    decided(Some(()).filter(|()| !oracle.is_exhausted()))?;
    same("whether parts can end", true, can_end)?;
    walk(&mut oracle, &compiled, eos, choices)
}

fn walk(
    oracle: &mut Oracle<'_>,
    compiled: &CompiledGrammar,
    eos: u32,
    choices: &mut Choices<'_>,
) -> Step<Outcome> {
    let mut matcher = compiled.matcher();
    let mut states = vec![oracle.start()];
    let mut taken: Vec<TokenId> = Vec::new();
    for _ in 0..14 {
        let state = states[states.len() - 1].clone();
        let mask: Vec<u32> = matcher.mask()?.iter().map(TokenId::get).collect();
        let mut truth: Vec<u32> = (0..oracle.tokens.len() as u32)
            .filter(|&token| !oracle.accept(&state, token).is_empty())
            .collect();
        decided(Some(()).filter(|()| !oracle.is_exhausted()))?;
        let may_end = state.iter().any(|way| way.rest.is_empty());
        truth.extend(may_end.then_some(eos));
        same(&format!("the mask after {taken:?}"), &mask, &truth)?;
        same(&format!("whether a text may end after {taken:?}"), matcher.is_accepting(), may_end)?;
        if mask.is_empty() {
            return Err(Stop::Disagreement(format!("no token may come after {taken:?}")));
        }
        for token in 0..=eos {
            let id = TokenId::new(token);
            same(&format!("whether {token} may come"), matcher.is_token_allowed(id)?, mask.contains(&token))?;
        }
        if !taken.is_empty() && choices.below(5) == 0 {
            let steps = 1 + choices.below(taken.len());
            matcher.rollback(steps)?;
            states.truncate(states.len() - steps);
            taken.truncate(taken.len() - steps);
            continue;
        }
        if choices.below(8) == 0 {
            let mut again: Matcher = compiled.matcher();
            for &token in &taken {
                again.accept_token(token)?;
            }
            matcher = again;
        }
        let token = *choices.pick(&mask);
        let before = matcher.fork();
        matcher.accept_token(TokenId::new(token))?;
        if token == eos {
            same("that the text has ended", matcher.is_finished(), true)?;
            matcher = before;
            continue;
        }
        states.push(oracle.accept(&state, token));
        taken.push(TokenId::new(token));
    }
    Ok(Outcome::Agreed)
}

/// The most tokens of a completion that the oracle searches for.
const FARTHEST: u32 = 12;

/// Checks that a bound on the tokens of a completion is 0 only where the text may end, and otherwise lower after some
/// token.
fn potential_holds(matcher: &Matcher, bound: usize) -> Step<()> {
    let mut falls = matcher.is_accepting();
    let tokens: Vec<TokenId> = matcher.fork().mask()?.iter().collect();
    for token in tokens {
        let mut ahead = matcher.fork();
        if !falls && ahead.accept_token(token).is_ok() {
            falls = ahead.is_accepting() || ahead.potential()?.is_some_and(|after| after < bound);
        }
    }
    same(&format!("that some token lowers the bound {bound}"), falls, true)
}

fn walk_within(
    oracle: &mut Oracle<'_>,
    compiled: &CompiledGrammar,
    eos: u32,
    choices: &mut Choices<'_>,
) -> Step<Outcome> {
    let mut matcher = compiled.matcher();
    let mut states = vec![oracle.start()];
    let distance = matcher.distance()?;
    let truth = decided(oracle.fewest_to_end(&states[0], FARTHEST)?)?;
    let known = decided(distance.known())?;
    let is_true = match distance {
        Distance::Exact(known) => known == truth as usize,
        _ => known >= truth as usize,
    };
    same(&format!("whether {distance} tokens are as few as {truth}"), is_true, true)?;
    if let Some(less) = known.checked_sub(1).filter(|_| matches!(distance, Distance::Exact(_))) {
        match matcher.mask_within(less) {
            Err(error) if error.code() == "matcher/budget" => {}
            Err(error) => return Err(error.into()),
            Ok(_) => {
                return Err(Stop::Disagreement(format!(
                    "a mask within {less} tokens, fewer than the fewest"
                )));
            }
        }
    }
    // the largest are ample in most cases
    let budget = known + [0, 0, 1, 2, 4, 9, 30][choices.below(7)];
    let (compared, mut is_complete) = (choices.below(3), true);
    loop {
        let left = budget - matcher.steps();
        let state = states[states.len() - 1].clone();
        let mask: Vec<u32> = matcher.mask_within(left)?.iter().map(TokenId::get).collect();
        if mask.is_empty() {
            return Err(Stop::Disagreement(format!("no token within {left} tokens")));
        }
        if let Some(bound) = matcher.potential()? {
            potential_holds(&matcher, bound)?;
            if bound <= FARTHEST as usize {
                let fewest = oracle.fewest_to_end(&state, bound as u32)?;
                same(&format!("that {bound} tokens suffice"), fewest.is_some(), true)?;
            }
        }
        if matcher.steps() == compared {
            let mut truth = Vec::new();
            for token in (0..oracle.tokens.len() as u32).filter(|_| left > 0) {
                let after = oracle.accept(&state, token);
                let fewest = oracle.fewest_to_end(&after, (left as u32 - 1).min(FARTHEST))?;
                truth.extend(fewest.map(|_| token));
            }
            truth.extend(state.iter().any(|way| way.rest.is_empty()).then_some(eos));
            let wrong: Vec<&u32> = mask.iter().filter(|token| !truth.contains(token)).collect();
            // with a larger budget, completions beyond the oracle's reach are still in time
            if left as u32 <= FARTHEST {
                same(&format!("tokens of the mask within {left} that are too late"), wrong.len(), 0)?;
            }
            is_complete = mask.len() == truth.len();
        }
        let token = *choices.pick(&mask);
        same("that it may come", matcher.is_token_allowed_within(TokenId::new(token), left)?, true)?;
        if token == eos {
            same("the text is a word", true, state.iter().any(|way| way.rest.is_empty()))?;
            break;
        }
        if left == 0 {
            return Err(Stop::Disagreement(format!("{token} may come within no tokens")));
        }
        if matcher.steps() > 0 && choices.below(6) == 0 {
            matcher.rollback(1)?;
            states.pop();
            continue;
        }
        matcher.accept_token(TokenId::new(token))?;
        let after = oracle.accept(&state, token);
        decided(Some(()).filter(|()| !oracle.is_exhausted()))?;
        same("that the oracle goes on", after.is_empty(), false)?;
        states.push(after);
    }
    // with bounds, the known completion may not be the shortest
    decided(Some(()).filter(|()| is_complete))?;
    Ok(Outcome::Agreed)
}
