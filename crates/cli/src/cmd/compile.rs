//! `grammata compile`: explores grammars ahead of time, and writes mask files.

use crate::args::deadline::deadline;
use crate::args::grammar_files::{self, Found};
use crate::args::source::{self, SourceArgs};
use crate::args::tokens::TokenizerArgs;
use crate::io::errors;
use crate::io::messages::{self, Progress};
use crate::io::output::{Exit, Failure, Output, seconds};
use crate::io::text::{counted, size};
use grammata::error::Result;
use grammata::explore::{ExploreBudget, suggested_documents};
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::mask_file::{ArchiveBuilder, EXTENSION, MaskFile};
use grammata::vocabulary::{TokenId, Vocabulary};
use grammata_decode::PromptTokenizer;
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    tokenizer: TokenizerArgs,
    /// The mask file to write; with --each the folder of mask files
    #[arg(short, long, value_name = "FILE", required_unless_present = "archive")]
    output: Option<PathBuf>,
    /// GRAMMAR is a folder of grammars: its files, and the folders in it. Files whose names are not those of grammars
    /// are skipped; so are grammars that were compiled before with the same tokenizer and budget
    #[arg(long)]
    each: bool,
    /// Like --each, into one archive; without -o no folder of mask files is written
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// Also store the token index of the vocabulary in the file, so that it need not be computed at the start; an
    /// archive has one for all
    #[arg(long, conflicts_with = "each")]
    token_index: bool,
    /// Documents that are explored first, one a line; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Exploring")]
    corpus: Vec<PathBuf>,
    /// The most places to explore [default: 4096]
    #[arg(long, value_name = "N", help_heading = "Exploring")]
    states: Option<usize>,
    /// The most steps of work; some 20 a microsecond [default: 4000000]
    #[arg(long, value_name = "N", help_heading = "Exploring")]
    work: Option<u64>,
    /// The most time; without a bound on time equal inputs give equal files
    #[arg(long, value_name = "SECONDS", value_parser = deadline, help_heading = "Exploring")]
    time: Option<Duration>,
}

impl Arguments {
    fn budget(&self) -> ExploreBudget {
        let mut budget = ExploreBudget::default();
        budget.states = self.states.unwrap_or(budget.states);
        budget.work = self.work.unwrap_or(budget.work);
        budget.time = self.time;
        budget
    }
}

/// The shared inputs for compiling grammars.
struct Workshop<'a> {
    arguments: &'a Arguments,
    limits: Limits,
    compiler: Compiler,
    /// The tokenizer, if it is in Hugging Face's format. It splits documents into tokens as the model expects.
    tokenizer: Option<PromptTokenizer>,
    corpus: Vec<Vec<u8>>,
}

/// Maximum number of grammars that are compiled in parallel before they are reported. Their mask files are in memory at
/// the same time.
const AT_ONCE: usize = 64;

/// The result for one grammar.
struct Made {
    name: String,
    time: Duration,
    /// Whether the grammar was explored in this run. If not, its existing file was kept.
    is_new: bool,
    file: MaskFile,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let vocabulary = arguments.tokenizer.load(&limits)?;
    let progress = Progress::start("preparing the vocabulary");
    let compiler = Compiler::new(Arc::new(vocabulary.vocabulary)).limits(limits.clone());
    compiler.prepare()?;
    progress.finish();
    let tokenizer = arguments.tokenizer.path();
    let tokenizer = tokenizer.and_then(|path| PromptTokenizer::from_file(&path, &limits).ok());
    let mut corpus = Vec::new();
    for path in &arguments.corpus {
        let text = source::read(path, limits.source_bytes)?;
        corpus.extend(text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
    }
    let workshop = Workshop { arguments, limits, compiler, tokenizer, corpus };
    match &arguments.output {
        Some(to) if !arguments.each && arguments.archive.is_none() => workshop.one(to, output),
        to => workshop.each(to.as_deref(), output),
    }
}

impl Workshop<'_> {
    fn one(&self, to: &Path, output: &mut Output) -> Result<Exit, Failure> {
        let progress = Progress::start("exploring the grammar");
        let made = self.make(self.arguments.source.path(), Some(to), false)?;
        progress.finish();
        if output.is_json() {
            output.list("grammars")?;
        }
        self.report(&Ok(made), output)?;
        Ok(Exit::Done)
    }

