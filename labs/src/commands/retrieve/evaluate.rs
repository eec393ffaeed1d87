//! `grammata-lab retrieve evaluate`: measures recall and ranking on requests.

use crate::retrieval::metrics::{Judged, Relevance};
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata_agents::retrieval::fuse::Join;
use grammata_agents::retrieval::requests::Request;
use grammata_agents_drive::retrieval::{QueryWriter, Run, RunQuery, Source};
use grammata_cli::args::limits::LimitArgs;
use grammata_cli::args::source;
use grammata_cli::cmd::retrieve::pipeline::{Finder, PipelineArgs};
use grammata_cli::cmd::retrieve::sources;
use grammata_cli::io::output::{Exit, Failure, Output};
use grammata_report::statistics::{bootstrap, quantile, sign_test};
use grammata_report::{Journal, Report, Table};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Names of the metrics, in the order of a record's values.
const METRICS: [&str; 7] = ["MMRR", "MAP", "recall@3", "recall@5", "recall@11", "nDCG@11", "complete"];

/// Writes the mean of each metric over the requests with its 95 % interval (bootstrap, 1,000 resamples).
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Arguments {
    #[command(flatten)]
    pipeline: PipelineArgs,
    /// Requests as JSON lines with id, query and relevant (ids of tools) or relevant_any (lists of ids)
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    requests: Option<PathBuf>,
    /// Only N requests, those of the least SHA-256 of their ids
    #[arg(long, value_name = "N", help_heading = "Requests")]
    sample: Option<usize>,
    /// Search the descriptions of the needed tools instead: what perfect queries would reach
    #[arg(long, conflicts_with = "query_mode", help_heading = "Requests")]
    ceiling: bool,
    /// Keep each result in this file as a JSON line, and go on where it ends
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    journal: Option<PathBuf>,
    /// Compare with the journal of another run, request by request (sign test)
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    compare: Option<PathBuf>,
    /// Write a report: Markdown, or HTML if the name ends in `.html`
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    report: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The record of a request in a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    /// The metrics in the order of [`METRICS`].
    metrics: [f64; 7],
    run: Run,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let (mut pipeline, own) = arguments.pipeline.load(0.0, &limits)?;
    let requests = match &arguments.requests {
        Some(path) => sources::requests(path, &arguments.pipeline.tools.pairs, &limits)?,
        None => own,
    };
    let requests = sampled(requests, arguments.sample);
    let known = |request: &Request| {
        request.relevant.iter().flatten().all(|id| pipeline.catalogue.index_of(id).is_some())
    };
    let total = requests.len();
    let k = arguments.pipeline.k;
    let requests: Vec<Request> =
        requests.into_iter().filter(|r| known(r) && (1..=k).contains(&r.relevant.len())).collect();
    if requests.is_empty() {
        return Err(crate::commands::errors::no_requests().into());
    }
    let settings = settings(arguments, &pipeline);
    let mut journal = arguments.journal.as_ref().map(|path| Journal::open(path, &settings)).transpose()?;
    let records = pipeline.with(|finder, mut writer| {
        let mut one = |request: &Request| match &mut journal {
            Some(journal) => {
                let run = || judge(finder, request, writer.as_mut(), arguments.ceiling);
                journal.get_or_run(&request.id, run).cloned()
            }
            None => judge(finder, request, writer.as_mut(), arguments.ceiling),
        };
        requests.iter().map(|request| Ok((request.id.clone(), one(request)?))).collect::<Result<Vec<_>>>()
    })?;
    let other = arguments.compare.as_ref().map(|path| others(path, &limits)).transpose()?;
    let summary = summary(&records, other.as_ref())?;
    if let Some(path) = &arguments.report {
        write_report(path, &settings, &summary)?;
    }
    if output.is_json() {
        let value = json!({ "settings": settings, "requests": requests.len(), "metrics": summary.json });
        output.report(&value)?;
        return Ok(Exit::Done);
    }
    let tools = pipeline.catalogue.tools().len();
    writeln!(output, "{tools} tools, {} of {total} requests, k = {k}", requests.len())?;
    for row in &summary.table.rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        writeln!(
            output,
            "{:<12} {}",
            cells.first().copied().unwrap_or_default(),
            cells.get(1..).unwrap_or_default().join("  ")
        )?;
    }
    Ok(Exit::Done)
}

/// Returns the settings that all records of a journal share. Other settings need another journal.
fn settings(arguments: &Arguments, pipeline: &grammata_cli::cmd::retrieve::pipeline::Pipeline) -> Value {
    let queries = &arguments.pipeline.queries;
    let model = pipeline.mode.needs_model().then(|| {
        json!({ "model": queries.model.model, "format": pipeline.format, "temperature": queries.temperature.unwrap_or(0.0),
                "top_k": queries.top_k, "top_p": queries.top_p, "seed": queries.seed,
                "chat": !queries.model.no_chat })
    });
    let mut settings = json!({ "k": arguments.pipeline.k, "ranker": pipeline.options.ranker, "mode": pipeline.mode,
            "utterance": pipeline.utterance, "ceiling": arguments.ceiling,
            "tools": pipeline.catalogue.tools().len(), "writer": model });
    // journals with the default rule do not name it, because there was only one rule at first
    if pipeline.options.join != Join::InTurn {
        settings["join"] = json!(pipeline.options.join);
    }
    settings
}

