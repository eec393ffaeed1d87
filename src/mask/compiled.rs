//! A grammar compiled for a vocabulary.

use super::base::Base;
use super::cache::mask_cache::{Located, MaskCache, Snapshot};
use super::cache::shared::Shared;
use super::memory_bound::{MemoryBound, Share, Tenant};
use super::part_bounds;
use super::spelling;
use super::statistics::Statistics;
use super::strategy::StrategySet;
use super::terminals::Terminals;
use crate::automaton::{Automaton, KeyExhaustion, Sufficient};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::{EndlessNames, Grammar, Letters};
use crate::limits::Limits;
use crate::mask_file::{MaskFile, errors};
use crate::token_index::TokenIndex;
use crate::vocabulary::{TokenId, Vocabulary};
use crate::work::Budget;
use arc_swap::{ArcSwap, Guard};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError, Weak};

/// Compiles grammars for one vocabulary. The grammars compiled by a compiler and its clones share records about the
/// strings, numbers and patterns that they have in common, up to 32 MiB, and as much for masks within budgets.
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
#[derive(Clone)]
pub struct Compiler {
    vocabulary: Arc<Vocabulary>,
    /// The token index, once it is computed; shared by clones.
    index: Arc<OnceLock<Arc<TokenIndex>>>,
    limits: Limits,
    shared: Arc<Shared>,
    strategies: StrategySet,
    bound: Option<MemoryBound>,
    /// Whether bounds of parts in tokens are ignored.
    unbounded: bool,
    /// The vocabulary in which token terminals are resolved, if it differs from that of the masks.
    terminals_of: Option<Arc<Vocabulary>>,
}

impl Compiler {
    /// A compiler for a vocabulary, with the default [`Limits`]. The token index of the vocabulary is computed once for
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

    /// The vocabulary for which this compiler compiles grammars: masks have a bit for each of its ids.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Sets the limits for compiling grammars, and for the masks and steps of the compiled grammars.
    pub fn limits(mut self, limits: Limits) -> Compiler {
        self.limits = limits;
        self
    }

    /// Bounds the total memory of the tables of all grammars that the returned compiler and its clones compile.
    /// Compilers for other vocabularies may share the bound.
    pub fn within(self, bound: &MemoryBound) -> Compiler {
        Compiler { bound: Some(bound.clone()), ..self }
    }

    /// Ignores bounds of parts [in tokens](crate::grammar::GrammarBuilder::max_tokens). For vocabularies whose tokens
    /// are not those of a model, for instance if texts are checked byte by byte.
    pub fn without_token_bounds(self) -> Compiler {
        Compiler { unbounded: true, ..self }
    }

    /// The limits that were set, or the defaults.
    #[cfg(feature = "serve")]
    pub(crate) fn get_limits(&self) -> &Limits {
        &self.limits
    }

