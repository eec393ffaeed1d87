//! The values of frames: the register of what a frame returns to.
//!
//! Of which kind a value is follows from the frame's return state: an id of a table, or a small number. Three kinds are
//! told by their bits alone, as union and rewriting look at values without their states: numbers of rounds, and what lists
//! of unique items have.
//!
//! ```text
//! 0 .. 2^29        nothing (a plain call), whether a part is old, members seen, product states, lists whose items are not remembered
//! 2^29 .. 2^30     sets of numbers of rounds
//! 2^30, 2^30 + 1   items of which it takes the history to know
//! 2^31 .. 3*2^30   items seen, of a list inside an item
//! 3*2^30 ..        items seen, of a list between two items
//! ```
//!
//! Ids stay below 2^29: an entry of a table takes 16 bytes and more, and all tables together less than 8 GiB, whatever
//! [`Limits::cache_bytes`](crate::Limits::cache_bytes) says (see `Automaton::cache_bytes`).

/// The id of a set of numbers of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RoundSetId(pub(in crate::automaton) u32);

impl RoundSetId {
    /// All numbers: of a loop without bounds, or one whose bounds are too far away to be met.
    pub(in crate::automaton) const ANY: RoundSetId = RoundSetId(0);
}

/// The id of a product state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ProductStateId(pub(in crate::automaton) u32);

/// The id of the items that a list of unique items has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct SeenItemsId(pub(in crate::automaton) u32);

/// The value of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FrameValue(u32);

const ROUNDS: u32 = 1 << 29;
const DOUBTFUL: u32 = 1 << 30;
const SEEN_ITEMS: u32 = 1 << 31;
const BETWEEN: u32 = 3 << 30;

/// Of an item that does not remember: the list may end after it, another item may follow, and may whatever came.
const MAY_END: u32 = 1;
const MAY_GO_ON: u32 = 2;
const FREE: u32 = 8;

/// A value below those that are told by their bits.
fn small(value: u32) -> FrameValue {
    debug_assert!(value < ROUNDS, "a table has more entries than frames can name");
    FrameValue(value)
}

impl FrameValue {
    /// That of plain calls, and of lists of which nothing came.
    pub(in crate::automaton) const NONE: FrameValue = FrameValue(0);

    /// That of a part bounded in tokens which was open before the last token; see [`parts`](super::parts).
    pub(in crate::automaton) const KEPT_PART: FrameValue = FrameValue(1);

    /// Inside an item of which nothing is known: it takes the history to know what its bytes lead to.
    pub(in crate::automaton) const DOUBTFUL: FrameValue = FrameValue(DOUBTFUL);

    /// Inside an item after which it takes the history to know.
    pub(in crate::automaton) const UNKNOWN: FrameValue = FrameValue(DOUBTFUL + 1);

    /// Between items of a list that does not remember.
    pub(in crate::automaton) const BETWEEN_ITEMS: FrameValue = FrameValue(16);

    /// The same where another item may begin, whatever came.
    pub(in crate::automaton) const BETWEEN_FREE_ITEMS: FrameValue = FrameValue(16 | FREE);

    /// Numbers of rounds.
    pub(in crate::automaton) fn of_rounds(set: RoundSetId) -> FrameValue {
        debug_assert!(set.0 < DOUBTFUL - ROUNDS, "more sets of rounds than frames can name");
        FrameValue(ROUNDS + set.0)
    }

    /// A product state.
    pub(in crate::automaton) fn of_product(state: ProductStateId) -> FrameValue {
        small(state.0)
    }

    /// A number below 2^29 that only the register of the frame understands: of a list of members a place, or the id of a set or
    /// of a [`Progress`](crate::automaton::register::seen_sets::Progress).
    pub(in crate::automaton) fn of_number(number: u32) -> FrameValue {
        small(number)
    }

    /// The items seen, inside another item.
    pub(in crate::automaton) fn inside(seen: SeenItemsId) -> FrameValue {
        debug_assert!(seen.0 < BETWEEN - SEEN_ITEMS, "more lists of seen items than frames can name");
        FrameValue(SEEN_ITEMS | seen.0)
    }

    /// The items seen, between two items.
    pub(in crate::automaton) fn between(seen: SeenItemsId) -> FrameValue {
        debug_assert!(seen.0 < BETWEEN - SEEN_ITEMS, "more lists of seen items than frames can name");
        FrameValue(BETWEEN | seen.0)
    }

    /// Inside an item that does not remember.
    pub(in crate::automaton) fn forgetful_item(may_end: bool, may_go_on: bool, is_free: bool) -> FrameValue {
        let flag = |is: bool, flag| if is { flag } else { 0 };
        FrameValue(flag(may_end, MAY_END) | flag(may_go_on, MAY_GO_ON) | flag(is_free, FREE))
    }

    /// Between items of a list that does not remember, where another may begin whatever came, or may not.
    pub(in crate::automaton) fn between_forgetful(is_free: bool) -> FrameValue {
        if is_free { FrameValue::BETWEEN_FREE_ITEMS } else { FrameValue::BETWEEN_ITEMS }
    }

    /// Whether it is numbers of rounds.
    pub(in crate::automaton) fn is_rounds(self) -> bool {
        (ROUNDS..DOUBTFUL).contains(&self.0)
    }

    /// The numbers of rounds of a loop's frame.
    pub(in crate::automaton) fn rounds(self) -> RoundSetId {
        RoundSetId(self.0 - ROUNDS)
    }

    /// The product state of a product's frame.
    pub(in crate::automaton) fn product_state(self) -> ProductStateId {
        ProductStateId(self.0)
    }

    /// The number of a frame that has one.
    pub(in crate::automaton) fn number(self) -> u32 {
        self.0
    }

    /// The items seen, of a list of unique items that remembers them.
    pub(in crate::automaton) fn seen_items(self) -> Option<SeenItemsId> {
        (self.0 >= SEEN_ITEMS).then_some(SeenItemsId(self.0 & !BETWEEN))
    }

    /// Whether it is the items seen, inside another item.
    pub(in crate::automaton) fn is_inside(self) -> bool {
        (SEEN_ITEMS..BETWEEN).contains(&self.0)
    }

    /// Whether it is the items seen, between two items.
    pub(in crate::automaton) fn is_between(self) -> bool {
        self.0 >= BETWEEN
    }

    /// Whether a list that does not remember may end after its item.
    pub(in crate::automaton) fn may_end(self) -> bool {
        self.0 & MAY_END != 0
    }

    /// Whether another item may follow the item of a list that does not remember.
    pub(in crate::automaton) fn may_go_on(self) -> bool {
        self.0 & MAY_GO_ON != 0
    }

    /// Whether another item may begin after the item of a list that does not remember, whatever came.
    pub(in crate::automaton) fn is_free(self) -> bool {
        self.0 & FREE != 0
    }

    /// Whether the frame of a list of unique items stays with residuals: it is examined before the item ends.
    pub(in crate::automaton) fn is_examined(self) -> bool {
        self.is_between()
            || [FrameValue::BETWEEN_ITEMS, FrameValue::BETWEEN_FREE_ITEMS, FrameValue::DOUBTFUL]
                .contains(&self)
    }

    /// The bits, for canonical forms.
    pub(in crate::automaton) fn bits(self) -> u32 {
        self.0
    }
}
