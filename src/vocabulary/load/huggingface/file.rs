//! The needed parts of a `tokenizer.json`, read without keeping the rest.
//!
//! Memory is at most a few times the file's size, which is capped: the texts of tokens are one string, pipelines have
//! at most [`MAX_STEPS`] steps, and steps do not nest.

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// Maximum number of steps of a decoder or pre-tokenizer; real files have pipelines of up to five steps.
const MAX_STEPS: usize = 64;

/// A `tokenizer.json`.
#[derive(Deserialize)]
#[serde(expecting = "an object with `model`, `added_tokens` and `decoder`")]
pub(super) struct File {
    pub(super) model: Option<Model>,
    added_tokens: Option<Vec<AddedToken>>,
    pub(super) decoder: Option<Pipeline>,
    pub(super) pre_tokenizer: Option<Pipeline>,
    pub(super) normalizer: Option<Pipeline>,
}

impl File {
    /// The added tokens in the file's order; none if the file has no `added_tokens`.
    pub(super) fn added(&self) -> impl Iterator<Item = &AddedToken> {
        self.added_tokens.iter().flatten()
    }
}

/// A token that is matched before the model tokenizes the text.
#[derive(Deserialize)]
#[serde(expecting = "an added token, an object with `id` and `content`")]
pub(super) struct AddedToken {
    pub(super) id: u32,
    pub(super) content: String,
    #[serde(default)]
    pub(super) special: bool,
    /// Whether the normalizer is applied to the content.
    #[serde(default)]
    pub(super) normalized: bool,
}

/// The model: its type, its vocabulary, and the options that change how tokens are written.
#[derive(Deserialize)]
#[serde(expecting = "a model, an object with `type` and `vocab`")]
pub(super) struct Model {
    #[serde(rename = "type")]
    kind: Option<String>,
    pub(super) vocab: Option<Vocab>,
    merges: Option<IgnoredAny>,
    pub(super) unk_token: Option<String>,
    pub(super) unk_id: Option<u32>,
    pub(super) byte_fallback: Option<bool>,
    pub(super) continuing_subword_prefix: Option<String>,
    pub(super) end_of_word_suffix: Option<String>,
}

impl Model {
    /// The model's type. Old files omit it. Such a model is BPE if it has merges, and Unigram if its vocabulary is a
    /// list; otherwise its type is unknown (`None`).
    pub(super) fn kind(&self) -> Option<&str> {
        let is_list = self.vocab.as_ref().is_some_and(|vocab| vocab.is_list);
        self.kind.as_deref().or(self.merges.map(|_| "BPE")).or(is_list.then_some("Unigram"))
    }
}

/// A decoder, pre-tokenizer or normalizer: one step, or a `Sequence` of steps.
pub(super) type Pipeline = Step<Step<IgnoredAny>>;

/// One step, with the fields of all kinds of steps; `S` is the type of the steps of a `Sequence`.
#[derive(Deserialize)]
#[serde(expecting = "a step, an object with a `type`")]
pub(super) struct Step<S> {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) pattern: Option<Pattern>,
    pub(super) content: Option<String>,
    pub(super) replacement: Option<String>,
    pub(super) start: Option<u64>,
    pub(super) stop: Option<u64>,
    pub(super) prepend: Option<String>,
    pub(super) strip_left: Option<bool>,
    pub(super) strip_right: Option<bool>,
    #[serde(alias = "decoders", alias = "pretokenizers", alias = "normalizers")]
    pub(super) steps: Option<Few<S>>,
}

/// The pattern of a `Replace` step: a string, or a regular expression.
#[derive(Deserialize)]
#[serde(expecting = "a pattern, an object with `String` or `Regex`")]
pub(super) enum Pattern {
    String(String),
    Regex(String),
}

/// An array of at most [`MAX_STEPS`] elements; deserializing a longer array fails.
pub(super) struct Few<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Few<T>, D::Error> {
        deserializer.deserialize_seq(FewVisitor(PhantomData))
    }
}

struct FewVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of at most {MAX_STEPS} steps")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Few<T>, A::Error> {
        let mut few = Vec::new();
        while let Some(element) = elements.next_element()? {
            if few.len() == MAX_STEPS {
                return Err(de::Error::invalid_length(MAX_STEPS + 1, &self));
            }
            few.push(element);
        }
        Ok(Few(few))
    }
}

/// The model's tokens: an object from text to id (BPE), or an array of pairs of text and score (Unigram).
pub(super) struct Vocab {
    /// The concatenated texts.
    texts: String,
    /// The id of each entry, and the start and end of its text in `texts`.
    entries: Vec<(u32, u32, u32)>,
    /// Whether the file has an array, whose order gives the ids.
    is_list: bool,
}

impl Vocab {
    /// The number of entries, including entries with equal texts or ids.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Ids and texts, in the file's order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let text = |start: u32, end: u32| self.texts.get(start as usize..end as usize).unwrap_or_default();
        self.entries.iter().map(move |&(id, start, end)| (id, text(start, end)))
    }

    fn push<E: de::Error>(&mut self, id: u32, start: usize) -> Result<(), E> {
        let bounds = (u32::try_from(start), u32::try_from(self.texts.len()));
        let (Ok(start), Ok(end)) = bounds else {
            return Err(E::custom("more than 4 GiB of token texts"));
        };
        self.entries.push((id, start, end));
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Vocab {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Vocab, D::Error> {
        deserializer.deserialize_any(VocabVisitor)
    }
}

struct VocabVisitor;

impl<'de> Visitor<'de> for VocabVisitor {
    type Value = Vocab;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object from token to id, or an array of tokens with scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vocab, A::Error> {
        let mut vocab = Vocab { texts: String::new(), entries: Vec::new(), is_list: false };
        loop {
            let start = vocab.texts.len();
            if map.next_key_seed(Append(&mut vocab.texts))?.is_none() {
                return Ok(vocab);
            }
            let id = map.next_value()?;
            vocab.push(id, start)?;
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vocab, A::Error> {
        let mut vocab = Vocab { texts: String::new(), entries: Vec::new(), is_list: true };
        for id in 0.. {
            let start = vocab.texts.len();
            if seq.next_element_seed(Scored(&mut vocab.texts))?.is_none() {
                break;
            }
            vocab.push(id, start)?;
        }
        Ok(vocab)
    }
}

/// Deserializes a string by appending it to another.
struct Append<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a token's text")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }
}

/// Deserializes a pair of text and score by appending the text to a string; everything after the text is ignored.
struct Scored<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Scored<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Scored<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a token's text and score")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<(), A::Error> {
        if pair.next_element_seed(Append(self.0))?.is_none() {
            return Err(de::Error::invalid_length(0, &"a token's text and score"));
        }
        while pair.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}
