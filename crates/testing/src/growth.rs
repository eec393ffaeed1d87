//! How the work of reading an input grows with the size of the input.
//!
//! Work is what the allocator counts, which is the same in each run, and the CPU time of the thread. A linear pass that
//! became a quadratic one is found by both, also if it still ends soon at the sizes of the tests.

use std::fmt::Display;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How fast work may grow with the size of an input, as an exponent. Logarithms do not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Twice the input takes twice the work.
    Linear,
    /// Twice the input takes four times the work.
    Quadratic,
}

impl Order {
    fn exponent(self) -> f64 {
        match self {
            Order::Linear => 1.0,
            Order::Quadratic => 2.0,
        }
    }
}

/// What is added to the exponent of an [`Order`]: logarithms, and tables that double their capacity.
const MARGIN: f64 = 0.5;
/// Times below this one say nothing about growth: clocks count in ticks of some milliseconds, and caches fill up.
const LEAST_TIME: Duration = Duration::from_millis(150);
/// Greatest CPU time of one input, the bound of `docs/security.md` with a margin for tests, which are built without all
/// optimisations and share the processor.
const MOST_TIME: Duration = Duration::from_secs(8);

/// How often inputs are measured whose work seems to grow too fast. The least of each counts.
const ROUNDS: usize = 3;

/// The work of one input.
#[derive(Clone, Debug)]
struct Work {
    /// Size of the input in bytes.
    size: usize,
    /// Bytes allocated, including those freed again.
    bytes: usize,
    time: Duration,
    /// The error, if the input was refused, for the table.
    #[allow(dead_code)] // `Debug` writes it
    refused: Option<String>,
}

/// Counts the bytes that the process has allocated so far.
#[derive(Clone, Copy, Debug)]
pub struct Meter(pub fn() -> usize);

/// Only one input is measured at a time, since the allocator counts for all threads.
static TURN: Mutex<()> = Mutex::new(());

impl Meter {
    /// Reads generated inputs of growing sizes, and checks that the work does not grow faster than `order`. An error of
    /// the reader is an outcome like another one: work until then counts.
    ///
    /// # Panics
    /// The work grows faster, or one input takes more than a gigabyte of allocations for each of its first megabytes.
    pub fn growth<T, E: Display>(
        self,
        name: &str,
        order: Order,
        sizes: impl IntoIterator<Item = usize>,
        input: impl Fn(usize) -> String,
        read: impl Fn(&str) -> Result<T, E>,
    ) {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        // what is built once does not count
        let first = sizes.into_iter().map(input).collect::<Vec<String>>();
        let _ = first.first().map(|input| read(input));
        let mut works: Vec<Work> = first.iter().map(|input| self.work(input, &read)).collect();
        // what is wrong with the input is wrong in each round; what disturbs the processor's caches is not
        for _ in 1..ROUNDS {
            if fault(&works, order).is_none() {
                break;
            }
            for (work, input) in works.iter_mut().zip(&first) {
                let again = self.work(input, &read);
                (work.bytes, work.time) = (work.bytes.min(again.bytes), work.time.min(again.time));
            }
        }
        drop(turn);
        let table: Vec<String> = works.iter().map(|work| format!("  {work:?}")).collect();
        eprintln!("{name}:\n{}", table.join("\n"));
        if let Some(fault) = fault(&works, order) {
            panic!("{name}: {fault}\n{}", table.join("\n"));
        }
    }

    fn work<T, E: Display>(self, input: &str, read: impl Fn(&str) -> Result<T, E>) -> Work {
        let mut best: Option<Work> = None;
        // a second reading shows whether the first one was disturbed
        for _ in 0..2 {
            let (bytes, clock) = ((self.0)(), Clock::start());
            let outcome = read(input);
            let (time, bytes) = (clock.time(), (self.0)() - bytes);
            let refused =
                outcome.err().map(|error| error.to_string().lines().next().unwrap_or("").to_owned());
            let before = best.as_ref().map_or((usize::MAX, Duration::MAX), |best| (best.bytes, best.time));
            let (bytes, time) = (bytes.min(before.0), time.min(before.1));
            best = Some(Work { size: input.len(), bytes, time, refused });
            if time < LEAST_TIME {
                break;
            }
        }
        best.expect("an input is read once at least")
    }
}

/// Returns what is wrong with the growth of some works, if anything.
fn fault(works: &[Work], order: Order) -> Option<String> {
    let last = works.last()?;
    if last.time > MOST_TIME {
        return Some(format!("one input takes {:?}", last.time));
    }
    // the whole range, and its last two steps, where constants count least
    for from in [works.first()?, &works[works.len().saturating_sub(3)]] {
        let of_size = last.size as f64 / from.size as f64;
        if of_size < 3.0 {
            return Some("the sizes differ by too little".to_owned());
        }
        let most = of_size.powf(order.exponent() + MARGIN);
        let of_bytes = last.bytes as f64 / from.bytes.max(1) as f64;
        if of_bytes > most {
            return Some(format!("{of_size:.1} times the input takes {of_bytes:.1} times the memory"));
        }
        let of_time = last.time.as_secs_f64() / from.time.as_secs_f64().max(0.002);
        if last.time > LEAST_TIME && of_time > most {
            return Some(format!("{of_size:.1} times the input takes {of_time:.1} times the time"));
        }
    }
    None
}

/// The CPU time of this thread, or, where the system does not tell it, the time that passes.
struct Clock {
    cpu: Option<Duration>,
    wall: Instant,
}

impl Clock {
    fn start() -> Clock {
        Clock { cpu: Clock::cpu(), wall: Instant::now() }
    }

    fn time(&self) -> Duration {
        match (self.cpu, Clock::cpu()) {
            (Some(start), Some(end)) => end.saturating_sub(start),
            _ => self.wall.elapsed(),
        }
    }

    fn cpu() -> Option<Duration> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        let time = text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)?;
        Some(time).filter(|time| !time.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works(bytes: impl Fn(usize) -> usize, millis: impl Fn(usize) -> u64) -> Vec<Work> {
        let work = |size| {
            let time = Duration::from_millis(millis(size));
            Work { size, bytes: bytes(size), time, refused: None }
        };
        [1_000, 2_000, 4_000, 8_000, 16_000].map(work).to_vec()
    }

    #[test]
    fn growth_above_the_order_is_a_fault() {
        let linear = |n: usize| 100 * n + 50_000;
        let sorted = |n: usize| 3 * n * n.ilog2() as usize;
        let square = |n: usize| n * n / 50 + 10 * n;
        let fast = |_| 1;
        assert_eq!(fault(&works(linear, fast), Order::Linear), None);
        assert_eq!(fault(&works(sorted, fast), Order::Linear), None);
        assert!(fault(&works(square, fast), Order::Linear).unwrap().contains("memory"));
        assert_eq!(fault(&works(square, fast), Order::Quadratic), None);
        assert!(fault(&works(|n| n * n * n, fast), Order::Quadratic).is_some());
        // time alone
        let slow = |n: usize| (n * n / 100_000) as u64;
        assert!(fault(&works(linear, slow), Order::Linear).unwrap().contains("time"));
        assert_eq!(fault(&works(linear, |n| n as u64 / 10), Order::Linear), None);
        // few milliseconds say nothing
        assert_eq!(fault(&works(linear, |n| (n * n / 10_000_000) as u64), Order::Linear), None);
        assert!(fault(&works(linear, |n| n as u64), Order::Linear).unwrap().contains("one input"));
    }
}
