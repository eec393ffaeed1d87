//! Retrieval of a short list of tools for queries.

use super::catalogue::Catalogue;
use super::fuse::{Join, join, reciprocal_rank_fusion};
use super::index::{DenseIndex, Filter, IndexedTool, LexicalIndex, Match, Query, ToolIndex};
use super::tool::{Template, Tool};
use super::{Hit, errors};
use grammata::error::Result;
use grammata_embeddings::{Embedder, Embeddings, Truncation};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The number of ranks of each list that reciprocal rank fusion uses.
const FUSION_DEPTH: usize = 50;

/// How tools are ranked for one query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranker {
    /// By BM25.
    #[default]
    Lexical,
    /// By the cosine of vectors.
    Dense,
    /// By reciprocal rank fusion of the best 50 of both.
    Hybrid,
}

/// The position of the request itself among the queries made from the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Utterance {
    /// The request comes before the queries.
    First,
    /// The request comes after the queries, as in the paper.
    #[default]
    Last,
    /// The request is not among the queries, unless there are no others.
    Nowhere,
}

impl Utterance {
    /// Inserts the request into the queries; without queries, the result is the request alone.
    pub fn among(self, queries: &[String], request: &str) -> Vec<String> {
        let request = std::iter::once(request.to_owned());
        match self {
            Utterance::First => request.chain(queries.iter().cloned()).collect(),
            Utterance::Nowhere if !queries.is_empty() => queries.to_vec(),
            Utterance::Last | Utterance::Nowhere => queries.iter().cloned().chain(request).collect(),
        }
    }
}

grammata_base::options! {
    /// Options for the resulting list of tools.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct RetrievalOptions {
        /// The length of the list. Default: 11, the largest cut-off reported in the paper.
        pub k: usize = 11,
        /// How tools are ranked for one query.
        pub ranker: Ranker = Ranker::Lexical,
        /// How the lists of the queries are merged.
        pub join: Join = Join::InTurn,
    }
}

/// The result of a retrieval.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrieval {
    /// The distinct queries that were searched, with the tools found for each, best first.
    pub queries: Vec<(String, Vec<Hit>)>,
    /// The resulting list: at most k distinct tools.
    pub tools: Vec<Found>,
    /// The queries that the embedder truncated, by index.
    pub truncated: Vec<Truncation>,
}

/// A tool of the resulting list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Index of the tool in the catalogue.
    pub tool: usize,
    /// The query that contributed the tool, as an index into [`Retrieval::queries`].
    pub query: usize,
    /// The rank of the tool for that query, from 1.
    pub rank: usize,
    /// The score of the tool for that query; for [`Ranker::Hybrid`], the sum of reciprocal ranks.
    pub score: f64,
}

impl Retrieval {
    /// Returns the tools of the list as indices, best first.
    pub fn ranking(&self) -> Vec<usize> {
        self.tools.iter().map(|found| found.tool).collect()
    }
}

/// A query, optionally limited to one category of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolQuery<'q> {
    /// The text.
    pub text: &'q str,
    /// The category; `None` searches all.
    pub category: Option<&'q str>,
}

impl<'q> From<&'q String> for ToolQuery<'q> {
    fn from(text: &'q String) -> ToolQuery<'q> {
        ToolQuery { text, category: None }
    }
}

impl<'q> From<&'q &str> for ToolQuery<'q> {
    fn from(text: &'q &str) -> ToolQuery<'q> {
        ToolQuery { text, category: None }
    }
}

impl<'q> From<&'q ToolQuery<'q>> for ToolQuery<'q> {
    fn from(query: &'q ToolQuery<'q>) -> ToolQuery<'q> {
        *query
    }
}

/// The indexes of a catalogue's documents. Clones share them.
#[derive(Clone, Debug)]
pub struct Retriever {
    lexical: Arc<dyn ToolIndex>,
    dense: Option<Arc<dyn ToolIndex>>,
    /// The ids and categories of the catalogue's tools, in the order of the catalogue.
    tools: Arc<[(String, String)]>,
    by_id: Arc<HashMap<String, usize>>,
}

impl Retriever {
    /// Builds a lexical index of the documents of a catalogue.
    ///
    /// # Errors
    /// None at present.
    pub fn new(catalogue: &Catalogue, template: Template) -> Result<Retriever> {
        let documents = catalogue.documents(template);
        let tools = catalogue.tools().iter().zip(&documents);
        let tools: Vec<IndexedTool<'_>> = tools
            .map(|(Tool { id, category, .. }, document)| IndexedTool { id, category, document, vector: None })
            .collect();
        let mut lexical = LexicalIndex::new();
        lexical.upsert(&tools)?;
        Ok(Retriever::over(catalogue, Arc::new(lexical)))
    }

    /// Retrieves tools of a catalogue with a given lexical index. Tools of the index that are not in the catalogue are
    /// omitted from the lists.
    pub fn over(catalogue: &Catalogue, lexical: Arc<dyn ToolIndex>) -> Retriever {
        let tools = catalogue.tools().iter().map(|tool| (tool.id.clone(), tool.category.clone()));
        let by_id = (0..).zip(catalogue.tools()).map(|(number, tool)| (tool.id.clone(), number));
        Retriever { lexical, dense: None, tools: tools.collect(), by_id: Arc::new(by_id.collect()) }
    }

    /// Adds the vectors of the documents, in the order of the catalogue.
    ///
    /// # Errors
    /// The number of vectors differs from the number of tools.
    pub fn with_vectors(self, vectors: &Embeddings) -> Result<Retriever> {
        if vectors.len() != self.tools.len() {
            return Err(errors::row_count(vectors.len(), self.tools.len()));
        }
        let tools = self.tools.iter().zip(vectors.rows());
        let tools: Vec<IndexedTool<'_>> = tools
            .map(|((id, category), row)| IndexedTool { id, category, document: "", vector: Some(row) })
            .collect();
        let mut dense = DenseIndex::new(vectors.dimension());
        dense.upsert(&tools)?;
        Ok(self.with_dense(Arc::new(dense)))
    }

