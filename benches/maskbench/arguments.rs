//! The command line of the runner: its usage, and how it is read.

use super::arms::Regime;
use grammata::explore::ExploreBudget;
use grammata::syntax::json_schema::PropertyOrder;
use std::path::PathBuf;
use std::time::Duration;

/// The usage of the runner, and the source of its data.
pub(crate) const USAGE: &str = "\
usage: cargo bench --bench maskbench [--features peers] -- --data DIR|FILE|special|overlap --tokenizer tokenizer.json
       [OPTIONS]

  --data PATH        a folder of MaskBench files (one JSON file a schema), or a file with one schema a line
                     (.jsonl, .jsonl.gz); `special` stands for built-in schemas that grow: maxLength, pattern, enum,
                     tools, members, depth; `overlap` for random schemas whose keywords overlap, without instances
  --tokenizer FILE   the tokenizer.json of the model
  --eos ID           its end-of-sequence token; may be given several times (default: those with known names)
  --each             a line for each schema in the report
  --plot DIR         draw the distributions of times into DIR, as SVG
  --record FILE      write the figures of the run, one a line: engine, name, number (times in ns), with tabs between;
                     `cargo xtask maskbench` makes the tables of the pages of it
  --out FILE         write one JSON line a schema and engine
  --digest FILE      write one line a schema and engine: id, engine, order of members, status, and the SHA-256 of all
                     masks of the first pass over the tests; no mask has changed where the files are equal
  --peer llguidance  run llguidance on the same inputs, in turn (needs `--features peers`)
  --peer-alone       run the peer only, to see what memory it takes
  --only WORD        only the schemas with this id, or with this keyword; may be given several times
  --limit N          stop after N schemas
  --every N          every N-th schema only, from the one after
  --offset K         the first K, below N (default 0), so that a run can be cut into N
  --repeat N         run the tests N times on the same compiled grammar; passes after the first are \"warm\"
  --rest             sleep a tenth of the time between schemas: under a real-time scheduling class (`chrt -f 10`), which
                     keeps others on the machine out of the figures, the system else stops the runner once a second
  --isolate          compile anew for each test (not timed), so that no test finds what another has computed
  --mask-files DIR   begin with mask files: those that are missing are written into DIR first (how long that takes and their
                     sizes are reported); loading one is then what is timed as compiling
  --archive FILE     put all mask files of DIR into FILE at the end, and measure what an archive takes
  --given SHARE      the valid instances that mask files are explored along: none (default), all, or half of them, which
                     are then left out of the tests
  --states N         explore at most N places (default 4096), and
  --work N           do N steps of work at most (default 4000000)
  --warm MS          explore in the background for so long before the first mask (not timed)
  --sweep MIB        read so much memory before each mask (not timed), as a model does between two masks
  --arms LIST        compare regimes of this crate, separated by commas: none, warmMS (warmed up for MS milliseconds; on given
                     documents only) and files, each on given documents, on documents held out and on random ones. Mask
                     files that are missing are written first, with all valid instances and with half of them, into DIR/all
                     and DIR/half, and then mapped by a process that has not written them
  --random N         random documents a schema for `--arms` (default 2)
  --write            write the mask files of `--arms` and stop
  --order ORDER      the order of an object's members: declared (default) or any
  --time-limit S     seconds a schema (default 60)

The data is not part of this repository. MaskBench is in the JSONSchemaBench project on GitHub,
guidance-ai/jsonschemabench, in the folder maskbench/data; it is described in arXiv:2501.10868.";

/// The orders of an object's members, by the value of `--order`.
pub(crate) const ORDERS: &[(&str, PropertyOrder)] =
    &[("declared", PropertyOrder::Declared), ("any", PropertyOrder::Any)];

/// The instances that mask files are explored along, in addition to those that the schema suggests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// No instances.
    None,
    /// All valid instances.
    All,
    /// Every other valid instance.
    Half,
}

/// The values of [`Given`], by the value of `--given`.
const GIVEN: &[(&str, Given)] = &[("none", Given::None), ("all", Given::All), ("half", Given::Half)];

/// The arguments of the command line. [`USAGE`] explains the options.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) data: PathBuf,
    pub(crate) tokenizer: PathBuf,
    /// Ids of the end-of-sequence tokens. If there are none, tokens with known names are used.
    pub(crate) eos: Vec<u32>,
    pub(crate) out: Option<PathBuf>,
    /// The file for the digests of the masks.
    pub(crate) digest: Option<PathBuf>,
    /// Whether the report has a line for each schema.
    pub(crate) each: bool,
    /// The folder for the plots.
    pub(crate) plot: Option<PathBuf>,
    /// The file for the figures of the run.
    pub(crate) record: Option<PathBuf>,
    /// Whether llguidance runs, too.
    pub(crate) peer: bool,
    /// Whether only llguidance runs.
    pub(crate) peer_alone: bool,
    /// Ids of the schemas to run, and keywords that they have. If there are none, all schemas run.
    pub(crate) only: Vec<String>,
    pub(crate) limit: usize,
    /// One in this many schemas runs; at least 1.
    pub(crate) every: usize,
    /// The number of schemas to skip at the beginning.
    pub(crate) offset: usize,
    /// The number of passes over the tests; at least 1.
    pub(crate) repeat: usize,
    /// Whether to sleep between schemas, for a tenth of the time.
    pub(crate) rest: bool,
    pub(crate) isolate: bool,
    /// The folder of the mask files.
    pub(crate) mask_files: Option<PathBuf>,
    /// The archive that all mask files are packed into.
    pub(crate) archive: Option<PathBuf>,
    pub(crate) given: Given,
    pub(crate) states: Option<usize>,
    pub(crate) work: Option<u64>,
    pub(crate) warm: Option<Duration>,
    /// MiB of memory that are read before each mask.
    pub(crate) sweep: usize,
    /// The regimes to compare; empty in a plain run.
    pub(crate) arms: Vec<Regime>,
    /// The number of random documents for each schema.
    pub(crate) random: usize,
    /// Whether to stop after mask files were written.
    pub(crate) write: bool,
    pub(crate) order: PropertyOrder,
    pub(crate) time_limit: Duration,
}

