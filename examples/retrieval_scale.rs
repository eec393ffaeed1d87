//! Exact search over many vectors: `RAYON_NUM_THREADS=1 cargo run --profile quick --example retrieval_scale`.
//!
//! Fills a [`DenseIndex`] with random unit vectors of 384 coordinates, searches it with one query after the other, and
//! prints a row of a table for each number of tools: 1,000 to 1,000,000, or the numbers in the arguments. The times do
//! not depend on the values of the vectors.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata_agents::retrieval::index::{DenseIndex, IndexedTool, Query, ToolIndex};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, Instant};

/// The dimension of all-MiniLM-L6-v2.
const DIMENSION: usize = 384;
const COUNTS: [usize; 6] = [1_000, 10_000, 50_000, 100_000, 500_000, 1_000_000];
const QUERIES: usize = 200;
/// The most tools of one call of `upsert`, so that the vectors are not in memory twice.
const CHUNK: usize = 1_000;

fn unit(random: &mut ChaCha8Rng) -> Vec<f32> {
    let row: Vec<f32> = (0..DIMENSION).map(|_| random.random_range(-1.0..1.0)).collect();
    let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
    row.iter().map(|x| x / norm).collect()
}

/// Returns the resident memory in megabytes (Linux; 0 elsewhere).
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4_096 / 1_000_000
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counts = std::env::args().skip(1).map(|count| count.parse()).collect::<Result<Vec<usize>, _>>()?;
    let counts = if counts.is_empty() { COUNTS.to_vec() } else { counts };
    println!("| tools | filled in | memory | query p50 | p99 |\n|--:|--:|--:|--:|--:|");
    for count in counts {
        measure(count)?;
    }
    Ok(())
}

fn measure(count: usize) -> grammata::Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let before = resident();
    let mut index = DenseIndex::new(DIMENSION);
    let mut filling = Duration::ZERO;
    for first in (0..count).step_by(CHUNK) {
        let rows: Vec<(String, Vec<f32>)> = (first..count.min(first + CHUNK))
            .map(|number| (format!("tool-{number}"), unit(&mut random)))
            .collect();
        let tools: Vec<IndexedTool<'_>> = rows
            .iter()
            .map(|(id, vector)| IndexedTool { id, category: "", document: "", vector: Some(vector) })
            .collect();
        let start = Instant::now();
        index.upsert(&tools)?;
        filling += start.elapsed();
    }
    let memory = resident().saturating_sub(before);
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..QUERIES {
        let vector = unit(&mut random);
        let start = Instant::now();
        index.search(&[Query { text: "", vector: Some(&vector) }], 11, None)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |share: usize| times[QUERIES * share / 100];
    println!("| {count} | {filling:.2?} | {memory} MB | {:.2?} | {:.2?} |", at(50), at(99));
    Ok(())
}
