//! The lexical index: BM25.

use super::words::terms;
use super::{Filter, Hit, best};
use std::collections::HashMap;

/// How fast the weight of a repeated term saturates.
const K1: f64 = 1.2;
/// How much longer documents count less.
const B: f64 = 0.75;

/// An inverted index that ranks by BM25 (Robertson and Zaragoza 2009) with Lucene's inverse document frequency.
///
/// The score of a document of length l, in which a term of the query occurs f times, is the sum over the query's terms,
/// repeated ones included, of idf f (k1 + 1) / (f + k1 (1 - b + b l / mean l)) with k1 = 1.2, b = 0.75 and
/// idf = ln(1 + (N - n + 0.5) / (n + 0.5)), where n of the N documents have the term. Terms are runs of letters and digits
/// in lower case, camel case broken; there is no stemming. A document without a term of the query is no hit.
#[derive(Clone, Debug, Default)]
pub struct Bm25 {
    terms: HashMap<String, usize>,
    /// Of each term the documents that have it, rising, and how often.
    postings: Vec<Vec<(u32, u32)>>,
    /// Terms of each document.
    lengths: Vec<u32>,
    mean_length: f64,
}

impl Bm25 {
    /// The index of `documents`, each named by its index. At most 2^32 - 1 documents are indexed.
    pub fn new<D: AsRef<str>>(documents: &[D]) -> Bm25 {
        let mut index = Bm25::default();
        for (number, document) in (0..u32::MAX).zip(documents) {
            index.add(number, document.as_ref());
        }
        let total: f64 = index.lengths.iter().map(|&length| f64::from(length)).sum();
        index.mean_length = total / index.lengths.len().max(1) as f64;
        index
    }

    fn add(&mut self, number: u32, document: &str) {
        let mut length = 0_u32;
        for term in terms(document) {
            length = length.saturating_add(1);
            let next = self.postings.len();
            let id = *self.terms.entry(term).or_insert(next);
            if id == next {
                self.postings.push(Vec::new());
            }
            let Some(postings) = self.postings.get_mut(id) else { continue };
            match postings.last_mut() {
                Some((last, count)) if *last == number => *count = count.saturating_add(1),
                _ => postings.push((number, 1)),
            }
        }
        self.lengths.push(length);
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The at most `k` best documents for `query`.
    pub fn search(&self, query: &str, k: usize, filter: Filter<'_>) -> Vec<Hit> {
        let mut scores = vec![0.0; self.len()];
        for term in terms(query) {
            let postings = self.terms.get(&term).and_then(|&id| self.postings.get(id));
            for &(document, count) in postings.into_iter().flatten() {
                let weight = self.weight(document, count, postings.map_or(0, Vec::len));
                if let Some(score) = scores.get_mut(document as usize) {
                    *score += weight;
                }
            }
        }
        let found = scores.into_iter().enumerate().filter(|&(_, score)| score > 0.0);
        let hits = found.map(|(tool, score)| Hit { tool, score });
        best(hits.filter(|hit| filter.is_none_or(|allows| allows(hit.tool))).collect(), k)
    }

    /// What one occurrence of a term in the query adds to a document that has it `count` times.
    fn weight(&self, document: u32, count: u32, documents_with_term: usize) -> f64 {
        let (all, with) = (self.len() as f64, documents_with_term as f64);
        let idf = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        let length = self.lengths.get(document as usize).copied().map_or(0.0, f64::from);
        let count = f64::from(count);
        idf * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / self.mean_length))
    }
}
