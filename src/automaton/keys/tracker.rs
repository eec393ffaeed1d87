//! The names of objects: no object of a JSON text has a name twice.
//!
//! The text read so far determines which objects are open, which names each of them has, and whether a name is being
//! read. A [`KeyState`] has this information. A key state is stored in addition to a configuration, not in it, so that
//! configurations are shared regardless of names. A name is recorded if its configuration is
//! [marked](crate::automaton::Transitions::is_named) when the name ends. Names that a grammar lists need not be
//! recorded, since it allows each only once. Before the first recorded name, and after the end of its object, nothing
//! is tracked and the state is [`KeyState::OUTSIDE`].

use crate::automaton::run::configuration::ConfigurationId;
use crate::automaton::run::lazy::Lazy;
use crate::collections::interner::Interner;
use crate::collections::string_set::{SetId, StringSets};
use crate::error::Result;
use crate::json::string::JsonStringDecoder;
use crate::limits::{LimitKind, Limits};
use hashbrown::DefaultHashBuilder;
use rustc_hash::FxHashSet;

/// The state of the names after a text: the innermost container, and the position in a name or value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct KeyState {
    /// The id of the innermost open container.
    container: u32,
    at: Position,
}

impl KeyState {
    /// No open object has recorded names.
    pub(crate) const OUTSIDE: KeyState = KeyState { container: Container::OUTSIDE, at: Position::Value };
    /// The state before a text that is tracked from its beginning.
    pub(crate) const START: KeyState = KeyState { container: Container::ROOT, at: Position::Value };

    /// Whether nothing is tracked, as in [`KeyState::OUTSIDE`].
    #[inline]
    pub(crate) fn is_outside(self) -> bool {
        self.container == Container::OUTSIDE
    }

    /// If the name being read is a prefix of no recorded name, the state without its characters: whatever the
    /// characters are, the name may end.
    pub(crate) fn without_fresh_name(self) -> KeyState {
        match self.at {
            Position::Name { decoder, left: SetId::EMPTY, .. } => {
                KeyState { at: Position::Name { decoder, text: TextId(0), left: SetId::EMPTY }, ..self }
            }
            _ => self,
        }
    }

    /// Whether the position is in a string value.
    pub(crate) fn is_in_text(self) -> bool {
        matches!(self.at, Position::Text { .. })
    }

    /// Within a name: the state of the decoder, and the remaining suffixes of recorded names that begin with the name
    /// so far.
    pub(crate) fn in_name(self) -> Option<(JsonStringDecoder, SetId)> {
        match self.at {
            Position::Name { decoder, left, .. } => Some((decoder, left)),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Position {
    /// Outside of strings; the next string is a value.
    Value,
    /// Outside of strings; in an object the next string is a name.
    Key,
    /// In a string value, directly after a backslash or not.
    Text { escaped: bool },
    /// In a name: its characters so far, and the suffixes of the recorded names that begin with them.
    Name { decoder: JsonStringDecoder, text: TextId, left: SetId },
}

/// The id of a text that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct TextId(u32);

/// A prefix of a name: the state of the decoder, and the suffixes of the recorded names that begin with the prefix.
pub(crate) type NamePrefix = (JsonStringDecoder, SetId);

/// An open object or array of the text. Ids 0 and 1 are the container of an untracked text and the top level of a
/// tracked text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Container {
    below: u32,
    is_object: bool,
    /// The recorded names of this object; empty for an array.
    names: SetId,
    /// The number of recorded names, and the greatest number of recorded names in this container and the containers
    /// around it.
    count: u32,
    most: u32,
    /// Whether this container or one around it has a recorded name that a single token may spell.
    common: bool,
}

impl Container {
    const OUTSIDE: u32 = 0;
    const ROOT: u32 = 1;

    /// An object or array inside another container, without names.
    fn inner(below: u32, is_object: bool, around: (u32, bool)) -> Container {
        let (most, common) = around;
        Container { below, is_object, names: SetId::EMPTY, count: 0, most, common }
    }
}

/// The tables behind [`KeyState`]s. Outside parties choose the names, so the hashers have random keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyTracker {
    sets: StringSets,
    containers: Interner<Container, DefaultHashBuilder>,
    /// Per text: the text without its last byte, and that byte.
    texts: Interner<(TextId, u8), DefaultHashBuilder>,
}

impl Default for KeyTracker {
    fn default() -> KeyTracker {
        let (mut containers, mut texts) = (Interner::default(), Interner::default());
        for _ in [Container::OUTSIDE, Container::ROOT] {
            containers.reserve(Container::inner(0, false, (0, false)));
        }
        texts.reserve((TextId(0), 0));
        KeyTracker { sets: StringSets::default(), containers, texts }
    }
}

/// The content of a JSON string, given without its quotes; `None` if it is not JSON.
fn decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = JsonStringDecoder::default();
    let mut content = Vec::new();
    for &byte in text {
        content.extend(decoder.decode(byte)?);
    }
    Some(content)
}

