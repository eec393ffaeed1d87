//! Retrieval of tools: the hard cases under `tests/cases/retrieval`, and each part compared with a naive
//! implementation.

use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, ErrorKind};
use grammata::{Limits, Place};
use grammata_agents::retrieval::fuse::{Duplicates, interleave, reciprocal_rank_fusion};
use grammata_agents::retrieval::requests::Request;
use grammata_agents::retrieval::retriever::Utterance;
use grammata_agents::retrieval::{
    Bm25, Catalogue, FlatIndex, Ranker, RetrievalOptions, Retriever, Template, Tool,
};
use grammata_embeddings::{Embedder, Embeddings, Truncation};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use std::path::Path;

fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(crate::ROOT).join("tests/cases/retrieval").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[derive(serde::Deserialize)]
struct ListCase {
    name: String,
    lists: Vec<String>,
    k: usize,
    advance: Option<String>,
    lose_turn: Option<String>,
    fused: Option<String>,
    error: Option<String>,
}

/// Returns tools written as letters, from `a` for 0.
fn tools(letters: &str) -> Vec<usize> {
    letters.bytes().map(|letter| usize::from(letter - b'a')).collect()
}

#[test]
fn lists_are_joined_as_the_cases_say() {
    for case in cases::<ListCase>("lists.json") {
        let lists: Vec<Vec<usize>> = case.lists.iter().map(|list| tools(list)).collect();
        let ways = [(Duplicates::Advance, &case.advance), (Duplicates::LoseTurn, &case.lose_turn)];
        for (duplicates, expected) in ways {
            let found = interleave(&lists, case.k, duplicates);
            let Some(expected) = expected else {
                assert_eq!(Some(found.unwrap_err().code()), case.error.as_deref(), "{}", case.name);
                continue;
            };
            let found = found.unwrap();
            let ids: Vec<usize> = found.iter().map(|placed| placed.tool).collect();
            assert_eq!(ids, tools(expected), "{}: {duplicates:?}", case.name);
            for placed in found {
                assert_eq!(lists[placed.list][placed.rank - 1], placed.tool, "{}", case.name);
            }
        }
        if let Some(expected) = &case.fused {
            let ids: Vec<usize> = reciprocal_rank_fusion(&lists).into_iter().map(|(tool, _)| tool).collect();
            assert_eq!(ids, tools(expected), "{}: fused", case.name);
        }
    }
}

/// Returns random lists of distinct tools.
fn lists() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let list = (Just((0..20).collect::<Vec<usize>>()).prop_shuffle(), 0..15_usize);
    prop::collection::vec(list.prop_map(|(tools, length)| tools[..length].to_vec()), 0..6)
}

