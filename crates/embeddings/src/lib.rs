//! Sentence embeddings: texts as unit vectors whose dot product measures semantic similarity.
//!
//! An [`Embedder`] maps texts to vectors in the sense of Sentence-BERT (Reimers and Gurevych 2019, arXiv 1908.10084): a
//! transformer encoder, the mean of its last layer over the tokens, division by the Euclidean norm.
//! `grammata_decode::ort::OrtEmbedder` runs such an encoder.

mod errors;

use grammata_base::error::Result;

/// The greatest difference from 1 of the norm of a unit vector, due to rounding of some thousand 32-bit coordinates.
const UNIT_TOLERANCE: f64 = 1e-4;

/// Maps texts to unit vectors.
pub trait Embedder {
    /// Number of coordinates of a vector.
    fn dimension(&self) -> usize;

    /// The most tokens of a text that the encoder reads, including special ones. Longer texts are truncated and
    /// reported in [`Embeddings::truncated`]. `None` if texts of any length are read whole.
    fn max_tokens(&self) -> Option<usize>;

    /// Identifies the function from texts to vectors by a SHA-256 hash, of weights, tokenizer and settings for
    /// instance. Vectors of embedders with different fingerprints are not comparable.
    ///
    /// # Errors
    /// A file of the model cannot be read.
    fn fingerprint(&mut self) -> Result<[u8; 32]>;

    /// Returns the vectors of `texts`, in the same order. The empty text may have a vector as well.
    ///
    /// # Errors
    /// More texts than [`Limits::embedding_texts`](grammata_base::Limits::embedding_texts), a text of more bytes than
    /// [`Limits::embedding_text_bytes`](grammata_base::Limits::embedding_text_bytes), a text without tokens or that the
    /// embedder has no vector for, a failure of the tokenizer or the model, or a vector that is zero or not finite. The
    /// place of an error about one text is the JSON Pointer of its index; a failure of the tokenizer has no place.
    fn embed(&mut self, texts: &[&str]) -> Result<Embeddings>;
}

/// Unit vectors of equal dimension: a row-major matrix with one row for each text.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings {
    dimension: usize,
    values: Vec<f32>,
    truncated: Vec<Truncation>,
}

/// A text that the encoder read only the beginning of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    /// Index of the text among the texts of the call.
    pub text: usize,
    /// Number of tokens of the whole text, special ones included.
    pub tokens: usize,
    /// Number of tokens that the encoder read, special ones included.
    pub kept: usize,
}

impl Embeddings {
    /// Creates a matrix without rows, for vectors of `dimension` coordinates.
    pub fn new(dimension: usize) -> Embeddings {
        Embeddings { dimension, values: Vec::new(), truncated: Vec::new() }
    }

    /// Creates a matrix with a row for each of `vectors`, divided by its Euclidean norm.
    ///
    /// # Errors
    /// A vector that [`push`](Embeddings::push) refuses.
    pub fn from_rows<V: AsRef<[f32]>>(
        dimension: usize,
        vectors: impl IntoIterator<Item = V>,
    ) -> Result<Embeddings> {
        let mut embeddings = Embeddings::new(dimension);
        vectors.into_iter().try_for_each(|vector| embeddings.push(vector.as_ref()))?;
        Ok(embeddings)
    }

    /// Creates a matrix from the values of rows that already have unit length. The values are stored unchanged.
    ///
    /// # Errors
    /// `decode/embedding-dimension`: the last row is not whole, or the dimension is 0 and there are values.
    /// `decode/embedding-norm`: the norm of a row differs from 1 by more than 1e-4 or is NaN.
    pub fn from_unit_values(dimension: usize, values: Vec<f32>) -> Result<Embeddings> {
        let rest = values.len().checked_rem(dimension).unwrap_or(values.len());
        if rest != 0 {
            return Err(errors::dimension(values.len().checked_div(dimension).unwrap_or(0), rest, dimension));
        }
        for (index, row) in values.chunks_exact(dimension.max(1)).enumerate() {
            let norm = norm(row);
            if norm.is_nan() || (norm - 1.0).abs() > UNIT_TOLERANCE {
                return Err(errors::not_unit(index, norm));
            }
        }
        Ok(Embeddings { dimension, values, truncated: Vec::new() })
    }

