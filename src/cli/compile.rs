//! `grammata compile`: explores grammars ahead of time, and writes mask files.

use super::errors;
use super::messages::Progress;
use super::output::{Exit, Failure, Output};
use super::source::{self, SourceArgs};
use super::text::{counted, size};
use super::tokens::TokenizerArgs;
use crate::decode::PromptTokenizer;
use crate::error::{Error, Result};
use crate::explore::{ExploreBudget, suggested_documents};
use crate::limits::Limits;
use crate::mask::{CompiledGrammar, Compiler};
use crate::mask_file::{EXTENSION, MaskFile};
use crate::vocabulary::{TokenId, Vocabulary};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    tokenizer: TokenizerArgs,
    /// The mask file to write; with --each the folder of mask files
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// GRAMMAR is a folder of which each file is a grammar of its own; those that were compiled before with the same tokenizer
    /// and budget are left as they are
    #[arg(long)]
    each: bool,
    /// Documents that are explored first, one a line; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Exploring")]
    corpus: Vec<PathBuf>,
    /// The most places to explore [default: 4096]
    #[arg(long, value_name = "N", help_heading = "Exploring")]
    states: Option<usize>,
    /// The most steps of work; some 20 a microsecond [default: 4000000]
    #[arg(long, value_name = "N", help_heading = "Exploring")]
    work: Option<u64>,
    /// The most milliseconds; without it the same input makes the same file
    #[arg(long, value_name = "MS", help_heading = "Exploring")]
    time: Option<u64>,
    /// Write one JSON object, with --each one for each grammar
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn budget(&self) -> ExploreBudget {
        let mut budget = ExploreBudget::default();
        budget.states = self.states.unwrap_or(budget.states);
        budget.work = self.work.unwrap_or(budget.work);
        budget.time = self.time.map(Duration::from_millis);
        budget
    }
}

/// What it takes to compile each grammar.
struct Workshop<'a> {
    arguments: &'a Arguments,
    limits: Limits,
    compiler: Compiler,
    /// The tokenizer itself, if it is one that cuts texts as its model has seen them.
    tokenizer: Option<PromptTokenizer>,
    corpus: Vec<Vec<u8>>,
}

/// What came of one grammar.
struct Made {
    name: String,
    time: Duration,
    /// `None` where the file was there.
    file: Option<MaskFile>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let vocabulary = arguments.tokenizer.load(&limits)?;
    let progress = Progress::start("preparing the vocabulary");
    let compiler = Compiler::new(Arc::new(vocabulary.vocabulary)).limits(limits.clone());
    compiler.prepare()?;
    progress.finish();
    let tokenizer = arguments.tokenizer.tokenizer.as_deref();
    let tokenizer = tokenizer.and_then(|path| PromptTokenizer::from_file(path, &limits).ok());
    let mut corpus = Vec::new();
    for path in &arguments.corpus {
        let text = source::read(path, limits.source_bytes)?;
        corpus.extend(text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
    }
    let workshop = Workshop { arguments, limits, compiler, tokenizer, corpus };
    if arguments.each { workshop.each(output) } else { workshop.one(output) }
}

impl Workshop<'_> {
    fn one(&self, output: &mut Output) -> Result<Exit, Failure> {
        let progress = Progress::start("exploring the grammar");
        let made = self.make(&self.arguments.source.grammar, &self.arguments.output, false)?;
        progress.finish();
        self.report(&Ok(made), output)?;
        Ok(Exit::Done)
    }

