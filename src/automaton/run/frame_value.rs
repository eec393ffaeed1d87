//! The values of frames: the registers of their return addresses.
//!
//! The kind of a value follows from the frame's return address: an id of a table, or a small number. Four kinds are
//! recognisable by their bits alone, because union and rewriting look at values without their states: numbers of
//! rounds, items whose successors depend on the history, and the items seen by a list of unique items, either inside an
//! item or between two.
//!
//! ```text
//! 0 .. 2^29        nothing (a plain call), whether a part is old, members seen, product states,
//!                  lists whose items are not remembered
//! 2^29 .. 2^30     sets of numbers of rounds
//! 2^30, 2^30 + 1   items whose successors depend on the history
//! 2^31 .. 3*2^30   items seen, of a list inside an item
//! 3*2^30 ..        items seen, of a list between two items
//! ```
//!
//! Ids stay below 2^29: an entry of a table takes 16 bytes or more, and all tables together less than 8 GiB, regardless
//! of [`Limits::cache_bytes`](crate::Limits::cache_bytes) (see `Automaton::cache_bytes`).

/// The id of a set of numbers of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RoundSetId(pub(in crate::automaton) u32);

impl RoundSetId {
    /// All numbers: for a loop without bounds, or with bounds too far away to be reached.
    pub(in crate::automaton) const ANY: RoundSetId = RoundSetId(0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ProductStateId(pub(in crate::automaton) u32);

/// The id of the items that a list of unique items has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct SeenItemsId(pub(in crate::automaton) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FrameValue(u32);

const ROUNDS: u32 = 1 << 29;
const DOUBTFUL: u32 = 1 << 30;
const SEEN_ITEMS: u32 = 1 << 31;
const BETWEEN: u32 = 3 << 30;

/// Flags of a forgetful item: the list may end after it; another item may follow; another item may follow whatever was
/// seen.
const MAY_END: u32 = 1;
const MAY_GO_ON: u32 = 2;
const FREE: u32 = 8;

/// A value below 2^29, that is, below all values that are recognisable by their bits.
fn small(value: u32) -> FrameValue {
    debug_assert!(value < ROUNDS, "a table has more entries than frames can name");
    FrameValue(value)
}

impl FrameValue {
    /// The value of plain calls, of lists without members so far, and of parts bounded in tokens that were entered
    /// since the last token.
    pub(in crate::automaton) const NONE: FrameValue = FrameValue(0);

    /// The value of a part bounded in tokens that was open before the last token; see [`parts`](super::parts).
    pub(in crate::automaton) const KEPT_PART: FrameValue = FrameValue(1);

    /// The value of an item about which nothing is known: the successors of its bytes depend on the history.
    pub(in crate::automaton) const DOUBTFUL: FrameValue = FrameValue(DOUBTFUL);

    /// The value of an item after which the history is needed.
    pub(in crate::automaton) const UNKNOWN: FrameValue = FrameValue(DOUBTFUL + 1);

    /// The value between items of a forgetful list.
    pub(in crate::automaton) const BETWEEN_ITEMS: FrameValue = FrameValue(16);

    /// The value between items of a forgetful list, if another item may begin regardless of the items seen.
    pub(in crate::automaton) const BETWEEN_FREE_ITEMS: FrameValue = FrameValue(16 | FREE);

    /// The value of a counted loop: a set of numbers of rounds.
    pub(in crate::automaton) fn of_rounds(set: RoundSetId) -> FrameValue {
        debug_assert!(set.0 < DOUBTFUL - ROUNDS, "more sets of rounds than frames can name");
        FrameValue(ROUNDS + set.0)
    }

    /// The value of a product: a product state.
    pub(in crate::automaton) fn of_product(state: ProductStateId) -> FrameValue {
        small(state.0)
    }

    /// A number below 2^29 whose meaning the register of the frame defines. For a list of members it is an index, or
    /// the id of a set or of a [`Progress`](crate::automaton::register::seen_sets::Progress).
    pub(in crate::automaton) fn of_number(number: u32) -> FrameValue {
        small(number)
    }

    /// The value of a list of unique items while an item is open: the items seen before it.
    pub(in crate::automaton) fn inside(seen: SeenItemsId) -> FrameValue {
        debug_assert!(seen.0 < BETWEEN - SEEN_ITEMS, "more lists of seen items than frames can name");
        FrameValue(SEEN_ITEMS | seen.0)
    }

    /// The value of a list of unique items between two items: the items seen.
    pub(in crate::automaton) fn between(seen: SeenItemsId) -> FrameValue {
        debug_assert!(seen.0 < BETWEEN - SEEN_ITEMS, "more lists of seen items than frames can name");
        FrameValue(BETWEEN | seen.0)
    }

    /// The value of a forgetful item: whether the list may end after it, whether another item may follow, and whether
    /// one may follow whatever was seen.
    pub(in crate::automaton) fn forgetful_item(may_end: bool, may_go_on: bool, is_free: bool) -> FrameValue {
        let flag = |is: bool, flag| if is { flag } else { 0 };
        FrameValue(flag(may_end, MAY_END) | flag(may_go_on, MAY_GO_ON) | flag(is_free, FREE))
    }

    /// The value between items of a forgetful list; `is_free` says that another item may begin whatever was seen.
    pub(in crate::automaton) fn between_forgetful(is_free: bool) -> FrameValue {
        if is_free { FrameValue::BETWEEN_FREE_ITEMS } else { FrameValue::BETWEEN_ITEMS }
    }

    /// Whether the value is a set of numbers of rounds.
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

    /// The number that was given to [`FrameValue::of_number`].
    pub(in crate::automaton) fn number(self) -> u32 {
        self.0
    }

    /// The items seen by a list of unique items; `None` for other and forgetful values.
    pub(in crate::automaton) fn seen_items(self) -> Option<SeenItemsId> {
        (self.0 >= SEEN_ITEMS).then_some(SeenItemsId(self.0 & !BETWEEN))
    }

    /// Whether the value is the items that a list has seen, while another item is open.
    pub(in crate::automaton) fn is_inside(self) -> bool {
        (SEEN_ITEMS..BETWEEN).contains(&self.0)
    }

    /// Whether the value is the items that a list has seen, between two items.
    pub(in crate::automaton) fn is_between(self) -> bool {
        self.0 >= BETWEEN
    }

    /// Whether a forgetful list may end after its item.
    pub(in crate::automaton) fn may_end(self) -> bool {
        self.0 & MAY_END != 0
    }

    /// Whether another item may follow the item of a forgetful list.
    pub(in crate::automaton) fn may_go_on(self) -> bool {
        self.0 & MAY_GO_ON != 0
    }

    /// Whether another item may begin after the item of a forgetful list, whatever was seen.
    pub(in crate::automaton) fn is_free(self) -> bool {
        self.0 & FREE != 0
    }

    /// Whether the frame of a list of unique items stays with residuals, because its value matters before the item
    /// ends.
    pub(in crate::automaton) fn is_examined(self) -> bool {
        self.is_between()
            || [FrameValue::BETWEEN_ITEMS, FrameValue::BETWEEN_FREE_ITEMS, FrameValue::DOUBTFUL]
                .contains(&self)
    }

    /// The value as a number, for canonical forms.
    pub(in crate::automaton) fn bits(self) -> u32 {
        self.0
    }
}