    /// Appends `vector` divided by its Euclidean norm.
    ///
    /// # Errors
    /// `decode/embedding-dimension`: the vector has another number of coordinates than the matrix.
    /// `decode/embedding-not-finite`: a coordinate is not finite, or all coordinates are 0.
    pub fn push(&mut self, vector: &[f32]) -> Result<()> {
        if vector.len() != self.dimension {
            return Err(errors::dimension(self.len(), vector.len(), self.dimension));
        }
        let norm = norm(vector);
        if !norm.is_finite() || norm == 0.0 {
            return Err(errors::no_direction(self.len(), norm));
        }
        self.values.extend(vector.iter().map(|&x| (f64::from(x) / norm) as f32));
        Ok(())
    }

    /// Appends a vector of unit length without changing it.
    ///
    /// # Errors
    /// `decode/embedding-dimension`: the vector has another number of coordinates than the matrix.
    /// `decode/embedding-norm`: its norm differs from 1 by more than 1e-4 or is NaN.
    pub fn push_unit(&mut self, vector: &[f32]) -> Result<()> {
        self.check_unit(vector, self.len())?;
        self.values.extend_from_slice(vector);
        Ok(())
    }

    /// Replaces row `index` by a vector of unit length. If the row does not exist, the vector is only checked.
    ///
    /// # Errors
    /// Errors of [`push_unit`](Embeddings::push_unit).
    pub fn set_unit(&mut self, index: usize, vector: &[f32]) -> Result<()> {
        self.check_unit(vector, index)?;
        let start = index.saturating_mul(self.dimension);
        if let Some(row) = self.values.get_mut(start..start.saturating_add(self.dimension)) {
            row.copy_from_slice(vector);
        }
        Ok(())
    }

    fn check_unit(&self, vector: &[f32], index: usize) -> Result<()> {
        if vector.len() != self.dimension {
            return Err(errors::dimension(index, vector.len(), self.dimension));
        }
        let norm = norm(vector);
        if norm.is_nan() || (norm - 1.0).abs() > UNIT_TOLERANCE {
            return Err(errors::not_unit(index, norm));
        }
        Ok(())
    }

    /// Keeps the rows of these indices, in the order of `indices`. An index that occurs several times gives several
    /// rows, and an index without a row is skipped. The records of truncated texts are dropped.
    pub fn keep(&mut self, indices: &[usize]) {
        self.values = indices.iter().filter_map(|&index| self.row(index)).flatten().copied().collect();
        self.truncated.clear();
    }

    /// Records that the text of row `truncation.text` was truncated.
    pub fn mark_truncated(&mut self, truncation: Truncation) {
        self.truncated.push(truncation);
    }

    /// Returns the number of coordinates of a row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the number of rows; 0 if the dimension is 0.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the unit vector of the text at `index`; `None` if there is no such row.
    pub fn row(&self, index: usize) -> Option<&[f32]> {
        let start = index.checked_mul(self.dimension)?;
        self.values.get(start..start.checked_add(self.dimension)?).filter(|row| !row.is_empty())
    }

    /// Returns an iterator over the rows, in the order of the texts.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f32> {
        self.values.chunks_exact(self.dimension.max(1))
    }

    /// Returns the values of all rows, one row after the other.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the texts that were recorded as truncated, in the order of the records.
    pub fn truncated(&self) -> &[Truncation] {
        &self.truncated
    }

    /// Returns the cosine of the angle between two rows, from -1 to 1; `None` if one of the rows does not exist.
    pub fn cosine(&self, first: usize, second: usize) -> Option<f64> {
        Some(dot(self.row(first)?, self.row(second)?).clamp(-1.0, 1.0))
    }
}

fn norm(vector: &[f32]) -> f64 {
    dot(vector, vector).sqrt()
}

/// Returns the dot product of two vectors of equal length, summed in 64-bit floats.
fn dot(first: &[f32], second: &[f32]) -> f64 {
    first.iter().zip(second).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
}