fn judge(
    finder: &mut Finder<'_>,
    request: &Request,
    writer: Option<&mut QueryWriter<'_>>,
    ceiling: bool,
) -> Result<Record> {
    let catalogue = finder.catalogue;
    let relevance: Relevance = Relevance::of_request(request, catalogue)?;
    let run = if ceiling {
        finder.perfect(request)?
    } else {
        finder.find(&request.query, &request.relevant, writer)?
    };
    let list: Vec<usize> = run.tools.iter().filter_map(|tool| catalogue.index_of(&tool.id)).collect();
    let judged = Judged::new(&list, &relevance, finder.options.k)?;
    let [r3, r5, r11] = [3, 5, 11].map(|x| judged.recall_at(x));
    let complete = f64::from(u8::from(judged.is_complete()));
    let metrics = [judged.mmrr(), judged.map(), r3, r5, r11, judged.ndcg_at(11), complete];
    Ok(Record { metrics, run: run.without_lists() })
}

/// Returns the `sample` requests with the least hashes of their ids, in the order of the file.
fn sampled(requests: Vec<Request>, sample: Option<usize>) -> Vec<Request> {
    let Some(count) = sample else { return requests };
    let hash = |request: &Request| -> [u8; 32] { Sha256::digest(&request.id).into() };
    let mut hashes: Vec<[u8; 32]> = requests.iter().map(hash).collect();
    hashes.sort_unstable();
    hashes.truncate(count);
    requests.into_iter().filter(|request| hashes.binary_search(&hash(request)).is_ok()).collect()
}

/// A summary as a table and as JSON.
struct Summary {
    table: Table,
    json: Value,
}

fn summary(records: &[(String, Record)], other: Option<&HashMap<String, Record>>) -> Result<Summary> {
    let mut columns = vec!["metric".to_owned(), "mean".to_owned(), "95 % interval".to_owned()];
    if other.is_some() {
        columns.push("against the other run".to_owned());
    }
    let (mut rows, mut values) = (Vec::new(), serde_json::Map::new());
    for (index, name) in METRICS.iter().enumerate() {
        let of = |record: &Record| record.metrics.get(index).copied().unwrap_or_default();
        let column: Vec<f64> = records.iter().map(|(_, record)| of(record)).collect();
        let Some(interval) = bootstrap(&column, 1) else { continue };
        let mut row = vec![
            (*name).to_owned(),
            format!("{:.4}", interval.mean),
            format!("[{:.4}, {:.4}]", interval.low, interval.high),
        ];
        let mut value = json!(interval);
        if let Some(other) = other {
            let pairs: Vec<(f64, f64)> =
                records.iter().filter_map(|(id, record)| Some((of(record), of(other.get(id)?)))).collect();
            if pairs.is_empty() {
                return Err(crate::commands::errors::other_units(other.len(), records.len()));
            }
            let test = sign_test(pairs);
            row.push(format!("better {}, worse {}, p {:.3}", test.better, test.worse, test.p));
            value["sign_test"] = json!(test);
        }
        rows.push(row);
        values.insert((*name).to_owned(), value);
    }
    for (name, text, value) in costs(records) {
        rows.push(vec![name.to_owned(), text, String::new()]);
        values.insert(name.to_owned(), value);
    }
    Ok(Summary { table: Table { columns, rows }, json: Value::Object(values) })
}

/// Returns percentiles of each kind of time whose 99th percentile is above 0 and, if a model wrote queries, the numbers
/// of fallbacks and of cut outputs, and the mean number of written queries.
fn costs(records: &[(String, Record)]) -> Vec<(&'static str, String, Value)> {
    let times =
        |time: fn(&Run) -> f64| -> Vec<f64> { records.iter().map(|(_, record)| time(&record.run)).collect() };
    let medians: [(&'static str, Vec<f64>); 3] = [
        ("generation", times(|run| run.times.generation_ms)),
        ("embedding", times(|run| run.times.embedding_ms)),
        ("search", times(|run| run.times.search_ms)),
    ];
    let mut rows: Vec<(&'static str, String, Value)> = Vec::new();
    for (name, values) in medians {
        let (Some(p50), Some(p99)) = (quantile(&values, 0.5), quantile(&values, 0.99)) else { continue };
        if p99 > 0.0 {
            rows.push((name, format!("p50 {p50:.1} ms, p99 {p99:.1} ms"), json!({ "p50": p50, "p99": p99 })));
        }
    }
    if records.iter().any(|(_, record)| record.run.raw.is_some()) {
        let fallbacks = records.iter().filter(|(_, record)| record.run.fallback).count();
        let cut = records.iter().filter(|(_, record)| record.run.cut.is_some()).count();
        let is_written = |query: &&RunQuery| query.source == Source::Model;
        let queries: usize =
            records.iter().map(|(_, record)| record.run.queries.iter().filter(is_written).count()).sum();
        let mean = queries as f64 / records.len() as f64;
        rows.push(("fallbacks", format!("{fallbacks}"), json!(fallbacks)));
        rows.push(("cut", format!("{cut}"), json!(cut)));
        rows.push(("queries", format!("{mean:.2} a request"), json!(mean)));
    }
    rows
}

/// Reads the records of another run's journal. Lines that cannot be read are skipped.
fn others(path: &Path, limits: &Limits) -> Result<HashMap<String, Record>> {
    #[derive(Deserialize)]
    struct Line {
        id: String,
        record: Record,
    }
    let bytes = source::read(path, limits.catalogue_bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().skip(1).filter_map(|line| serde_json::from_str::<Line>(line).ok());
    Ok(lines.map(|line| (line.id, line.record)).collect())
}

fn write_report(path: &Path, settings: &Value, summary: &Summary) -> Result<()> {
    let mut report = Report::new("Retrieval of tools");
    report.text(settings.to_string()).table(summary.table.clone());
    let is_html = path.extension().is_some_and(|extension| extension == "html");
    let text = if is_html { report.to_html() } else { report.to_markdown() };
    std::fs::write(path, text).map_err(|cause| Error::io(path, &cause))
}
