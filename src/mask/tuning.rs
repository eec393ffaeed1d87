//! The thresholds of this room: their units, and what set them where that was measured.

/// Nodes of the trie of all tokens for one node of the budget of walks that may be given up. Set over the 353 slowest schemas
/// of MaskBench among 16, 32, 40, 48, 56, 64, 96 and 128: from 64 on the rest gets slower; 48 in place of 16 took masks
/// over 1 ms from 164 to 117 of 326,000.
pub(in crate::mask) const NODES_PER_BUDGET: usize = 48;

/// Configurations, by the state of the loop, among which a configuration may stay. 400 before configurations with an
/// invariant core needed no look; 80 then took masks over 1 ms from 174 to 159 of 326,000.
pub(in crate::mask) const CLOSED_SET: usize = 80;

/// Times that items which are not there again are left out before a core is given up.
pub(in crate::mask) const CORE_ROUNDS: usize = 4;

/// Bytes that may come, from which on tokens are walked by kinds: a configuration with fewer is in no string.
pub(in crate::mask) const CLASS_TRIE_BYTES: usize = 32;

/// Configurations that tokens of one spelling may lead to; where they are more, tokens are read byte by byte.
pub(in crate::mask) const SPELLING_CONFIGURATIONS: usize = 8;

/// Nodes of the class trie from which on it is asked whether a subtree is accepted whole.
pub(in crate::mask) const CLASS_SUBTREE: u32 = 4;

/// Tokens that are read byte by byte before a full walk is made. They are counted first and read then; 2,048 before they
/// were.
pub(in crate::mask) const TOKENS_READ: usize = 8192;

/// Tokens inside strings that are read byte by byte where all others are known. More were tried without gain.
pub(in crate::mask) const TOKENS_LEFT: usize = 2048;

/// Pairs of configurations examined to see that a character beyond ASCII leads to one configuration.
pub(in crate::mask) const RECONVERGING_PAIRS: usize = 16;

/// Of the 95 printable ASCII characters, those that must lead to the base.
pub(in crate::mask) const MAJORITY: usize = 32;

/// Children of a node up to which each is examined by itself, rather than all bytes.
pub(in crate::mask) const CHILDREN_BY_THEMSELVES: usize = 8;

/// Bytes after which a residual and its base differ, from which on a pattern is followed and not names: then subtrees that
/// both accept whole are looked for.
pub(in crate::mask) const MANY_DISAGREEMENTS: usize = 16;

/// Configurations stepped through after an attempt became stale, to see how long completions are.
pub(in crate::mask) const WARMED_CONFIGURATIONS: usize = 64;

/// Bytes that may come after a quote, from which on there may be a string with a record.
pub(in crate::mask) const STRING_BYTES: usize = 32;

/// Places where a residual may return; with more it has no record, as each use would walk from all.
pub(in crate::mask) const MAX_CONTINUATIONS: usize = 1 << 13;

/// Children of a node up to which they are tried one by one, rather than the bytes that may come.
pub(in crate::mask) const CHILDREN_ONE_BY_ONE: usize = 24;

/// Tokens below a node after a quote, from which on they are looked up as those of a residual.
pub(in crate::mask) const TOKENS_AFTER_QUOTE: usize = 32;

/// Bytes that may come, from which on a configuration is swept through memory.
pub(in crate::mask) const SWEEP_BYTES: usize = 32;

/// Nodes of a subtree from which on it is swept.
pub(in crate::mask) const SWEEP_NODES: u32 = 16;

/// Bytes of a path that is swept at once; longer ones are continued by another sweep.
pub(in crate::mask) const SWEEP_DEPTH: usize = 64;

/// Rows that are found without hashing, by the last bits of their ids.
pub(in crate::mask) const LEVEL_SLOTS: usize = 64;

/// Nodes of a subtree for each configuration that may be examined to accept it whole.
pub(in crate::mask) const NODES_PER_LOOK: u32 = 128;

/// Configurations that may be examined at most.
pub(in crate::mask) const MOST_LOOKS: u32 = 64;

/// Configurations that characters may lead to before they are not followed any more.
pub(in crate::mask) const MOST_FOLLOWED: usize = 512;

/// Nodes of a subtree from which on it is found out where characters lead, if that is not known.
pub(in crate::mask) const STEPS_WORTH_NODES: u32 = 128;

/// Nodes that are walked in the time that it takes to ask whether a subtree is accepted whole.
pub(in crate::mask) const NODES_PER_ASK: u32 = 8;

/// Times it is asked in a mask before it is judged whether asking pays.
pub(in crate::mask) const ASKS_BEFORE_JUDGED: u32 = 128;

/// Tokens that a walk lists before they become words.
pub(in crate::mask) const ADDED_BEFORE_COMPACT: usize = 1 << 13;

/// Tokens by which a mask may differ from shared words; with more it gets words of its own, 16 KiB for 128,000 tokens.
pub(in crate::mask) const NEAR: usize = 512;

/// Tokens of a list up to which it is sorted to leave out those that are there twice, rather than marked.
pub(in crate::mask) const FEW_SORTED: usize = 32;

/// Bytes of what grammars of one compiler have found out for each other.
pub(in crate::mask) const SHARED_BYTES: usize = 32 << 20;

/// Entries that were dropped and are freed with each new one, so that no mask waits for all: that took 1 to 2 ms.
pub(in crate::mask) const FREED_AT_ONCE: usize = 4;
