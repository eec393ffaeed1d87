//! The lexical engine: BM25.

use super::{Engine, IndexedTool, Query};
use crate::retrieval::words::terms;
use crate::retrieval::{Allowed, Hit, best};
use grammata::error::Result;
use std::collections::{BTreeMap, HashMap};

/// How quickly the weight of a repeated term saturates.
const K1: f64 = 1.2;
/// How strongly the length of a document reduces its score.
const B: f64 = 0.75;

/// An inverted index that ranks by BM25 (Robertson and Zaragoza 2009) with Lucene's inverse document frequency.
///
/// The score of a document of length l, in which a query term occurs f times, is the sum over the query's terms, with
/// repetitions, of idf f (k1 + 1) / (f + k1 (1 - b + b l / mean l)). Here k1 = 1.2, b = 0.75 and
/// idf = ln(1 + (N - n + 0.5) / (n + 0.5)), where n of the N documents contain the term. Terms are runs of letters and
/// digits in lower case, split at camel case, without stemming. A document that contains no query term is not a hit.
#[derive(Clone, Debug, Default)]
pub struct Bm25 {
    terms: HashMap<String, u32>,
    /// For each term, the slots of the documents that contain the term, in increasing order, with the number of
    /// occurrences.
    postings: Vec<Vec<(u32, u32)>>,
    documents: Vec<Option<Document>>,
    /// The number of documents: N.
    count: usize,
    /// The number of terms in all documents, with repetitions.
    total: u64,
}

/// The distinct terms of a document, with their numbers of occurrences.
#[derive(Clone, Debug)]
struct Document {
    terms: Box<[(u32, u32)]>,
    length: u32,
}

impl Bm25 {
    /// Creates an index of `documents`, identified by their positions. Documents from the position 2^32 on are not
    /// indexed.
    pub fn new<D: AsRef<str>>(documents: &[D]) -> Bm25 {
        let mut index = Bm25::default();
        for (slot, document) in documents.iter().enumerate() {
            index.insert(slot, document.as_ref());
        }
        index
    }

    /// Puts a document into a slot, replacing any other. Slots from 2^32 on stay empty.
    fn insert(&mut self, slot: usize, document: &str) {
        self.clear(slot);
        let Ok(number) = u32::try_from(slot) else { return };
        // sorted by id, so that an index depends only on its documents
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        let mut length = 0_u32;
        for term in terms(document) {
            length = length.saturating_add(1);
            let next = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
            let id = *self.terms.entry(term).or_insert(next);
            if id as usize == self.postings.len() {
                self.postings.push(Vec::new());
            }
            let count = counts.entry(id).or_default();
            *count = count.saturating_add(1);
        }
        for (&id, &count) in &counts {
            let Some(postings) = self.postings.get_mut(id as usize) else { continue };
            let place = match postings.last() {
                Some(&(last, _)) if last > number => postings.partition_point(|&(other, _)| other < number),
                _ => postings.len(),
            };
            postings.insert(place, (number, count));
        }
        if self.documents.len() <= slot {
            self.documents.resize_with(slot + 1, || None);
        }
        if let Some(place) = self.documents.get_mut(slot) {
            *place = Some(Document { terms: counts.into_iter().collect(), length });
            self.count += 1;
            self.total += u64::from(length);
        }
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the `k` allowed documents that match `query` best, best first; fewer if fewer contain a term of the
    /// query.
    pub fn search(&self, query: &str, k: usize, allows: Allowed<'_>) -> Vec<Hit> {
        let mut scores = vec![0.0; self.documents.len()];
        let mean_length = self.total as f64 / self.count.max(1) as f64;
        for term in terms(query) {
            let postings = self.terms.get(&term).and_then(|&id| self.postings.get(id as usize));
            for &(slot, count) in postings.into_iter().flatten() {
                let length =
                    self.documents.get(slot as usize).and_then(Option::as_ref).map_or(0, |d| d.length);
                let weight = self.weight(length, count, postings.map_or(0, Vec::len), mean_length);
                if let Some(score) = scores.get_mut(slot as usize) {
                    *score += weight;
                }
            }
        }
        let found = scores.into_iter().enumerate().filter(|&(_, score)| score > 0.0);
        let hits = found.map(|(tool, score)| Hit { tool, score });
        best(hits.filter(|hit| allows.is_none_or(|allows| allows(hit.tool))).collect(), k)
    }

    /// Returns the score that one occurrence of a term in the query adds to a document of `length` terms that contains
    /// the term `count` times.
    fn weight(&self, length: u32, count: u32, documents_with_term: usize, mean_length: f64) -> f64 {
        let (all, with) = (self.count as f64, documents_with_term as f64);
        let idf = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        let (length, count) = (f64::from(length), f64::from(count));
        idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / mean_length))
    }
}

impl Engine for Bm25 {
    fn check(&self, _: &IndexedTool<'_>) -> Result<()> {
        Ok(())
    }

    fn put(&mut self, slot: usize, tool: &IndexedTool<'_>) -> Result<()> {
        self.insert(slot, tool.document);
        Ok(())
    }

    fn clear(&mut self, slot: usize) {
        let Some(document) = self.documents.get_mut(slot).and_then(Option::take) else { return };
        self.count -= 1;
        self.total -= u64::from(document.length);
        for &(id, _) in &document.terms {
            let Some(postings) = self.postings.get_mut(id as usize) else { continue };
            if let Ok(place) = postings.binary_search_by_key(&slot, |&(other, _)| other as usize) {
                postings.remove(place);
            }
        }
    }

    fn keep(&mut self, slots: &[usize]) {
        let mut documents: Vec<Option<Document>> = Vec::with_capacity(slots.len());
        self.postings.iter_mut().for_each(Vec::clear);
        for (number, &slot) in (0..u32::MAX).zip(slots) {
            let document = self.documents.get_mut(slot).and_then(Option::take);
            for &(id, count) in document.iter().flat_map(|document| &document.terms) {
                if let Some(postings) = self.postings.get_mut(id as usize) {
                    postings.push((number, count));
                }
            }
            documents.push(document);
        }
        self.count = documents.iter().flatten().count();
        self.total = documents.iter().flatten().map(|document| u64::from(document.length)).sum();
        self.documents = documents;
    }

    fn rank(&self, queries: &[Query<'_>], k: usize, allows: Allowed<'_>) -> Result<Vec<Vec<Hit>>> {
        Ok(queries.iter().map(|query| self.search(query.text, k, allows)).collect())
    }
}
