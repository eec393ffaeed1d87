//! The memory of lists of unique items: histories, values seen, watches.

use super::candidates::{Candidates, Strings};
use super::seen_list::{ListId, SeenLists};
use crate::automaton::run::configuration::{ConfigurationId, StackSetId};
use crate::automaton::run::frame_value::{FrameValue, SeenItemsId};
use crate::collections::heap::map_bytes;
use crate::collections::interner::Interner;
use crate::collections::string_set::{SetId, StringSets};
use crate::json::comparison::Comparison;
use crate::json::string::JsonStringDecoder;
use crate::json::value::{Value, Values};
use hashbrown::DefaultHashBuilder;
use rustc_hash::FxHashMap;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct HistoryId(u32);

impl HistoryId {
    /// The id for configurations without a recorded history.
    pub(in crate::automaton) const NONE: HistoryId = HistoryId(0);
    /// An empty history.
    pub(in crate::automaton) const EMPTY: HistoryId = HistoryId(1);
}

/// The text read, as a list of bytes. In JSON texts, white space between parts is left out, since items that differ
/// only in such white space are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct History {
    /// The history before the last byte.
    before: HistoryId,
    byte: u8,
    /// The number of bytes.
    length: u32,
    place: Place,
}

/// The position in JSON at the end of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Outside,
    InString,
    Escaped,
}

impl Place {
    fn after(self, byte: u8) -> Place {
        match (self, byte) {
            (Place::Outside, b'"') | (Place::Escaped, _) => Place::InString,
            (Place::InString, b'"') => Place::Outside,
            (Place::InString, b'\\') => Place::Escaped,
            (place, _) => place,
        }
    }
}

/// The state of a list: the items seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct SeenItems {
    pub(in crate::automaton) list: u32,
    /// The set of strings seen, decoded.
    pub(in crate::automaton) strings: SetId,
    /// The other values seen: as a set of ids, and in `followed` as a list.
    pub(in crate::automaton) others: SetId,
    pub(super) followed: ListId,
    pub(in crate::automaton) count: u32,
    /// The position on the history at which the open item began; 0 between items.
    pub(in crate::automaton) start: u32,
}

/// An item that may still become an earlier value.
#[derive(Clone, Copy, Debug)]
pub(in crate::automaton) struct Watch {
    /// The value of the frame of its list.
    pub(in crate::automaton) value: FrameValue,
    /// The configuration of the item alone, without the list.
    pub(in crate::automaton) item: ConfigurationId,
    /// The earlier values that it may become.
    pub(super) candidates: Candidates,
}

/// The memory of all lists of a grammar.
#[derive(Debug)]
pub(in crate::automaton) struct Memory {
    pub(in crate::automaton) values: Values,
    /// The sets of values seen.
    pub(super) sets: StringSets,
    pub(super) followed: SeenLists,
    /// Per configuration of an item alone, whether endlessly many values can follow.
    pub(super) free: FxHashMap<ConfigurationId, Freedom>,
    /// Per configuration of an item alone and candidates, whether the item can become a value other than the
    /// candidates.
    pub(super) elsewhere: FxHashMap<(ConfigurationId, Candidates), bool>,
    /// Per list, whether endlessly many values begin with every text of a further item, until the item ends; `None` if
    /// the answer is still to be computed.
    pub(in crate::automaton) free_lists: FxHashMap<u32, Option<bool>>,
    /// The number of nested searches for another item.
    pub(super) searches: usize,
    pub(in crate::automaton) new_lists: Vec<u32>,
    seen_items: Interner<SeenItems>,
    histories: Interner<History, DefaultHashBuilder>,
    pub(in crate::automaton) watches: FxHashMap<ConfigurationId, Arc<[Watch]>>,
    pub(in crate::automaton) watch_bytes: usize,
    /// The successors of configurations that depend on the history.
    pub(in crate::automaton) next: FxHashMap<(ConfigurationId, u8), ConfigurationId>,
    /// Per set of stacks, its forgetful form.
    pub(in crate::automaton) forgetful: FxHashMap<StackSetId, Option<StackSetId>>,
}

/// The part of a closure that concerns lists of unique items.
#[derive(Debug, Default)]
pub(in crate::automaton) struct HistoryTrace {
    /// The text read, if it will be remembered.
    pub(in crate::automaton) history: HistoryId,
    /// Whether the step began inside an item, or the closure includes a configuration that did.
    pub(in crate::automaton) remembers: bool,
    pub(in crate::automaton) watches: Vec<Watch>,
    /// Whether an item of a list of unique items begins in the step.
    pub(in crate::automaton) begins: bool,
    /// The values of frames of items that begin after other items.
    pub(in crate::automaton) begun: Vec<FrameValue>,
    /// Whether the result depends on the history, so that it must not be cached by its states alone.
    pub(in crate::automaton) depends: bool,
    /// Whether the result depends on a history that is not recorded.
    pub(in crate::automaton) unknown: bool,
}

impl HistoryTrace {
    pub(in crate::automaton) fn clear(&mut self) {
        self.history = HistoryId::EMPTY;
        self.remembers = false;
        self.watches.clear();
        self.begins = false;
        self.begun.clear();
        self.depends = false;
        self.unknown = false;
    }

    /// Whether the text read is part of the result.
    pub(in crate::automaton) fn is_begun(&self) -> bool {
        self.remembers
    }
}