    fn each(&self, output: &mut Output) -> Result<Exit, Failure> {
        let (from, to) = (&self.arguments.source.grammar, &self.arguments.output);
        let io = |path: &Path, cause: std::io::Error| errors::io(path, &cause);
        let entries = std::fs::read_dir(from).map_err(|cause| io(from, cause))?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()).map_err(|cause| io(from, cause)));
        let mut paths = paths.collect::<Result<Vec<PathBuf>>>()?;
        paths.retain(|path| path.is_file());
        paths.sort();
        std::fs::create_dir_all(to).map_err(|cause| io(to, cause))?;
        let progress = Progress::start("exploring the grammars");
        let start = Instant::now();
        let made: Vec<Result<Made>> = paths
            .par_iter()
            .map(|path| {
                let mut name = path.file_name().unwrap_or_default().to_owned();
                name.push(format!(".{EXTENSION}"));
                self.make(path, &to.join(name), true)
                    .map_err(|error| error.in_file(&path.display().to_string()))
            })
            .collect();
        progress.finish();
        for result in &made {
            self.report(result, output)?;
        }
        let failed = made.iter().filter(|result| result.is_err()).count();
        let kept = made.iter().flatten().filter(|made| made.file.is_none()).count();
        let bytes: usize =
            made.iter().flatten().flat_map(|made| &made.file).map(|file| file.as_bytes().len()).sum();
        if !self.arguments.json {
            writeln!(
                output,
                "{} in {:.1?}: {} written, {kept} left as they were, {failed} failed",
                counted(made.len(), "grammar"),
                start.elapsed(),
                size(bytes),
            )?;
        }
        Ok(if failed > 0 { Exit::Unusable } else { Exit::Done })
    }

    /// Compiles a grammar to a file. `keep` leaves a file as it is that is of the same grammar, vocabulary and budget.
    fn make(&self, path: &Path, to: &Path, keep: bool) -> Result<Made> {
        let start = Instant::now();
        let loaded = source::load_from(&self.arguments.source, path, &self.limits, Default::default())?;
        let budget = self.arguments.budget();
        let is_same = |file: &MaskFile| {
            let is_here = file.fingerprint() == self.compiler.vocabulary().fingerprint();
            is_here && file.is_of(&loaded.grammar) && file.about().contains(&budget.to_string())
        };
        let name = path.display().to_string();
        if keep && self.corpus.is_empty() && MaskFile::open(to, &self.limits).is_ok_and(|file| is_same(&file))
        {
            return Ok(Made { name, time: start.elapsed(), file: None });
        }
        // what other grammars have found out would show in the file
        let compiled =
            self.compiler.apart().compile(&loaded.grammar).map_err(|error| loaded.locate(error))?;
        let file = compiled.explore(&budget, &self.documents(&compiled))?;
        file.save(to)?;
        Ok(Made { name, time: start.elapsed(), file: Some(file) })
    }

    /// The documents to explore first: those of the corpus, and those that the grammar suggests, as the tokenizer cuts them.
    fn documents(&self, compiled: &CompiledGrammar) -> Vec<Vec<TokenId>> {
        let suggested = suggested_documents(compiled.grammar());
        let vocabulary = compiled.vocabulary();
        let all = self.corpus.iter().chain(&suggested);
        all.filter_map(|text| self.encode(vocabulary, text).or_else(|| vocabulary.encode_greedy(text)))
            .collect()
    }

    /// The tokens of a text as the tokenizer cuts it, if they spell it.
    fn encode(&self, vocabulary: &Vocabulary, text: &[u8]) -> Option<Vec<TokenId>> {
        let tokens = self.tokenizer.as_ref()?.encode_literal(str::from_utf8(text).ok()?).ok()?;
        let tokens: Vec<TokenId> = tokens.into_iter().map(TokenId::new).collect();
        let spelled = tokens.iter().flat_map(|&token| vocabulary.bytes(token).unwrap_or_default());
        spelled.eq(text).then_some(tokens)
    }

    fn report(&self, result: &Result<Made>, output: &mut Output) -> Result<(), Failure> {
        if self.arguments.json {
            output.json(&json_of(result))?;
            return Ok(());
        }
        match result {
            Ok(Made { name, time, file: Some(file) }) => {
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
            Err(error) => super::messages::error(error),
        }
        Ok(())
    }
}

fn json_of(result: &Result<Made>) -> Value {
    match result {
        Ok(Made { name, time, file }) => {
            let contents = file.as_ref().map(MaskFile::contents);
            json!({
                "grammar": name,
                "ns": u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
                "written": file.is_some(),
                "places": contents.as_ref().map(|contents| contents.states),
                "masks": contents.as_ref().map(|contents| contents.masks),
                "bytes": contents.as_ref().map(|contents| contents.bytes),
            })
        }
        Err(error) => super::report::json_error(error as &Error),
    }
}
