//! A grammar compiled for a vocabulary.

use super::base::Base;
use super::cache::mask_cache::{Located, MaskCache, Snapshot};
use super::cache::shape_cache::ShapeCache;
use super::memory_bound::{MemoryBound, Share, Tenant};
use super::part_bounds;
use super::spelling;
use super::statistics::Statistics;
use super::strategy::StrategySet;
use super::terminals::Terminals;
use crate::attribution::{self, Cause};
use crate::automaton::{Automaton, EndlessNames, KeyExhaustion, Sufficient};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::{CompletionBounds, Grammar, Letters};
use crate::limits::Limits;
use crate::mask_file::{MaskFile, errors};
use crate::token_index::TokenIndex;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::work::Budget;
use arc_swap::{ArcSwap, Guard};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError, Weak};

/// Compiles grammars for one vocabulary. Those that a compiler and its clones have compiled share what is found out about
/// the strings, numbers and patterns that they have in common, 32 MiB at most.
///
/// ```
/// use grammata::{Compiler, grammar::GrammarBuilder, vocabulary::{TokenId, VocabularyBuilder}};
/// use std::sync::Arc;
///
/// let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "ab", "ba"])
///     .special(TokenId::new(4), "<end>").eos([TokenId::new(4)]).build()?;
/// let mut g = GrammarBuilder::new();
/// let pair = g.text("ab");
/// let pairs = g.plus(pair);
/// let root = g.declare("root");
/// g.define(root, pairs);
/// let compiled = Compiler::new(Arc::new(vocabulary)).compile(&g.build(root)?)?;
/// let mut matcher = compiled.matcher();
/// let mut mask = [0u32; 1];
/// matcher.fill_mask(&mut mask)?;
/// assert_eq!(mask, [0b00101]); // "a", "ab"
/// matcher.accept_token(TokenId::new(2))?;
/// matcher.fill_mask(&mut mask)?;
/// assert_eq!(mask, [0b10101]); // "a", "ab", the end
/// # Ok::<(), grammata::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compiler {
    vocabulary: Arc<Vocabulary>,
    /// What masks need of the vocabulary, once it is made.
    index: Arc<OnceLock<Arc<TokenIndex>>>,
    limits: Limits,
    shared: Arc<ShapeCache>,
    strategies: StrategySet,
    bound: Option<MemoryBound>,
    /// Whether parts that are bounded in tokens are not.
    unbounded: bool,
    /// The vocabulary that token terminals are resolved in, if it is another one than that of the masks.
    terminals_of: Option<Arc<Vocabulary>>,
}

impl Compiler {
    /// A compiler for a vocabulary, with the default [`Limits`]. What masks need of the vocabulary alone is computed once for
    /// a compiler and its clones: see [`prepare`](Compiler::prepare).
    pub fn new(vocabulary: Arc<Vocabulary>) -> Compiler {
        Compiler {
            vocabulary,
            limits: Limits::default(),
            index: Arc::default(),
            shared: Arc::default(),
            strategies: StrategySet::ALL,
            bound: None,
            unbounded: false,
            terminals_of: None,
        }
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Compiler {
        self.limits = limits;
        self
    }

    /// Bounds the memory that the tables of all grammars take together, which this compiler and its clones compile from now on.
    /// Compilers for other vocabularies may have the same bound.
    pub fn within(self, bound: &MemoryBound) -> Compiler {
        Compiler { bound: Some(bound.clone()), ..self }
    }

    /// Takes parts that are [bounded in tokens](crate::grammar::GrammarBuilder::max_tokens) for unbounded ones: where the tokens
    /// of the vocabulary are not those of a model, as where texts are checked byte by byte.
    pub fn without_token_bounds(self) -> Compiler {
        Compiler { unbounded: true, ..self }
    }

    /// The limits that are set.
    #[cfg(feature = "serve")]
    pub(crate) fn get_limits(&self) -> &Limits {
        &self.limits
    }

    /// Computes masks by the strategies with these names (see [`StrategyCounts::iter`]) and the full walk alone, for tests
    /// that hold each strategy to it. What the compiler and its clones have found out is not used.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn only_strategies(self, names: &[&str]) -> Compiler {
        Compiler { strategies: StrategySet::named(names), shared: Arc::default(), ..self }
    }

