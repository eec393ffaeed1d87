//! The loop languages of a token index as 32-bit words, as files store them. Reading checks all numbers against their
//! ranges, so that no content leads to an index out of bounds. Reading does not check whether the content is right for
//! the vocabulary: that would require recomputing the content.
//!
//! A list is its length and its words. A trie is the lists of its nodes and tokens; a reference to a trie is its
//! number, or 0 for none.

use super::*;

/// The most tries that an index has: tries per state, group and length of each loop, and the tries of long tokens.
const MOST_TRIES: usize = DEFINITIONS.len() * (ESCAPES + 1 + (MAX_CHARS + 2) * STATES) + SHORT.len();

/// The memory of a trie without nodes, in nodes: the table of its root's children, and its slices.
const NODES_OF_A_TRIE: usize = 32;

/// Writes words.
struct Writer(Vec<u32>);

impl Writer {
    fn list(&mut self, words: &[u32]) {
        self.0.push(words.len() as u32);
        self.0.extend_from_slice(words);
    }

    fn trie(&mut self, trie: &TokenTrie) -> Option<()> {
        trie.to_words()?.iter().for_each(|words| self.list(words));
        Some(())
    }

    fn ids<'t>(&mut self, ids: impl IntoIterator<Item = &'t Option<TrieId>>) {
        self.0.extend(ids.into_iter().map(|id| id.map_or(0, |id| u32::from(id.0))));
    }
}

/// Reads words.
struct Reader<'w> {
    words: &'w [[u8; 4]],
    /// The number of tries that may be referenced.
    tries: usize,
    width: usize,
}

impl<'w> Reader<'w> {
    fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(u32::from_le_bytes(*first))
    }

    fn take(&mut self, count: usize) -> Option<&'w [[u8; 4]]> {
        let (taken, rest) = self.words.split_at_checked(count)?;
        self.words = rest;
        Some(taken)
    }

    fn list(&mut self) -> Option<&'w [[u8; 4]]> {
        let count = self.number()?;
        self.take(count as usize)
    }

    fn trie(&mut self) -> Option<TokenTrie> {
        let (nodes, tokens) = (self.list()?, self.list()?);
        TokenTrie::from_words(nodes, tokens, self.width)
    }

    /// Reads a list of numbers; `None` if one is not below `bound`, or the words end too early.
    fn numbers(&mut self, bound: usize) -> Option<Vec<u32>> {
        let numbers: Vec<u32> = self.list()?.iter().map(|&word| u32::from_le_bytes(word)).collect();
        numbers.iter().all(|&number| (number as usize) < bound).then_some(numbers)
    }

    /// Reads a bit for each id below the width; `None` if a bit beyond the width is set, or the words end too early.
    fn bits(&mut self) -> Option<Vec<u32>> {
        let words: Vec<u32> =
            self.take(self.width.div_ceil(32))?.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let past = words.last().map_or(0, |last| last.checked_shr(self.width as u32 % 32).unwrap_or(0));
        (self.width.is_multiple_of(32) || past == 0).then_some(words)
    }

    fn id(&mut self) -> Option<Option<TrieId>> {
        let number = self.number()?;
        let id = u16::try_from(number).ok().filter(|&id| usize::from(id) <= self.tries)?;
        Some((id > 0).then_some(TrieId(id)))
    }

    fn ids(&mut self, count: usize) -> Option<Suffixes> {
        (0..count).map(|_| self.id()).collect()
    }
}

impl Loops {
    /// Serialises everything that reading restores faster than recomputing; `None` if a trie cannot be serialised.
    pub(crate) fn to_words(&self) -> Option<Vec<u32>> {
        let mut out = Writer(vec![self.tries.len() as u32]);
        self.tries.iter().try_for_each(|trie| out.trie(trie))?;
        out.trie(&self.class_trie.trie)?;
        for language in &self.languages {
            out.0.extend_from_slice(&language.accepted);
            out.ids(language.suffixes.iter().chain(&language.escaping));
            match (&language.places, &language.by_length) {
                (Some(places), _) => out.list(places),
                (None, Some(by_length)) => {
                    out.list(&by_length.accepted);
                    out.0.extend(by_length.starts.iter().map(|&start| start as u32));
                    out.ids(by_length.suffixes.iter().flatten().chain([&by_length.longer]));
                }
                (None, None) => return None,
            }
        }
        out.0.push(self.lengths.len() as u32);
        for lengths in &self.lengths {
            out.0.push(lengths.bytes);
            out.0.extend_from_slice(&lengths.short);
            out.ids([&Some(lengths.long)]);
        }
        Some(out.0)
    }