    /// Compiles each grammar of a folder, to files in the folder `to` if it is given, and into an archive if one is
    /// requested.
    fn each(&self, to: Option<&Path>, output: &mut Output) -> Result<Exit, Failure> {
        let from = self.arguments.source.path();
        let io = |path: &Path, cause: std::io::Error| errors::io(path, &cause);
        let Found { grammars: paths, others, not_schemas } = grammar_files::find(from, &self.limits)?;
        for file in &not_schemas {
            let file = file.display();
            messages::note(&format!("{file} skipped, JSON without a keyword of JSON Schema at its root"));
        }
        if others > 0 {
            messages::note(&format!("{} skipped, not grammars by name", counted(others, "file")));
        }
        if let Some(to) = to {
            std::fs::create_dir_all(to).map_err(|cause| io(to, cause))?;
        }
        let archive = self.arguments.archive.as_ref();
        let mut builder = archive.map(|_| ArchiveBuilder::new(self.compiler.vocabulary(), &self.limits));
        if let Some(builder) = builder.as_mut().filter(|_| self.arguments.token_index) {
            builder.set_token_index(self.compiler.token_index()?)?;
        }
        if output.is_json() {
            output.list("grammars")?;
        }
        let start = Instant::now();
        let (mut bytes, mut kept, mut failed, mut of_plans) = (0, 0, 0, 0);
        let progress = Progress::with_total("exploring the grammars", paths.len() as u64);
        for paths in paths.chunks(AT_ONCE) {
            let make = |path: &PathBuf| {
                let mut file = path.strip_prefix(from).unwrap_or(path).as_os_str().to_owned();
                file.push(format!(".{EXTENSION}"));
                let file = to.map(|to| to.join(file));
                if let Some(folder) = file.as_deref().and_then(Path::parent) {
                    std::fs::create_dir_all(folder).map_err(|cause| io(folder, cause))?;
                }
                let made = self.make(path, file.as_deref(), true);
                progress.advance();
                made.map_err(|error| error.in_file(&path.display().to_string()))
            };
            let made: Vec<Result<Made>> = paths.par_iter().map(make).collect();
            for (path, result) in paths.iter().zip(&made) {
                if result.as_ref().is_err_and(|error| error.code() == "automaton-spec/plans-only") {
                    let path = path.display();
                    messages::note(&format!("{path} skipped, a spec with rules that only plans can keep"));
                    of_plans += 1;
                    continue;
                }
                self.report(result, output)?;
                match result {
                    Ok(made) if made.is_new => bytes += made.file.as_bytes().len(),
                    Ok(_) => kept += 1,
                    Err(_) => failed += 1,
                }
                if let (Some(builder), Ok(made)) = (&mut builder, result) {
                    let name = path.strip_prefix(from).unwrap_or(path).to_string_lossy();
                    builder.add(name, &made.file)?;
                }
            }
        }
        progress.finish();
        if !output.is_json() {
            writeln!(
                output,
                "{} in {:.1?}: {} {}, {kept} left as they were, {failed} failed",
                counted(paths.len() - of_plans, "grammar"),
                start.elapsed(),
                size(bytes),
                if to.is_some() { "written" } else { "made" },
            )?;
        }
        if let (Some(builder), Some(archive)) = (builder, archive) {
            let (files, bytes) = (builder.file_count(), builder.save(archive)?);
            let name = archive.display().to_string();
            match output.is_json() {
                true => {
                    let archive = Archive { file: &name, mask_files: files, bytes };
                    output.report(&ArchiveReport { archive })?;
                }
                false => writeln!(output, "{name}: {} in {}", counted(files, "mask file"), size(bytes))?,
            }
        }
        Ok(if failed > 0 { Exit::Unusable } else { Exit::Done })
    }