impl Arguments {
    /// Reads the arguments after the program's name. Returns `None` if there are none (a plain `cargo bench`), or with
    /// `--help`; an error names the argument that is wrong.
    pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
        // `cargo bench` adds this argument
        let mut arguments = arguments.filter(|argument| argument != "--bench").peekable();
        if arguments.peek().is_none() {
            return Ok(None);
        }
        let (mut data, mut tokenizer) = (None, None);
        let mut read = Arguments {
            data: PathBuf::new(),
            tokenizer: PathBuf::new(),
            eos: Vec::new(),
            out: None,
            digest: None,
            each: false,
            plot: None,
            record: None,
            peer: false,
            peer_alone: false,
            only: Vec::new(),
            limit: usize::MAX,
            every: 1,
            offset: 0,
            repeat: 1,
            rest: false,
            isolate: false,
            mask_files: None,
            archive: None,
            given: Given::None,
            states: None,
            work: None,
            warm: None,
            sweep: 0,
            arms: Vec::new(),
            random: 2,
            write: false,
            order: PropertyOrder::Declared,
            time_limit: Duration::from_secs(60),
        };
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("`{name}` needs a value"));
            match name.as_str() {
                "--help" => return Ok(None),
                "--data" => data = Some(value()?.into()),
                "--tokenizer" => tokenizer = Some(value()?.into()),
                "--eos" => read.eos.push(number(&name, &value()?)?),
                "--out" => read.out = Some(value()?.into()),
                "--digest" => read.digest = Some(value()?.into()),
                "--each" => read.each = true,
                "--plot" => read.plot = Some(value()?.into()),
                "--record" => read.record = Some(value()?.into()),
                "--peer" => read.peer = choose(&name, &value()?, &[("llguidance", true)])?,
                "--peer-alone" => (read.peer, read.peer_alone) = (true, true),
                "--only" => read.only.push(value()?),
                "--limit" => read.limit = number(&name, &value()?)?,
                "--every" => read.every = number::<usize>(&name, &value()?)?.max(1),
                "--offset" => read.offset = number(&name, &value()?)?,
                "--repeat" => read.repeat = number::<usize>(&name, &value()?)?.max(1),
                "--rest" => read.rest = true,
                "--isolate" => read.isolate = true,
                "--mask-files" => read.mask_files = Some(value()?.into()),
                "--archive" => read.archive = Some(value()?.into()),
                "--given" => read.given = choose(&name, &value()?, GIVEN)?,
                "--states" => read.states = Some(number(&name, &value()?)?),
                "--work" => read.work = Some(number(&name, &value()?)?),
                "--warm" => read.warm = Some(Duration::from_millis(number(&name, &value()?)?)),
                "--sweep" => read.sweep = number(&name, &value()?)?,
                "--arms" => {
                    let arms = value()?;
                    let arms = arms
                        .split(',')
                        .map(|arm| Regime::read(arm).ok_or(format!("there is no arm `{arm}`\n\n{USAGE}")));
                    read.arms = arms.collect::<Result<_, _>>()?;
                }
                "--random" => read.random = number(&name, &value()?)?,
                "--write" => read.write = true,
                "--order" => read.order = choose(&name, &value()?, ORDERS)?,
                "--time-limit" => read.time_limit = Duration::from_secs(number(&name, &value()?)?),
                _ => return Err(format!("unknown argument `{name}`\n\n{USAGE}")),
            }
        }
        read.data = data.ok_or(format!("`--data` is missing: the schemas to run\n\n{USAGE}"))?;
        read.tokenizer = tokenizer.ok_or(format!("`--tokenizer` is missing\n\n{USAGE}"))?;
        Ok(Some(read))
    }

    /// Returns how far mask files are explored.
    pub(crate) fn budget(&self) -> ExploreBudget {
        let mut budget = ExploreBudget::default();
        budget.states = self.states.unwrap_or(budget.states);
        budget.work = self.work.unwrap_or(budget.work);
        budget
    }
}

fn number<N: std::str::FromStr>(name: &str, value: &str) -> Result<N, String> {
    value.parse().map_err(|_| format!("`{name}` needs a number, not `{value}`"))
}

fn choose<T: Copy>(name: &str, value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|choice| choice.0 == value);
    found.map(|choice| choice.1).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|choice| choice.0).collect();
        format!("`{name}` is one of {}, not `{value}`", names.join(", "))
    })
}