impl KeyTracker {
    /// The decoder and the remaining suffixes of recorded names after one more byte; `None` if the byte ends a recorded
    /// name.
    pub(crate) fn left_after(
        &self,
        (mut decoder, left): (JsonStringDecoder, SetId),
        byte: u8,
    ) -> Option<(JsonStringDecoder, SetId)> {
        match decoder {
            JsonStringDecoder::Plain if byte == b'"' => {
                (!self.sets.has_empty(left)).then_some((decoder, SetId::EMPTY))
            }
            _ => {
                // text that is not JSON equals no recorded name
                let left = decoder.decode(byte).map_or(SetId::EMPTY, |more| self.sets.after(left, &more));
                Some((decoder, left))
            }
        }
    }

    /// Whether some recorded name begins with the text read.
    pub(crate) fn is_left(&self, (_, left): (JsonStringDecoder, SetId)) -> bool {
        left != SetId::EMPTY
    }

    /// If the name that is being read, or the next string, must differ from recorded names: whether the name has begun,
    /// and its prefix.
    pub(crate) fn to_differ(&self, place: KeyState) -> Option<(bool, NamePrefix)> {
        let container = self.containers.get(place.container);
        let name = match place.at {
            Position::Name { decoder, left, .. } => (true, (decoder, left)),
            Position::Key if container.is_object => (false, (JsonStringDecoder::Plain, container.names)),
            _ => return None,
        };
        Some(name).filter(|(_, name)| self.is_left(*name))
    }

    /// Whether, from a configuration within a name, a name can follow that is not recorded.
    pub(crate) fn has_another(
        &self,
        lazy: &mut Lazy<'_>,
        configuration: ConfigurationId,
        (decoder, left): (JsonStringDecoder, SetId),
    ) -> Result<bool> {
        let mut open = vec![(configuration, decoder, left)];
        let mut known = FxHashSet::default();
        let limit = lazy.automaton.limits().lockstep_search;
        while let Some((at, decoder, left)) = open.pop() {
            if known.len() > limit {
                return Err(Limits::exceeded(
                    LimitKind::LockstepSearch,
                    limit,
                    "an object with no other name found so far",
                ));
            }
            for byte in lazy.candidate_bytes(at).iter() {
                lazy.work.spend(1)?;
                let next = lazy.step(at, byte)?;
                if next == ConfigurationId::DEAD {
                    continue;
                }
                match self.left_after((decoder, left), byte) {
                    Some((_, SetId::EMPTY)) => return Ok(true),
                    Some((decoder, left)) if known.insert((next, decoder, left)) => {
                        open.push((next, decoder, left));
                    }
                    _ => {}
                }
            }
        }
        Ok(false)
    }

    /// The greatest number of recorded names of an open object.
    pub(crate) fn most_names(&self, place: KeyState) -> u32 {
        self.containers.get(place.container).most
    }

    /// Whether some open object has a recorded name that a single token may spell.
    pub(crate) fn has_common(&self, place: KeyState) -> bool {
        self.containers.get(place.container).common
    }

    fn append(&mut self, text: TextId, bytes: &[u8]) -> TextId {
        bytes.iter().fold(text, |text, &byte| TextId(self.texts.intern((text, byte))))
    }

    fn text(&self, mut text: TextId) -> Vec<u8> {
        let mut bytes = Vec::new();
        while text != TextId::default() {
            let (before, byte) = *self.texts.get(text.0);
            bytes.push(byte);
            text = before;
        }
        bytes.reverse();
        bytes
    }