/// Interleaves by definition: the lists are read in turns, and only the first place of each tool is kept. A list whose
/// next tool is already placed loses its turn.
fn turns(lists: &[Vec<usize>]) -> Vec<usize> {
    let depth = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut result = Vec::new();
    for rank in 0..depth {
        for tool in lists.iter().filter_map(|list| list.get(rank)) {
            if !result.contains(tool) {
                result.push(*tool);
            }
        }
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The properties of interleaving: no duplicates, nothing missing, stable prefixes, and no need for more than `k`
    /// entries of a list.
    #[test]
    fn interleaving_keeps_its_promises(lists in lists(), k in 1..25_usize) {
        for duplicates in [Duplicates::Advance, Duplicates::LoseTurn] {
            let of = |lists: &[Vec<usize>], k| -> Vec<usize> {
                interleave(lists, k, duplicates).unwrap().iter().map(|placed| placed.tool).collect()
            };
            let result = of(&lists, k);
            let mut sorted = result.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(sorted.len(), result.len(), "no tool twice");
            let all: std::collections::BTreeSet<usize> = lists.iter().flatten().copied().collect();
            prop_assert_eq!(result.len(), k.min(all.len()), "nothing is left out");
            prop_assert!(of(&lists, k + 1).starts_with(&result), "a prefix of the next");
            let cut: Vec<Vec<usize>> = lists.iter().map(|list| list[..k.min(list.len())].to_vec()).collect();
            prop_assert_eq!(&of(&cut, k), &result, "depth k suffices");
            let near = of(&lists, lists.len().max(1));
            for list in lists.iter().filter(|list| !list.is_empty()) {
                prop_assert!(near.contains(&list[0]), "the first of each list is near the top");
            }
        }
        let found = interleave(&lists, k, Duplicates::LoseTurn).unwrap();
        let expected: Vec<usize> = turns(&lists).into_iter().take(k).collect();
        prop_assert_eq!(found.iter().map(|placed| placed.tool).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn fusion_is_the_sum_of_reciprocal_ranks(lists in lists()) {
        let found = reciprocal_rank_fusion(&lists);
        let mut expected: Vec<(usize, f64, usize)> = Vec::new();
        for tool in 0..20 {
            let ranks: Vec<usize> =
                lists.iter().filter_map(|list| Some(list.iter().position(|&t| t == tool)? + 1)).collect();
            if let Some(best) = ranks.iter().min() {
                expected.push((tool, ranks.iter().map(|&rank| 1.0 / (60 + rank) as f64).sum(), *best));
            }
        }
        expected.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.2.cmp(&y.2)).then(x.0.cmp(&y.0)));
        let expected: Vec<(usize, f64)> = expected.into_iter().map(|(tool, score, _)| (tool, score)).collect();
        prop_assert_eq!(found, expected);
    }
}

#[derive(serde::Deserialize)]
struct LexicalCase {
    name: String,
    documents: Vec<String>,
    query: String,
    scores: Vec<(usize, f64)>,
}

#[test]
fn bm25_is_that_of_the_cases() {
    for case in cases::<LexicalCase>("bm25.json") {
        let found = Bm25::new(&case.documents).search(&case.query, 10, None);
        assert_eq!(found.len(), case.scores.len(), "{}", case.name);
        for (hit, (tool, score)) in found.iter().zip(case.scores) {
            assert_eq!(hit.tool, tool, "{}", case.name);
            assert!((hit.score - score).abs() < 1e-6, "{}: {}", case.name, hit.score);
        }
    }
}

/// Returns the BM25 scores by the formula, one document after the other. Only documents with a score above 0 are
/// returned, best first.
fn naive_bm25(documents: &[String], query: &str) -> Vec<(usize, f64)> {
    let words = |text: &str| -> Vec<String> {
        text.split(' ').filter(|w| !w.is_empty()).map(str::to_owned).collect()
    };
    let all: Vec<Vec<String>> = documents.iter().map(|document| words(document)).collect();
    let mean = all.iter().map(Vec::len).sum::<usize>() as f64 / all.len() as f64;
    let score = |document: &Vec<String>| -> f64 {
        words(query)
            .iter()
            .map(|word| {
                let with = all.iter().filter(|other| other.contains(word)).count() as f64;
                let f = document.iter().filter(|other| *other == word).count() as f64;
                let idf = (1.0 + (all.len() as f64 - with + 0.5) / (with + 0.5)).ln();
                idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * document.len() as f64 / mean))
            })
            .sum()
    };
    let mut scores: Vec<(usize, f64)> =
        all.iter().map(score).enumerate().filter(|(_, score)| *score > 0.0).collect();
    scores.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
    scores
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn bm25_is_the_naive_one(
        documents in prop::collection::vec("([abcd]{1,2} ){0,6}", 1..12),
        query in "([abcde]{1,2} ){0,4}",
        k in 0..8_usize,
    ) {
        let index = Bm25::new(&documents);
        prop_assert_eq!((index.len(), index.is_empty()), (documents.len(), false));
        let expected = naive_bm25(&documents, &query);
        let found = index.search(&query, 20, None);
        prop_assert_eq!(found.len(), expected.len());
        for (hit, (tool, score)) in found.iter().zip(&expected) {
            prop_assert!((hit.score - score).abs() < 1e-9);
            // scores that differ only by rounding may be in either order
            let is_tied = expected.iter().any(|(other, near)| other != tool && (near - score).abs() < 1e-9);
            prop_assert!(hit.tool == *tool || is_tied);
        }
        prop_assert_eq!(&index.search(&query, k, None)[..], &found[..k.min(found.len())]);
        let odd = |tool: usize| tool % 2 == 1;
        let filtered: Vec<_> = found.iter().copied().filter(|hit| odd(hit.tool)).take(k).collect();
        prop_assert_eq!(index.search(&query, k, Some(&odd)), filtered);
    }

    /// The flat index finds what a full comparison finds. Coordinates are small integers, so dot products are exact
    /// before vectors are normalised, and equal vectors stay equal after it.
    #[test]
    fn the_flat_index_finds_what_a_full_comparison_finds(
        rows in prop::collection::vec(prop::collection::vec(-3..4_i8, 11), 1..60),
        queries in prop::collection::vec(prop::collection::vec(-3..4_i8, 11), 0..4),
        k in 0..70_usize,
    ) {
        let usable = |rows: Vec<Vec<i8>>| -> Vec<Vec<f32>> {
            let rows = rows.into_iter().filter(|row| row.iter().any(|&x| x != 0));
            rows.map(|row| row.into_iter().map(f32::from).collect()).collect()
        };
        let rows = Embeddings::from_rows(11, usable(rows)).unwrap();
        let queries = Embeddings::from_rows(11, usable(queries)).unwrap();
        let index = FlatIndex::new(rows.clone());
        let third = |tool: usize| tool.is_multiple_of(3);
        let none = |_: usize| false;
        let found = index.search(&queries, k, None).unwrap();
        let filtered = index.search(&queries, k, Some(&third)).unwrap();
        prop_assert_eq!(found.len(), queries.len());
        prop_assert!(index.search(&queries, k, Some(&none)).unwrap().iter().all(Vec::is_empty));
        for (number, query) in queries.rows().enumerate() {
            let cosine = |tool: usize| -> f64 {
                let row = rows.row(tool).unwrap();
                row.iter().zip(query).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
            };
            for (hits, allowed) in [(&found[number], rows.len()), (&filtered[number], rows.len().div_ceil(3))] {
                prop_assert_eq!(hits.len(), k.min(allowed));
                for hit in hits {
                    prop_assert!((hit.score - cosine(hit.tool)).abs() < 1e-6);
                }
                let ordered = |pair: &[grammata_agents::retrieval::Hit]| {
                    pair[0].score > pair[1].score || pair[0].score == pair[1].score && pair[0].tool < pair[1].tool
                };
                prop_assert!(hits.windows(2).all(ordered));
            }
            // no tool that is left out is better than the last found one
            if let Some(last) = found[number].last() {
                for tool in (0..rows.len()).filter(|tool| found[number].iter().all(|hit| hit.tool != *tool)) {
                    prop_assert!(cosine(tool) <= last.score + 1e-6);
                }
            }
        }
    }
}

