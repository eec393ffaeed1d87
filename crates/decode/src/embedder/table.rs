//! An embedder that looks up stored vectors.

use super::{Embedder, Embeddings, errors};
use grammata::error::Result;
use grammata::limits::Limits;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A finite map from texts to unit vectors, for tests and for vectors that were computed elsewhere.
#[derive(Clone, Debug)]
pub struct TableEmbedder {
    rows: BTreeMap<String, usize>,
    vectors: Embeddings,
    limits: Limits,
}

impl TableEmbedder {
    /// Creates a table of texts and their vectors, which are divided by their norms. If a text occurs several times,
    /// its last vector is used.
    ///
    /// # Errors
    /// Errors of [`Embeddings::push`].
    pub fn new<T: Into<String>, V: AsRef<[f32]>>(
        dimension: usize,
        entries: impl IntoIterator<Item = (T, V)>,
        limits: &Limits,
    ) -> Result<TableEmbedder> {
        let mut table = TableEmbedder {
            rows: BTreeMap::new(),
            vectors: Embeddings::new(dimension),
            limits: limits.clone(),
        };
        for (text, vector) in entries {
            table.rows.insert(text.into(), table.vectors.len());
            table.vectors.push(vector.as_ref())?;
        }
        Ok(table)
    }
}

impl Embedder for TableEmbedder {
    fn dimension(&self) -> usize {
        self.vectors.dimension()
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    fn fingerprint(&mut self) -> Result<[u8; 32]> {
        let mut hash = Sha256::new();
        hash.update((self.dimension() as u64).to_le_bytes());
        for (text, &row) in &self.rows {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
            self.vectors.row(row).into_iter().flatten().for_each(|x| hash.update(x.to_le_bytes()));
        }
        Ok(hash.finalize().into())
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Embeddings> {
        errors::check_texts(texts, &self.limits)?;
        let mut found = Embeddings::new(self.dimension());
        for (index, &text) in texts.iter().enumerate() {
            let row = self.rows.get(text).and_then(|&row| self.vectors.row(row));
            found.push(row.ok_or_else(|| errors::unknown_text(index, text))?)?;
        }
        Ok(found)
    }
}