    /// Adds a dense index, for instance an approximate one or one that is stored elsewhere.
    pub fn with_dense(self, dense: Arc<dyn ToolIndex>) -> Retriever {
        Retriever { dense: Some(dense), ..self }
    }

    /// Searches the tools of each query and merges the lists. Only the first of equal queries is searched.
    ///
    /// # Errors
    /// `options.k` is 0; the ranker is not lexical and there are no vectors or no embedder; the embedder fails, or its
    /// vectors have a different dimension; those of the indexes.
    pub fn retrieve<'q, Q>(
        &self,
        queries: &'q [Q],
        embedder: Option<&mut dyn Embedder>,
        options: &RetrievalOptions,
    ) -> Result<Retrieval>
    where
        ToolQuery<'q>: From<&'q Q>,
    {
        let mut distinct: Vec<ToolQuery<'_>> = Vec::new();
        for query in queries.iter().map(ToolQuery::from) {
            if !distinct.contains(&query) {
                distinct.push(query);
            }
        }
        let vectors = match options.ranker {
            Ranker::Lexical => None,
            Ranker::Dense | Ranker::Hybrid => Some(self.embed(&distinct, embedder)?),
        };
        let lists = match (options.ranker, &vectors) {
            (Ranker::Dense, Some(vectors)) => self.dense(&distinct, vectors, options.k)?,
            (Ranker::Hybrid, Some(vectors)) => self.hybrid(&distinct, vectors, options.k)?,
            _ => self.search(&*self.lexical, &distinct, None, options.k)?,
        };
        let placed = join(&lists, options.k, options.join)?;
        let found = placed.into_iter().filter_map(|placed| {
            let score = lists.get(placed.list)?.get(placed.rank.checked_sub(1)?)?.score;
            Some(Found { tool: placed.tool, query: placed.list, rank: placed.rank, score })
        });
        let tools = found.collect();
        let truncated = vectors.map_or_else(Vec::new, |vectors| vectors.truncated().to_vec());
        let queries = distinct.into_iter().map(|query| query.text.to_owned()).zip(lists).collect();
        Ok(Retrieval { queries, tools, truncated })
    }

    /// Computes the vectors of the queries. Each vector is computed separately, so that the vector of a query does not
    /// depend on the others.
    fn embed(&self, queries: &[ToolQuery<'_>], embedder: Option<&mut dyn Embedder>) -> Result<Embeddings> {
        let embedder = embedder.ok_or_else(|| errors::no_vectors("an embedder of the queries"))?;
        let mut vectors = Embeddings::new(embedder.dimension());
        for (index, query) in queries.iter().enumerate() {
            let found = embedder.embed(&[query.text])?;
            found.rows().try_for_each(|row| vectors.push_unit(row))?;
            let truncated = found.truncated().iter().copied();
            truncated.for_each(|truncation| vectors.mark_truncated(Truncation { text: index, ..truncation }));
        }
        Ok(vectors)
    }

    /// Returns the tools of each query according to one index. Queries of the same category share one search.
    fn search(
        &self,
        index: &dyn ToolIndex,
        queries: &[ToolQuery<'_>],
        vectors: Option<&Embeddings>,
        depth: usize,
    ) -> Result<Vec<Vec<Hit>>> {
        let mut lists: Vec<Vec<Hit>> = vec![Vec::new(); queries.len()];
        let mut by_category: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        for (number, query) in queries.iter().enumerate() {
            by_category.entry(query.category).or_default().push(number);
        }
        for (category, numbers) in by_category {
            let filter = category.map(|category| Filter::categories([category]));
            let query = |&number: &usize| {
                let vector = vectors.and_then(|vectors| vectors.row(number));
                queries.get(number).map(|query| Query { text: query.text, vector })
            };
            let group: Vec<Query<'_>> = numbers.iter().filter_map(query).collect();
            let found = index.search(&group, depth, filter.as_ref())?;
            for (number, matches) in numbers.into_iter().zip(found) {
                if let Some(list) = lists.get_mut(number) {
                    *list = matches.iter().filter_map(|found| self.hit(found)).collect();
                }
            }
        }
        Ok(lists)
    }

    fn hit(&self, found: &Match) -> Option<Hit> {
        self.by_id.get(&found.id).map(|&tool| Hit { tool, score: found.score })
    }

    fn dense(&self, queries: &[ToolQuery<'_>], vectors: &Embeddings, depth: usize) -> Result<Vec<Vec<Hit>>> {
        let index = self.dense.as_ref().ok_or_else(|| errors::no_vectors("vectors of the tools"))?;
        self.search(&**index, queries, Some(vectors), depth)
    }

    fn hybrid(&self, queries: &[ToolQuery<'_>], vectors: &Embeddings, k: usize) -> Result<Vec<Vec<Hit>>> {
        let dense = self.dense(queries, vectors, FUSION_DEPTH)?;
        let lexical = self.search(&*self.lexical, queries, None, FUSION_DEPTH)?;
        let lists = lexical.into_iter().zip(dense).map(|(lexical, dense)| {
            let ids = [lexical, dense].map(|hits| hits.iter().map(|hit| hit.tool).collect::<Vec<_>>());
            let fused = reciprocal_rank_fusion(&ids).into_iter().take(k);
            fused.map(|(tool, score)| Hit { tool, score }).collect()
        });
        Ok(lists.collect())
    }
}