    /// The state after the first name to be tracked. `backwards` yields the text before the quote that ended the name,
    /// last byte first. [`KeyState::OUTSIDE`] if the name is not JSON.
    pub(crate) fn enter(
        &mut self,
        mut backwards: impl Iterator<Item = u8>,
        is_common: impl Fn(&[u8]) -> bool,
    ) -> KeyState {
        let mut text = Vec::new();
        let mut next = backwards.next();
        while let Some(byte) = next {
            next = backwards.next();
            if byte == b'"' {
                let mut escapes = 0;
                while next == Some(b'\\') {
                    escapes += 1;
                    next = backwards.next();
                }
                if escapes % 2 == 0 {
                    break;
                }
                text.push(byte);
                text.resize(text.len() + escapes, b'\\');
            } else {
                text.push(byte);
            }
        }
        text.reverse();
        let Some(name) = decoded(&text) else { return KeyState::OUTSIDE };
        self.with_name(Container::inner(Container::OUTSIDE, true, (0, false)), &name, is_common)
    }

    fn with_name(
        &mut self,
        container: Container,
        name: &[u8],
        is_common: impl Fn(&[u8]) -> bool,
    ) -> KeyState {
        let names = self.sets.with(container.names, name);
        let count = container.count.saturating_add(1);
        let (most, common) = (container.most.max(count), container.common || is_common(name));
        let container = self.containers.intern(Container { names, count, most, common, ..container });
        KeyState { container, at: Position::Value }
    }

    /// The state after one more byte; `None` if the byte ends a name that is already recorded, and
    /// [`KeyState::OUTSIDE`] if it makes a name that is not JSON. `remember` says whether a name that ends with this
    /// byte is recorded, and `is_common` whether a single token may spell it.
    pub(crate) fn advance(
        &mut self,
        place: KeyState,
        byte: u8,
        remember: bool,
        is_common: impl Fn(&[u8]) -> bool,
    ) -> Option<KeyState> {
        if place.is_outside() {
            return Some(place);
        }
        let container = *self.containers.get(place.container);
        let at = match (place.at, byte) {
            (Position::Text { escaped: true }, _) => Position::Text { escaped: false },
            (Position::Text { .. }, b'\\') => Position::Text { escaped: true },
            (Position::Text { .. }, b'"') => Position::Value,
            (Position::Text { .. }, _) => place.at,
            (Position::Name { decoder: JsonStringDecoder::Plain, text, left }, b'"') => {
                if self.sets.has_empty(left) {
                    return None;
                }
                if remember {
                    let name = self.text(text);
                    return Some(self.with_name(container, &name, is_common));
                }
                Position::Value
            }
            (Position::Name { mut decoder, text, left }, _) => match decoder.decode(byte) {
                Some(more) => {
                    let (text, left) = (self.append(text, &more), self.sets.after(left, &more));
                    Position::Name { decoder, text, left }
                }
                // text that is not JSON has no objects
                None => return Some(KeyState::OUTSIDE),
            },
            (Position::Key, b'"') if container.is_object => Position::Name {
                decoder: JsonStringDecoder::Plain,
                text: TextId::default(),
                left: container.names,
            },
            (Position::Value | Position::Key, b'"') => Position::Text { escaped: false },
            (Position::Value | Position::Key, b'{' | b'[') => {
                let (below, is_object) = (place.container, byte == b'{');
                let inner = Container::inner(below, is_object, (container.most, container.common));
                let at = if is_object { Position::Key } else { Position::Value };
                return Some(KeyState { container: self.containers.intern(inner), at });
            }
            (Position::Value | Position::Key, b'}' | b']') => {
                let container =
                    if place.container == Container::ROOT { Container::ROOT } else { container.below };
                return Some(KeyState { container, at: Position::Value });
            }
            (Position::Value | Position::Key, b',') if container.is_object => Position::Key,
            (Position::Value | Position::Key, _) => place.at,
        };
        Some(KeyState { at, ..place })
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.sets.memory_usage() + self.containers.memory_usage() + self.texts.memory_usage()
    }
}
