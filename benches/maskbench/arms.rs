//! A comparison of regimes: nothing prepared, warmed up for some time, and mask files that are mapped by a process that
//! has not written them.
//!
//! Each regime walks over up to three sets of documents. *Given* documents are all tests of a schema; the mask file is
//! explored along the valid ones. *Held out* is every other valid document; the mask file is explored along the others.
//! *Random* documents are drawn from masks. Every regime has its own engine for each set, so that no regime finds what
//! another has computed; all engines share the index of the vocabulary. The regimes take turns in running first.

use super::data::Schema;
use super::engine::{Engine, Written};
use super::grammata_engine::Grammata;
use super::run::{self, Outcome, Settings, Tokens};
use super::statistics::{mean, percentile};
use super::summary;
use grammata::explore::ExploreBudget;
use grammata::{CompiledGrammar, TokenId};
use sha2::Digest;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The most tokens of a random document.
const TOKENS: usize = 100;

/// A set of documents to walk over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Given,
    HeldOut,
    Random,
}

impl Set {
    const ALL: [Set; 3] = [Set::Given, Set::HeldOut, Set::Random];

    fn name(self) -> &'static str {
        match self {
            Set::Given => "given",
            Set::HeldOut => "held out",
            Set::Random => "random",
        }
    }

    /// Returns the name of the folder of the mask files for this set.
    fn folder(self) -> &'static str {
        if self == Set::HeldOut { "half" } else { "all" }
    }
}

/// The preparation of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regime {
    /// No preparation.
    None,
    /// Warming up for this time.
    Warm(Duration),
    /// A mapped mask file.
    Files,
}

impl Regime {
    /// Reads `none`, `warmN` (N in milliseconds) or `files`. Returns `None` for other names.
    pub(crate) fn read(name: &str) -> Option<Regime> {
        match name {
            "none" => Some(Regime::None),
            "files" => Some(Regime::Files),
            _ => Some(Regime::Warm(Duration::from_millis(name.strip_prefix("warm")?.parse().ok()?))),
        }
    }

    fn name(self) -> String {
        match self {
            Regime::None => "nothing ahead".to_owned(),
            Regime::Warm(time) => format!("warm {} ms", time.as_millis()),
            Regime::Files => "mask file".to_owned(),
        }
    }
}

/// The options of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) regimes: Vec<Regime>,
    /// The number of random documents for each schema.
    pub(crate) random: usize,
    /// The folder of the mask files; `budget` says how far they are explored.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) budget: ExploreBudget,
}

/// A step of a walk: its time in nanoseconds, whether the mask file had explored it, and what the matcher remembered
/// before it.
#[derive(Clone, Copy, Debug)]
struct Step {
    time: u64,
    explored: bool,
    remembered: Remembered,
}

/// What a matcher remembers at a place: the names of an object that were used, or the items of a list whose items must
/// differ.
#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    names: bool,
    items: bool,
}

/// An engine for one set of documents, with its results so far.
struct Arm {
    set: Set,
    name: String,
    engine: Box<dyn Engine>,
    settings: Settings,
    /// Whether the arm's masks must equal those of the first arm.
    is_ours: bool,
    words: Vec<u32>,
    steps: Vec<Step>,
    /// Nanoseconds of compiling or loading each schema; `first_part` has those of mapping a file.
    compile: Vec<u64>,
    first_part: Vec<u64>,
    /// The ids of the schemas whose outcome or masks differ from those of the first arm.
    different: Vec<String>,
}

/// Writes the missing mask files, and returns their number. A line for each is added to `written.tsv` in the same
/// folder, so that an interrupted run continues and reports all.
pub(crate) fn write(
    base: &Grammata,
    plan: &Plan,
    schemas: &mut dyn Iterator<Item = Result<(Schema, Vec<Tokens>), String>>,
) -> Result<usize, String> {
    let Some(folder) = &plan.folder else { return Ok(0) };
    let kinds = [Set::Given, Set::HeldOut].map(|set| {
        let folder = folder.join(set.folder());
        std::fs::create_dir_all(&folder).map_err(|e| failure(&folder, e))?;
        let path = folder.join("written.tsv");
        let journal = File::options().append(true).create(true).open(&path).map_err(|e| failure(&path, e))?;
        Ok::<_, String>((set, base.detached().with_files(folder, plan.budget.clone()), journal))
    });
    let mut kinds = kinds.into_iter().collect::<Result<Vec<_>, String>>()?;
    let mut count = 0;
    for schema in schemas {
        let (schema, tests) = schema?;
        let (given, held_out) = halves(&tests);
        let valid: Vec<Vec<u32>> =
            tests.iter().filter(|test| test.valid).map(|test| test.tokens.clone()).collect();
        for (set, engine, journal) in &mut kinds {
            let known = match set {
                Set::HeldOut if held_out.is_empty() => continue,
                Set::HeldOut => &given,
                Set::Given | Set::Random => &valid,
            };
            let Some(Written { time, bytes, states }) = engine.write_masks(&schema.text, known) else {
                continue;
            };
            count += 1;
            // in one call, because other processes write to the same file
            let line = format!("{}\t{}\t{bytes}\t{states}\n", schema.id, time.as_nanos());
            journal.write_all(line.as_bytes()).map_err(|e| e.to_string())?;
        }
    }
    Ok(count)
}

