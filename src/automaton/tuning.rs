//! The thresholds of this room: their units, and what set them where that was measured.

/// States examined to see whether a configuration may return; with more it is taken to.
pub(in crate::automaton) const MAY_RETURN_STATES: usize = 1 << 12;

/// Frames of a stack, from the top, whose counts are widened.
pub(in crate::automaton) const MAX_STACK_DEPTH: usize = 8;

/// States of an operand whose counts are widened; configurations of more are left as they are.
pub(in crate::automaton) const WIDENED_STATES: usize = 32;

/// Bytes of the completion radius of a product up to which its operands are widened.
pub(in crate::automaton) const MAX_COMPLETION_RADIUS: u32 = 64;

/// Rounds of a loop up to which it has few sets of numbers of rounds, each worth a record.
pub(in crate::automaton) const FEW_ROUNDS: u32 = 24;

/// Frames of nested loops that stay with a residual; with more a configuration is not split.
pub(in crate::automaton) const MAX_KEPT_FRAMES: usize = 6;

/// Residuals of a configuration; with more it is not split.
pub(in crate::automaton) const MAX_RESIDUALS: usize = 64;

/// Bytes that a state reads from which on its call keeps what follows it: half of all, so the inside of a string.
pub(in crate::automaton) const WIDE_CALL_BYTES: usize = 128;

/// Ways in which the characters of a kind, or those of ASCII, may move the states of a configuration; with more they are
/// stepped byte by byte.
pub(in crate::automaton) const MOST_MOVES: usize = 16;

/// Words of a canonical form written before it turned out too long, from which on that is remembered.
pub(in crate::automaton) const WORDS_IN_VAIN: usize = 128;

/// Product states after which a search is directed to those with the least way to go. 512 before;
/// with searches by classes of bytes, lowering took 9 % fewer instructions at 128.
pub(in crate::automaton) const UNDIRECTED_SEARCH: usize = 128;

/// Operands up to which searches are directed: of more, the way of each by itself says little, and takes long to find.
pub(in crate::automaton) const FEW_OPERANDS: usize = 2;

/// Items examined to see how many bytes one takes to its end.
pub(in crate::automaton) const ESTIMATED_ITEMS: usize = 256;

/// Items examined for that in one search. Without the bound the lowering of the shipped grammars took twice as many
/// instructions.
pub(in crate::automaton) const ESTIMATED_ITEMS_IN_ALL: usize = 768;

/// Bytes of a completion than which no shorter one is looked for.
pub(in crate::automaton) const SHORT_COMPLETION: u32 = 4;

/// Configurations examined to see whether what comes of an item is free.
pub(in crate::automaton) const FREEDOM_SEARCH: usize = 64;

/// Configurations examined to see whether it is so throughout an item.
pub(in crate::automaton) const FREE_THROUGHOUT: usize = 40;

/// States of a product that are searched in the time of one place of a search for another item.
pub(in crate::automaton) const PLACE_COST: usize = 16;

/// Searches that may be in each other, where items are lists of unique items in turn: a bound on the stack of calls.
pub(in crate::automaton) const NESTED_SEARCHES: usize = 48;

/// States of a set up to which a look at each is quicker than a hash index.
pub(in crate::automaton) const LINEAR_SET: usize = 16;

/// States and expressions of a rule up to which it stands in a loop instead of being called.
pub(in crate::automaton) const INLINE_RULE: usize = 64;

/// Levels of a loop's body that are looked into for the least bytes of a round.
pub(in crate::automaton) const ROUND_LEVELS: usize = 6;

/// States of an expression up to which it is written out at each use: one character in all its spellings, but no string.
pub(in crate::automaton) const INLINE_STATES: u32 = 24;

/// States of a member's value from which on it is lowered when a text has reached it.
pub(in crate::automaton) const DEFERRED_VALUE: u64 = 48;

/// Pages of deferred states that there is room for from the start.
pub(in crate::automaton) const NEAR_PAGES: usize = 1 << 12;

/// Byte sequences beyond ASCII of a class from which on its uses share one copy.
pub(in crate::automaton) const INLINE_SEQUENCES: usize = 12;

/// Products in each other: stepping one steps those inside it, so this bounds the stack of calls.
pub(in crate::automaton) const MAX_PRODUCT_DEPTH: usize = 64;

/// Calls that are united one after the other, as they are added; more are united at once when they are entered.
pub(in crate::automaton) const UNITED_ONE_BY_ONE: usize = 64;

/// Frames interned before that is counted as work.
pub(in crate::automaton) const UNSPENT_FRAMES: usize = 1 << 14;

/// Items of a kernel up to which its closure is remembered.
pub(in crate::automaton) const REMEMBERED_KERNEL: usize = 32;

/// New steps for one look at the memory. Doubled: the bound of memory would be exceeded by more.
pub(in crate::automaton) const STEPS_PER_CHECK: u8 = 16;

/// Edges of a key trie from which on there is more than one key.
pub(in crate::automaton) const FEW_KEYS: usize = 4;

/// Work of a step that was not computed yet, beside one for each of its states and frames: a search of a product makes
/// millions that have few of either.
pub(in crate::automaton) const NEW_STEP: usize = 8;

/// Items of a configuration from which on those are moved at once that a byte leads to one state.
pub(in crate::automaton) const MOVED_AT_ONCE: usize = 64;

/// Configurations examined to see whether names can run out; with more they are taken to.
pub(in crate::automaton) const KEY_CONFIGURATIONS: usize = 1 << 12;

/// Bytes of tables of that examination.
pub(in crate::automaton) const KEY_BYTES: usize = 16 << 20;

/// Steps of work of it for one mask; some ten milliseconds. The most that a mask takes in the tests is some 3,000.
pub(in crate::automaton) const KEY_WORK: u64 = 1 << 18;

/// Configurations of it that are examined for one mask, so that none waits for all: that took up to 23 ms.
pub(in crate::automaton) const KEYS_AT_ONCE: usize = 32;