    /// Computes masks only with the named strategies (see [`StrategyCounts::iter`]) and the full walk, for tests that
    /// compare each strategy with the full walk. The compiler shares no records with its clones made before.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn only_strategies(self, names: &[&str]) -> Compiler {
        Compiler { strategies: StrategySet::named(names), shared: Arc::default(), ..self }
    }

    /// Computes the token index of the vocabulary now; otherwise the first [`compile`](Compiler::compile) does.
    /// Computing it takes about 60 milliseconds for 128,000 tokens. All clones of the compiler share the index.
    ///
    /// # Errors
    /// `limit/exceeded` if the limit [`trie_bytes`](Limits::trie_bytes) is exceeded.
    pub fn prepare(&self) -> Result<()> {
        self.index().map(|_| ())
    }

    /// Bytes of the token index; 0 until it is computed. The vocabulary itself is not counted.
    pub fn memory_usage(&self) -> usize {
        self.index.get().map_or(0, |index| index.memory_usage())
    }

    /// Serialises the token index, for another process to [load](Compiler::prepare_from). A mask file or an archive may
    /// contain it. Equal vocabularies give equal bytes.
    ///
    /// # Errors
    /// `limit/exceeded`; `mask-file/no-token-index` for a token of 65,535 bytes or more, or an id of 2³¹ or more.
    pub fn token_index(&self) -> Result<Vec<u8>> {
        self.index()?.to_bytes().ok_or_else(errors::no_token_index)
    }

    /// Loads the token index from [bytes](Compiler::token_index) instead of computing it, in a fifth to a ninth of the
    /// time. Does nothing if the index exists already.
    ///
    /// The bytes are checked so that they can do no harm. But only a digest within the bytes says that they are right,
    /// and all masks of the compiler and its clones depend on them. So take the bytes from the source of the
    /// vocabulary. To verify them, compare them with the bytes of a compiler that has computed its own index.
    ///
    /// # Errors
    /// `limit/exceeded`; `mask-file/token-index` if the bytes are damaged, or of another vocabulary or version.
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

    /// A compiler with the same limits that shares the token index, but no records of grammars.
    pub fn detached(&self) -> Compiler {
        Compiler { shared: Arc::default(), ..self.clone() }
    }

    /// Drops the records that grammars of this compiler and its clones share. They are computed again when needed.
    pub fn clear_cache(&self) {
        self.shared.clear();
    }

    /// Lowers a grammar to an automaton and computes its start. Tables and masks are computed on demand.
    ///
    /// # Errors
    /// - Those of [`Automaton::new`], such as an empty language, a token terminal where none is allowed, or a limit.
    /// - Those of [`prepare`](Compiler::prepare), if the token index is not computed yet.
    /// - `mask/unknown-token`, `mask/token-range` or `mask/no-tokens` if a token terminal does not fit the vocabulary.
    /// - `mask/part-bound` if a part is not known to be able to end within its bound of tokens.
    /// - `limit/exceeded` if a limit such as `compile_work` or `mask_work` is exceeded.
    pub fn compile(&self, grammar: &Grammar) -> Result<CompiledGrammar> {
        self.compile_over(grammar, None)
    }

    /// Loads the compiled grammar of a [mask file](crate::mask_file). The explored part is read from the file, and
    /// everything else is computed on demand. Masks are the same as for the grammar compiled without the file.
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

/// A grammar compiled for a vocabulary. Clones share it, and any number of [`Matcher`](crate::Matcher)s on any number
/// of threads may use it concurrently. A mask or step that one of them has needed before is read by the others without
/// a lock. Anything new is computed by one thread, while others that need something new wait.
#[derive(Clone)]
pub struct CompiledGrammar {
    inner: Arc<Inner>,
    /// The given end tokens, if any.
    ends: Option<Arc<GivenEnds>>,
}

/// End tokens of a grammar's matchers that replace those of the vocabulary.
#[derive(Debug)]
pub(crate) struct GivenEnds {
    /// The given tokens, sorted and deduplicated.
    pub(crate) tokens: Box<[TokenId]>,
    /// Given tokens that do not end a text in the masks that all matchers of the grammar share.
    pub(crate) added: Box<[TokenId]>,
    /// Tokens that end a text in the masks that all matchers share, and are not given.
    pub(crate) removed: Box<[TokenId]>,
    /// The original grammar, if it was compiled again because of the tokens.
    pub(super) origin: Option<CompiledGrammar>,
}

#[derive(Debug)]
struct Inner {
    grammar: Grammar,
    /// Bytes of the grammar, its token terminals and the automaton as compiled, computed on demand.
    fixed_bytes: OnceLock<usize>,
    automaton: Automaton,
    /// Upper bounds on completions, computed on demand.
    sufficient: OnceLock<Arc<Sufficient>>,
    /// Whether there are parts bounded in tokens, and their bounds are not ignored.
    parts: bool,
    /// The start configuration in the first generation of tables.
    start: Located,
    names: KeySupply,
    terminals: Arc<Terminals>,
    index: Arc<TokenIndex>,
    /// The mask file, if the grammar was loaded from one.
    base: Option<Base>,
    /// The number of threads that wait for the lock.
    waiting: Arc<AtomicUsize>,
    snapshot: Arc<ArcSwap<Snapshot>>,
    cache: Mutex<MaskCache>,
    /// The size of the tables, as counted for the bound shared with other grammars.
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
        // a grammar whose lock is taken is not the least recently used one
        let Ok(mut cache) = self.cache.try_lock() else { return };
        if cache.tables.configuration_count() > 1 {
            let old = cache.reset();
            self.share.set(cache.publish_size());
            drop(cache);
            drop(old);
        }
    }
}

