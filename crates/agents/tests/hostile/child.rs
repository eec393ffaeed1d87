//! The test that runs in each child process: it reads one input, and walks through the masks of what it compiled.

use crate::{FILE, KIND, Kind};
use grammata::grammar::Grammar;
use grammata::syntax::{automaton_spec, gbnf, json_schema, regex};
use grammata::transitions::{Counts, TransitionSystem};
use grammata::vocabulary::{LoadOptions, Vocabulary, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, Error, Limits, MaskFile, Place, Result, TokenId};
use grammata_agents::flows::{FlowAutomaton, FlowDomain, FlowOptions};
use grammata_agents::plan::{PlanAutomaton, Questions};
use grammata_agents::procedures::{self, Mode, Session};
use grammata_agents::tools::{self, CallFormat, Document, GrammarOptions, ReadOptions};
use grammata_decode::{ChatTemplate, Message, ModelFolder};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most masks of a random walk under a grammar. A token of each mask is accepted, until an end token is drawn.
const STEPS: usize = 24;

/// Reads the input that [`KIND`] and [`FILE`] name, and prints the verdict, times and memory. Without these environment
/// variables the test does nothing.
#[test]
fn reads_one_input() {
    let (Ok(kind), Ok(file)) = (std::env::var(KIND), std::env::var(FILE)) else { return };
    let kind = Kind::ALL.into_iter().find(|known| known.name() == kind).expect("a kind");
    let input = std::fs::read(file).expect("an input");
    let mut clock = Clock::start();
    match read(kind, &input, &mut clock) {
        Ok(()) => println!("\nverdict=accepted"),
        Err(error) => report(kind, &error),
    }
    clock.lap();
    println!("longest={}", clock.longest.as_secs_f64());
    println!("processor={}", clock.whole().as_secs_f64());
    println!("peak={}", peak().unwrap_or(0));
}

/// A clock for the operations on an input: reading and compiling, one mask, one accepted token. It measures CPU time if
/// the system reports it, so that a busy machine makes no operation look slow.
struct Clock {
    started: Instant,
    begun: Duration,
    first: Duration,
    longest: Duration,
}

impl Clock {
    fn start() -> Clock {
        let mut clock = Clock {
            started: Instant::now(),
            begun: Duration::ZERO,
            first: Duration::ZERO,
            longest: Duration::ZERO,
        };
        clock.begun = clock.now();
        clock.first = clock.begun;
        clock
    }

    fn now(&self) -> Duration {
        processor_time().unwrap_or_else(|| self.started.elapsed())
    }

    /// Returns the time since the clock was started.
    fn whole(&self) -> Duration {
        self.now().saturating_sub(self.first)
    }

    /// Ends an operation, updates the longest time, and starts the next operation.
    fn lap(&mut self) {
        let now = self.now();
        self.longest = self.longest.max(now.saturating_sub(self.begun));
        self.begun = now;
    }
}

/// Returns the CPU time of all threads of this process in steps of 10 ms, or `None` if `/proc` does not report it.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // proc_pid_stat(5): utime and stime are fields 14 and 15; the name in parentheses is field 2
    let fields = stat.rsplit_once(')')?.1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    Some(Duration::from_millis(10 * ticks.sum::<std::result::Result<u64, _>>().ok()?))
}

fn report(kind: Kind, error: &Error) {
    let diagnostic = error.diagnostic();
    println!("\nverdict={}", diagnostic.code());
    // for these two errors the whole vocabulary is the place
    let is_of_whole =
        ["vocabulary/empty", "limit/exceeded"].contains(&diagnostic.code()) && kind == Kind::Tokenizer;
    if *diagnostic.place() != Place::Whole || diagnostic.file().is_some() || is_of_whole {
        println!("place={}", diagnostic.place());
    }
    println!("error={}", error.to_string().replace('\n', " / "));
}

