//! The mask files of a folder in one archive: its size compared with theirs, and the times to open it and to extract
//! files.

use grammata::mask_file::{ArchiveBuilder, EXTENSION, MaskArchive};
use grammata::{Compiler, Limits, MaskFile, Result, Vocabulary};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The number of grammars that are loaded from the archive to measure memory.
const LOADED: usize = 1_000;
/// The number of masks of a loaded grammar that are requested. The walk follows the first token that each mask allows.
const STEPS: usize = 20;

/// Packs the mask files of a folder into an archive. Returns a report of sizes, times and memory.
pub(crate) fn pack(vocabulary: Arc<Vocabulary>, folder: &Path, to: &Path) -> Result<String> {
    let limits = Limits::default();
    let io = |cause: std::io::Error| grammata::Error::io(folder, &cause);
    let entries = std::fs::read_dir(folder).map_err(io)?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    paths.sort();
    let begin = Instant::now();
    let mut builder = ArchiveBuilder::new(&vocabulary, &limits);
    let (mut alone, mut sections) = (0, Vec::new());
    for path in &paths {
        let file = MaskFile::open(path, &limits)?;
        let contents = file.contents();
        alone += contents.bytes;
        sections.resize(contents.sections.len(), ("", 0));
        let sizes = contents.sections.iter().zip(&mut sections);
        sizes.for_each(|(section, sum)| *sum = (section.name, sum.1 + section.bytes));
        builder.add(path.file_stem().unwrap_or_default().to_string_lossy(), &file)?;
    }
    let bytes = builder.save(to)?;
    let took = begin.elapsed();
    drop(builder);
    let mib = |bytes: usize| bytes as f64 / f64::from(1 << 20);
    let mut text = format!(
        "archive of {} mask files: {:.1} MiB, alone {:.1} MiB ({:.1} %); packed in {:.1} s\n",
        paths.len(),
        mib(bytes),
        mib(alone),
        100.0 * bytes as f64 / alone.max(1) as f64,
        took.as_secs_f64(),
    );
    let shares = |sections: &mut dyn Iterator<Item = (&str, usize)>| {
        sections.map(|(name, bytes)| format!("{name} {:.1}", mib(bytes))).collect::<Vec<_>>().join(", ")
    };
    text.push_str(&format!("  sections alone, MiB: {}\n", shares(&mut sections.iter().copied())));
    let contents = MaskArchive::open(to, &limits)?.contents();
    let sizes = contents.sections.iter().map(|section| (section.name, section.bytes));
    text.push_str(&format!("  sections of the archive, MiB: {}\n", shares(&mut sizes.into_iter())));
    // all but the first of these measurements find the files in the system's cache
    let map = |path: &Path| {
        #[allow(unsafe_code)] // safe, because only this program writes the files
        let mapped = unsafe { MaskFile::map(path, &limits) };
        mapped.map(drop)
    };
    let row = |name: &str, times: Vec<Duration>| format!("  {name}: {}\n", percentiles(times));
    text.push_str(&row("map a file, µs", times(&paths, |path| map(path))?));
    text.push_str(&row(
        "open the archive, µs",
        times(&[(); 100], |()| MaskArchive::open(to, &limits).map(drop))?,
    ));
    #[allow(unsafe_code)] // safe, because only this program writes the file
    let map_archive = || unsafe { MaskArchive::map(to, &limits) };
    text.push_str(&row("map the archive, µs", times(&[(); 100], |()| map_archive().map(drop))?));
    let names: Vec<String> = MaskArchive::open(to, &limits)?.names().collect::<Result<_>>()?;
    let step = names.len().div_ceil(LOADED).max(1);
    let some: Vec<&String> = names.iter().step_by(step).collect();
    // the opened archive reuses memory that the mapped one has freed, so its growth is understated
    for (way, archive) in [("mapped", map_archive()?), ("opened", MaskArchive::open(to, &limits)?)] {
        text.push_str(&row(
            &format!("get from the archive, {way}, µs"),
            times(&some, |name| archive.get(name).map(drop))?,
        ));
        let compiler = Compiler::new(Arc::clone(&vocabulary)).limits(limits.clone());
        compiler.prepare()?;
        let before = super::memory("RssAnon");
        let (mut loaded, mut masks, mut words) = (Vec::new(), 0, vec![0; vocabulary.mask_words()]);
        for name in &some {
            let Some(file) = archive.get(name)? else { continue };
            let compiled = compiler.load(file)?;
            let mut matcher = compiled.matcher();
            for _ in 0..STEPS {
                if !matcher.is_explored() || matcher.is_finished() {
                    break;
                }
                matcher.fill_mask(&mut words)?;
                masks += 1;
                let mask = matcher.mask()?;
                let Some(token) = mask.iter().find(|&token| !vocabulary.is_eos(token)) else { break };
                matcher.accept_token(token)?;
            }
            loaded.push(compiled);
        }
        let counted: usize = loaded.iter().map(|compiled| compiled.memory_usage()).sum();
        text.push_str(&format!(
            "  {} grammars of the archive, {way}, and {masks} masks of them: {} KiB more of the process's own, {} KiB by its count, {} KiB of the archive\n",
            loaded.len(),
            super::memory("RssAnon").saturating_sub(before),
            counted / 1024,
            archive.memory_usage() / 1024,
        ));
    }
    Ok(text)
}

fn times<T>(all: &[T], of: impl Fn(&T) -> Result<()>) -> Result<Vec<Duration>> {
    let time = |one: &T| {
        let begin = Instant::now();
        of(one)?;
        Ok(begin.elapsed())
    };
    all.iter().map(time).collect()
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |thousandth: usize| times.get(times.len().saturating_sub(1) * thousandth / 1000);
    let show =
        |at: Option<&Duration>| at.map_or("-".to_owned(), |time| format!("{:.1}", time.as_secs_f64() * 1e6));
    format!("p50 {}, p99 {}, max {}", show(at(500)), show(at(990)), show(at(1000)))
}
