//! Mask times over the shipped grammars: each accepted example is walked token by token, first with empty
//! tables (first visits), then again (repeated visits).
//!
//! `cargo bench --bench masks -- [--tokenizer tokenizer.json] [--grammars DIR]`; the default tokenizer is the one
//! in `tests/data`. Every token is checked to be allowed before its time counts.

#![allow(clippy::print_stdout)]

mod support;

use comfy_table::{Cell, CellAlignment, Table};
use grammata::syntax::parse;
use grammata::{Compiler, Result, Vocabulary};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Shipped, shipped, walk};

fn main() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tokenizer = here.join("tests/data/smollm2/tokenizer.json");
    let mut grammars = here.join("grammars");
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tokenizer" => {
                tokenizer = arguments.next().map(PathBuf::from).expect("a path after --tokenizer")
            }
            "--grammars" => grammars = arguments.next().map(PathBuf::from).expect("a path after --grammars"),
            // `cargo bench` adds this argument
            "--bench" => {}
            other => panic!("unknown argument `{other}`: there are --tokenizer and --grammars"),
        }
    }
    if let Err(error) = run(&tokenizer, &grammars) {
        println!("{error}");
        std::process::exit(1);
    }
}

fn run(tokenizer: &Path, grammars: &Path) -> Result<()> {
    let begin = Instant::now();
    let vocabulary = Arc::new(Vocabulary::from_file(tokenizer, &Default::default())?);
    println!(
        "{} tokens, loaded in {:.0} ms, {:.1} MB",
        vocabulary.width(),
        begin.elapsed().as_secs_f64() * 1e3,
        vocabulary.memory_usage() as f64 / 1e6
    );
    let compiler = Compiler::new(Arc::clone(&vocabulary));
    compiler.prepare()?;
    println!("{:.1} MB of what masks need of it", compiler.memory_usage() as f64 / 1e6);
    let mut table = Table::new();
    table.set_header(["grammar", "compile", "masks", "", "p50", "p99", "max", "mean", "kB"]);
    let (mut first, mut again) = (Vec::new(), Vec::new());
    let mut words = vec![0; vocabulary.mask_words()];
    for Shipped { name, source, examples } in shipped(grammars)? {
        let begin = Instant::now();
        let grammar = parse(&source)?.grammar;
        let compiled = compiler.detached().compile(&grammar)?;
        let compile = begin.elapsed();
        let mut times = [Vec::new(), Vec::new()];
        for times in &mut times {
            for example in &examples {
                walk(&compiled, example, &mut words, |matcher, words| {
                    let begin = Instant::now();
                    matcher.fill_mask(words)?;
                    times.push(begin.elapsed());
                    Ok(())
                })?;
            }
        }
        let kilobytes = compiled.statistics().cache_bytes / 1000;
        row(
            &mut table,
            &name,
            &format!("{:.1} ms", compile.as_secs_f64() * 1e3),
            "first",
            &times[0],
            kilobytes,
        );
        row(&mut table, "", "", "repeated", &times[1], kilobytes);
        first.extend(times[0].iter().copied());
        again.extend(times[1].iter().copied());
    }
    row(&mut table, "all", "", "first", &first, 0);
    row(&mut table, "", "", "repeated", &again, 0);
    for column in [1, 2, 4, 5, 6, 7, 8] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    println!("{table}\ntimes of one mask into the caller's buffer, in µs");
    Ok(())
}

fn row(table: &mut Table, name: &str, compile: &str, visits: &str, times: &[Duration], kilobytes: usize) {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let microseconds = |time: Duration| format!("{:.2}", time.as_secs_f64() * 1e6);
    let at =
        |part: f64| sorted.get(((sorted.len() as f64 * part) as usize).min(sorted.len().saturating_sub(1)));
    let show = |part: f64| at(part).map_or_else(String::new, |&time| microseconds(time));
    let mean = sorted.iter().sum::<Duration>() / u32::try_from(sorted.len().max(1)).unwrap_or(u32::MAX);
    let size = if kilobytes == 0 { String::new() } else { kilobytes.to_string() };
    let cells = [
        name.into(),
        compile.into(),
        sorted.len().to_string(),
        visits.into(),
        show(0.5),
        show(0.99),
        show(1.0),
    ];
    table.add_row(cells.into_iter().chain([microseconds(mean), size]).map(Cell::new));
}