    /// Computes now what masks need of the vocabulary, which the first [`compile`](Compiler::compile) does else: some 60
    /// milliseconds for 128,000 tokens. Clones made before or after have it too.
    ///
    /// # Errors
    /// The limit [`trie_bytes`](Limits::trie_bytes).
    pub fn prepare(&self) -> Result<()> {
        self.index().map(|_| ())
    }

    /// Bytes of what masks need of the vocabulary, as far as it is computed; the vocabulary itself is not counted.
    pub fn memory_usage(&self) -> usize {
        self.index.get().map_or(0, |index| index.memory_usage())
    }

    /// What masks need of the vocabulary as bytes, for another process to [begin with](Compiler::prepare_from): a mask file or
    /// an archive may have them. The same vocabulary has the same bytes.
    ///
    /// # Errors
    /// The limit [`trie_bytes`](Limits::trie_bytes); `mask-file/no-token-index` where a token is too long for such.
    pub fn token_index(&self) -> Result<Vec<u8>> {
        self.index()?.to_bytes().ok_or_else(errors::no_token_index)
    }

    /// Takes what masks need of the vocabulary from [bytes](Compiler::token_index) in place of computing it, in a fifth to a
    /// ninth of the time. Nothing is done where it is there already.
    ///
    /// The bytes are checked so far that they cannot do harm; that they are right they say themselves. So they are to come from
    /// where the vocabulary comes from: all grammars of the compiler and its clones have their masks by them. Who doubts
    /// compares them with those of a compiler that has computed its own.
    ///
    /// # Errors
    /// `mask-file/token-index` if they are damaged, of another vocabulary or of another version; the limit
    /// [`trie_bytes`](Limits::trie_bytes).
    pub fn prepare_from(&self, index: &[u8]) -> Result<()> {
        if self.index.get().is_none() {
            let read = TokenIndex::from_bytes(index, Arc::clone(&self.vocabulary), &self.limits)?;
            let read = Arc::new(read.ok_or_else(errors::other_token_index)?);
            self.index.get_or_init(|| read);
        }
        Ok(())
    }