/// Returns the peak resident memory of this process in KiB, or `None` if `/proc` does not report it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn read(kind: Kind, input: &[u8], clock: &mut Clock) -> Result<()> {
    let text = String::from_utf8_lossy(input);
    match kind {
        Kind::JsonSchema => {
            let options = json_schema::Options::default();
            walk(&json_schema::compile(&text, &options)?.grammar, clock)
        }
        Kind::Regex => {
            let options = regex::Options::default().dialect(regex::Dialect::Ecma262);
            walk(&regex::compile(&text, &options)?, clock)
        }
        Kind::Gbnf => walk(&gbnf::compile(&text, &gbnf::Options::default())?.grammar, clock),
        Kind::Spec => {
            let options = automaton_spec::Options::default();
            walk(&automaton_spec::compile(&text, &options)?.grammar, clock)
        }
        Kind::Tokenizer => {
            let options = LoadOptions::default().eos(vec![TokenId::new(0)]);
            let vocabulary = Vocabulary::from_file_bytes(input, &options)?;
            let grammar = regex::compile(r"[a-z]{1,20}( [0-9a-f]+)*", &regex::Options::default())?;
            let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar)?;
            compiled.matcher().mask().map(drop)
        }
        Kind::ChatTemplate => {
            let messages = [Message::system("Be brief."), Message::user("Hi"), Message::assistant("Hello")];
            ChatTemplate::new(text, &Limits::default())?.render(&messages, true).map(drop)
        }
        Kind::ModelFolder => folder(&text),
        Kind::Tools => tools_of(&text, clock),
        Kind::Procedure => {
            let format =
                if text.starts_with('{') { procedures::Format::Toml } else { procedures::Format::Yaml };
            let report = procedures::check(&text, format, &Limits::default())?;
            let errors =
                report.findings.iter().filter(|finding| finding.severity == procedures::Severity::Error);
            let nowhere = errors
                .map(|finding| &finding.diagnostic)
                .find(|diagnostic| *diagnostic.place() == Place::Whole);
            assert!(nowhere.is_none(), "a finding without a place: {nowhere:?}");
            let Some(procedure) = &report.procedure else { return Ok(()) };
            for mode in [Mode::Graph, Mode::Guarded, Mode::Strict] {
                clock.lap();
                let session = Session::new(procedure, mode);
                session.open();
                session.feedback();
            }
            Ok(())
        }
        Kind::Trace => procedures::read_trace(&text, &Limits::default()).map(drop),
        Kind::Flow => {
            let domain = FlowDomain::read(&text, &Limits::default())?;
            clock.lap();
            let mut automaton = FlowAutomaton::new(&domain, FlowOptions::default())?;
            let start = automaton.start();
            Counts::default().count(&mut automaton, &start).map(drop)
        }
        Kind::Plan => {
            let spec = automaton_spec::Spec::read(&text, &automaton_spec::Options::default())?;
            clock.lap();
            let mut plans = PlanAutomaton::new(spec)?;
            plans.count()?;
            clock.lap();
            Questions::new(plans.spec(), None).map(drop)
        }
        Kind::MaskFile => {
            let path = std::env::var(FILE).expect("a file");
            let file = MaskFile::open(&path, &Limits::default())?;
            file.check().map_err(|error| error.in_file(&path))?;
            clock.lap();
            let end = TokenId::new(256);
            let vocabulary = VocabularyBuilder::from_tokens((0..=255_u8).map(|byte| [byte]));
            let vocabulary = vocabulary.special(end, "<end>").eos([end]).build()?;
            let compiler = Compiler::new(Arc::new(vocabulary));
            compiler.prepare()?;
            clock.lap();
            let compiled = compiler.load(file).map_err(|error| error.in_file(&path))?;
            follow(&compiled, clock).map_err(|error| error.in_file(&path))
        }
    }
}

/// Reads and checks a document of tools, and walks through their grammar in the call format `json`.
fn tools_of(text: &str, clock: &mut Clock) -> Result<()> {
    let options = ReadOptions::default();
    let mut set = tools::read([Document { label: "tools", text }], &options)?;
    clock.lap();
    let schema = GrammarOptions::arguments(Limits::default());
    set.check(&schema);
    clock.lap();
    let format = CallFormat::named("json").expect("a format");
    let mut options = GrammarOptions::default();
    options.schema = schema;
    // a document whose tools are all refused is accepted here: `check` reports the reason for each tool
    match format.grammar(&set, &options) {
        Err(error) if error.code() == "tools/no-tools" => Ok(()),
        made => walk(&made?.grammar, clock),
    }
}

/// Creates a model folder and reads it. `text` has entries that end in U+0001: a file name, a tab and the content. The
/// content `->fifo` makes a pipe, and `->` with another text a symbolic link.
fn folder(text: &str) -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["model.onnx", "tokenizer.json"] {
        std::fs::write(folder.path().join(name), "{}").expect("a file");
    }
    for line in text.split('\u{1}') {
        let Some((name, content)) = line.split_once('\t') else { continue };
        let path = folder.path().join(name);
        match content.strip_prefix("->") {
            Some("fifo") => {
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.is_ok_and(|status| status.success()), "a pipe");
            }
            #[cfg(unix)]
            Some(target) => std::os::unix::fs::symlink(target, &path).expect("a link"),
            _ => std::fs::write(&path, content).expect("a file"),
        }
    }
    let limits = Limits::default();
    ModelFolder::open(folder.path(), &limits)?;
    ChatTemplate::from_folder(folder.path(), &limits).map(drop)
}

/// Compiles a grammar for a vocabulary of all bytes, some longer tokens and an end token, and follows its masks.
fn walk(grammar: &Grammar, clock: &mut Clock) -> Result<()> {
    let longer = ["ab", "abc", "{\"", "\":", " a", "}}", "00", "\n\n", "é", "true", "\", \"", "1,", "aaaa"];
    let tokens = (0..=255).map(|byte| vec![byte]).chain(longer.map(|text| text.into()));
    let end = TokenId::new(300);
    let vocabulary = VocabularyBuilder::from_tokens(tokens)
        .special(end, "<end>")
        .eos([end])
        .build()
        .expect("a vocabulary");
    follow(&Compiler::new(Arc::new(vocabulary)).compile(grammar)?, clock)
}

/// Accepts up to [`STEPS`] random tokens under a compiled grammar. Panics if a mask is empty.
fn follow(compiled: &CompiledGrammar, clock: &mut Clock) -> Result<()> {
    let mut matcher = compiled.matcher();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..STEPS {
        clock.lap();
        let mask = matcher.mask()?;
        clock.lap();
        assert!(!mask.is_empty(), "a dead end after {:?}", String::from_utf8_lossy(&matcher.bytes()));
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let token = mask.iter().nth((state >> 33) as usize % mask.len()).expect("a token");
        if matcher.compiled().vocabulary().is_eos(token) {
            break;
        }
        matcher.accept_token(token)?;
    }
    Ok(())
}
