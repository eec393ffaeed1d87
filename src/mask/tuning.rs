//! The thresholds of this module, with their units and, where measured, their reasons.

/// A walk that may be given up may sweep one trie node per this many nodes of the trie of all tokens, plus one. Chosen
/// from 16, 32, 40, 48, 56, 64, 96 and 128 over the 353 slowest schemas of MaskBench: from 64 on the remaining masks
/// get slower; 48 instead of 16 took masks over 1 ms from 164 to 117 of 326,000.
pub(in crate::mask) const NODES_PER_BUDGET: usize = 48;

/// The most pairs of a configuration and a state of the loop in a closed set, including the first. It was 400 before
/// configurations with an invariant core skipped this check; 80 then took masks over 1 ms from 174 to 159 of 326,000.
pub(in crate::mask) const CLOSED_SET: usize = 80;

/// The most rounds in which items that do not recur are removed, before the search for an invariant core is given up.
pub(in crate::mask) const CORE_ROUNDS: usize = 4;

/// The least number of possible bytes for which tokens are walked by kinds: a configuration with fewer is not in a
/// string.
pub(in crate::mask) const CLASS_TRIE_BYTES: usize = 32;

/// The most configurations that tokens with the same sequence of character kinds may lead to. With more, the tokens are
/// read byte by byte.
pub(in crate::mask) const SPELLING_CONFIGURATIONS: usize = 8;

/// The least number of nodes of a subtree of the class trie that is tested for being accepted as a whole.
pub(in crate::mask) const CLASS_SUBTREE: u32 = 4;

/// The most tokens that are read byte by byte before a full walk is made instead. They are counted first and read
/// afterwards. When they were read immediately, the bound was 2,048.
pub(in crate::mask) const TOKENS_READ: usize = 8192;

/// The most tokens inside strings that are read byte by byte if all others are known. Larger values brought no gain.
pub(in crate::mask) const TOKENS_LEFT: usize = 2048;

/// The most pairs of configurations examined to see that two configurations after a byte beyond ASCII reconverge.
pub(in crate::mask) const RECONVERGING_PAIRS: usize = 16;

/// The least number of the 95 printable ASCII characters that must lead to a configuration, so that it can be the base
/// of a residual.
pub(in crate::mask) const MAJORITY: usize = 32;

/// The most children of a trie node that the strategy `delta` examines one by one. For more children it determines for
/// all bytes whether the residual and its base differ.
pub(in crate::mask) const CHILDREN_BY_THEMSELVES: usize = 8;

/// If a residual and its base differ after at least this many bytes, a pattern is likelier than names. Then it is
/// tested whether both accept a subtree as a whole.
pub(in crate::mask) const MANY_DISAGREEMENTS: usize = 16;

/// The number of configurations at which stepping ahead ends. After an attempt became stale, configurations are stepped
/// through to see how long completions are.
pub(in crate::mask) const WARMED_CONFIGURATIONS: usize = 64;

/// The least number of bytes possible after a quote for which a string with a record may follow.
pub(in crate::mask) const STRING_BYTES: usize = 32;

/// The most positions inside tokens at which a residual with a record may return. A residual with more has no record,
/// since each use would walk from all of them.
pub(in crate::mask) const MAX_CONTINUATIONS: usize = 1 << 13;

/// The most children of a node that are always tried one by one. For more children, the possible bytes are tried
/// instead if they are fewer than a quarter of the children.
pub(in crate::mask) const CHILDREN_ONE_BY_ONE: usize = 24;

/// The least number of tokens below a node after a quote for which a string is taken to begin there: its tokens are
/// then looked up in the records of residuals instead of being walked.
pub(in crate::mask) const TOKENS_AFTER_QUOTE: usize = 32;

/// The least number of possible bytes for which a configuration is swept through memory.
pub(in crate::mask) const SWEEP_BYTES: usize = 32;

/// The least number of nodes of a subtree that is swept.
pub(in crate::mask) const SWEEP_NODES: u32 = 16;

/// The most configurations on a path in one sweep, including the first. Deeper nodes are queued and walked later.
pub(in crate::mask) const SWEEP_DEPTH: usize = 64;

/// The number of slots of the cache in which wide configurations are found without hashing, by the low bits of their
/// ids.
pub(in crate::mask) const LEVEL_SLOTS: usize = 64;

/// To decide whether a subtree is accepted as a whole, one configuration may be examined, and one more per this many
/// nodes of the subtree.
pub(in crate::mask) const NODES_PER_LOOK: u32 = 128;

/// The most configurations examined for one subtree.
pub(in crate::mask) const MOST_LOOKS: u32 = 64;

/// The most configurations that characters may lead to while a subtree is tested; with more, the test gives up.
pub(in crate::mask) const MOST_FOLLOWED: usize = 512;

/// The least number of nodes of a subtree for which it is computed where the characters lead from a configuration, if
/// that is not known yet.
pub(in crate::mask) const STEPS_WORTH_NODES: u32 = 128;

/// The number of nodes walked in the time of one test whether a subtree is accepted as a whole.
pub(in crate::mask) const NODES_PER_ASK: u32 = 8;

/// The number of tests in a mask whether a subtree is accepted as a whole, before it is judged whether they pay off.
pub(in crate::mask) const ASKS_BEFORE_JUDGED: u32 = 128;

/// The most tokens that a walk lists before they are converted to words.
pub(in crate::mask) const ADDED_BEFORE_COMPACT: usize = 1 << 13;

/// Maximum number of tokens by which a mask may differ from shared words. With more, the mask gets its own words, 16
/// KiB for 128,000 tokens.
pub(in crate::mask) const NEAR: usize = 512;

/// The longest list of tokens that is deduplicated by sorting rather than by marking.
pub(in crate::mask) const FEW_SORTED: usize = 32;

/// The most bytes of records that the grammars of one compiler share.
pub(in crate::mask) const SHARED_BYTES: usize = 32 << 20;

/// The number of dropped entries that are freed with each new one, so that no mask waits for freeing all: that took 1
/// to 2 ms.
pub(in crate::mask) const FREED_AT_ONCE: usize = 4;
