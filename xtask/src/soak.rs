//! The soak test: `crates/testing/src/soak.rs`, for as long as one likes.

use crate::command::{self, Result, cargo};

/// Threads on each grammar that wait for each other more often than not.
const THREADS: &str = "16";

/// Sizes of tables: dropped all the time, often, and now and then.
const CACHE_BYTES: [&str; 3] = ["1500000", "8000000", "64000000"];

/// Runs it so many minutes at each of [`CACHE_BYTES`].
pub fn run(minutes: &str) -> Result {
    let minutes: f64 = minutes.parse().map_err(|_| format!("`{minutes}` is no number of minutes"))?;
    let seconds = format!("{}", (minutes * 60.0).round() as u64);
    let program =
        ["run", "--profile", "quick", "--quiet", "--package", "grammata-examples", "--example", "soak", "--"];
    command::run(cargo(&program).args([&*seconds, THREADS]).args(CACHE_BYTES))
}