    /// Compiles a grammar, and writes it to `to` if that is given. With `keep`, an existing file of the same grammar,
    /// vocabulary and budget is kept, unless there is a corpus.
    fn make(&self, path: &Path, to: Option<&Path>, keep: bool) -> Result<Made> {
        let start = Instant::now();
        let loaded = source::load_from(&self.arguments.source, path, &self.limits, Default::default())?;
        let budget = self.arguments.budget();
        let is_same = |file: &MaskFile| {
            let is_here = file.fingerprint() == self.compiler.vocabulary().fingerprint();
            is_here && file.is_of(&loaded.grammar) && file.about().contains(&budget.to_string())
        };
        let name = path.display().to_string();
        let known = to.filter(|_| keep && self.corpus.is_empty());
        let known = known.and_then(|to| MaskFile::open(to, &self.limits).ok()).filter(is_same);
        if let Some(file) = known {
            return Ok(Made { name, time: start.elapsed(), is_new: false, file });
        }
        // shared tables would let other grammars influence the file
        let compiled =
            self.compiler.detached().compile(&loaded.grammar).map_err(|error| loaded.locate(error))?;
        let mut file = compiled.explore(&budget, &self.documents(&compiled))?;
        if self.arguments.token_index && self.arguments.archive.is_none() {
            file = file.with_token_index(&self.compiler.token_index()?)?;
        }
        if let Some(to) = to {
            file.save(to)?;
        }
        Ok(Made { name, time: start.elapsed(), is_new: true, file })
    }

    /// Returns the documents to explore first, as tokens: those of the corpus, and those that the grammar suggests. A
    /// document that cannot be encoded is left out.
    fn documents(&self, compiled: &CompiledGrammar) -> Vec<Vec<TokenId>> {
        let suggested = suggested_documents(compiled.grammar());
        let vocabulary = compiled.vocabulary();
        let all = self.corpus.iter().chain(&suggested);
        all.filter_map(|text| self.encode(vocabulary, text).or_else(|| vocabulary.encode_greedy(text)))
            .collect()
    }

    /// Returns the tokens of a text as the tokenizer splits it, if they spell exactly that text.
    fn encode(&self, vocabulary: &Vocabulary, text: &[u8]) -> Option<Vec<TokenId>> {
        let tokens = self.tokenizer.as_ref()?.encode_literal(str::from_utf8(text).ok()?).ok()?;
        let tokens: Vec<TokenId> = tokens.into_iter().map(TokenId::new).collect();
        let spelled = tokens.iter().flat_map(|&token| vocabulary.bytes(token).unwrap_or_default());
        spelled.eq(text).then_some(tokens)
    }

    fn report(&self, result: &Result<Made>, output: &mut Output) -> Result<(), Failure> {
        if let Err(error) = result {
            messages::error(error);
            return Ok(());
        }
        if let (true, Ok(made)) = (output.is_json(), result) {
            output.item(&MadeReport::new(made))?;
            return Ok(());
        }
        match result {
            Ok(Made { name, time, is_new: true, file }) => {
                let contents = file.contents();
                writeln!(
                    output,
                    "{name}: {}, {}, {} in {time:.1?}",
                    counted(contents.states, "place"),
                    counted(contents.masks, "mask"),
                    size(contents.bytes),
                )?;
            }
            Ok(Made { name, .. }) => writeln!(output, "{name}: as it was")?,
            Err(_) => {}
        }
        Ok(())
    }
}

/// The end of the report, with `--archive`.
#[derive(Serialize)]
struct ArchiveReport<'a> {
    archive: Archive<'a>,
}

/// The archive that was written, in JSON.
#[derive(Serialize)]
struct Archive<'a> {
    /// The path of the archive.
    file: &'a str,
    /// Number of mask files in the archive.
    mask_files: usize,
    /// The size of the archive in bytes.
    bytes: usize,
}

/// The report on one grammar. Grammars that failed are only among the diagnostics.
#[derive(Serialize)]
struct MadeReport<'a> {
    grammar: &'a str,
    seconds: f64,
    /// Whether the grammar was explored in this run. False if its existing file was kept; the sizes are then null.
    written: bool,
    states: Option<usize>,
    masks: Option<usize>,
    bytes: Option<usize>,
}

impl MadeReport<'_> {
    fn new(made: &Made) -> MadeReport<'_> {
        let contents = Some(&made.file).filter(|_| made.is_new).map(MaskFile::contents);
        MadeReport {
            grammar: &made.name,
            seconds: seconds(made.time),
            written: made.is_new,
            states: contents.as_ref().map(|contents| contents.states),
            masks: contents.as_ref().map(|contents| contents.masks),
            bytes: contents.as_ref().map(|contents| contents.bytes),
        }
    }
}