#[test]
fn the_flat_index_is_the_same_in_blocks_and_from_any_thread() {
    // more rows than a block has; every 1,000th row equals the first query
    let row = |i: usize| if i.is_multiple_of(1_000) { [1.0, 0.0] } else { [(i % 97) as f32, 97.0] };
    let index = FlatIndex::new(Embeddings::from_rows(2, (0..10_000).map(row)).unwrap());
    let query = Embeddings::from_rows(2, [[1.0, 0.0], [0.0, 1.0]]).unwrap();
    let found = index.search(&query, 12, None).unwrap();
    let tools: Vec<usize> = found[0].iter().take(10).map(|hit| hit.tool).collect();
    assert_eq!(tools, (0..10).map(|i| i * 1_000).collect::<Vec<_>>());
    std::thread::scope(|scope| {
        let search = || index.search(&query, 12, None).unwrap();
        for thread in [(); 4].map(|()| scope.spawn(search)) {
            assert_eq!(thread.join().unwrap(), found);
        }
    });
    assert_eq!(index.search(&Embeddings::new(3), 1, None).unwrap_err().code(), "retrieval/dimension");
    assert!(FlatIndex::new(Embeddings::new(2)).search(&query, 5, None).unwrap().iter().all(Vec::is_empty));
    assert!(index.search(&Embeddings::new(2), 5, None).unwrap().is_empty());
}

fn catalogue(lines: &str) -> Catalogue {
    Catalogue::from_json_lines(lines, &Limits::default()).unwrap()
}

#[test]
fn documents_are_made_by_their_template() {
    let lines = concat!(
        r#"{"id":"1","name":"n","tool":"t","category":"c","description":"d","parameters":{"type":"object"},"pool":"in"}"#,
        "\n\n",
        r#"{"id":"2","name":"getForecast","description":""}"#,
        "\n",
        r#"{"id":"3","name":"n","category":null,"description":null,"function":"n_3"}"#,
        "\n",
        r#"{"id":"4","name":"","description":"天气 <b>예보</b> 🎸"}"#,
    );
    let catalogue = catalogue(lines);
    assert_eq!(catalogue.documents(Template::Full), ["c t n d", "getForecast", "n", "天气 <b>예보</b> 🎸"]);
    assert_eq!(catalogue.documents(Template::Description), ["d", "getForecast", "n", "天气 <b>예보</b> 🎸"]);
    assert_eq!((catalogue.index_of("3"), catalogue.index_of("5")), (Some(2), None));
    let again = self::catalogue(&catalogue.to_json_lines());
    assert_eq!(again, catalogue);
    assert_eq!(Catalogue::new(catalogue.tools().to_vec(), &Limits::default()).unwrap(), catalogue);
    assert!(self::catalogue("").tools().is_empty());
}