fn failure(path: &Path, cause: io::Error) -> String {
    format!("`{}`: {cause}", path.display())
}

/// Splits the distinct valid documents alternately into those to explore along and those held out.
fn halves(tests: &[Tokens]) -> (Vec<Vec<u32>>, Vec<Tokens>) {
    let (mut given, mut held_out) = (Vec::<Vec<u32>>::new(), Vec::<Tokens>::new());
    for test in tests.iter().filter(|test| test.valid) {
        if given.contains(&test.tokens) || held_out.iter().any(|known| known.tokens == test.tokens) {
            continue;
        }
        match given.len() > held_out.len() {
            true => held_out.push(test.clone()),
            false => given.push(test.tokens.clone()),
        }
    }
    (given, held_out)
}

/// All arms, and their common data.
pub(crate) struct Arms {
    arms: Vec<Arm>,
    /// Draws documents, and knows what matchers remember.
    base: Grammata,
    /// The tokens that contain a structural character of JSON, as a bit set.
    marks: Vec<u32>,
    plan: Plan,
    digests: Option<Box<dyn Write>>,
}

impl Arms {
    /// Creates the arms; `peers` makes engines to compare with.
    pub(crate) fn new(
        base: &Grammata,
        plan: Plan,
        settings: Settings,
        digests: Option<Box<dyn Write>>,
        peers: &dyn Fn() -> Result<Vec<Box<dyn Engine>>, String>,
    ) -> Result<Arms, String> {
        let mut arms = Vec::new();
        for set in Set::ALL {
            for &regime in &plan.regimes {
                let (mut engine, mut settings) = (base.detached(), settings);
                match regime {
                    Regime::None => {}
                    // warming up takes its time for each schema and does not depend on documents, so one set is enough
                    Regime::Warm(_) if set != Set::Given => continue,
                    Regime::Warm(time) => settings.warm = Some(time),
                    Regime::Files => {
                        let folder = plan.folder.as_ref();
                        let folder = folder.ok_or("the arm `files` needs `--mask-files`")?;
                        engine = engine.with_files(folder.join(set.folder()), plan.budget.clone()).mapped();
                    }
                }
                arms.push(Arm::new(set, regime.name(), Box::new(engine), settings, true));
            }
            for engine in peers()? {
                arms.push(Arm::new(set, engine.name().to_owned(), engine, settings, false));
            }
        }
        let mut marks = vec![0; base.vocabulary().mask_words()];
        for (token, bytes) in base.vocabulary().tokens() {
            if bytes.iter().any(|byte| br#"{}[]:,""#.contains(byte)) {
                marks[token.index() / 32] |= 1 << (token.index() % 32);
            }
        }
        Ok(Arms { arms, base: base.detached(), marks, plan, digests })
    }

    /// Runs one schema on all arms.
    pub(crate) fn schema(&mut self, schema: &Schema, tests: &[Tokens], number: usize) -> io::Result<()> {
        self.base = self.base.detached();
        let compiled = self.base.compiled(&schema.text);
        let random = compiled
            .as_ref()
            .map_or_else(Vec::new, |compiled| drawn(compiled, &schema.id, self.plan.random, &self.marks));
        for (set, tests) in
            [(Set::Given, tests.to_vec()), (Set::HeldOut, halves(tests).1), (Set::Random, random)]
        {
            if tests.is_empty() {
                continue;
            }
            let remembered: Vec<Vec<Remembered>> = tests
                .iter()
                .map(|test| compiled.as_ref().map_or_else(Vec::new, |compiled| remembered(compiled, test)))
                .collect();
            let mut arms: Vec<&mut Arm> = self.arms.iter_mut().filter(|arm| arm.set == set).collect();
            let count = arms.len();
            let mut outcomes: Vec<Option<Outcome>> = arms.iter().map(|_| None).collect();
            for turn in 0..count {
                let place = (number + turn) % count;
                let Arm { engine, settings, words, .. } = &mut *arms[place];
                outcomes[place] = Some(run::run(&**engine, &schema.text, &tests, *settings, words));
            }
            let outcomes: Vec<Outcome> = outcomes.into_iter().flatten().collect();
            for (arm, outcome) in arms.iter_mut().zip(&outcomes) {
                arm.add(&schema.id, outcome, &outcomes[0], &remembered);
                if let Some(digests) = &mut self.digests {
                    let name = format!("{}, {}", set.name(), arm.name);
                    writeln!(digests, "{}", super::record::digest(&name, schema, "", outcome))?;
                }
            }
        }
        Ok(())
    }

