//! Plain lists: a JSON array with one element per id, from 0.
//!
//! | element | the id is |
//! |---|---|
//! | a string | an ordinary token, the string's UTF-8 bytes |
//! | an array of numbers from 0 to 255 | an ordinary token, these bytes |
//! | `{"special": "NAME"}` | a special token |
//! | `null`, `""` or `[]` | padding |
//!
//! ```
//! use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
//!
//! let file = br#"["a", [255, 254], null, {"special": "</s>"}]"#;
//! let vocabulary = Vocabulary::from_file_bytes(file, &LoadOptions::default())?;
//! assert_eq!(vocabulary.bytes(TokenId::new(1)), Some(&[255, 254][..]));
//! assert_eq!(vocabulary.eos(), [TokenId::new(3)]);
//! # Ok::<(), grammata::Error>(())
//! ```

use super::{LoadOptions, finish_without_added};
use crate::error::Result;
use crate::limits::Limits;
use crate::vocabulary::{TokenId, Vocabulary, VocabularyBuilder, errors};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Reads the content of a list file.
///
/// # Errors
///
/// `vocabulary/json` if the file is not an array of the elements listed in the [module](self). And the errors of
/// [`Vocabulary::from_file`].
pub fn load(content: &[u8], options: &LoadOptions) -> Result<Vocabulary> {
    super::check_size(content.len(), &options.limits)?;
    let mut reader = serde_json::Deserializer::from_slice(content);
    let list = List { limits: &options.limits };
    let (mut builder, specials) = list
        .deserialize(&mut reader)
        .and_then(|list| reader.end().map(|()| list))
        .map_err(|cause| errors::json(content, &cause))?;
    for (id, name) in specials {
        builder = builder.special(id, name);
    }
    finish_without_added(builder, options)
}

/// Deserializes the array, element by element, into a builder.
struct List<'a> {
    limits: &'a Limits,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = (VocabularyBuilder, Vec<(TokenId, String)>);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = (VocabularyBuilder, Vec<(TokenId, String)>);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of tokens")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut builder = VocabularyBuilder::new(self.limits);
        let mut specials = Vec::new();
        while let Some(element) = elements.next_element_seed(ElementSeed)? {
            match element {
                Element::Token(bytes) => builder.push(&bytes),
                Element::Special(name) => {
                    specials.push((TokenId::new(builder.len() as u32), name));
                    builder.push(b"");
                }
            }
            if builder.failed() {
                // the builder reports the error; the rest of the file is skipped without being kept
                while elements.next_element::<de::IgnoredAny>()?.is_some() {}
            }
        }
        Ok((builder, specials))
    }
}

enum Element<'de> {
    Token(Cow<'de, [u8]>),
    Special(String),
}

/// The allowed elements, for messages.
const WANTED: &str = r#"a string, an array of bytes, null, or {"special": "NAME"}"#;

struct ElementSeed;

impl<'de> DeserializeSeed<'de> for ElementSeed {
    type Value = Element<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Element<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ElementSeed {
    type Value = Element<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WANTED)
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Element<'de>, E> {
        Ok(Element::Token(Cow::Borrowed(text.as_bytes())))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Element<'de>, E> {
        Ok(Element::Token(Cow::Owned(text.as_bytes().to_vec())))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Element<'de>, E> {
        Ok(Element::Token(Cow::Borrowed(b"")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Element<'de>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element::<u8>()? {
            bytes.push(byte);
        }
        Ok(Element::Token(Cow::Owned(bytes)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Element<'de>, A::Error> {
        // with serde_json's arbitrary precision a number also arrives as a map, with a private key
        let name = match fields.next_key::<Cow<'_, str>>()? {
            Some(key) if key == "special" => fields.next_value::<String>()?,
            _ => return Err(de::Error::custom(format_args!("expected {WANTED}"))),
        };
        match fields.next_key::<de::IgnoredAny>()? {
            None => Ok(Element::Special(name)),
            Some(_) => Err(de::Error::custom(format_args!("expected {WANTED}"))),
        }
    }
}
