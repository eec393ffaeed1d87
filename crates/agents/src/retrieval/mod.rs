//! Retrieval of tools: which of thousands of tools a request needs.
//!
//! The pipeline follows Kachuee, Ahuja, Kumar, Xu and Liu, *Improving Tool Retrieval by Leveraging Large Language
//! Models for Query Generation* (2024). The model that writes the queries is not part of the pipeline: see
//! `grammata-agents-drive`.
//! The pipeline consists of a [`Catalogue`] of tools with one document each; an index that ranks documents for one
//! query, lexical ([`Bm25`]), dense ([`FlatIndex`]), or both merged by [reciprocal rank
//! fusion](fuse::reciprocal_rank_fusion); and the lists of several queries, [interleaved](fuse::interleave) and cut to
//! the best k. A [`Retriever`] combines these parts, and [`store`] keeps vectors on disk. Tools are identified by their
//! index in the catalogue throughout.

pub mod catalogue;
mod errors;
mod functions;
pub mod fuse;
pub mod index;
pub mod readers;
pub mod requests;
pub mod retriever;
pub mod split;
pub mod store;
mod tool;
mod words;

pub use catalogue::Catalogue;
pub use index::{Bm25, FlatIndex, ToolIndex};
pub use retriever::{Ranker, Retrieval, RetrievalOptions, Retriever};
pub use tool::{Template, Tool};

/// A tool that an index found for a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index of the tool in the catalogue, or its slot in an [`Engine`](index::Engine).
    pub tool: usize,
    /// The ranking score of the index; higher is better. A BM25 score is positive; a cosine is between -1 and 1, apart
    /// from rounding; a fused score is a sum of reciprocal ranks.
    pub score: f64,
}

/// A predicate on the numbers of tools that a search may return; `None` allows all.
pub type Allowed<'a> = Option<&'a (dyn Fn(usize) -> bool + Sync)>;

/// Returns the `k` best hits, best first. Among equal scores, the lower index in the catalogue comes first.
fn best(mut hits: Vec<Hit>, k: usize) -> Vec<Hit> {
    let order =
        |first: &Hit, second: &Hit| second.score.total_cmp(&first.score).then(first.tool.cmp(&second.tool));
    if k < hits.len() {
        hits.select_nth_unstable_by(k, order);
        hits.truncate(k);
    }
    hits.sort_unstable_by(order);
    hits
}