#[test]
fn wrong_lines_are_refused_with_their_place() {
    let good = r#"{"id":"1","name":"n","description":"d"}"#;
    let catalogues = [
        (format!("{good}\n{good}"), "retrieval/tool-id", Some(2)),
        (r#"{"id":"","name":"n"}"#.to_owned(), "retrieval/tool-id", Some(1)),
        (format!("{good}\n\n{{\"id\":\"2\"}}"), "retrieval/line", Some(3)),
        (format!("{good}\n[1]"), "retrieval/line", Some(2)),
        ("{\"id\":1,\"name\":\"n\"}".to_owned(), "retrieval/line", Some(1)),
        (
            format!("{{\"id\":\"1\",\"name\":\"n\",\"parameters\":{}", "[".repeat(100_000)),
            "retrieval/line",
            Some(1),
        ),
        ("x".repeat(2_000), "limit/exceeded", None),
        ([r#"{"id":"a","name":"n"}"#, r#"{"id":"b","name":"n"}"#, good].join("\n"), "limit/exceeded", None),
    ];
    let limits = Limits::default().catalogue_bytes(1_000).catalogue_tools(2);
    for (text, code, line) in catalogues {
        let limits = if line.is_some() { &Limits::default() } else { &limits };
        let error = Catalogue::from_json_lines(&text, limits).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        let found = match error.diagnostic().place() {
            Place::LineColumn { line, .. } => Some(*line),
            _ => None,
        };
        assert_eq!(found, line, "{error}");
        assert_eq!(error.diagnostic().snippet().map(|snippet| snippet.line()), line, "{error}");
    }
    let requests = [
        (r#"{"id":"1","query":"q"}"#, "retrieval/relevance"),
        (r#"{"id":"1","query":"q","relevant":["1"],"relevant_any":[["1"]]}"#, "retrieval/relevance"),
        (r#"{"id":"1","query":"q","relevant":"1"}"#, "retrieval/line"),
        (
            "{\"id\":\"1\",\"query\":\"q\",\"relevant\":[]}\n{\"id\":\"1\",\"query\":\"r\",\"relevant\":[]}",
            "retrieval/request-id",
        ),
    ];
    for (text, code) in requests {
        assert_eq!(Request::from_json_lines(text, &Limits::default()).unwrap_err().code(), code, "{text}");
    }
    let text = concat!(
        r#"{"id":"1","query":"q","relevant":["1"],"split":"train"}"#,
        "\n",
        r#"{"id":"2","query":"q","relevant_any":[["2","1"],["1"]]}"#,
        "\n",
        r#"{"id":"3","query":"q","relevant":[]}"#,
    );
    let requests = Request::from_json_lines(text, &Limits::default()).unwrap();
    let catalogue = catalogue(good);
    assert_eq!(requests[0].needed(&catalogue).unwrap(), [[0]]);
    let error = requests[1].needed(&catalogue).unwrap_err();
    let place = Place::LineColumn { line: 2, column: 1 };
    assert_eq!((error.code(), error.diagnostic().place()), ("retrieval/unknown-tool", &place));
    assert!(requests[2].needed(&catalogue).unwrap().is_empty());
}

/// An embedder that truncates texts to eight bytes, reports that it did, and looks up the vectors of what is left.
struct Cutting(Vec<(&'static str, [f32; 2])>);

impl Embedder for Cutting {
    fn dimension(&self) -> usize {
        2
    }

    fn max_tokens(&self) -> Option<usize> {
        Some(8)
    }

    fn fingerprint(&mut self) -> grammata::Result<[u8; 32]> {
        Ok([0; 32])
    }

    fn embed(&mut self, texts: &[&str]) -> grammata::Result<Embeddings> {
        let unknown = || Error::new(ErrorKind::Usage, Diagnostic::new("test/unknown-text", "no vector"));
        let vector = |text: &&str| {
            let cut = &text[..text.len().min(8)];
            self.0.iter().find(|(known, _)| *known == cut).map(|(_, vector)| *vector).ok_or_else(unknown)
        };
        let vectors = texts.iter().map(vector).collect::<grammata::Result<Vec<_>>>()?;
        let mut found = Embeddings::from_rows(2, vectors)?;
        for (text, whole) in texts.iter().enumerate().filter(|(_, text)| text.len() > 8) {
            found.mark_truncated(Truncation { text, tokens: whole.len(), kept: 8 });
        }
        Ok(found)
    }
}

/// Returns a catalogue of tools with the given descriptions.
fn described(documents: &[&str]) -> Catalogue {
    let tool = |(number, text): (usize, &&str)| Tool {
        id: number.to_string(),
        description: (*text).to_owned(),
        ..Tool::default()
    };
    Catalogue::new(documents.iter().enumerate().map(tool).collect(), &Limits::default()).unwrap()
}

#[test]
fn queries_are_searched_once_and_their_lists_interleaved() {
    let documents = ["weather forecast", "flight search", "hotel search", "rain radar"];
    let vectors = [[1.0, 0.0], [0.0, 1.0], [0.1, 1.0], [1.0, 0.1]];
    let texts = documents
        .into_iter()
        .chain(["rain", "search a"])
        .zip(vectors.into_iter().chain([[1.0, 0.02], [0.02, 1.0]]));
    let mut embedder = Cutting(texts.collect());
    let rows = Embeddings::from_rows(2, vectors).unwrap();
    let described =
        |documents: &[&str]| Retriever::new(&described(documents), Template::Description).unwrap();
    let retriever = described(&documents).with_vectors(&rows).unwrap();
    let queries = ["rain", "search a hotel", "rain"];
    let options = |ranker| RetrievalOptions::default().ranker(ranker).k(3);

    let lexical = retriever.retrieve(&queries, None, &options(Ranker::Lexical)).unwrap();
    assert_eq!(lexical.ranking(), [3, 2, 1]);
    assert_eq!(lexical.queries.len(), 2);
    let places: Vec<(usize, usize)> = lexical.tools.iter().map(|found| (found.query, found.rank)).collect();
    assert_eq!(places, [(0, 1), (1, 1), (1, 2)]);
    assert_eq!(lexical.tools[2].score, lexical.queries[1].1[1].score);

    let dense = retriever.retrieve(&queries, Some(&mut embedder), &options(Ranker::Dense)).unwrap();
    assert_eq!(dense.ranking(), [0, 1, 3]);
    assert_eq!(dense.truncated, [Truncation { text: 1, tokens: 14, kept: 8 }]);

    let hybrid = retriever.retrieve(&queries, Some(&mut embedder), &options(Ranker::Hybrid)).unwrap();
    assert_eq!(hybrid.queries[0].1[0].tool, 3, "first by words, second by meaning");
    assert_eq!(hybrid.queries[0].1[0].score, 1.0 / 61.0 + 1.0 / 62.0);

    let wrong = [
        (retriever.retrieve(&queries, None, &options(Ranker::Dense)), "retrieval/no-vectors"),
        (
            described(&documents).retrieve(&queries, Some(&mut embedder), &options(Ranker::Hybrid)),
            "retrieval/no-vectors",
        ),
        (retriever.retrieve(&["unknown"], Some(&mut embedder), &options(Ranker::Dense)), "test/unknown-text"),
        (retriever.retrieve(&queries, None, &RetrievalOptions::default().k(0)), "retrieval/k"),
    ];
    for (result, code) in wrong {
        assert_eq!(result.unwrap_err().code(), code);
    }
    let rows = Embeddings::from_rows(2, [[1.0, 0.0]]).unwrap();
    assert_eq!(described(&documents).with_vectors(&rows).unwrap_err().code(), "retrieval/row-count");
    let nothing = described(&[]).retrieve(&queries, None, &options(Ranker::Lexical)).unwrap();
    assert!(nothing.tools.is_empty());
    let none: [&str; 0] = [];
    assert!(retriever.retrieve(&none, None, &options(Ranker::Lexical)).unwrap().tools.is_empty());
}

#[test]
fn the_request_is_among_the_queries_where_it_is_asked_for() {
    let queries = ["a".to_owned(), "b".to_owned()];
    let table: [(Utterance, &[&str], &[&str]); 3] = [
        (Utterance::First, &["r", "a", "b"], &["r"]),
        (Utterance::Last, &["a", "b", "r"], &["r"]),
        (Utterance::Nowhere, &["a", "b"], &["r"]),
    ];
    for (place, expected, alone) in table {
        assert_eq!(place.among(&queries, "r"), expected);
        assert_eq!(place.among(&[], "r"), alone);
    }
}

#[test]
fn equal_tools_keep_their_order() {
    let documents = vec!["the same description"; 100_000];
    let found = Bm25::new(&documents).search("description", 11, None);
    assert!(found.iter().map(|hit| hit.tool).eq(0..11));
    let index = FlatIndex::new(Embeddings::from_rows(1, vec![[1.0]; 100_000]).unwrap());
    let query = Embeddings::from_rows(1, [[1.0]]).unwrap();
    assert!(index.search(&query, 11, None).unwrap()[0].iter().map(|hit| hit.tool).eq(0..11));
}
