//! Threads, small tables, forks, rollbacks and dropped matchers, compared with a twin that has memory for all tables:
//! `cargo xtask soak --minutes N`.

#![allow(clippy::print_stdout)]

use grammata_testing::soak::{Settings, soak};
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: soak SECONDS THREADS CACHE_BYTES...";

fn main() -> ExitCode {
    let numbers: Result<Vec<usize>, _> = std::env::args().skip(1).map(|argument| argument.parse()).collect();
    let Ok([seconds, threads, sizes @ ..]) = numbers.as_deref() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut is_fine = true;
    for &cache_bytes in sizes {
        let settings =
            Settings { time: Duration::from_secs(*seconds as u64), threads: *threads, cache_bytes };
        match soak(&settings) {
            Ok(report) => {
                println!("{threads} threads, {cache_bytes} bytes of tables, {seconds} s: {report}");
                is_fine &= report.differences == 0 && report.panics == 0;
            }
            Err(error) => {
                eprintln!("{error}");
                is_fine = false;
            }
        }
    }
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
