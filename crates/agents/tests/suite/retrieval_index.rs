//! The contract of an index of tools, tested for every index, and what each index promises in addition.

use grammata_agents::retrieval::index::{
    DenseIndex, Filter, IndexedTool, LexicalIndex, Match, Query, ToolIndex,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const DIMENSION: usize = 16;

/// A tool for the contract, with a document of words and a vector.
#[derive(Clone)]
struct Owned {
    id: String,
    category: String,
    document: String,
    vector: Vec<f32>,
}

impl Owned {
    fn as_tool(&self) -> IndexedTool<'_> {
        IndexedTool {
            id: &self.id,
            category: &self.category,
            document: &self.document,
            vector: Some(&self.vector),
        }
    }

    fn as_query(&self) -> Query<'_> {
        Query { text: &self.document, vector: Some(&self.vector) }
    }
}

fn unit(random: &mut ChaCha8Rng) -> Vec<f32> {
    let row: Vec<f32> = (0..DIMENSION).map(|_| random.random_range(-1.0..1.0)).collect();
    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    row.iter().map(|x| x / norm).collect()
}

/// Returns tools with random unit vectors, random words of a small vocabulary, and one of 100 categories each.
fn tools(count: usize, seed: u64) -> Vec<Owned> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let tool = |number: usize| {
        let words: Vec<String> = (0..8).map(|_| format!("w{}", random.random_range(0..200))).collect();
        Owned {
            id: format!("t{number}"),
            category: format!("c{}", number % 100),
            document: words.join(" "),
            vector: unit(&mut random),
        }
    };
    (0..count).map(tool).collect()
}

/// The expected content of an index: its tools in their order, and the score of a tool for a query.
struct Oracle {
    tools: Vec<Owned>,
    score: Score,
}

/// Returns the score of a tool for a query; `None` if the tool is not a hit.
type Score = fn(&[Owned], usize, &Owned) -> Option<f64>;

fn cosine(tools: &[Owned], tool: usize, query: &Owned) -> Option<f64> {
    Some(tools[tool].vector.iter().zip(&query.vector).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum())
}

/// Returns the BM25 score by its definition over the whole set. No code is shared with the index.
fn bm25(tools: &[Owned], tool: usize, query: &Owned) -> Option<f64> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let documents: Vec<Vec<String>> = tools.iter().map(|tool| words(&tool.document)).collect();
    let all = documents.len() as f64;
    let mean = documents.iter().map(Vec::len).sum::<usize>() as f64 / all;
    let document = &documents[tool];
    let term = |term: &String| {
        let with = documents.iter().filter(|document| document.contains(term)).count() as f64;
        let f = document.iter().filter(|word| *word == term).count() as f64;
        let idf = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        idf * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * document.len() as f64 / mean))
    };
    Some(words(&query.document).iter().map(term).sum()).filter(|&score: &f64| score > 0.0)
}

impl Oracle {
    fn upsert(&mut self, tools: &[Owned]) {
        for tool in tools {
            match self.tools.iter_mut().find(|old| old.id == tool.id) {
                Some(old) => *old = tool.clone(),
                None => self.tools.push(tool.clone()),
            }
        }
    }

    fn search(&self, query: &Owned, k: usize, allows: impl Fn(&Owned) -> bool) -> Vec<(String, f64)> {
        let scored = (0..self.tools.len()).filter(|&tool| allows(&self.tools[tool]));
        let mut scored: Vec<(usize, f64)> =
            scored.filter_map(|tool| Some((tool, (self.score)(&self.tools, tool, query)?))).collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.into_iter().take(k).map(|(tool, score)| (self.tools[tool].id.clone(), score)).collect()
    }
}

fn search(index: &dyn ToolIndex, queries: &[Owned], k: usize, filter: Option<&Filter>) -> Vec<Vec<Match>> {
    let queries: Vec<Query<'_>> = queries.iter().map(Owned::as_query).collect();
    index.search(&queries, k, filter).unwrap()
}

/// Panics unless the right answers were found, with the right scores and in the order of scores.
fn assert_right(found: &[Match], right: &[(String, f64)], oracle: &Oracle, query: &Owned) {
    assert_eq!(found.len(), right.len());
    for hit in found {
        let tool = oracle.tools.iter().position(|tool| tool.id == hit.id).expect("a tool that is there");
        let score = (oracle.score)(&oracle.tools, tool, query).expect("a hit");
        assert!((hit.score - score).abs() < 1e-5, "{hit:?}");
    }
    assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
    // scores that are equal within rounding count as found
    let least = right.last().map_or(0.0, |(_, score)| *score);
    assert!(found.iter().all(|hit| hit.score >= least - 1e-6), "{found:?}, expected {right:?}");
}

fn upsert(index: &mut dyn ToolIndex, tools: &[Owned]) {
    let tools: Vec<IndexedTool<'_>> = tools.iter().map(Owned::as_tool).collect();
    index.upsert(&tools).unwrap();
}