    fn index(&self) -> Result<&Arc<TokenIndex>> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let index = Arc::new(TokenIndex::new(Arc::clone(&self.vocabulary), &self.limits)?);
        Ok(self.index.get_or_init(|| index))
    }

    /// A compiler with the same limits that shares what depends on the vocabulary alone, and nothing that grammars have
    /// found out.
    pub fn apart(&self) -> Compiler {
        Compiler { shared: Arc::default(), ..self.clone() }
    }

    /// Lets go what grammars have found out for each other. They find it out again where they need it.
    pub fn forget(&self) {
        self.shared.clear();
    }

    /// Compiles a grammar: lowers it to an automaton and enters that. Tables and masks are made as they are needed.
    ///
    /// # Errors
    /// Those of [`Automaton::new`]: an empty language, a token terminal where none can stand, or a limit; those of
    /// [`prepare`](Compiler::prepare); and `mask/unknown-token`, `mask/token-range` and `mask/no-tokens` where a token terminal
    /// has what the vocabulary has not; and `mask/part-bound` where a part cannot end within its bound of tokens.
    pub fn compile(&self, grammar: &Grammar) -> Result<CompiledGrammar> {
        self.compile_over(grammar, None)
    }

    /// The compiled grammar of a [mask file](crate::mask_file): what was explored is read from it, and from there on everything is
    /// made as it is needed. Masks are those of the grammar compiled anew.
    ///
    /// # Errors
    /// `mask-file/other-vocabulary`; those of [`MaskFile::grammar`] and [`compile`](Compiler::compile).
    pub fn load(&self, file: impl Into<Arc<MaskFile>>) -> Result<CompiledGrammar> {
        let file = file.into();
        if file.fingerprint() != self.vocabulary.fingerprint() || file.width() != self.vocabulary.width() {
            return Err(file.other_vocabulary(&self.vocabulary));
        }
        let grammar = file.grammar(&self.limits)?;
        self.compile_over(&grammar, Some(Base::new(file)))
    }

    fn compile_over(&self, grammar: &Grammar, base: Option<Base>) -> Result<CompiledGrammar> {
        let automaton = Automaton::new(grammar, &self.limits)?;
        let index = Arc::clone(self.index()?);
        if automaton.has_names() {
            index.quote_tokens();
        }
        let budget = Budget::of_compilation(&self.limits, grammar.expressions().len());
        let terminals_of = self.terminals_of.as_ref().unwrap_or(&self.vocabulary);
        let terminals = Arc::new(Terminals::resolve(grammar, terminals_of, self.vocabulary.eos(), &budget)?);
        let mut cache = MaskCache::new(Arc::clone(&self.shared), Arc::clone(&terminals), self.strategies);
        let parts = automaton.has_parts() && !self.unbounded;
        if parts {
            part_bounds::check(grammar, &index, |part| {
                let automaton = Automaton::new(part, &self.limits)?;
                let (shared, terminals) = (Arc::clone(&self.shared), Arc::clone(&terminals));
                let mut cache = MaskCache::new(shared, terminals, self.strategies);
                cache.tables.work = Budget::of_mask(&self.limits);
                Ok((automaton, cache))
            })?;
        }
        cache.tables.work = Budget::of_mask(&self.limits);
        let start = cache.start(&automaton)?;
        let share = Share::new(self.bound.clone());
        share.set(cache.publish_size());
        let inner = Arc::new(Inner {
            share,
            fixed_bytes: OnceLock::new(),
            grammar: grammar.clone(),
            names: match automaton.may_have_few_names() {
                true => KeySupply::default(),
                false => KeySupply {
                    are_endless: OnceLock::from(Some(EndlessNames::default())),
                    ..KeySupply::default()
                },
            },
            automaton,
            sufficient: OnceLock::new(),
            parts,
            start,
            terminals,
            index,
            base,
            waiting: Arc::default(),
            snapshot: Arc::clone(cache.current()),
            cache: Mutex::new(cache),
        });
        if let Some(bound) = &self.bound {
            let tenant: Weak<Inner> = Arc::downgrade(&inner);
            bound.add(tenant);
        }
        Ok(CompiledGrammar { inner, ends: None })
    }
}

/// A grammar compiled for a vocabulary. Cloning shares it; any number of [`Matcher`](crate::Matcher)s on any number of
/// threads may use it at once. What one of them has needed before (a mask, a step) the others read without a lock;
/// what is new is computed by one while the others that need something new wait.
#[derive(Clone, Debug)]
pub struct CompiledGrammar {
    inner: Arc<Inner>,
    /// The end tokens that were given, if some were.
    ends: Option<Arc<GivenEnds>>,
}

/// End tokens that were given in place of the vocabulary's.
#[derive(Debug)]
pub(crate) struct GivenEnds {
    /// Sorted, each once.
    pub(crate) tokens: Box<[TokenId]>,
    /// Those of them that do not end a text in the masks that matchers share.
    pub(crate) added: Box<[TokenId]>,
    /// Tokens that end a text in these masks, and are not given.
    pub(crate) removed: Box<[TokenId]>,
    /// The grammar as it was before, if it was compiled again because of the tokens.
    pub(super) origin: Option<CompiledGrammar>,
}

