//! The exact dense engine: compares every vector of an allowed tool.

use super::{Engine, IndexedTool, Query};
use crate::retrieval::{Allowed, Hit, best, errors};
use grammata::error::Result;
use grammata_embeddings::Embeddings;
use rayon::prelude::*;

/// The number of rows that one task compares with all queries of a search.
const BLOCK: usize = 4_096;

/// Unit vectors in a matrix with one row per tool, searched by dot product, which is the cosine.
///
/// A search reads all rows once for all its queries, in blocks spread over rayon's threads; the results do not depend
/// on the number of threads. Memory is 4 bytes per coordinate: 77 MB for 50,000 tools of 384 dimensions.
#[derive(Clone, Debug)]
pub struct FlatIndex {
    vectors: Embeddings,
}

impl FlatIndex {
    /// Creates an index of vectors whose rows are the tools of a catalogue, in order.
    pub fn new(vectors: Embeddings) -> FlatIndex {
        FlatIndex { vectors }
    }

    /// Returns the vectors; a row is a tool.
    pub fn vectors(&self) -> &Embeddings {
        &self.vectors
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Returns whether there is no tool.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Returns, for each row of `queries`, the `k` allowed tools with the greatest cosine, best first; fewer if fewer
    /// tools are allowed.
    ///
    /// # Errors
    /// The queries have a different dimension.
    pub fn search(&self, queries: &Embeddings, k: usize, allows: Allowed<'_>) -> Result<Vec<Vec<Hit>>> {
        let rows: Vec<&[f32]> = queries.rows().collect();
        self.check_dimension(queries.dimension())?;
        Ok(self.nearest(&rows, k, allows))
    }

    fn check_dimension(&self, found: usize) -> Result<()> {
        let dimension = self.vectors.dimension();
        if found == dimension { Ok(()) } else { Err(errors::query_dimension(found, dimension)) }
    }

    fn vectors_of<'q>(&self, queries: &[Query<'q>]) -> Result<Vec<&'q [f32]>> {
        let vector = |query: &Query<'q>| {
            let vector = query.vector.ok_or_else(|| errors::no_vectors("a vector of each query"))?;
            self.check_dimension(vector.len())?;
            Ok(vector)
        };
        queries.iter().map(vector).collect()
    }

    /// Returns, for each query, the `k` allowed rows with the greatest cosine, best first; fewer if fewer rows are
    /// allowed. The caller checks the dimension of the queries.
    fn nearest(&self, queries: &[&[f32]], k: usize, allows: Allowed<'_>) -> Vec<Vec<Hit>> {
        let dimension = self.vectors.dimension();
        if queries.is_empty() || self.is_empty() {
            return vec![Vec::new(); queries.len()];
        }
        let blocks = self.vectors.values().par_chunks(BLOCK * dimension).enumerate();
        let found: Vec<Vec<Vec<Hit>>> = blocks
            .map(|(number, block)| {
                let first = number * BLOCK;
                queries.iter().map(|query| best(compare(block, first, query, allows), k)).collect()
            })
            .collect();
        let merged = (0..queries.len()).map(|query| {
            let hits = found.iter().filter_map(|block| block.get(query)).flatten().copied();
            best(hits.collect(), k)
        });
        merged.collect()
    }
}

impl Engine for FlatIndex {
    fn check(&self, tool: &IndexedTool<'_>) -> Result<()> {
        let vector = tool.vector.ok_or_else(|| errors::no_vectors("a vector of each tool"))?;
        Embeddings::new(self.vectors.dimension()).push_unit(vector)
    }

    fn put(&mut self, slot: usize, tool: &IndexedTool<'_>) -> Result<()> {
        let vector = tool.vector.ok_or_else(|| errors::no_vectors("a vector of each tool"))?;
        if slot < self.vectors.len() {
            self.vectors.set_unit(slot, vector)
        } else {
            self.vectors.push_unit(vector)
        }
    }

    fn clear(&mut self, _: usize) {}

    fn keep(&mut self, slots: &[usize]) {
        self.vectors.keep(slots);
    }

    fn rank(&self, queries: &[Query<'_>], k: usize, allows: Allowed<'_>) -> Result<Vec<Vec<Hit>>> {
        Ok(self.nearest(&self.vectors_of(queries)?, k, allows))
    }
}

/// Returns the scores of the allowed rows of a block, whose first row is the tool `first`.
fn compare(block: &[f32], first: usize, query: &[f32], allows: Allowed<'_>) -> Vec<Hit> {
    let rows = (first..).zip(block.chunks_exact(query.len().max(1)));
    rows.filter(|&(tool, _)| allows.is_none_or(|allows| allows(tool)))
        .map(|(tool, row)| Hit { tool, score: f64::from(dot(row, query)).clamp(-1.0, 1.0) })
        .collect()
}

/// Computes the dot product in eight partial sums, a fixed order that suits vector instructions.
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
