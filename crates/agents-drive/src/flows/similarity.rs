//! Similarity of texts.

use super::errors;
use grammata::error::Result;
use grammata_embeddings::Embedder;
use rustc_hash::FxHashMap;

/// Computes the similarity of two texts: the cosine of their embeddings, from -1 to 1, or a substitute.
pub trait Similarity {
    /// Returns the similarity of two non-empty texts.
    ///
    /// # Errors
    /// The texts cannot be embedded.
    fn similarity(&mut self, first: &str, second: &str) -> Result<f64>;
}

/// Returns the similarity of two texts without surrounding whitespace; 0 if one of them is blank.
///
/// # Errors
/// Those of the similarity; `flow/similarity` if it is not a number.
pub fn similar(similarity: &mut dyn Similarity, first: &str, second: &str) -> Result<f64> {
    let (first, second) = (first.trim(), second.trim());
    if first.is_empty() || second.is_empty() {
        return Ok(0.0);
    }
    let found = similarity.similarity(first, second)?;
    if found.is_nan() { Err(errors::no_similarity(first, second)) } else { Ok(found) }
}

/// Returns the index and the similarity of the most similar of `others`, the first among equals; `None` if there are
/// none.
///
/// # Errors
/// Those of [`similar`].
pub fn nearest<'t>(
    similarity: &mut dyn Similarity,
    text: &str,
    others: impl IntoIterator<Item = (usize, &'t str)>,
) -> Result<Option<(usize, f64)>> {
    let mut best: Option<(usize, f64)> = None;
    for (place, other) in others {
        let found = similar(similarity, text, other)?;
        if best.is_none_or(|(_, greatest)| found > greatest) {
            best = Some((place, found));
        }
    }
    Ok(best)
}

/// The number of cached vectors above which the cache is cleared.
const KEPT: usize = 1 << 14;

/// Similarity as the cosine of embeddings, which have the length 1. The embeddings are cached, so that a text is
/// usually embedded once.
pub struct EmbeddedSimilarity<'e> {
    embedder: &'e mut dyn Embedder,
    vectors: FxHashMap<String, Box<[f32]>>,
    embedded: usize,
}

impl std::fmt::Debug for EmbeddedSimilarity<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EmbeddedSimilarity").field("embedded", &self.embedded).finish_non_exhaustive()
    }
}

impl<'e> EmbeddedSimilarity<'e> {
    /// Creates a similarity from an embedder.
    pub fn new(embedder: &'e mut dyn Embedder) -> EmbeddedSimilarity<'e> {
        EmbeddedSimilarity { embedder, vectors: FxHashMap::default(), embedded: 0 }
    }

    /// Returns the number of texts that were embedded, without cache hits.
    pub fn embedded(&self) -> usize {
        self.embedded
    }

    fn embed(&mut self, texts: &[&str]) -> Result<()> {
        let mut new: Vec<&str> =
            texts.iter().copied().filter(|text| !self.vectors.contains_key(*text)).collect();
        new.dedup();
        if new.is_empty() {
            return Ok(());
        }
        let found = self.embedder.embed(&new)?;
        self.embedded += new.len();
        for (text, row) in new.into_iter().zip(found.rows()) {
            self.vectors.insert(text.to_owned(), row.into());
        }
        Ok(())
    }
}

impl Similarity for EmbeddedSimilarity<'_> {
    fn similarity(&mut self, first: &str, second: &str) -> Result<f64> {
        if self.vectors.len() > KEPT {
            self.vectors.clear();
        }
        self.embed(&[first, second])?;
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
        let cosine = self.vectors.get(first).zip(self.vectors.get(second)).map(|(a, b)| dot(a, b));
        Ok(cosine.map_or(f64::NAN, |cosine: f64| cosine.clamp(-1.0, 1.0)))
    }
}
