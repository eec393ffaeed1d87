//! Matchers under memory pressure: tables that are dropped in the middle of texts, by one thread or by several
//! concurrently.
//!
//! The language is finite and its words are enumerated (each name of an object once, items that must differ different),
//! so the right answers of a matcher follow from a sorted list of words.

use super::generate::{Choices, FiniteSchema, random_finite_schema, random_vocabulary};
use crate::outcome::Outcome;
use grammata::diagnostic::excerpt_bytes;
use grammata::explore::ExploreBudget;
use grammata::syntax::json_schema::{self, Numbers, PropertyOrder, Whitespace, compile_value};
use grammata::{CompiledGrammar, Compiler, ErrorKind, Limits, Matcher, TokenId};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

/// The number of operations of one thread.
const OPERATIONS: usize = 80;

/// The most matchers that one thread has at a time.
const MATCHERS: usize = 4;

/// Draws a schema and a vocabulary from `bytes`, and lets threads walk along its words with tables that have room for
/// only a part of them. Masks, acceptance, ends and forced bytes must be those that follow from the list of all words.
///
/// # Errors
/// A description of the first difference and of the case.
pub fn finite_schemas_agree(bytes: &[u8], threads: usize) -> Result<Outcome, String> {
    agree(bytes, threads, false)
}

/// Like [`finite_schemas_agree`], with an engine that starts from a mask file in which little was explored.
///
/// # Errors
/// A description of the first difference and of the case.
pub fn finite_schemas_agree_from_files(bytes: &[u8], threads: usize) -> Result<Outcome, String> {
    agree(bytes, threads, true)
}