/// Whether every prefix of a name of an object can be extended to endlessly many names.
#[derive(Debug, Default)]
struct KeySupply {
    /// The answer, once it is known: the bounds if the names are endless, otherwise `None`.
    are_endless: OnceLock<Option<EndlessNames>>,
    /// The state of the search for the answer until then.
    found_out: Mutex<Option<Box<KeyExhaustion>>>,
    /// Bytes of the state of the search.
    bytes: AtomicUsize,
}

impl CompiledGrammar {
    /// The grammar that was compiled.
    pub fn grammar(&self) -> &Grammar {
        &self.inner.grammar
    }

    /// The vocabulary for which the grammar was compiled.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.inner.index.vocabulary()
    }

    /// The tokens that end a text, sorted: the vocabulary's end-of-sequence tokens, or those given in their place.
    pub fn end_tokens(&self) -> &[TokenId] {
        self.ends.as_ref().map_or(self.vocabulary().eos(), |ends| &ends.tokens)
    }

    /// Whether a token is one of the [end tokens](CompiledGrammar::end_tokens).
    pub fn is_end(&self, token: TokenId) -> bool {
        self.end_tokens().binary_search(&token).is_ok()
    }

    /// The same compiled grammar with given end tokens.
    pub(super) fn with_given_ends(&self, ends: GivenEnds) -> CompiledGrammar {
        CompiledGrammar { inner: Arc::clone(&self.inner), ends: Some(Arc::new(ends)) }
    }

    /// The grammar with the vocabulary's own end tokens: undoes [`with_end_tokens`](CompiledGrammar::with_end_tokens).
    pub fn without_end_tokens(&self) -> CompiledGrammar {
        let origin = self.ends.as_ref().and_then(|ends| ends.origin.clone());
        origin.unwrap_or_else(|| CompiledGrammar { inner: Arc::clone(&self.inner), ends: None })
    }

    /// A compiler with the settings of this grammar, for the same tokens with other end-of-sequence tokens.
    pub(super) fn compiler_for(&self, vocabulary: Vocabulary) -> Compiler {
        let limits = self.automaton().limits().clone();
        Compiler {
            bound: self.inner.share.bound().cloned(),
            unbounded: !self.inner.parts,
            terminals_of: Some(Arc::clone(self.vocabulary())),
            ..Compiler::new(Arc::new(vocabulary)).limits(limits)
        }
    }

    /// The given end tokens, if they differ from the end tokens in the masks that matchers share.
    pub(crate) fn given_ends(&self) -> Option<&Arc<GivenEnds>> {
        self.ends.as_ref().filter(|ends| !ends.added.is_empty() || !ends.removed.is_empty())
    }

    /// The token index of the vocabulary.
    pub(crate) fn index(&self) -> &Arc<TokenIndex> {
        &self.inner.index
    }

    /// The start configuration: of the current generation of tables, if it is known there.
    pub(crate) fn start(&self) -> Located {
        self.snapshot().start().unwrap_or(self.inner.start)
    }

    /// The data of the mask file, if the grammar was loaded from one.
    #[inline]
    pub(crate) fn base(&self) -> Option<&Base> {
        self.inner.base.as_ref()
    }

    /// The tokens of the grammar's token terminals.
    pub(crate) fn terminals(&self) -> &Terminals {
        &self.inner.terminals
    }

    /// The automaton that the grammar was lowered to.
    pub fn automaton(&self) -> &Automaton {
        &self.inner.automaton
    }

    /// The data for upper bounds on completions.
    pub(crate) fn sufficient(&self) -> &Arc<Sufficient> {
        self.inner.sufficient.get_or_init(|| {
            let vocabulary = self.vocabulary();
            let missing = vocabulary.missing_bytes();
            let letters = Letters {
                bytes: (0..=u8::MAX).filter(|&byte| !missing[usize::from(byte)]).collect(),
                terminals: self.inner.terminals.usable(vocabulary),
                longest: vocabulary.longest(),
            };
            let of_products = self.automaton().product_words();
            Arc::new(Sufficient::new(&self.inner.grammar, letters, of_products))
        })
    }

    /// Whether there are parts bounded in tokens, and their bounds are not ignored.
    #[inline]
    pub(crate) fn has_parts(&self) -> bool {
        self.inner.parts
    }

    /// Whether every prefix of a name of an object is known to be extensible to endlessly many names.
    pub(crate) fn keys_are_unbounded(&self) -> bool {
        self.endless_names().is_some()
    }

    /// As [`EndlessNames`], for the other names; `None` if they are not endless, or not known to be.
    pub(crate) fn endless_names(&self) -> Option<EndlessNames> {
        self.inner.names.are_endless.get().copied().flatten()
    }

    /// Continues the search for [`endless_names`](Self::endless_names), unless another thread is doing so.
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

    /// The current sizes and counts. Waits for the engine's lock.
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

    /// Bytes of the automaton, the grammar, its token terminals, the tables and masks computed so far, and the mask
    /// file with its decoded masks. A mapped file, the token index and the vocabulary are not counted. Takes no lock.
    pub fn memory_usage(&self) -> usize {
        let Inner { fixed_bytes, automaton, grammar, snapshot, names, terminals, base, .. } = &*self.inner;
        let fixed = fixed_bytes
            .get_or_init(|| automaton.bytes_ahead() + grammar.memory_usage() + terminals.memory_usage());
        let names = names.bytes.load(Ordering::Relaxed);
        let base = base.as_ref().map_or(0, Base::memory_usage);
        fixed + automaton.deferred_bytes() + names + snapshot.load().memory_usage() + base
    }

    /// Warnings: a part of the grammar needs bytes without a token of their own, so that a text could get stuck; a
    /// literal spells a special token, which it does not match.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        spelling::warnings(&self.inner.grammar, self.vocabulary())
    }

    /// The published tables and masks, which are marked as read. Takes no lock.
    pub(crate) fn snapshot(&self) -> Guard<Arc<Snapshot>> {
        let snapshot = self.inner.snapshot.load();
        snapshot.mark_read();
        snapshot
    }

    /// Drops the tables, as reaching [`cache_bytes`](Limits::cache_bytes) does, so that tests can do so at any time.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn drop_tables(&self) {
        drop(self.cache().reset());
    }

    /// Locks the tables for computing more, with the budget of work of one mask.
    pub(crate) fn cache(&self) -> MutexGuard<'_, MaskCache> {
        let locked = match self.inner.cache.try_lock() {
            Err(TryLockError::WouldBlock) => {
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

    /// Locks the tables for exploring ahead; `None` if another thread holds the lock or waits for it.
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

    /// The lock, if it becomes free within about ten microseconds: likely if its holder explores ahead, and waking up a
    /// sleeping thread takes as long. `None` otherwise.
    fn soon(&self) -> Option<MutexGuard<'_, MaskCache>> {
        const LOOKS: usize = 400;
        (0..LOOKS).find_map(|_| {
            std::hint::spin_loop();
            self.inner.cache.try_lock().ok()
        })
    }

    /// The number of threads that wait for the lock.
    pub(crate) fn waiting(&self) -> &Arc<AtomicUsize> {
        &self.inner.waiting
    }

    /// Publishes the size of the tables.
    pub(crate) fn publish_size(&self, cache: &MaskCache) {
        self.inner.share.set(cache.publish_size());
    }

    /// Empties the tables, and frees the old ones while other threads may take the lock. Keeps the remaining budget of
    /// work.
    pub(crate) fn emptied<'a>(&'a self, mut cache: MutexGuard<'a, MaskCache>) -> MutexGuard<'a, MaskCache> {
        let old = cache.reset();
        let work = cache.tables.work.clone();
        self.publish_size(&cache);
        drop(cache);
        drop(old);
        let mut cache = self.cache();
        cache.tables.work = work;
        cache
    }

    /// Publishes the size of the tables and releases the lock. If the total exceeds the bound shared with other
    /// grammars, the least recently used of them lose their tables.
    pub(crate) fn release(&self, cache: MutexGuard<'_, MaskCache>) {
        self.publish_size(&cache);
        drop(cache);
        self.inner.share.make_room();
    }

    /// Whether exploring ahead would evict tables of other grammars.
    pub(crate) fn is_bound_reached(&self) -> bool {
        self.inner.share.is_full()
    }

    /// Empty tables for the caller alone; they share nothing with other grammars.
    pub(crate) fn own_cache(&self) -> MaskCache {
        MaskCache::new(Arc::default(), Arc::clone(&self.inner.terminals), StrategySet::ALL)
    }

    /// Resets tables that a panicking thread may have left inconsistent.
    fn recovered<'a>(&self, mut cache: MutexGuard<'a, MaskCache>) -> MutexGuard<'a, MaskCache> {
        self.inner.cache.clear_poison();
        drop(cache.reset());
        cache
    }
}
