//! Many random sessions with tools: `cargo run --profile quick --example tool_session_walks -- FIRST COUNT`
//!
//! Each session is a turn with random tools, format, vocabulary and subset. At each step its mask is compared with that
//! of the grammar of the whole turn (`testing::tool_sessions`).
#![allow(clippy::print_stdout)] // an example prints its results

use grammata_testing::tool_sessions::session_agrees;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        || -> Result<u64, Box<dyn std::error::Error>> { Ok(arguments.next().ok_or("FIRST COUNT")?.parse()?) };
    let (first, count) = (number()?, number()?);
    let mut failures = 0;
    for seed in first..first + count {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let walk = || session_agrees(&mut |bound| random.random_range(0..bound.max(1)));
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(walk)).is_err() {
            println!("seed {seed} differs");
            failures += 1;
        }
        if (seed + 1 - first) % 10_000 == 0 {
            println!("{} sessions, {failures} differ", seed + 1 - first);
        }
    }
    println!("{count} sessions, {failures} differ");
    if failures == 0 { Ok(()) } else { Err("sessions differ".into()) }
}
