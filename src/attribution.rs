//! Attribution of a mask's time to causes: how long each part of the engine worked on it.
//!
//! A scope marks a coarse part of the engine. Times are exclusive: the time of an inner scope is subtracted from the
//! outer one, so the times of all causes add up to the whole. Without the feature `attribution` a scope is a zero-sized
//! type that does nothing; with it, entering and leaving a scope read the clock once each while the thread measures,
//! and marking the time of a scope as wasted reads it once more.

/// What the time of a thread is spent on: a part of the engine, waiting for a lock, or anything outside all scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// Time outside all scopes: lookups without the lock, copying the mask, and the caller.
    Unmarked,
    /// The strategy `delta`, including the search for the base.
    Delta,
    /// The strategy `loop-language`.
    LoopLanguage,
    /// The strategy `invariant-core`.
    InvariantCore,
    /// The strategy `closed-set`.
    ClosedSet,
    /// The strategy `short-walk`.
    ShortWalk,
    /// The strategy `class-trie`.
    ClassTrie,
    /// The strategy `full-walk`.
    FullWalk,
    /// Walks of narrow configurations.
    Narrow,
    /// Masks in lists whose items must differ.
    Unique,
    /// Splitting a configuration into residuals.
    Decompose,
    /// Canonical forms, and the cache of records shared between grammars.
    ShapeCache,
    /// Walks of the token trie from the nodes where residuals return.
    Continuations,
    /// Strings that begin inside a token.
    EnteredStrings,
    /// Steps taken ahead so that the completion radius is long enough for the next walk.
    CompletionRadius,
    /// Assembling and publishing a mask.
    Assemble,
    /// Lowering a part of the grammar that a text reaches for the first time.
    Lowering,
    /// Searches for a word of a product.
    ProductSearch,
    /// Searches for an item that differs from the earlier ones.
    UniqueSearch,
    /// Steps to new configurations when a token or a byte string is accepted.
    Steps,
    /// Work under the lock of the grammar that no other cause covers, such as taking the lock and adding up sizes.
    Locked,
    /// Waiting while another thread has the lock.
    LockWait,
    /// Dropping the tables when `cache_bytes` is reached.
    Reset,
    /// Finding a configuration again after the tables were dropped.
    Replay,
    /// Object keys: which are already used, and which are left.
    Keys,
}

impl Cause {
    /// All causes, in the order of their numbers.
    pub const ALL: [Cause; 25] = [
        Cause::Unmarked,
        Cause::Delta,
        Cause::LoopLanguage,
        Cause::InvariantCore,
        Cause::ClosedSet,
        Cause::ShortWalk,
        Cause::ClassTrie,
        Cause::FullWalk,
        Cause::Narrow,
        Cause::Unique,
        Cause::Decompose,
        Cause::ShapeCache,
        Cause::Continuations,
        Cause::EnteredStrings,
        Cause::CompletionRadius,
        Cause::Assemble,
        Cause::Lowering,
        Cause::ProductSearch,
        Cause::UniqueSearch,
        Cause::Steps,
        Cause::Locked,
        Cause::LockWait,
        Cause::Reset,
        Cause::Replay,
        Cause::Keys,
    ];

    /// The name in reports. Strategies have the names of the table of strategies.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Unmarked => "unmarked",
            Cause::Delta => "delta",
            Cause::LoopLanguage => "loop-language",
            Cause::InvariantCore => "invariant-core",
            Cause::ClosedSet => "closed-set",
            Cause::ShortWalk => "short-walk",
            Cause::ClassTrie => "class-trie",
            Cause::FullWalk => "full-walk",
            Cause::Narrow => "narrow",
            Cause::Unique => "unique",
            Cause::Decompose => "decompose",
            Cause::ShapeCache => "shape-cache",
            Cause::Continuations => "continuations",
            Cause::EnteredStrings => "entered-strings",
            Cause::CompletionRadius => "completion-radius",
            Cause::Assemble => "assemble",
            Cause::Lowering => "lowering",
            Cause::ProductSearch => "product-search",
            Cause::UniqueSearch => "unique-search",
            Cause::Steps => "steps",
            Cause::Locked => "locked",
            Cause::LockWait => "lock-wait",
            Cause::Reset => "reset",
            Cause::Replay => "replay",
            Cause::Keys => "keys",
        }
    }
}

