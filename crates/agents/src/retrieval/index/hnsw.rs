//! The approximate dense engine: a hierarchical navigable small world graph (Malkov and Yashunin 2018).

use super::flat::{FlatIndex, dot};
use super::{Engine, Indexed, IndexedTool, Query};
use crate::retrieval::{Allowed, Hit, best};
use grammata::error::Result;
use grammata_decode::Embeddings;
use hnsw_rs::prelude::{Distance, Hnsw};

/// The maximum number of layers of a graph.
const LAYERS: usize = 16;
/// If at most 1 / SELECTIVE of all tools, or at most FEW, are allowed, a search compares all allowed tools and does not
/// use the graph.
const SELECTIVE: usize = 10;
const FEW: usize = 1_000;

/// Parameters for building and searching a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct HnswOptions {
    /// The number of neighbours of a point on a layer, clamped to 1 to 255. Default: 24.
    pub neighbours: usize,
    /// The number of candidates while a point is inserted. Default: 200.
    pub ef_construction: usize,
    /// The number of candidates of a search, raised to at least four times k, and doubled while too few allowed tools
    /// are found. Default: 64.
    pub ef: usize,
}

impl Default for HnswOptions {
    fn default() -> HnswOptions {
        HnswOptions { neighbours: 24, ef_construction: 200, ef: 64 }
    }
}

grammata_base::setters!(HnswOptions { neighbours: usize, ef_construction: usize, ef: usize });

/// Ranks by cosine with a graph of vectors, which may miss some of the best.
pub type HnswToolIndex = Indexed<HnswIndex>;

impl HnswToolIndex {
    /// Creates an empty index for vectors of the given dimension.
    pub fn new(dimension: usize, options: HnswOptions) -> HnswToolIndex {
        Indexed::of(HnswIndex::new(dimension, options))
    }
}

/// A graph over the rows of a [`FlatIndex`].
///
/// The graph is always built from the vectors, by insertion in one thread with a fixed seed, so it is reproducible. The
/// library's own files are never read. A replaced or removed vector stays in the graph as a path to others; once they
/// are more than half of the graph's points, the next insertion rebuilds the graph, as does each renumbering of the
/// slots. All allowed vectors are compared instead if at most 1,000 or a tenth of the tools are allowed, or if a search
/// would need a quarter of the graph's points or more as candidates.
pub struct HnswIndex {
    flat: FlatIndex,
    graph: Hnsw<'static, f32, Cosine>,
    options: HnswOptions,
    /// The slot of each point in the graph.
    slots: Vec<usize>,
    /// The point of each slot; `None` if the slot is empty.
    points: Vec<Option<usize>>,
}

/// 1 - cosine of unit vectors. The library's own distance panics if rounding makes it negative.
#[derive(Clone, Copy, Debug, Default)]
struct Cosine;

impl Distance<f32> for Cosine {
    fn eval(&self, first: &[f32], second: &[f32]) -> f32 {
        (1.0 - dot(first, second)).max(0.0)
    }
}

impl std::fmt::Debug for HnswIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HnswIndex").field("options", &self.options).finish_non_exhaustive()
    }
}

impl HnswIndex {
    /// Creates an empty graph.
    pub fn new(dimension: usize, options: HnswOptions) -> HnswIndex {
        HnswIndex {
            flat: FlatIndex::new(Embeddings::new(dimension)),
            graph: graph(&options),
            options,
            slots: Vec::new(),
            points: Vec::new(),
        }
    }

    fn insert(&mut self, slot: usize) {
        let point = self.slots.len();
        if let Some(row) = self.flat.vectors().row(slot) {
            self.graph.insert((row, point));
            self.slots.push(slot);
            if self.points.len() <= slot {
                self.points.resize(slot + 1, None);
            }
            if let Some(place) = self.points.get_mut(slot) {
                *place = Some(point);
            }
        }
    }

    fn rebuild(&mut self) {
        self.graph = graph(&self.options);
        self.slots.clear();
        let filled: Vec<usize> =
            (0..).zip(&self.points).filter_map(|(slot, point)| point.map(|_| slot)).collect();
        filled.into_iter().for_each(|slot| self.insert(slot));
    }

    fn is_filled(&self, slot: usize) -> bool {
        self.points.get(slot).is_some_and(Option::is_some)
    }

    /// Returns the best `k` of the `allowed` slots that the graph search finds; `None` if the search does not reach
    /// enough allowed slots.
    fn along_graph(&self, query: &[f32], k: usize, allowed: usize, allows: Allowed<'_>) -> Option<Vec<Hit>> {
        let mut ef = self.options.ef.max(k.saturating_mul(4));
        while ef < self.slots.len() / 4 {
            let found = self.graph.search(query, ef, ef);
            let slots = found.iter().filter_map(|neighbour| {
                let slot = *self.slots.get(neighbour.d_id)?;
                let is_current = self.points.get(slot) == Some(&Some(neighbour.d_id));
                (is_current && allows.is_none_or(|allows| allows(slot))).then_some(slot)
            });
            let hits: Vec<Hit> = slots.filter_map(|slot| self.flat.hit(slot, query)).collect();
            if hits.len() >= k.min(allowed) {
                return Some(best(hits, k));
            }
            ef *= 2;
        }
        None
    }
}

fn graph(options: &HnswOptions) -> Hnsw<'static, f32, Cosine> {
    // with more neighbours, the library would abort the process
    let neighbours = options.neighbours.clamp(1, 255);
    Hnsw::new(neighbours, 1_024, LAYERS, options.ef_construction.max(1), Cosine)
}

impl Engine for HnswIndex {
    fn check(&self, tool: &IndexedTool<'_>) -> Result<()> {
        self.flat.check(tool)
    }

    fn put(&mut self, slot: usize, tool: &IndexedTool<'_>) -> Result<()> {
        self.flat.put(slot, tool)?;
        self.insert(slot);
        if self.slots.len() > 2 * self.points.iter().flatten().count() {
            self.rebuild();
        }
        Ok(())
    }

    fn clear(&mut self, slot: usize) {
        if let Some(point) = self.points.get_mut(slot) {
            *point = None;
        }
    }

    fn keep(&mut self, slots: &[usize]) {
        self.points = slots.iter().map(|&slot| self.points.get(slot).copied().flatten()).collect();
        self.flat.keep(slots);
        self.rebuild();
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn rank(&self, queries: &[Query<'_>], k: usize, allows: Allowed<'_>) -> Result<Vec<Vec<Hit>>> {
        let vectors = self.flat.vectors_of(queries)?;
        let may = |slot: usize| self.is_filled(slot) && allows.is_none_or(|allows| allows(slot));
        let filled = self.points.iter().flatten().count();
        let allowed =
            if allows.is_none() { filled } else { (0..self.points.len()).filter(|&s| may(s)).count() };
        if allowed <= FEW.max(filled / SELECTIVE) {
            return Ok(self.flat.nearest(&vectors, k, Some(&may)));
        }
        let exact = |query: &[f32]| self.flat.nearest(&[query], k, Some(&may)).pop().unwrap_or_default();
        let one =
            |query: &&[f32]| self.along_graph(query, k, allowed, allows).unwrap_or_else(|| exact(query));
        Ok(vectors.iter().map(one).collect())
    }
}