/// Checks the contract of an index.
fn contract(index: &mut dyn ToolIndex, score: Score, count: usize) {
    let mut oracle = Oracle { tools: Vec::new(), score };
    let queries = tools(8, 99);
    assert!(index.is_empty());
    assert!(search(index, &queries, 10, None).iter().all(Vec::is_empty), "an empty index");
    assert!(index.search(&[], 10, None).unwrap().is_empty(), "no query");

    upsert(index, &tools(count, 1));
    oracle.upsert(&tools(count, 1));
    // replaces half of the tools, and adds new ones
    let again = [&tools(count / 2, 2)[..], &tools(count + count / 10, 3)[count..]].concat();
    upsert(index, &again);
    oracle.upsert(&again);
    assert_eq!(index.len(), oracle.tools.len());
    let removed: Vec<String> = (0..count).step_by(7).map(|number| format!("t{number}")).collect();
    let mut ids: Vec<&str> = removed.iter().map(String::as_str).collect();
    ids.extend(["nobody", "t0"]);
    index.remove(&ids).unwrap();
    oracle.tools.retain(|tool| !removed.contains(&tool.id));
    // a removed tool is added again, at the end of the order
    upsert(index, &tools(1, 4));
    oracle.upsert(&tools(1, 4));
    assert_eq!(index.len(), oracle.tools.len());

    let found = search(index, &queries, 10, None);
    for (query, found) in queries.iter().zip(&found) {
        assert_right(found, &oracle.search(query, 10, |_| true), &oracle, query);
        // searching one query at a time gives the same results
        assert_eq!(&search(index, std::slice::from_ref(query), 10, None)[0], found);
    }
    let few = Filter::categories(["c3"]);
    let nothing = Filter::ids(["nobody"]);
    let some = Filter::ids((0..count).step_by(3).map(|number| format!("t{number}")));
    for query in &queries {
        let one = std::slice::from_ref(query);
        assert!(search(index, one, 10, Some(&nothing))[0].is_empty());
        assert!(search(index, one, 0, None)[0].is_empty());
        let cases: [(usize, Option<&Filter>); 3] = [(10, Some(&few)), (25, Some(&some)), (2 * count, None)];
        for (k, filter) in cases {
            let allows = |tool: &Owned| match filter {
                None => true,
                Some(Filter::Ids(ids)) => ids.contains(&tool.id),
                Some(Filter::Categories(categories)) => categories.contains(&tool.category),
            };
            let (found, right) = (&search(index, one, k, filter)[0], oracle.search(query, k, allows));
            assert!(found.iter().all(|hit| oracle.tools.iter().any(|t| t.id == hit.id && allows(t))));
            assert_right(found, &right, &oracle, query);
        }
    }
    let index = &*index;
    std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(|| search(index, &queries, 10, None)));
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), found));
    });
}

/// Checks the errors that only indexes of vectors have. A failed change leaves the index as it was.
fn refuses_wrong_vectors(index: &mut dyn ToolIndex) {
    let (before, good) = (index.len(), tools(1, 5).remove(0));
    let with = |vector: Option<Vec<f32>>| {
        let vector = vector.unwrap_or_default();
        vec![
            Owned { vector: good.vector.clone(), ..good.clone() },
            Owned { id: "x".into(), vector, ..good.clone() },
        ]
    };
    let mut long = good.vector.clone();
    long.push(0.0);
    let mut nan = good.vector.clone();
    nan[3] = f32::NAN;
    for (vector, code) in [
        (vec![0.0; DIMENSION], "decode/embedding-norm"),
        (nan, "decode/embedding-norm"),
        (vec![1.0; DIMENSION], "decode/embedding-norm"),
        (long, "decode/embedding-dimension"),
    ] {
        let owned = with(Some(vector));
        let tools: Vec<IndexedTool<'_>> = owned.iter().map(Owned::as_tool).collect();
        assert_eq!(index.upsert(&tools).unwrap_err().code(), code);
        assert_eq!(index.len(), before);
    }
    let missing = IndexedTool { vector: None, ..good.as_tool() };
    assert_eq!(index.upsert(&[missing]).unwrap_err().code(), "retrieval/no-vectors");
    let query = Query { text: "", vector: None };
    assert_eq!(index.search(&[query], 1, None).unwrap_err().code(), "retrieval/no-vectors");
    let query = Query { text: "", vector: Some(&[1.0]) };
    assert_eq!(index.search(&[query], 1, None).unwrap_err().code(), "retrieval/dimension");
}

#[test]
fn flat_keeps_the_contract() {
    let mut index = DenseIndex::new(DIMENSION);
    contract(&mut index, cosine, 1_000);
    refuses_wrong_vectors(&mut index);
}

#[test]
fn bm25_keeps_the_contract() {
    let mut index = LexicalIndex::new();
    contract(&mut index, bm25, 150);
}
