//! Data to train a model that writes queries: drafts with their rewards, and the selected ones.
//!
//! The files are JSON lines in the form of the trainers of the library TRL. An interrupted run can be continued: drafts
//! are identified by request, iteration and number, seeds are derived from these, and the leading requests with all of
//! their drafts are not drawn again.

use super::drafts::{Draft, Selected, Selection, preferences, select};
use super::errors;
use grammata::error::{Error, Result};
use grammata::limits::{LimitKind, Limits};
use grammata_base::files;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bins of the histogram of rewards, over 0 to 1.
const BINS: usize = 10;

/// The form of prompts for a trainer: one text, or messages for a chat template.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptForm {
    /// Instruction and rest as one text.
    Text,
    /// A system message and the user's.
    Chat,
}

/// A request to draw drafts for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainingRequest {
    /// Id of the request.
    pub id: String,
    /// The instruction of its prompt.
    pub instruction: String,
    /// The rest of its prompt.
    pub rest: String,
    /// The ids of the tools that it needs.
    pub relevant: Vec<String>,
    /// The target of fine-tuning on descriptions: those of the needed tools, one a line.
    pub target: String,
}

/// A draft as stored: a line of `drafts.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DraftRecord {
    /// Id of the request.
    pub id: String,
    /// Number of the round of drawing and training, from 1.
    pub iteration: usize,
    /// Number of the draft among those of its request, from 0.
    pub draft: usize,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The text.
    pub completion: String,
    /// The queries in it.
    pub queries: Vec<String>,
    /// Number of its tokens.
    pub tokens: usize,
    /// Its log-probability, to four decimals.
    pub logprob: Option<f64>,
    /// MMRR of what retrieval finds with the draft.
    pub reward: f64,
    /// Share of the needed tools that retrieval finds.
    pub recall: f64,
    /// Number of needed tools that retrieval finds.
    pub hits: usize,
    /// The ids of the retrieved tools, best first.
    pub ranking: Vec<String>,
}

grammata_base::options! {
    /// Settings for drawing and selecting drafts.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct TrainingOptions {
        /// Number of the round of drawing and training, from 1.
        pub iteration: usize = 1,
        /// Number of drafts per request: 24 by default, as in the paper.
        pub drafts: usize = 24,
        /// The conditions for keeping a draft.
        pub selection: Selection,
        /// The least difference of rewards in a preference: 0.1 by default.
        pub margin: f64 = 0.1,
        /// The seed from which the seeds of all drafts are derived.
        pub seed: u64,
        /// The form of prompts.
        pub prompts: PromptForm = PromptForm::Text,
    }
}

/// Counts and means of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingSummary {
    /// Number of requests.
    pub requests: usize,
    /// Number of requests whose drafts were drawn in this run. Those of the others existed.
    pub drawn: usize,
    /// The kept drafts, and counts of the others by reason.
    pub selected: Selected,
    /// Number of preferences between drafts.
    pub preferences: usize,
    /// Mean reward of all drafts, and of the best draft of each request.
    pub mean_reward: (f64, f64),
}

/// Returns the seed of a draft: 64 bits of the SHA-256 of the run's seed and of the draft's request, iteration and
/// number.
pub fn draft_seed(seed: u64, id: &str, iteration: usize, draft: usize) -> u64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update((id.len() as u64).to_le_bytes());
    hash.update(id);
    hash.update((iteration as u64).to_le_bytes());
    hash.update((draft as u64).to_le_bytes());
    let bytes: [u8; 32] = hash.finalize().into();
    bytes.first_chunk::<8>().map_or(0, |first| u64::from_le_bytes(*first))
}

