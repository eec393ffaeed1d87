//! The thresholds of this module, with their units and, where measured, their reasons.

/// The most states examined to find out whether a configuration may return; with more states it is assumed that it may.
pub(in crate::automaton) const MAY_RETURN_STATES: usize = 1 << 12;

/// The most frames of a stack, from the top, whose counts are widened.
pub(in crate::automaton) const MAX_STACK_DEPTH: usize = 8;

/// The most states of an operand whose counts are widened; configurations of more states are left unchanged.
pub(in crate::automaton) const WIDENED_STATES: usize = 32;

/// The greatest completion radius of a product, in bytes, at which its operands are widened.
pub(in crate::automaton) const MAX_COMPLETION_RADIUS: u32 = 64;

/// The greatest number of rounds of a loop that is worth a cached mask for each set of numbers of rounds.
pub(in crate::automaton) const FEW_ROUNDS: u32 = 24;

/// The most frames of nested loops that stay with a residual; with more frames the configuration is not split.
pub(in crate::automaton) const MAX_KEPT_FRAMES: usize = 6;

/// The most residuals of a configuration; with more the configuration is not split.
pub(in crate::automaton) const MAX_RESIDUALS: usize = 64;

/// The least number of bytes that a state must be able to read for its residual to keep the frame of its call: half of
/// all 256 bytes, as inside a string.
pub(in crate::automaton) const WIDE_CALL_BYTES: usize = 128;

/// The most ways in which the characters of a kind, or the ASCII characters, may move the states of a configuration.
/// With more ways the characters are stepped byte by byte.
pub(in crate::automaton) const MOST_MOVES: usize = 16;

/// The most words of an attempted canonical form whose failure is not remembered. After a longer failed attempt, forms
/// that begin with the same state are not tried again.
pub(in crate::automaton) const WORDS_IN_VAIN: usize = 128;

/// The number of product states after which a search prefers the product states with the shortest way to go. The number
/// was 512; with searches by classes of bytes, lowering took 9 % fewer instructions at 128.
pub(in crate::automaton) const UNDIRECTED_SEARCH: usize = 128;

/// The most operands of a directed search: with more, the way of each operand alone says little and takes long to find.
pub(in crate::automaton) const FEW_OPERANDS: usize = 2;

/// The estimate after how many bytes an item accepts ends once more items than this were found.
pub(in crate::automaton) const ESTIMATED_ITEMS: usize = 256;

/// The most items examined in one search for a completion, to estimate after how many bytes its items accept. Without
/// this bound the lowering of the shipped grammars took twice as many instructions.
pub(in crate::automaton) const ESTIMATED_ITEMS_IN_ALL: usize = 768;

/// A search takes a completion of at most this many bytes without looking for a shorter one.
pub(in crate::automaton) const SHORT_COMPLETION: u32 = 4;

/// The most configurations examined to find out whether endlessly many values begin with the text read so far of an
/// item.
pub(in crate::automaton) const FREEDOM_SEARCH: usize = 64;

/// The most configurations examined to find out whether endlessly many values begin with every text of an item.
pub(in crate::automaton) const FREE_THROUGHOUT: usize = 40;

/// The number of product states that a search of a product examines in the time in which a search for a further value
/// of a list of unique items examines one configuration. The limit `lockstep_search` counts product states.
pub(in crate::automaton) const PLACE_COST: usize = 16;

/// The most nested searches, for items that are lists of unique items in turn: bounds the call stack.
pub(in crate::automaton) const NESTED_SEARCHES: usize = 48;

/// The largest set of states for which a linear scan is faster than a hash index.
pub(in crate::automaton) const LINEAR_SET: usize = 16;

/// The most states and expressions of a rule that is inlined into a loop instead of called.
pub(in crate::automaton) const INLINE_RULE: usize = 64;

/// The most levels of a loop's body that are examined for the least bytes of a round.
pub(in crate::automaton) const ROUND_LEVELS: usize = 6;

/// The most states of an expression that is copied at each use: enough for one character in all its spellings. Literal
/// bytes are copied at any length, and unbounded repeats up to [`INLINE_RULE`].
pub(in crate::automaton) const INLINE_STATES: u32 = 24;

/// The most states of a member's value that is lowered together with its list. A larger value is lowered only when a
/// text reaches it, if parts of the grammar can be deferred.
pub(in crate::automaton) const DEFERRED_VALUE: u64 = 48;

/// The most pages of deferred states that are allocated from the start.
pub(in crate::automaton) const NEAR_PAGES: usize = 1 << 12;

/// The most byte sequences beyond ASCII of a class that is copied at each use. The uses of a larger class share one
/// copy of these sequences.
pub(in crate::automaton) const INLINE_SEQUENCES: usize = 12;

/// The greatest depth of nested products: a step of a product steps the products inside it, so this bounds the call
/// stack.
pub(in crate::automaton) const MAX_PRODUCT_DEPTH: usize = 64;

/// The most calls that are united one after the other as they are added, if they have at most
/// [`LINEAR`](super::run::work_list::LINEAR) starts; more are united in one pass when they are entered.
pub(in crate::automaton) const UNITED_ONE_BY_ONE: usize = 64;

/// The most frames that closing a configuration interns before they are counted as work. Fewer frames are counted when
/// the step is finished.
pub(in crate::automaton) const UNSPENT_FRAMES: usize = 1 << 14;

/// The most items of a kernel whose closure is cached.
pub(in crate::automaton) const REMEMBERED_KERNEL: usize = 32;

/// New steps between two checks of the memory. With twice as many, the tables could grow further beyond the memory
/// bound.
pub(in crate::automaton) const STEPS_PER_CHECK: u8 = 16;

/// The most bytes that a state inside a register, such as a key, waits for in a configuration that counts as narrow.
pub(in crate::automaton) const FEW_KEYS: usize = 4;

/// The work of a step not computed before, in addition to one per state and frame: a search of a product makes millions
/// of steps that have few states and frames.
pub(in crate::automaton) const NEW_STEP: usize = 8;

/// The most items of a configuration that are added to a closure one by one after a byte. Of more items, all items with
/// a common successor state are united in one pass.
pub(in crate::automaton) const MOVED_AT_ONCE: usize = 64;

/// The most configurations examined to find out whether names can run out; with more, names are assumed to run out.
pub(in crate::automaton) const KEY_CONFIGURATIONS: usize = 1 << 12;

/// The most bytes of the tables for finding out whether names can run out.
pub(in crate::automaton) const KEY_BYTES: usize = 16 << 20;

/// The steps of work per mask for finding out whether names can run out: about ten milliseconds. No mask in the tests
/// takes more than about 3,000.
pub(in crate::automaton) const KEY_WORK: u64 = 1 << 18;

/// The configurations examined per mask to find out whether names can run out. If a mask examined all of them,
/// computing the mask would take up to 23 ms longer.
pub(in crate::automaton) const KEYS_AT_ONCE: usize = 32;
