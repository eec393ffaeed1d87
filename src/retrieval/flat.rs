//! The exact dense index: every vector is compared.

use super::{Filter, Hit, best, errors};
use crate::decode::Embeddings;
use crate::error::Result;
use rayon::prelude::*;

/// Rows that one task compares with all queries of a search.
const BLOCK: usize = 4_096;

/// Unit vectors in a matrix, one row a tool, searched by dot product: the cosine.
///
/// A search reads all rows once for all of its queries, in blocks over rayon's threads; results do not depend on their
/// number. Memory is 4 bytes a coordinate: 77 MB for 50,000 tools of 384 dimensions.
#[derive(Clone, Debug)]
pub struct FlatIndex {
    vectors: Embeddings,
}

impl FlatIndex {
    /// The index of these vectors, row by row the tools of a catalogue.
    pub fn new(vectors: Embeddings) -> FlatIndex {
        FlatIndex { vectors }
    }

    /// The vectors.
    pub fn vectors(&self) -> &Embeddings {
        &self.vectors
    }

    /// Number of tools.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether there is no tool.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// For each row of `queries` the at most `k` tools of the largest cosine.
    ///
    /// # Errors
    /// The queries have another dimension.
    pub fn search(&self, queries: &Embeddings, k: usize, filter: Filter<'_>) -> Result<Vec<Vec<Hit>>> {
        let dimension = self.vectors.dimension();
        if queries.dimension() != dimension {
            return Err(errors::query_dimension(queries.dimension(), dimension));
        }
        if queries.is_empty() || self.is_empty() {
            return Ok(vec![Vec::new(); queries.len()]);
        }
        let blocks = self.vectors.values().par_chunks(BLOCK * dimension).enumerate();
        let found: Vec<Vec<Vec<Hit>>> = blocks
            .map(|(number, block)| {
                let first = number * BLOCK;
                queries.rows().map(|query| best(compare(block, first, query, filter), k)).collect()
            })
            .collect();
        let merged = (0..queries.len()).map(|query| {
            let hits = found.iter().filter_map(|block| block.get(query)).flatten().copied();
            best(hits.collect(), k)
        });
        Ok(merged.collect())
    }
}

/// The scores of the rows of a block, of which the first is the tool `first`.
fn compare(block: &[f32], first: usize, query: &[f32], filter: Filter<'_>) -> Vec<Hit> {
    let rows = (first..).zip(block.chunks_exact(query.len().max(1)));
    rows.filter(|&(tool, _)| filter.is_none_or(|allows| allows(tool)))
        .map(|(tool, row)| Hit { tool, score: f64::from(dot(row, query)).clamp(-1.0, 1.0) })
        .collect()
}

/// The dot product, in eight partial sums: a fixed order that vector instructions follow.
fn dot(first: &[f32], second: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    let (pairs, rest) = (first.chunks_exact(8).zip(second.chunks_exact(8)), first.len() / 8 * 8);
    for (x, y) in pairs {
        sums.iter_mut().zip(x.iter().zip(y)).for_each(|(sum, (&x, &y))| *sum += x * y);
    }
    let tail = first.iter().zip(second).skip(rest).map(|(&x, &y)| x * y).sum::<f32>();
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + tail
}