impl Memory {
    pub(in crate::automaton) fn new() -> Memory {
        let mut histories = Interner::default();
        for _ in [HistoryId::NONE, HistoryId::EMPTY] {
            histories.reserve(History { before: HistoryId::NONE, byte: 0, length: 0, place: Place::Outside });
        }
        Memory {
            values: Values::default(),
            sets: StringSets::default(),
            followed: SeenLists::default(),
            free: FxHashMap::default(),
            elsewhere: FxHashMap::default(),
            free_lists: FxHashMap::default(),
            searches: 0,
            new_lists: Vec::new(),
            seen_items: Interner::default(),
            histories,
            watches: FxHashMap::default(),
            watch_bytes: 0,
            next: FxHashMap::default(),
            forgetful: FxHashMap::default(),
        }
    }

    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.values.memory_usage()
            + self.sets.memory_usage()
            + self.followed.memory_usage()
            + map_bytes(&self.free)
            + map_bytes(&self.elsewhere)
            + map_bytes(&self.free_lists)
            + self.seen_items.memory_usage()
            + self.histories.memory_usage()
            + map_bytes(&self.watches)
            + self.watch_bytes
            + map_bytes(&self.next)
            + map_bytes(&self.forgetful)
    }

    /// Whether any list of unique items was entered since the tables were created.
    pub(in crate::automaton) fn is_used(&self) -> bool {
        self.seen_items.len() > 0
    }

    pub(in crate::automaton) fn seen_items(&mut self, seen: SeenItems) -> SeenItemsId {
        SeenItemsId(self.seen_items.intern(seen))
    }

    /// The items seen, by their id.
    pub(in crate::automaton) fn get(&self, seen: SeenItemsId) -> SeenItems {
        *self.seen_items.get(seen.0)
    }

    /// A history with one more byte. If `is_json` is set, white space between the parts of JSON texts is left out.
    pub(in crate::automaton) fn append(&mut self, history: HistoryId, byte: u8, is_json: bool) -> HistoryId {
        let History { length, place, .. } = *self.histories.get(history.0);
        if is_json && place == Place::Outside && matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return history;
        }
        let longer = History { before: history, byte, length: length + 1, place: place.after(byte) };
        HistoryId(self.histories.intern(longer))
    }

    pub(in crate::automaton) fn length(&self, history: HistoryId) -> u32 {
        self.histories.get(history.0).length
    }

    /// The text of a history from a position on.
    pub(in crate::automaton) fn text(&self, history: HistoryId, start: u32) -> Vec<u8> {
        let mut text = Vec::new();
        let mut at = history;
        while self.length(at) > start {
            let History { before, byte, .. } = *self.histories.get(at.0);
            text.push(byte);
            at = before;
        }
        text.reverse();
        text
    }

    /// The values seen by a list, as candidates before the first byte of another item.
    pub(super) fn values_seen(&self, seen: &SeenItems) -> Candidates {
        Candidates::new(seen.strings, seen.followed)
    }

    /// The items seen with one more item, whose text is `text`; `None` if the item equals an earlier one.
    pub(in crate::automaton) fn with_value(&mut self, before: SeenItems, text: &[u8]) -> Option<SeenItems> {
        let id = self.values.read(text);
        let own = id.to_be_bytes();
        let (set, text): (_, &[u8]) = match self.values.get(id) {
            Value::String(content) => (before.strings, content),
            _ => (before.others, &own),
        };
        if self.sets.has_empty(self.sets.after(set, text)) {
            return None;
        }
        let with = self.sets.with(set, text);
        Some(match self.values.get(id) {
            Value::String(_) => SeenItems { strings: with, ..before },
            _ => {
                let followed = self.followed.with(&self.values, before.followed, Comparison::new(id));
                SeenItems { others: with, followed, ..before }
            }
        })
    }
}

/// How many values begin with the text read of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::automaton) enum Freedom {
    /// Not endlessly many, or this is unknown.
    No,
    /// Endlessly many numbers, unless the exponent of a number is being read.
    Digits,
    /// Endlessly many.
    Letters,
}

impl Memory {
    /// Whether the text read so far is a complete spelling of one of the candidates.
    pub(super) fn is_equal(&self, candidates: &Candidates) -> bool {
        candidates.strings == Strings::Whole || self.followed.is_equal(candidates.others)
    }

    /// Whether the text read so far ends in the exponent of a number among the candidates.
    pub(super) fn is_in_exponent(&self, candidates: &Candidates) -> bool {
        self.followed.is_in_exponent(candidates.others)
    }

    /// Merges all candidates that are numbers with more zeros than a bound, so that a search that reads only zeros
    /// terminates.
    pub(super) fn widened(&mut self, candidates: Candidates) -> Candidates {
        Candidates { others: self.followed.widened(&self.values, candidates.others), ..candidates }
    }

    /// The values that the text may still become after one more byte.
    pub(super) fn advanced(&mut self, candidates: &Candidates, byte: u8) -> Candidates {
        let sets = &self.sets;
        let strings = match candidates.strings {
            Strings::All(set) if byte == b'"' => Strings::Within(JsonStringDecoder::Plain, set),
            Strings::Within(JsonStringDecoder::Plain, left) if byte == b'"' && sets.has_empty(left) => {
                Strings::Whole
            }
            Strings::Within(mut decoder, left) if decoder != JsonStringDecoder::Plain || byte != b'"' => {
                match decoder.decode(byte).map(|more| sets.after(left, &more)) {
                    None | Some(SetId::EMPTY) => Strings::None,
                    Some(left) => Strings::Within(decoder, left),
                }
            }
            _ => Strings::None,
        };
        Candidates { strings, others: self.followed.after(&self.values, candidates.others, byte) }
    }
}
