//! Indexes of many vectors: `cargo run --profile quick --features hnsw --example retrieval_scale -- COUNT [M,C,E...]
//! INDEX...`
//!
//! Makes COUNT unit vectors, each a row of the INDEX files (`grammata retrieve index`) with Gaussian noise of norm 0.3.
//! Measures the exact index, the index of words and approximate indexes: time to build, memory and time of a query, and
//! for approximate ones recall@11. M,C,E describe an approximate index: the neighbours of a node in its graph, the
//! candidates while it is built, and those of a search; the default is 24,200,64.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::Limits;
use grammata_agents::retrieval::index::{
    DenseIndex, HnswOptions, HnswToolIndex, IndexedTool, LexicalIndex, Query, ToolIndex,
};
use grammata_agents::retrieval::store::Store;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

const QUERIES: usize = 500;
const NOISE: f32 = 0.3;

/// Returns a row with Gaussian noise (Box and Muller 1958) of norm 0.3, scaled to unit length again.
fn noisy(row: &[f32], random: &mut ChaCha8Rng) -> Vec<f32> {
    let mut normal = || {
        let (u, v): (f32, f32) = (random.random_range(f32::MIN_POSITIVE..1.0), random.random());
        (-2.0 * u.ln()).sqrt() * (std::f32::consts::TAU * v).cos()
    };
    let noise: Vec<f32> = row.iter().map(|_| normal()).collect();
    let length = norm(&noise);
    let moved: Vec<f32> = row.iter().zip(&noise).map(|(x, n)| x + NOISE * n / length).collect();
    let length = norm(&moved);
    moved.iter().map(|x| x / length).collect()
}

fn norm(row: &[f32]) -> f32 {
    row.iter().map(|x| x * x).sum::<f32>().sqrt()
}

/// Returns the resident memory in megabytes (Linux; 0 elsewhere).
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4_096 / 1_000_000
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().ok_or("a number of tools is needed")?.parse()?;
    let (mut rows, mut texts): (Vec<Vec<f32>>, Vec<String>) = Default::default();
    let mut graphs: Vec<HnswOptions> = Vec::new();
    for file in arguments {
        if let [neighbours, ef_construction, ef] = file.split(',').collect::<Vec<_>>()[..] {
            let (neighbours, ef_construction) = (neighbours.parse()?, ef_construction.parse()?);
            graphs.push(
                HnswOptions::default()
                    .neighbours(neighbours)
                    .ef_construction(ef_construction)
                    .ef(ef.parse()?),
            );
            continue;
        }
        let store = Store::read(file.as_ref(), &Limits::default())?;
        rows.extend(store.vectors().rows().map(<[f32]>::to_vec));
        texts.extend(store.catalogue().documents(store.template()));
    }
    let dimension = rows.first().ok_or("an index is needed")?.len();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let vectors: Vec<Vec<f32>> = (0..count).map(|i| noisy(&rows[i % rows.len()], &mut random)).collect();
    let queries: Vec<Vec<f32>> =
        (0..QUERIES).map(|i| noisy(&rows[i * 7 % rows.len()], &mut random)).collect();
    let ids: Vec<String> = (0..count).map(|i| i.to_string()).collect();
    let tools: Vec<IndexedTool<'_>> = (0..count)
        .map(|i| IndexedTool {
            id: &ids[i],
            category: "",
            document: &texts[i % texts.len()],
            vector: Some(&vectors[i]),
        })
        .collect();
    let queries: Vec<Query<'_>> = queries
        .iter()
        .enumerate()
        .map(|(i, vector)| Query { text: &texts[i * 7 % texts.len()], vector: Some(vector) })
        .collect();
    println!("{count} tools of {dimension} dimensions, from {} rows; {QUERIES} queries, k = 11", rows.len());
    let exact = measure("exact", &mut DenseIndex::new(dimension), &tools, &queries)?;
    measure("bm25", &mut LexicalIndex::new(), &tools, &queries)?;
    if graphs.is_empty() {
        graphs.push(HnswOptions::default());
    }
    for options in graphs {
        let name = format!("{options:?}");
        let found = measure(&name, &mut HnswToolIndex::new(dimension, options), &tools, &queries)?;
        let hits: usize = exact
            .iter()
            .zip(&found)
            .map(|(right, found)| found.iter().filter(|id| right.contains(id)).count())
            .sum();
        let all: usize = exact.iter().map(Vec::len).sum();
        println!("recall@11 {:.4}", hits as f64 / all as f64);
    }
    Ok(())
}

/// Builds the index, searches it with one query after the other, and prints times and memory. Returns the ids that each
/// query found.
fn measure(
    name: &str,
    index: &mut dyn ToolIndex,
    tools: &[IndexedTool<'_>],
    queries: &[Query<'_>],
) -> grammata::Result<Vec<Vec<String>>> {
    let (memory, start) = (resident(), Instant::now());
    index.upsert(tools)?;
    let built = start.elapsed();
    let memory = resident().saturating_sub(memory);
    let (mut times, mut lists): (Vec<Duration>, Vec<Vec<String>>) = Default::default();
    for query in queries {
        let start = Instant::now();
        let mut found = index.search(std::slice::from_ref(query), 11, None)?;
        times.push(start.elapsed());
        lists.push(found.pop().unwrap_or_default().into_iter().map(|hit| hit.id).collect());
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    println!("{name}: built in {built:.1?}, {memory} MB; query p50 {:.2?}, p99 {:.2?}", at(50), at(99));
    Ok(lists)
}