#[derive(Debug)]
struct Inner {
    grammar: Grammar,
    /// Bytes of the grammar and of the automaton as it was made, once someone asks.
    fixed_bytes: OnceLock<usize>,
    automaton: Automaton,
    /// Upper bounds on completions, once someone asks.
    sufficient: OnceLock<Arc<Sufficient>>,
    /// Whether there are parts that are bounded in tokens.
    parts: bool,
    /// The configuration before the first byte, of the first generation.
    start: Located,
    names: KeySupply,
    terminals: Arc<Terminals>,
    index: Arc<TokenIndex>,
    /// What a mask file knows.
    base: Option<Base>,
    /// Threads that wait for the lock.
    waiting: Arc<AtomicUsize>,
    snapshot: Arc<ArcSwap<Snapshot>>,
    cache: Mutex<MaskCache>,
    /// What the tables take of a bound that many grammars have.
    share: Share,
}

impl Tenant for Inner {
    fn share(&self) -> &Share {
        &self.share
    }

    fn was_read(&self) -> bool {
        self.snapshot.load().take_read()
    }

    fn drop_tables(&self) {
        // who is at work on them is not the one that used them longest ago
        let Ok(mut cache) = self.cache.try_lock() else { return };
        if cache.tables.configuration_count() > 1 {
            let old = cache.reset();
            self.share.set(cache.publish_size());
            drop(cache);
            drop(old);
        }
    }
}

/// Whether every beginning of a name of an object can become endlessly many names.
#[derive(Debug, Default)]
struct KeySupply {
    /// Once it is known.
    are_endless: OnceLock<Option<EndlessNames>>,
    /// Until then, how far that was found out.
    found_out: Mutex<Option<Box<KeyExhaustion>>>,
    /// Bytes of that.
    bytes: AtomicUsize,
}

impl CompiledGrammar {
    /// The grammar it was compiled from.
    pub fn grammar(&self) -> &Grammar {
        &self.inner.grammar
    }

