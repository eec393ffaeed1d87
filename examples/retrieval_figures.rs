//! Recall and ranking of tool retrieval on a set of requests, without a language model:
//! `cargo run --release --features ort --example retrieval_figures -- FOLDER [OPTION]... [MEMBER=VALUE]...`
//!
//! FOLDER holds `tools.jsonl` and `queries.jsonl`. A pair MEMBER=VALUE keeps the tools and requests of which this member of
//! the JSON line, if it has it, has one of these values (separated by commas). Options: `--description` indexes descriptions
//! alone; `--split` searches the request's sentences, with the request last, `--first` or `--nowhere`; `--ceiling` searches
//! the descriptions of the needed tools; `--dense=FILE` and `--hybrid=FILE` use the embedder in .models/minilm and keep the
//! vectors in FILE.
#![allow(clippy::print_stdout)] // an example talks to its user

use grammata::Limits;
use grammata::decode::ort::{EmbedderOptions, OrtEmbedder};
use grammata::decode::{Embedder, EmbedderFolder};
use grammata::evaluation::statistics::bootstrap;
use grammata::retrieval::metrics::Judged;
use grammata::retrieval::requests::Request;
use grammata::retrieval::retriever::Utterance;
use grammata::retrieval::split::sentences;
use grammata::retrieval::store::Store;
use grammata::retrieval::{Catalogue, Ranker, RetrievalOptions, Retriever, Template};
use std::path::Path;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// The lines of a file that the pairs keep.
fn lines(folder: &str, name: &str, pairs: &[(&str, Vec<&str>)]) -> Outcome<String> {
    let mut kept = String::new();
    for line in std::fs::read_to_string(Path::new(folder).join(name))?.lines() {
        let members: serde_json::Value = serde_json::from_str(line)?;
        let keeps = |(member, values): &(&str, Vec<&str>)| match members.get(member) {
            None => true,
            Some(serde_json::Value::String(text)) => values.contains(&text.as_str()),
            Some(other) => values.contains(&other.to_string().as_str()),
        };
        if pairs.iter().all(keeps) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    Ok(kept)
}

/// The vectors of the catalogue: those of the file that are still right, and new ones, which are written there.
fn store(
    file: &Path,
    catalogue: &Catalogue,
    template: Template,
    embedder: &mut OrtEmbedder,
) -> Outcome<Store> {
    let limits = Limits::default();
    let old = if file.exists() { Some(Store::read(file, &limits)?) } else { None };
    let start = std::time::Instant::now();
    let (store, built) = Store::build(catalogue.clone(), template, embedder, old.as_ref())?;
    println!("{} documents embedded, {} cut, in {:.1?}", built.embedded, built.truncated, start.elapsed());
    store.write(file)?;
    Ok(store)
}

fn queries(request: &Request, catalogue: &Catalogue, arguments: &[String]) -> Vec<String> {
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--ceiling") {
        let needed = request.relevant.iter().flatten().filter_map(|id| catalogue.index_of(id));
        return needed.map(|tool| Template::Description.document(&catalogue.tools()[tool])).collect();
    }
    let place = match (has("--first"), has("--nowhere")) {
        (true, _) => Utterance::First,
        (_, true) => Utterance::Nowhere,
        _ => Utterance::Last,
    };
    let parts = if has("--split") { sentences(&request.query) } else { Vec::new() };
    place.among(&parts, &request.query)
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.iter().find_map(|argument| argument.strip_prefix(name));
    let folder = arguments.first().ok_or("a folder is needed")?;
    let pairs: Vec<(&str, Vec<&str>)> = arguments
        .iter()
        .filter(|argument| !argument.starts_with("--"))
        .filter_map(|argument| argument.split_once('='))
        .map(|(member, values)| (member, values.split(',').collect()))
        .collect();
    let limits = Limits::default();
    let catalogue = Catalogue::from_json_lines(&lines(folder, "tools.jsonl", &pairs)?, &limits)?;
    let requests = Request::from_json_lines(&lines(folder, "queries.jsonl", &pairs)?, &limits)?;
    let description = arguments.iter().any(|argument| argument == "--description");
    let template = if description { Template::Description } else { Template::Full };
    let mut retriever = Retriever::new(&catalogue.documents(template));
    let mut options = RetrievalOptions::default();
    let mut embedder = None;
    for (name, ranker) in [("--dense=", Ranker::Dense), ("--hybrid=", Ranker::Hybrid)] {
        if let Some(file) = value(name) {
            let folder = EmbedderFolder::open(Path::new(".models/minilm"), &limits)?;
            let one_thread = EmbedderOptions { threads: 1, ..EmbedderOptions::default() };
            let model = embedder.insert(OrtEmbedder::load(&folder, &one_thread)?);
            let vectors = store(Path::new(file), &catalogue, template, model)?.vectors().clone();
            retriever = retriever.with_vectors(vectors)?;
            options.ranker = ranker;
        }
    }
    let mut columns: [Vec<f64>; 6] = Default::default();
    for request in &requests {
        let model = embedder.as_mut().map(|model| model as &mut dyn Embedder);
        let found = retriever.retrieve(&queries(request, &catalogue, &arguments), model, &options)?;
        let judged = Judged::new(&found.ranking(), &request.relevance(&catalogue)?, options.k)?;
        let [r3, r5, r11] = [3, 5, 11].map(|x| judged.recall_at(x));
        let complete = f64::from(u8::from(judged.is_complete()));
        let row = [judged.mmrr(), judged.map(), r3, r5, r11, complete];
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    println!("{} tools, {} requests, k = {}", catalogue.tools().len(), requests.len(), options.k);
    for (name, column) in ["MMRR", "MAP", "R@3", "R@5", "R@11", "complete"].iter().zip(&columns) {
        let Some(interval) = bootstrap(column, 1) else { continue };
        println!("{name:<8} {:.4}  [{:.4}, {:.4}]", interval.mean, interval.low, interval.high);
    }
    Ok(())
}