/// Draws the drafts of requests and writes `sft.jsonl`, `drafts.jsonl`, `rejection.jsonl`, `preferences.jsonl` and
/// `manifest.json` into a folder. `draw` returns the drafts of a request, one for each seed, in the same order.
/// `settings` is stored in the manifest and describes the model, the retriever and the trainer.
///
/// # Errors
/// A file cannot be read or written, or is larger than `limits.catalogue_bytes`; the folder was begun with other
/// settings or requests; a line of `drafts.jsonl` is not a draft; errors of `draw`. Drafts that were written stay.
pub fn write_training_data(
    folder: &Path,
    requests: &[TrainingRequest],
    options: &TrainingOptions,
    settings: &Value,
    limits: &Limits,
    mut draw: impl FnMut(&TrainingRequest, &[u64]) -> Result<Vec<DraftRecord>>,
) -> Result<TrainingSummary> {
    std::fs::create_dir_all(folder).map_err(|cause| Error::io(folder, &cause))?;
    check_manifest(folder, requests, options, settings, limits)?;
    let mut file = DraftFile::open(&folder.join("drafts.jsonl"), requests, options, limits)?;
    let mut records: Vec<DraftRecord> = Vec::new();
    let mut drawn = 0;
    for (place, request) in requests.iter().enumerate() {
        if let Some(known) = file.known.get(place) {
            records.extend(known.iter().cloned());
            continue;
        }
        let seeds: Vec<u64> = (0..options.drafts)
            .map(|draft| draft_seed(options.seed, &request.id, options.iteration, draft))
            .collect();
        let made = draw(request, &seeds)?;
        file.append(&made)?;
        records.extend(made);
        drawn += 1;
    }
    finish(folder, requests, options, settings, &records, drawn)
}

/// Returns the part of the manifest that must be the same in all parts of a run.
fn head(requests: &[TrainingRequest], options: &TrainingOptions, settings: &Value) -> Value {
    let mut hash = Sha256::new();
    for request in requests {
        for text in [&request.id, &request.instruction, &request.rest] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    let requests_hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let Selection { drafts, least_reward, least_hits, percent } = options.selection;
    json!({
        "iteration": options.iteration,
        "requests": requests.len(),
        "requests_sha256": requests_hash,
        "drafts": options.drafts,
        "seed": options.seed,
        "n_draft": drafts,
        "r_min": least_reward,
        "min_hits": least_hits,
        "p_top": percent,
        "preference_margin": options.margin,
        "settings": settings,
    })
}

/// Writes the head of the manifest into a new folder. Refuses a folder that another run began.
fn check_manifest(
    folder: &Path,
    requests: &[TrainingRequest],
    options: &TrainingOptions,
    settings: &Value,
    limits: &Limits,
) -> Result<()> {
    let path = folder.join("manifest.json");
    let head = head(requests, options, settings);
    let Some(text) = read_if_there(&path, limits)? else { return write(&path, &pretty(&head)) };
    let found: Value = serde_json::from_str(&text).unwrap_or_default();
    let agrees = |(name, value): (&String, &Value)| found.get(name) == Some(value);
    match head.as_object().is_some_and(|head| head.iter().all(agrees)) {
        true => Ok(()),
        false => Err(errors::other_run(&path)),
    }
}

/// The file `drafts.jsonl`. Opening it keeps the drafts of the leading requests that have all of them, and cuts off the
/// rest.
struct DraftFile {
    path: PathBuf,
    file: File,
    /// For each leading request with all drafts in the file, these drafts.
    known: Vec<Vec<DraftRecord>>,
}

impl DraftFile {
    fn open(
        path: &Path,
        requests: &[TrainingRequest],
        options: &TrainingOptions,
        limits: &Limits,
    ) -> Result<DraftFile> {
        let text = read_if_there(path, limits)?.unwrap_or_default();
        let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let (mut known, mut whole) = (Vec::new(), 0);
        'requests: for request in requests {
            let (mut drafts, mut length) = (Vec::new(), 0);
            for draft in 0..options.drafts {
                let Some(line) = lines.next() else { break 'requests };
                let record: DraftRecord =
                    serde_json::from_str(line).map_err(|cause| errors::draft_line(path, &cause))?;
                let is_next =
                    record.id == request.id && record.iteration == options.iteration && record.draft == draft;
                if !is_next {
                    return Err(errors::other_run(path));
                }
                length += line.len();
                drafts.push(record);
            }
            whole += length;
            known.push(drafts);
        }
        let io = |cause: std::io::Error| Error::io(path, &cause);
        let mut file = files::open_to_resume(path)?;
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(io)?;
        Ok(DraftFile { path: path.to_owned(), file, known })
    }

    fn append(&mut self, drafts: &[DraftRecord]) -> Result<()> {
        let text = json_lines(drafts.iter().map(|draft| json!(draft)));
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush());
        written.map_err(|cause| Error::io(&self.path, &cause))
    }
}

