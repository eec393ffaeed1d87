//! Texts that are written as a string or as a list of strings.

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use std::fmt;

/// A string or a list of strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        struct OneOrSeveral;

        impl<'de> Visitor<'de> for OneOrSeveral {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = items.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }

        deserializer.deserialize_any(OneOrSeveral)
    }
}
