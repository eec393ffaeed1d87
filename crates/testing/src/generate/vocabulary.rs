//! Random vocabularies.

use super::Choices;
use grammata::vocabulary::{TokenId, Vocabulary, VocabularyBuilder};

/// A random vocabulary as plain lists, for oracles; [`build`](RandomVocabulary::build) makes a [`Vocabulary`] of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomVocabulary {
    /// The bytes of each token; `None` for a special token or padding. No token is empty.
    pub tokens: Vec<Option<Vec<u8>>>,
    /// The end-of-sequence ids, in increasing order. At least one; their tokens are `None`.
    pub eos: Vec<u32>,
    /// The length of the logits: the number of tokens plus some padding.
    pub width: usize,
    /// The ids and names of the special tokens that have a name of their own; the others are not in the list.
    pub names: Vec<(u32, String)>,
}

impl RandomVocabulary {
    /// The number of 32-bit words of a mask.
    pub fn mask_words(&self) -> usize {
        self.width.div_ceil(32)
    }

    /// Builds the vocabulary.
    ///
    /// # Errors
    /// No token has bytes.
    pub fn build(&self) -> grammata::Result<Vocabulary> {
        let tokens = self.tokens.iter().map(|token| token.as_deref().unwrap_or_default());
        let eos = self.eos.iter().map(|&id| TokenId::new(id));
        let builder = VocabularyBuilder::from_tokens(tokens).eos(eos).width(self.width);
        let special = |builder: VocabularyBuilder, (id, name): &(u32, String)| {
            builder.special(TokenId::new(*id), name.as_str())
        };
        self.names.iter().fold(builder, special).build()
    }
}

/// Draws a vocabulary: each byte of `alphabet` as a token, and more tokens made of pieces of `words` and of bytes of
/// the alphabet, some of them twice. Special tokens, end-of-sequence tokens and padding are in between.
pub fn random_vocabulary(choices: &mut Choices<'_>, alphabet: &[u8], words: &[Vec<u8>]) -> RandomVocabulary {
    let mut tokens: Vec<Option<Vec<u8>>> = alphabet.iter().map(|&byte| Some(vec![byte])).collect();
    for _ in 0..choices.below(60) {
        let token = match choices.below(8) {
            0..=3 => piece(choices, words),
            4 => [piece(choices, words), piece(choices, words)].concat(),
            5 | 6 if !alphabet.is_empty() => {
                (0..choices.below(4) + 1).map(|_| *choices.pick(alphabet)).collect()
            }
            _ if !tokens.is_empty() => choices.pick(&tokens).clone().unwrap_or_default(),
            _ => Vec::new(),
        };
        let token = Some(token).filter(|bytes| !bytes.is_empty() || choices.chance(20));
        if token.as_ref().is_none_or(|bytes| !bytes.is_empty()) {
            let place = choices.below(tokens.len() + 1);
            tokens.insert(place, token);
        } else {
            tokens.push(None);
        }
    }
    let mut ends = std::collections::BTreeSet::new();
    for _ in 0..=choices.below(3) {
        ends.insert(tokens.len() as u32);
        tokens.push(None);
        // padding between the end tokens
        tokens.extend(std::iter::repeat_n(None, choices.below(3)));
    }
    let width = tokens.len() + choices.below(40);
    RandomVocabulary { tokens, eos: ends.into_iter().collect(), width, names: Vec::new() }
}

/// Names special tokens, adding some if needed: all or most of the names that [token terminals](super::random_grammar)
/// use. One of them may be an end of sequence.
pub fn name_specials(choices: &mut Choices<'_>, vocabulary: &mut RandomVocabulary) {
    for name in ["<0>", "<1>", "<2>"] {
        if choices.chance(3) {
            continue;
        }
        let is_free = |id: &u32| {
            vocabulary.tokens[*id as usize].is_none() && !vocabulary.names.iter().any(|(of, _)| of == id)
        };
        let end = |id: &u32| vocabulary.eos.contains(id);
        let may_end = choices.chance(15);
        let ids = 0..vocabulary.tokens.len() as u32;
        let free: Vec<u32> = ids.filter(|id| is_free(id) && (may_end || !end(id))).collect();
        let id = match free.is_empty() || choices.chance(30) {
            true => {
                vocabulary.tokens.push(None);
                vocabulary.width += 1;
                vocabulary.tokens.len() as u32 - 1
            }
            false => *choices.pick(&free),
        };
        vocabulary.names.push((id, name.to_owned()));
    }
}

/// Draws a piece of one of `words`.
fn piece(choices: &mut Choices<'_>, words: &[Vec<u8>]) -> Vec<u8> {
    if words.is_empty() {
        return Vec::new();
    }
    let word = choices.pick(words);
    let from = choices.below(word.len());
    let rest = word.get(from..).unwrap_or_default();
    rest[..rest.len().min(choices.below(7) + 1)].to_vec()
}