    /// The vocabulary it was compiled for.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.inner.index.vocabulary()
    }

    /// The tokens that end a text, sorted: the vocabulary's end-of-sequence tokens, or those that were given in their place.
    pub fn end_tokens(&self) -> &[TokenId] {
        self.ends.as_ref().map_or(self.vocabulary().eos(), |ends| &ends.tokens)
    }

    /// Whether a token ends a text.
    pub fn is_end(&self, token: TokenId) -> bool {
        self.end_tokens().binary_search(&token).is_ok()
    }

    /// What was compiled from the grammar, with the end tokens that were given.
    pub(super) fn with_given_ends(&self, ends: GivenEnds) -> CompiledGrammar {
        CompiledGrammar { inner: Arc::clone(&self.inner), ends: Some(Arc::new(ends)) }
    }

    /// The grammar with the vocabulary's own end-of-sequence tokens.
    pub fn without_end_tokens(&self) -> CompiledGrammar {
        let origin = self.ends.as_ref().and_then(|ends| ends.origin.clone());
        origin.unwrap_or_else(|| CompiledGrammar { inner: Arc::clone(&self.inner), ends: None })
    }

    /// What compiles the grammar as it was compiled, for the same tokens with other end-of-sequence tokens.
    pub(super) fn compiler_for(&self, vocabulary: Vocabulary) -> Compiler {
        let limits = self.automaton().limits().clone();
        Compiler {
            bound: self.inner.share.bound().cloned(),
            unbounded: !self.inner.parts,
            terminals_of: Some(Arc::clone(self.vocabulary())),
            ..Compiler::new(Arc::new(vocabulary)).limits(limits)
        }
    }

    /// The end tokens that were given, if these are not those of the masks.
    pub(crate) fn given_ends(&self) -> Option<&Arc<GivenEnds>> {
        self.ends.as_ref().filter(|ends| !ends.added.is_empty() || !ends.removed.is_empty())
    }

    /// The index of the vocabulary.
    pub(crate) fn index(&self) -> &Arc<TokenIndex> {
        &self.inner.index
    }

    /// The configuration before the first byte: of the present generation, if it is known there.
    pub(crate) fn start(&self) -> Located {
        self.snapshot().start().unwrap_or(self.inner.start)
    }

    /// What a mask file knows of the grammar, if it is from one.
    #[inline]
    pub(crate) fn base(&self) -> Option<&Base> {
        self.inner.base.as_ref()
    }

    /// The tokens of the grammar's token terminals.
    pub(crate) fn terminals(&self) -> &Terminals {
        &self.inner.terminals
    }

    /// The automaton.
    pub fn automaton(&self) -> &Automaton {
        &self.inner.automaton
    }

    /// What upper bounds on completions are made from.
    pub(crate) fn sufficient(&self) -> &Arc<Sufficient> {
        self.inner.sufficient.get_or_init(|| {
            let vocabulary = self.vocabulary();
            let missing = vocabulary.missing_bytes();
            let letters = Letters {
                bytes: (0..=u8::MAX).filter(|&byte| !missing[usize::from(byte)]).collect(),
                terminals: self.inner.terminals.usable(vocabulary),
                longest: vocabulary.longest(),
            };
            let bounds = CompletionBounds::new(&self.inner.grammar, &letters);
            Arc::new(Sufficient { letters, bounds })
        })
    }

    /// Whether there are parts that are bounded in tokens.
    #[inline]
    pub(crate) fn has_parts(&self) -> bool {
        self.inner.parts
    }

    /// Whether it is known that every beginning of a name of an object can become endlessly many names.
    pub(crate) fn keys_are_unbounded(&self) -> bool {
        self.endless_names().is_some()
    }

    /// How many letters names take that differ from others, if that is known.
    pub(crate) fn endless_names(&self) -> Option<EndlessNames> {
        self.inner.names.are_endless.get().copied().flatten()
    }

    /// Goes on to find out whether that is so, unless another thread does.
    pub(crate) fn explore_key_supply(&self) {
        let KeySupply { are_endless, found_out, bytes } = &self.inner.names;
        if are_endless.get().is_none()
            && let Ok(mut found_out) = found_out.try_lock()
        {
            let missing = self.vocabulary().missing_bytes();
            let usable = (0..=u8::MAX).filter(|&byte| !missing[usize::from(byte)]).collect();
            let found = found_out.get_or_insert_default();
            found.renew_work(self.inner.automaton.limits());
            if let Some(answer) = found.look(&self.inner.automaton, &usable) {
                are_endless.get_or_init(|| answer);
                *found_out = None;
            }
            let size = found_out.as_ref().map_or(0, |found_out| found_out.memory_usage());
            bytes.store(size, Ordering::Relaxed);
        }
    }

    /// Sizes and counts.
    pub fn statistics(&self) -> Statistics {
        let cache = self.cache();
        let (distances, distances_at_most, distances_unknown) = cache.distances();
        Statistics {
            distances,
            distances_at_most,
            distances_unknown,
            states: self.inner.automaton.state_count(),
            configurations: cache.tables.configuration_count(),
            masks_computed: cache.masks_computed,
            strategies: cache.strategy_counts,
            resets: cache.generation(),
            automaton_bytes: self.inner.automaton.memory_usage(),
            cache_bytes: cache.memory_usage(),
        }
    }

    /// Bytes of the automaton, the grammar that it came from, and the tables and masks made so far. No lock is taken.
    pub fn memory_usage(&self) -> usize {
        let Inner { fixed_bytes, automaton, grammar, snapshot, names, terminals, base, .. } = &*self.inner;
        let fixed = fixed_bytes
            .get_or_init(|| automaton.bytes_ahead() + grammar.memory_usage() + terminals.memory_usage());
        let names = names.bytes.load(Ordering::Relaxed);
        let base = base.as_ref().map_or(0, Base::memory_usage);
        fixed + automaton.deferred_bytes() + names + snapshot.load().memory_usage() + base
    }

    /// What the caller should know: a part of the grammar that needs bytes which no single token spells, so
    /// that a text could reach a point where no token continues it. (Intersections and complements are
    /// not looked into.)
    pub fn warnings(&self) -> Vec<Diagnostic> {
        spelling::unspellable(&self.inner.grammar, &self.vocabulary().missing_bytes()).into_iter().collect()
    }

    /// What has been made so far; no lock is taken.
    pub(crate) fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        let snapshot = self.inner.snapshot.load();
        snapshot.mark_read();
        snapshot
    }

    /// Drops the tables, as reaching [`cache_bytes`](Limits::cache_bytes) does, for tests that do it at any time.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn drop_tables(&self) {
        drop(self.cache().reset());
    }

    /// What makes more, one thread at a time, with the work of one mask.
    pub(crate) fn cache(&self) -> MutexGuard<'_, MaskCache> {
        let locked = match self.inner.cache.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let _scope = attribution::enter(Cause::LockWait);
                self.inner.waiting.fetch_add(1, Ordering::Relaxed);
                let soon = self.soon();
                let locked = soon.map_or_else(|| self.inner.cache.lock(), Ok);
                self.inner.waiting.fetch_sub(1, Ordering::Relaxed);
                locked.unwrap_or_else(|poisoned| self.recovered(poisoned.into_inner()))
            }
            Err(TryLockError::Poisoned(poisoned)) => self.recovered(poisoned.into_inner()),
            Ok(locked) => locked,
        };
        let mut cache = locked;
        cache.tables.work = Budget::of_mask(self.inner.automaton.limits());
        cache.renew_search_work();
        cache
    }

    /// The same for who explores ahead: nothing if a sequence has the lock or waits for it.
    pub(crate) fn cache_if_idle(&self) -> Option<MutexGuard<'_, MaskCache>> {
        if self.inner.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        match self.inner.cache.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            Err(TryLockError::Poisoned(poisoned)) => Some(self.recovered(poisoned.into_inner())),
            Ok(locked) => Some(locked),
        }
    }

    /// The lock, if it becomes free within some ten microseconds, as it does where the one that has it explores ahead: being woken up takes
    /// as long.
    fn soon(&self) -> Option<MutexGuard<'_, MaskCache>> {
        const LOOKS: usize = 400;
        (0..LOOKS).find_map(|_| {
            std::hint::spin_loop();
            self.inner.cache.try_lock().ok()
        })
    }

    /// How many wait for the lock.
    pub(crate) fn waiting(&self) -> &Arc<AtomicUsize> {
        &self.inner.waiting
    }

    /// Says how much has been made.
    pub(crate) fn publish_size(&self, cache: &MaskCache) {
        self.inner.share.set(cache.publish_size());
    }

    /// Empties tables, and frees the old ones while others may have the lock. The work that was left stays.
    pub(crate) fn emptied<'a>(&'a self, mut cache: MutexGuard<'a, MaskCache>) -> MutexGuard<'a, MaskCache> {
        let _scope = attribution::enter(Cause::Reset);
        let old = cache.reset();
        let work = cache.tables.work.clone();
        self.publish_size(&cache);
        drop(cache);
        drop(old);
        let mut cache = self.cache();
        cache.tables.work = work;
        cache
    }

    /// Gives the lock back, and says how much has been made. Where that is more than many grammars may have together, other ones
    /// lose their tables.
    pub(crate) fn release(&self, cache: MutexGuard<'_, MaskCache>) {
        self.publish_size(&cache);
        drop(cache);
        self.inner.share.make_room();
    }

    /// Whether exploring ahead would drive out what other grammars have made.
    pub(crate) fn is_bound_reached(&self) -> bool {
        self.inner.share.is_full()
    }

    /// Empty tables of the caller's own, which share nothing with other grammars.
    pub(crate) fn own_cache(&self) -> MaskCache {
        MaskCache::new(Arc::default(), Arc::clone(&self.inner.terminals), StrategySet::ALL)
    }

    /// Whoever panicked may have left the tables half made: makes them again.
    fn recovered<'a>(&self, mut cache: MutexGuard<'a, MaskCache>) -> MutexGuard<'a, MaskCache> {
        self.inner.cache.clear_poison();
        drop(cache.reset());
        cache
    }
}