pub(crate) use clock::enter;
#[cfg(feature = "attribution")]
pub use clock::{Breakdown, begin, end};

#[cfg(not(feature = "attribution"))]
mod clock {
    use super::Cause;

    /// A scope that measures nothing.
    #[must_use = "a scope ends where it is dropped"]
    pub(crate) struct Scope;

    impl Scope {
        /// Ends the scope. Nothing is marked, since nothing is measured.
        #[inline(always)]
        pub(crate) fn end_in_vain(self) {}
    }

    /// Enters a scope, which ends when it is dropped.
    #[inline(always)]
    pub(crate) fn enter(_: Cause) -> Scope {
        Scope
    }
}

#[cfg(feature = "attribution")]
mod clock {
    use super::Cause;
    use std::cell::Cell;
    use std::time::Instant;

    /// The times that one thread has spent on each cause, and how often each cause was entered.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Breakdown {
        nanoseconds: [u64; Cause::ALL.len()],
        entered: [u32; Cause::ALL.len()],
        in_vain: [u64; Cause::ALL.len()],
    }

    impl Breakdown {
        /// The nanoseconds spent on a cause, without those of scopes inside it.
        pub fn nanoseconds(&self, cause: Cause) -> u64 {
            self.nanoseconds[cause as usize]
        }

        /// How often a scope of a cause was entered.
        pub fn entered(&self, cause: Cause) -> u32 {
            self.entered[cause as usize]
        }

        /// The nanoseconds spent on a cause that were wasted: a strategy did not apply or was given up.
        pub fn in_vain(&self, cause: Cause) -> u64 {
            self.in_vain[cause as usize]
        }

        /// The sum of the nanoseconds of all causes: the time measured.
        pub fn total(&self) -> u64 {
            self.nanoseconds.iter().sum()
        }
    }

    struct Clock {
        nanoseconds: [Cell<u64>; Cause::ALL.len()],
        entered: [Cell<u32>; Cause::ALL.len()],
        in_vain: [Cell<u64>; Cause::ALL.len()],
        /// The cause of the innermost scope.
        cause: Cell<Cause>,
        /// The time up to which the time of `cause` was added; `None` while nothing is measured.
        since: Cell<Option<Instant>>,
    }

    thread_local! {
        static CLOCK: Clock = const {
            Clock {
                nanoseconds: [const { Cell::new(0) }; Cause::ALL.len()],
                entered: [const { Cell::new(0) }; Cause::ALL.len()],
                in_vain: [const { Cell::new(0) }; Cause::ALL.len()],
                cause: Cell::new(Cause::Unmarked),
                since: Cell::new(None),
            }
        };
    }

    impl Clock {
        /// Adds the time since the last change to the current cause, then switches to `to`. Returns the previous cause.
        fn change(&self, to: Cause) -> Cause {
            let from = self.cause.replace(to);
            if let Some(since) = self.since.get() {
                let now = Instant::now();
                let spent = &self.nanoseconds[from as usize];
                spent.set(spent.get() + (now - since).as_nanos() as u64);
                self.since.set(Some(now));
            }
            from
        }
    }

    /// A part of the engine at work, until the scope is dropped.
    #[must_use = "a scope ends where it is dropped"]
    pub(crate) struct Scope {
        around: Cause,
        cause: Cause,
        /// The nanoseconds of the cause when the scope was entered.
        before: u64,
    }

    impl Scope {
        /// Ends the scope and marks the time spent in it as wasted, without scopes inside it.
        pub(crate) fn end_in_vain(self) {
            CLOCK.with(|clock| {
                clock.change(self.cause);
                let spent = clock.nanoseconds[self.cause as usize].get() - self.before;
                let in_vain = &clock.in_vain[self.cause as usize];
                in_vain.set(in_vain.get() + spent);
            });
        }
    }

    /// Enters a scope, which ends when it is dropped.
    pub(crate) fn enter(cause: Cause) -> Scope {
        CLOCK.with(|clock| {
            let entered = &clock.entered[cause as usize];
            entered.set(entered.get() + 1);
            let before = clock.nanoseconds[cause as usize].get();
            Scope { around: clock.change(cause), cause, before }
        })
    }

    impl Drop for Scope {
        fn drop(&mut self) {
            CLOCK.with(|clock| clock.change(self.around));
        }
    }

    /// Starts measuring on this thread, from zero.
    pub fn begin() {
        CLOCK.with(|clock| {
            clock.nanoseconds.iter().for_each(|spent| spent.set(0));
            clock.entered.iter().for_each(|entered| entered.set(0));
            clock.in_vain.iter().for_each(|in_vain| in_vain.set(0));
            clock.cause.set(Cause::Unmarked);
            clock.since.set(Some(Instant::now()));
        });
    }

    /// Stops measuring on this thread. Returns the times and counts since [`begin`].
    pub fn end() -> Breakdown {
        CLOCK.with(|clock| {
            clock.change(Cause::Unmarked);
            clock.since.set(None);
            Breakdown {
                nanoseconds: std::array::from_fn(|at| clock.nanoseconds[at].get()),
                entered: std::array::from_fn(|at| clock.entered[at].get()),
                in_vain: std::array::from_fn(|at| clock.in_vain[at].get()),
            }
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::time::Duration;

        fn work(milliseconds: u64) {
            std::thread::sleep(Duration::from_millis(milliseconds));
        }

        #[test]
        fn the_times_of_nested_scopes_are_exclusive_and_add_up_to_the_whole() {
            let start = Instant::now();
            begin();
            work(2);
            {
                let _outer = enter(Cause::Steps);
                work(4);
                {
                    let _inner = enter(Cause::Lowering);
                    work(16);
                    let innermost = enter(Cause::ProductSearch);
                    work(1);
                    innermost.end_in_vain();
                }
                let _again = enter(Cause::Steps);
                work(4);
            }
            work(1);
            let found = end();
            let whole = start.elapsed().as_nanos() as u64;
            let causes = [
                (Cause::Unmarked, 3, 0),
                (Cause::Steps, 8, 2),
                (Cause::Lowering, 16, 1),
                (Cause::ProductSearch, 1, 1),
                (Cause::Keys, 0, 0),
            ];
            for (cause, milliseconds, entered) in causes {
                assert!(found.nanoseconds(cause) >= milliseconds * 1_000_000, "{cause:?}: {found:?}");
                assert_eq!(found.entered(cause), entered, "{cause:?}");
                let in_vain = if cause == Cause::ProductSearch { found.nanoseconds(cause) } else { 0 };
                assert!(found.in_vain(cause).abs_diff(in_vain) < 1_000_000, "{cause:?}: {found:?}");
            }
            // time inside another cause is not counted twice: the sum is at most the elapsed time
            assert!(found.total() <= whole && found.total() >= 28_000_000, "{} of {whole}", found.total());
            assert!(whole - found.total() < 1_000_000, "{} of {whole}", found.total());
        }

        #[test]
        fn nothing_is_measured_before_the_beginning_and_after_the_end() {
            drop(enter(Cause::Keys));
            begin();
            assert!(end().total() < 1_000_000);
            let after = enter(Cause::Keys);
            work(1);
            drop(after);
            begin();
            assert_eq!(end().nanoseconds(Cause::Keys), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn causes_are_listed_by_their_numbers_and_have_different_names() {
        assert!(Cause::ALL.iter().enumerate().all(|(at, &cause)| cause as usize == at));
        let names: HashSet<&str> = Cause::ALL.iter().map(|cause| cause.name()).collect();
        assert_eq!(names.len(), Cause::ALL.len());
    }

    #[cfg(not(feature = "attribution"))]
    #[test]
    fn without_the_feature_a_scope_is_nothing() {
        assert_eq!(size_of::<clock::Scope>(), 0);
        assert!(!std::mem::needs_drop::<clock::Scope>());
    }
}