    /// Returns the report on all arms.
    pub(crate) fn show(&mut self) -> Result<String, String> {
        let mut text = self.plan.folder.as_deref().map_or(Ok(String::new()), written)?;
        let mut table = summary::table();
        for arm in &self.arms {
            let name = format!("{}: {}", arm.set.name(), arm.name);
            let mut row = |what: &str, of: &dyn Fn(&Step) -> bool| {
                let steps = arm.steps.iter().filter(|step| of(step));
                let mut times: Vec<u64> = steps.map(|step| step.time).collect();
                times.sort_unstable();
                summary::row(&mut table, &format!("{name}{what}"), &times);
            };
            row("", &|_| true);
            row(", from the file", &|step| step.explored);
            row(", neither names nor items remembered", &|step| {
                !step.remembered.names && !step.remembered.items
            });
            row(", names remembered", &|step| step.remembered.names);
            row(", items remembered", &|step| step.remembered.items);
        }
        for arm in &self.arms {
            let name = format!("{}: {}", arm.set.name(), arm.name);
            let compile = spread(&arm.compile, |nanoseconds| nanoseconds / 1000.0);
            text.push_str(&format!(
                "{name}: {} schemas compiled or loaded, µs: {compile}\n",
                arm.compile.len()
            ));
            let explored = |of: &dyn Fn(&Step) -> bool| {
                let steps: Vec<&Step> = arm.steps.iter().filter(|step| of(step)).collect();
                let explored = steps.iter().filter(|step| step.explored).count();
                format!("{:.2} % of {}", 100.0 * explored as f64 / steps.len().max(1) as f64, steps.len())
            };
            if !arm.first_part.is_empty() {
                text.push_str(&format!(
                    "  mapped, µs: {}\n  steps from the file: {}; where names are remembered: {}; where items are: {}\n",
                    spread(&arm.first_part, |nanoseconds| nanoseconds / 1000.0),
                    explored(&|_| true),
                    explored(&|step| step.remembered.names),
                    explored(&|step| step.remembered.items),
                ));
            }
            if arm.is_ours {
                let shown: Vec<&str> = arm.different.iter().take(10).map(String::as_str).collect();
                text.push_str(&format!(
                    "  schemas that come out another way: {} {}\n",
                    arm.different.len(),
                    shown.join(", ")
                ));
            }
        }
        if let Some(digests) = &mut self.digests {
            digests.flush().map_err(|e| e.to_string())?;
        }
        Ok(format!("{text}\nmask and commit, µs\n{}\n", summary::right_align(table)))
    }
}

impl Arm {
    fn new(set: Set, name: String, engine: Box<dyn Engine>, settings: Settings, is_ours: bool) -> Arm {
        let words = vec![0; engine.mask_words()];
        let (steps, compile, first_part, different) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Arm { set, name, engine, settings, is_ours, words, steps, compile, first_part, different }
    }

    fn add(&mut self, id: &str, outcome: &Outcome, first: &Outcome, remembered: &[Vec<Remembered>]) {
        let digest = |outcome: &Outcome| outcome.digest.clone().map(Digest::finalize);
        if self.is_ours
            && ((outcome.status, outcome.right) != (first.status, first.right)
                || digest(outcome) != digest(first))
        {
            self.different.push(id.to_owned());
        }
        if !outcome.compiled() {
            return;
        }
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.compile.push(nanoseconds(outcome.compile));
        let mapped = outcome.first_part.filter(|part| part.0 == "map_us");
        self.first_part.extend(mapped.map(|part| nanoseconds(part.1)));
        let mut times = outcome.times.iter();
        for (&count, remembered) in outcome.walked.iter().zip(remembered) {
            let places = remembered.iter().copied().chain(std::iter::repeat(Remembered::default()));
            self.steps.extend(times.by_ref().take(count).zip(places).map(|(times, remembered)| Step {
                time: times.mask + times.commit,
                explored: times.explored,
                remembered,
            }));
        }
    }
}