fn agree(bytes: &[u8], threads: usize, from_file: bool) -> Result<Outcome, String> {
    let mut choices = Choices::new(bytes);
    let finite = random_finite_schema(&mut choices);
    let alphabet: Vec<u8> = (0x20..0x7F).chain([0xC3, 0xA9]).collect();
    let vocabulary = random_vocabulary(&mut choices, &alphabet, &finite.words);
    let (share, seed) = (choices.below(256), choices.below(1 << 16) as u64);
    let oracle = Oracle { words: &finite.words, tokens: &vocabulary.tokens, eos: &vocabulary.eos };
    let run = || {
        let vocabulary = Arc::new(vocabulary.build().map_err(|error| error.to_string())?);
        let options = json_schema::Options::default()
            .property_order(PropertyOrder::Any)
            .whitespace(Whitespace::Compact)
            .numbers(Numbers::Plain);
        let grammar = match compile_value(&finite.schema, &options) {
            Ok(schema) => schema.grammar,
            Err(error) => return Err(format!("the schema is refused: {error}")),
        };
        let roomy = match Compiler::new(Arc::clone(&vocabulary)).compile(&grammar) {
            Ok(roomy) => roomy,
            Err(_) if finite.words.is_empty() => return Ok(Outcome::EmptyLanguage),
            Err(error) => return Err(format!("there are words: {error}")),
        };
        // measures how much the tables need after some words; the limit is then a part of that
        oracle.walk(&roomy, seed, OPERATIONS)?;
        let needed = roomy.statistics().cache_bytes;
        let limits = Limits::default().cache_bytes(needed / 3 + needed * share / 320);
        let Some(tight) = within(Compiler::new(vocabulary).limits(limits).compile(&grammar))? else {
            return Ok(Outcome::Undecided);
        };
        let tight = match from_file {
            false => tight,
            true => {
                let tokens = finite.words.iter().filter_map(|word| roomy.vocabulary().encode_greedy(word));
                let documents: Vec<Vec<TokenId>> = tokens.take(share % 8).collect();
                let budget = ExploreBudget::default().states(1 + share);
                // explored with more room than the engine that uses the file has
                let compiler = Compiler::new(Arc::clone(roomy.vocabulary()));
                let explored = compiler.compile(&grammar).and_then(|all| all.explore(&budget, &documents));
                let file = Arc::new(explored.map_err(|error| error.to_string())?);
                let whole = compiler.load(Arc::clone(&file)).and_then(|whole| whole.verify_masks());
                whole.map_err(|error| format!("the file is wrong: {error}"))?;
                let loaded = compiler.limits(tight.automaton().limits().clone()).load(file);
                loaded.map_err(|error| error.to_string())?
            }
        };
        let walks: Vec<_> = std::thread::scope(|scope| {
            let oracle = &oracle;
            let tight = &tight;
            let threads = (0..threads as u64)
                .map(|thread| scope.spawn(move || oracle.walk(tight, seed + thread, OPERATIONS)));
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        let mut compared = 0;
        for walk in walks {
            compared += walk.map_err(|_| "a thread panicked".to_owned())??;
        }
        Ok(if compared > 0 { Outcome::Agreed } else { Outcome::Undecided })
    };
    run().map_err(|what| describe(&what, &finite, &vocabulary.tokens))
}

fn describe(what: &str, finite: &FiniteSchema, tokens: &[Option<Vec<u8>>]) -> String {
    let mut text = format!("{what}\nthe schema: {}\n", finite.schema);
    for (id, token) in tokens.iter().enumerate() {
        if let Some(token) = token.as_ref().filter(|bytes| bytes.len() > 1) {
            text.push_str(&format!("token {id}: {}\n", excerpt_bytes(token)));
        }
    }
    text
}

/// The right answers for each prefix of a word.
struct Oracle<'a> {
    /// All words, in increasing order.
    words: &'a [Vec<u8>],
    tokens: &'a [Option<Vec<u8>>],
    eos: &'a [u32],
}

/// A matcher, with the text after each of its steps.
struct Walk {
    matcher: Matcher,
    texts: Vec<Vec<u8>>,
}

impl Walk {
    fn text(&self) -> &[u8] {
        self.texts.last().map_or(&[], Vec::as_slice)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    text: &[u8],
    engine: &T,
    oracle: &T,
) -> Result<(), String> {
    match engine == oracle {
        true => Ok(()),
        false => Err(format!(
            "{what} after {}: the engine says {engine:?}, the words {oracle:?}",
            excerpt_bytes(text)
        )),
    }
}

/// The result of the engine; `None` if it reports that its tables are too small.
fn within<T>(result: grammata::Result<T>) -> Result<Option<T>, String> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::Limit => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

impl Oracle<'_> {
    /// The words that begin with `text`.
    fn beginning(&self, text: &[u8]) -> &[Vec<u8>] {
        let from = self.words.partition_point(|word| word.as_slice() < text);
        let rest = &self.words[from..];
        &rest[..rest.partition_point(|word| word.starts_with(text))]
    }

    fn is_word(&self, text: &[u8]) -> bool {
        self.words.binary_search_by(|word| word.as_slice().cmp(text)).is_ok()
    }

    fn mask(&self, text: &[u8]) -> Vec<u32> {
        let allowed = |id: u32, token: &Option<Vec<u8>>| match token {
            _ if self.eos.contains(&id) => self.is_word(text),
            Some(token) => !self.beginning(&[text, token].concat()).is_empty(),
            None => false,
        };
        (0..).zip(self.tokens).filter(|(id, token)| allowed(*id, token)).map(|(id, _)| id).collect()
    }

    /// The bytes that follow `text` in all words that begin with it.
    fn forced(&self, text: &[u8]) -> Vec<u8> {
        match self.beginning(text) {
            [] => Vec::new(),
            [first, .., last] => {
                let rests = first[text.len()..].iter().zip(&last[text.len()..]);
                rests.take_while(|(a, b)| a == b).map(|(a, _)| *a).collect()
            }
            [only] => only[text.len()..].to_vec(),
        }
    }

    /// Performs random operations on some matchers of one compiled grammar; returns the number of masks compared.
    fn walk(&self, compiled: &CompiledGrammar, seed: u64, operations: usize) -> Result<usize, String> {
        let mut random = StdRng::seed_from_u64(seed);
        let mut walks = vec![Walk { matcher: compiled.matcher(), texts: Vec::new() }];
        let mut compared = 0;
        for _ in 0..operations {
            let count = walks.len();
            let place = random.random_range(0..count);
            let walk = &mut walks[place];
            match random.random_range(0..16) {
                0 if count < MATCHERS => {
                    let fork = Walk { matcher: walk.matcher.fork(), texts: walk.texts.clone() };
                    walks.push(fork);
                }
                1 if count > 1 => drop(walks.swap_remove(place)),
                2 => {
                    let count = random.random_range(0..=walk.texts.len());
                    walk.matcher.rollback(count).map_err(|error| error.to_string())?;
                    walk.texts.truncate(walk.texts.len() - count);
                }
                3 => self.ends(walk)?,
                4 => self.offer(walk, &mut random)?,
                5 => {
                    walk.matcher.reset();
                    walk.texts.clear();
                }
                _ => compared += usize::from(self.go_on(walk, &mut random)?),
            }
        }
        Ok(compared)
    }

    /// Compares the mask, and accepts one of its tokens or its bytes. Returns false if the tables were too small for
    /// the mask.
    fn go_on(&self, walk: &mut Walk, random: &mut StdRng) -> Result<bool, String> {
        let Some(mask) = within(walk.matcher.mask())? else { return Ok(false) };
        let allowed = self.mask(walk.text());
        let found: Vec<u32> = mask.iter().map(TokenId::get).collect();
        same("the mask", walk.text(), &found, &allowed)?;
        let ordinary: Vec<u32> = allowed.into_iter().filter(|id| !self.eos.contains(id)).collect();
        if ordinary.is_empty() {
            return Ok(true);
        }
        let token = ordinary[random.random_range(0..ordinary.len())];
        let bytes = self.tokens[token as usize].clone().unwrap_or_default();
        let accepted = match random.random_bool(0.5) {
            true => walk.matcher.accept_token(TokenId::new(token)),
            false => walk.matcher.accept_bytes(&bytes),
        };
        if within(accepted)?.is_some() {
            walk.texts.push([walk.text(), &bytes].concat());
            same("the bytes", walk.text(), &walk.matcher.bytes(), &walk.text().to_vec())?;
        }
        Ok(true)
    }

    /// Offers an arbitrary token, and compares: it must be accepted exactly if some word begins with the longer text.
    fn offer(&self, walk: &mut Walk, random: &mut StdRng) -> Result<(), String> {
        let token = random.random_range(0..self.tokens.len());
        let Some(bytes) = &self.tokens[token] else { return Ok(()) };
        let after = [walk.text(), bytes].concat();
        let accepted = match walk.matcher.accept_token(TokenId::new(token as u32)) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::Rejected => false,
            Err(error) if error.kind() == ErrorKind::Limit => return Ok(()),
            Err(error) => return Err(error.to_string()),
        };
        let what = format!("whether {} is accepted", excerpt_bytes(bytes));
        same(&what, walk.text(), &accepted, &!self.beginning(&after).is_empty())?;
        if accepted {
            walk.texts.push(after);
        }
        Ok(())
    }

    fn ends(&self, walk: &mut Walk) -> Result<(), String> {
        let accepting = walk.matcher.is_accepting();
        same("whether it is a word", walk.text(), &accepting, &self.is_word(walk.text()))?;
        if let Some(forced) = within(walk.matcher.forced_bytes())? {
            same("forced bytes", walk.text(), &forced, &self.forced(walk.text()))?;
        }
        Ok(())
    }
}
