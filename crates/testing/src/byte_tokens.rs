//! The vocabulary of the fuzz targets.

use grammata::TokenId;
use grammata::vocabulary::{Vocabulary, VocabularyBuilder};
use std::sync::{Arc, LazyLock};

/// A vocabulary of all bytes, some longer tokens, and an end token.
pub(super) static BYTES: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
    let longer = ["ab", "abc", "{\"", "\":", " a", "}}", "00", "\n\n", "é", "true"];
    let tokens = (0..=255).map(|byte| vec![byte]).chain(longer.map(|text| text.into()));
    let built = VocabularyBuilder::from_tokens(tokens).special(TokenId::new(300), "<end>");
    Arc::new(
        built.eos([TokenId::new(300)]).build().unwrap_or_else(|e| unreachable!("a good vocabulary: {e}")),
    )
});