fn finish(
    folder: &Path,
    requests: &[TrainingRequest],
    options: &TrainingOptions,
    settings: &Value,
    records: &[DraftRecord],
    drawn: usize,
) -> Result<TrainingSummary> {
    let places: HashMap<&str, usize> = (0..).zip(requests).map(|(place, r)| (r.id.as_str(), place)).collect();
    let drafts: Vec<Draft> = records
        .iter()
        .map(|record| Draft {
            request: places.get(record.id.as_str()).copied().unwrap_or_default(),
            number: record.draft,
            completion: record.completion.clone(),
            tokens: record.tokens,
            reward: record.reward,
            hits: record.hits,
        })
        .collect();
    let selected = select(&drafts, &options.selection);
    let preferred = preferences(&drafts, options.margin);
    let prompt = |record: &DraftRecord| places.get(record.id.as_str()).and_then(|&place| requests.get(place));
    let form = &options.prompts;
    let kept = selected.kept.iter().filter_map(|&index| records.get(index)).filter_map(|record| {
        Some(json!({ "id": record.id, "prompt": form.prompt(prompt(record)?),
                     "completion": form.completion(&record.completion), "reward": record.reward,
                     "iteration": record.iteration }))
    });
    write(&folder.join("rejection.jsonl"), &json_lines(kept))?;
    let pairs = preferred.iter().filter_map(|pair| {
        let (chosen, rejected) = (records.get(pair.chosen)?, records.get(pair.rejected)?);
        Some(json!({ "id": chosen.id, "prompt": form.prompt(prompt(chosen)?),
                     "chosen": form.completion(&chosen.completion),
                     "rejected": form.completion(&rejected.completion),
                     "reward_chosen": chosen.reward, "reward_rejected": rejected.reward }))
    });
    write(&folder.join("preferences.jsonl"), &json_lines(pairs))?;
    let sft = requests.iter().map(|request| {
        json!({ "id": request.id, "prompt": form.prompt(request), "completion": form.completion(&request.target),
                "relevant": request.relevant })
    });
    write(&folder.join("sft.jsonl"), &json_lines(sft))?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let rewards: Vec<f64> = records.iter().map(|record| record.reward).collect();
    let best: Vec<f64> = requests
        .iter()
        .map(|request| {
            let own = records.iter().filter(|record| record.id == request.id);
            own.map(|record| record.reward).fold(0.0, f64::max)
        })
        .collect();
    let summary = TrainingSummary {
        requests: requests.len(),
        drawn,
        preferences: preferred.len(),
        mean_reward: (mean(&rewards), mean(&best)),
        selected,
    };
    let mut manifest = head(requests, options, settings);
    manifest["counts"] = json!({
        "drafts": records.len(),
        "kept": summary.selected.kept.len(),
        "not_best": summary.selected.not_best,
        "outside_p_top": summary.selected.outside_percentage,
        "below_r_min": summary.selected.below_reward,
        "below_min_hits": summary.selected.below_hits,
        "preferences": summary.preferences,
    });
    manifest["rewards"] = json!({ "mean": summary.mean_reward.0, "mean_of_best": summary.mean_reward.1,
                                  "histogram": histogram(&rewards) });
    write(&folder.join("manifest.json"), &pretty(&manifest))?;
    Ok(summary)
}

impl PromptForm {
    fn prompt(&self, request: &TrainingRequest) -> Value {
        match self {
            PromptForm::Text => json!(format!("{}\n{}", request.instruction, request.rest)),
            PromptForm::Chat => json!([
                { "role": "system", "content": request.instruction },
                { "role": "user", "content": request.rest },
            ]),
        }
    }

    fn completion(&self, text: &str) -> Value {
        match self {
            PromptForm::Text => json!(text),
            PromptForm::Chat => json!([{ "role": "assistant", "content": text }]),
        }
    }
}

/// Counts the rewards in each of ten equal parts of 0 to 1. 1 is in the last part.
fn histogram(rewards: &[f64]) -> [usize; BINS] {
    let mut bins = [0; BINS];
    for reward in rewards {
        let bin = ((reward * BINS as f64) as usize).min(BINS - 1);
        if let Some(count) = bins.get_mut(bin) {
            *count += 1;
        }
    }
    bins
}

fn json_lines(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| format!("{value}\n")).collect()
}

fn pretty(value: &Value) -> String {
    // serialising a value cannot fail
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|cause| Error::io(path, &cause))
}

/// Returns the text of a file; `None` if it does not exist.
fn read_if_there(path: &Path, limits: &Limits) -> Result<Option<String>> {
    // a dangling link is an error, not a missing file
    if path.symlink_metadata().is_err_and(|cause| cause.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let too_large = |found: u64| {
        let found = format!("{found} bytes or more");
        Limits::exceeded(LimitKind::CatalogueBytes, limits.catalogue_bytes, found)
    };
    let bytes = files::read(path, limits.catalogue_bytes, too_large)?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