    /// The number of nodes of the serialised tries, plus [`NODES_OF_A_TRIE`] per trie, counted before any trie is
    /// built; `None` if there are more tries than an index can have, or the words end too early.
    pub(crate) fn nodes_of_words(words: &[[u8; 4]]) -> Option<usize> {
        let mut from = Reader { words, tries: 0, width: 0 };
        let count = (from.number()? as usize).checked_add(1).filter(|&count| count <= MOST_TRIES + 1)?;
        let mut nodes = count * NODES_OF_A_TRIE;
        for _ in 0..count {
            nodes += from.list()?.len();
            from.list()?;
        }
        Some(nodes)
    }

    /// Reads loops; `None` if the words are not the words of loops, or a number is out of its range.
    pub(crate) fn from_words(words: &[[u8; 4]], vocabulary: &Vocabulary) -> Option<Loops> {
        let mut from = Reader { words, tries: 0, width: vocabulary.width() };
        let count = from.number()? as usize;
        let mut tries = Vec::new();
        for _ in 0..count {
            tries.push(from.trie()?);
        }
        from.tries = count.min(usize::from(u16::MAX));
        let class_trie = ClassTrie::of(from.trie()?);
        let mut languages = Vec::with_capacity(DEFINITIONS.len());
        for definition in &DEFINITIONS {
            languages.push(LoopLanguage::from_words(definition, &mut from, vocabulary)?);
        }
        let mut lengths = Vec::new();
        for _ in 0..from.number().filter(|&count| count as usize <= SHORT.len())? {
            let (bytes, short) = (from.number()?, from.bits()?.into());
            lengths.push(Lengths { bytes, short, long: from.id()?? });
        }
        let is_right = from.words.is_empty() && lengths.iter().all(|lengths| SHORT.contains(&lengths.bytes));
        let subtrees = SubtreeSummaries::new(vocabulary.trie());
        is_right.then_some(Loops { languages, subtrees, class_trie, lengths, tries })
    }
}

impl LoopLanguage {
    fn from_words(
        definition: &Definition,
        from: &mut Reader<'_>,
        vocabulary: &Vocabulary,
    ) -> Option<LoopLanguage> {
        let accepted = from.bits()?.into();
        let suffixes = from.ids(STATES)?;
        let escaping = from.ids(ESCAPES)?.try_into().ok()?;
        let (mut places, mut by_length) = (None, None);
        match definition.is_short() {
            true => places = Some(from.numbers(vocabulary.trie().node_count())?),
            false => by_length = Some(ByLength::from_words(from)?),
        }
        Some(LoopLanguage { accepted, places, suffixes, escaping, by_length, ..LoopLanguage::of(definition) })
    }
}

impl ByLength {
    fn from_words(from: &mut Reader<'_>) -> Option<ByLength> {
        let accepted = from.numbers(from.width)?;
        let starts = from.take(MAX_CHARS + 2)?.iter().map(|&word| u32::from_le_bytes(word) as usize);
        let starts: Vec<usize> = starts.collect();
        if !starts.is_sorted() || starts.last().is_none_or(|&last| last > accepted.len()) {
            return None;
        }
        let suffixes = (0..=MAX_CHARS).map(|_| from.ids(STATES)).collect::<Option<Vec<Suffixes>>>()?;
        let words = bits(&accepted, from.width.div_ceil(32)).into();
        Some(ByLength { accepted, starts, words, suffixes, longer: from.id()? })
    }
}
