//! Runs the soak test, `crates/testing/src/soak.rs`, for a given time.

use crate::command::{self, Result, cargo};

/// Number of threads per grammar. It is large enough that the threads often wait for each other.
const THREADS: &str = "16";

/// Sizes of the cache in bytes: tables are evicted all the time, often, and sometimes.
const CACHE_BYTES: [&str; 3] = ["1500000", "8000000", "64000000"];

/// Runs the test for `minutes` minutes at each of [`CACHE_BYTES`]. An argument that is not a number is an error.
pub fn run(minutes: &str) -> Result {
    let minutes: f64 = minutes.parse().map_err(|_| format!("`{minutes}` is no number of minutes"))?;
    let seconds = format!("{}", (minutes * 60.0).round() as u64);
    let program =
        ["run", "--profile", "quick", "--quiet", "--package", "grammata-examples", "--example", "soak", "--"];
    command::run(cargo(&program).args([&*seconds, THREADS]).args(CACHE_BYTES))
}