/// Returns the memory of a matcher before each token of a document, up to the first token that is not allowed.
fn remembered(compiled: &CompiledGrammar, test: &Tokens) -> Vec<Remembered> {
    let mut matcher = compiled.matcher();
    let mut all = Vec::with_capacity(test.tokens.len());
    for &token in &test.tokens {
        let Ok((names, items)) = matcher.remembers() else { break };
        all.push(Remembered { names, items });
        if !matcher.try_accept(TokenId::new(token)).is_ok_and(|is_accepted| is_accepted) {
            break;
        }
    }
    all
}

/// Draws random documents. Each token is one that the mask allows, all equally likely. Every other token is drawn from
/// the marks among them, because texts would otherwise rarely leave their first string. Where the text may end, it ends
/// in half of all cases. Truncated documents count as invalid, because they may not end there.
fn drawn(compiled: &CompiledGrammar, id: &str, count: usize, marks: &[u32]) -> Vec<Tokens> {
    let vocabulary = compiled.vocabulary();
    let seed = sha2::Sha256::digest(id);
    let mut state =
        seed.iter().take(8).fold(1, |state: u64, &byte| state.rotate_left(8) ^ u64::from(byte)) | 1;
    let mut words = vec![0; vocabulary.mask_words()];
    (0..count).map(|_| draw(compiled, (&mut words, marks), &mut state)).collect()
}

fn draw(compiled: &CompiledGrammar, (words, marks): (&mut [u32], &[u32]), state: &mut u64) -> Tokens {
    let vocabulary = compiled.vocabulary();
    let mut matcher = compiled.matcher();
    let mut tokens = Vec::new();
    let mut below = |bound: usize| {
        // xorshift (Marsaglia 2003)
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 16) as usize % bound.max(1)
    };
    while tokens.len() < TOKENS && !matcher.is_finished() && matcher.fill_mask(words).is_ok() {
        if matcher.is_accepting() && below(2) == 0 {
            break;
        }
        vocabulary.eos().iter().for_each(|end| words[end.get() as usize / 32] &= !(1 << (end.get() % 32)));
        if below(2) == 0 && words.iter().zip(marks).any(|(word, mark)| word & mark != 0) {
            words.iter_mut().zip(marks).for_each(|(word, mark)| *word &= mark);
        }
        let count: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        let mut left = below(count);
        let found = words.iter().enumerate().find_map(|(place, word)| {
            let ones = word.count_ones() as usize;
            if left < ones {
                let mut word = *word;
                (0..left).for_each(|_| word &= word - 1);
                return Some(place as u32 * 32 + word.trailing_zeros());
            }
            left -= ones;
            None
        });
        let Some(token) = found else { break };
        if matcher.accept_token(TokenId::new(token)).is_err() {
            break;
        }
        tokens.push(token);
    }
    Tokens { valid: matcher.is_accepting(), tokens }
}

/// Returns a summary of the journals in the folders of mask files.
fn written(folder: &Path) -> Result<String, String> {
    let mut text = String::new();
    for set in [Set::Given, Set::HeldOut] {
        let path = folder.join(set.folder()).join("written.tsv");
        let journal = std::fs::read_to_string(&path).map_err(|e| failure(&path, e))?;
        let column = |at: usize| -> Vec<u64> {
            journal.lines().filter_map(|line| line.split('\t').nth(at)?.parse().ok()).collect()
        };
        let (time, bytes, states) = (column(1), column(2), column(3));
        text.push_str(&format!(
            "files explored along {} valid documents: {}, {:.1} MiB\n  ms: {}\n  kB: {}\n  places: {}\n",
            set.folder(),
            bytes.len(),
            bytes.iter().sum::<u64>() as f64 / f64::from(1 << 20),
            spread(&time, |nanoseconds| nanoseconds / 1e6),
            spread(&bytes, |bytes| bytes / 1e3),
            spread(&states, |states| states),
        ));
    }
    Ok(text)
}

/// Returns the mean and percentiles of values, each scaled, as text; `none` if there are no values.
fn spread(values: &[u64], scaled: impl Fn(f64) -> f64) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let Some(mean) = mean(&sorted) else { return "none".to_owned() };
    let at = |place| scaled(percentile(&sorted, place).unwrap_or_default() as f64);
    format!("mean {:.1}, p50 {:.1}, p99 {:.1}, max {:.1}", scaled(mean), at(500), at(990), at(1000))
}
