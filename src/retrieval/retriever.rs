//! From queries to a short list of tools.

use super::fuse::{Duplicates, interleave, reciprocal_rank_fusion};
use super::{Bm25, FlatIndex, Hit, errors};
use crate::decode::{Embedder, Embeddings, Truncation};
use crate::error::Result;
use serde::{Deserialize, Serialize};

/// Ranks of each list that reciprocal rank fusion reads.
const FUSION_DEPTH: usize = 50;

/// How tools are ranked for one query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranker {
    /// By [`Bm25`].
    #[default]
    Lexical,
    /// By the cosine of [`FlatIndex`].
    Dense,
    /// By reciprocal rank fusion of the best 50 of both.
    Hybrid,
}

/// Position of the request itself among the queries made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Utterance {
    /// Before them.
    First,
    /// After them, as in the paper.
    #[default]
    Last,
    /// It is no query.
    Nowhere,
}

impl Utterance {
    /// The queries with the request among them; the request alone where there are no queries.
    pub fn among(self, queries: &[String], request: &str) -> Vec<String> {
        let request = std::iter::once(request.to_owned());
        match self {
            Utterance::First => request.chain(queries.iter().cloned()).collect(),
            Utterance::Nowhere if !queries.is_empty() => queries.to_vec(),
            Utterance::Last | Utterance::Nowhere => queries.iter().cloned().chain(request).collect(),
        }
    }
}

/// How a list of tools is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetrievalOptions {
    /// Tools of the list, 11 by default: the largest cut-off that the paper reports.
    pub k: usize,
    /// How tools are ranked for one query.
    pub ranker: Ranker,
    /// What a query's list does in its turn when its next tool is in the result already.
    pub duplicates: Duplicates,
}

impl Default for RetrievalOptions {
    fn default() -> RetrievalOptions {
        RetrievalOptions { k: 11, ranker: Ranker::Lexical, duplicates: Duplicates::Advance }
    }
}

/// What a retrieval found.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrieval {
    /// The queries that were searched, each once, with the tools of each, best first.
    pub queries: Vec<(String, Vec<Hit>)>,
    /// The list: at most k tools, each once.
    pub tools: Vec<Found>,
    /// The queries, by their indices, of which the embedder read only the beginning.
    pub truncated: Vec<Truncation>,
}

/// A tool of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Index of the tool in the catalogue.
    pub tool: usize,
    /// The query that put it there: an index into [`Retrieval::queries`].
    pub query: usize,
    /// Its rank for that query, from 1.
    pub rank: usize,
    /// Its score for that query; of [`Ranker::Hybrid`] the sum of reciprocal ranks.
    pub score: f64,
}

impl Retrieval {
    /// The tools of the list, best first.
    pub fn ranking(&self) -> Vec<usize> {
        self.tools.iter().map(|found| found.tool).collect()
    }
}

/// The indexes of a catalogue's documents.
#[derive(Clone, Debug)]
pub struct Retriever {
    lexical: Bm25,
    dense: Option<FlatIndex>,
}

impl Retriever {
    /// Indexes documents by their words.
    pub fn new<D: AsRef<str>>(documents: &[D]) -> Retriever {
        Retriever { lexical: Bm25::new(documents), dense: None }
    }

    /// Adds the documents' vectors, in their order.
    ///
    /// # Errors
    /// There are more or fewer vectors than documents.
    pub fn with_vectors(self, vectors: Embeddings) -> Result<Retriever> {
        if vectors.len() != self.lexical.len() {
            return Err(errors::row_count(vectors.len(), self.lexical.len()));
        }
        Ok(Retriever { dense: Some(FlatIndex::new(vectors)), ..self })
    }

    /// Searches the tools of each query and interleaves the lists. Of equal queries the first is searched.
    ///
    /// # Errors
    /// `options.k` is 0; the ranker is not lexical and there are no vectors or no embedder; the embedder fails, or its
    /// vectors have another dimension.
    pub fn retrieve<Q: AsRef<str>>(
        &self,
        queries: &[Q],
        embedder: Option<&mut dyn Embedder>,
        options: &RetrievalOptions,
    ) -> Result<Retrieval> {
        let mut distinct: Vec<&str> = Vec::new();
        for query in queries.iter().map(AsRef::as_ref) {
            if !distinct.contains(&query) {
                distinct.push(query);
            }
        }
        let vectors = match options.ranker {
            Ranker::Lexical => None,
            Ranker::Dense | Ranker::Hybrid => Some(self.embed(&distinct, embedder)?),
        };
        let lists = match (options.ranker, &vectors) {
            (Ranker::Dense, Some(vectors)) => self.dense(vectors, options.k)?,
            (Ranker::Hybrid, Some(vectors)) => self.hybrid(&distinct, vectors, options.k)?,
            _ => self.lexical(&distinct, options.k),
        };
        let ids: Vec<Vec<usize>> =
            lists.iter().map(|hits| hits.iter().map(|hit| hit.tool).collect()).collect();
        let placed = interleave(&ids, options.k, options.duplicates)?;
        let found = placed.into_iter().filter_map(|placed| {
            let score = lists.get(placed.list)?.get(placed.rank.checked_sub(1)?)?.score;
            Some(Found { tool: placed.tool, query: placed.list, rank: placed.rank, score })
        });
        let tools = found.collect();
        let truncated = vectors.map_or_else(Vec::new, |vectors| vectors.truncated().to_vec());
        let queries = distinct.into_iter().map(str::to_owned).zip(lists).collect();
        Ok(Retrieval { queries, tools, truncated })
    }

    fn lexical(&self, queries: &[&str], depth: usize) -> Vec<Vec<Hit>> {
        queries.iter().map(|query| self.lexical.search(query, depth, None)).collect()
    }

    /// The vectors of the queries, each computed by itself, so that a query has one vector whatever the others are.
    fn embed(&self, queries: &[&str], embedder: Option<&mut dyn Embedder>) -> Result<Embeddings> {
        let embedder = embedder.ok_or_else(|| errors::no_vectors("an embedder of the queries"))?;
        let mut vectors = Embeddings::new(embedder.dimension());
        for (index, query) in queries.iter().enumerate() {
            let found = embedder.embed(&[query])?;
            found.rows().try_for_each(|row| vectors.push(row))?;
            let truncated = found.truncated().iter().copied();
            truncated.for_each(|truncation| vectors.mark_truncated(Truncation { text: index, ..truncation }));
        }
        Ok(vectors)
    }

    fn dense(&self, queries: &Embeddings, depth: usize) -> Result<Vec<Vec<Hit>>> {
        let index = self.dense.as_ref().ok_or_else(|| errors::no_vectors("vectors of the tools"))?;
        index.search(queries, depth, None)
    }

    fn hybrid(&self, queries: &[&str], vectors: &Embeddings, k: usize) -> Result<Vec<Vec<Hit>>> {
        let dense = self.dense(vectors, FUSION_DEPTH)?;
        let lists = self.lexical(queries, FUSION_DEPTH).into_iter().zip(dense).map(|(lexical, dense)| {
            let ids = [lexical, dense].map(|hits| hits.iter().map(|hit| hit.tool).collect::<Vec<_>>());
            let fused = reciprocal_rank_fusion(&ids).into_iter().take(k);
            fused.map(|(tool, score)| Hit { tool, score }).collect()
        });
        Ok(lists.collect())
    }
}
