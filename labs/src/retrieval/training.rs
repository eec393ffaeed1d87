//! Data to train a model that writes queries: drafts with their rewards, and what is kept of them.
//!
//! The files are JSON lines in the form that the trainers of the library TRL read. A folder can be written again after an
//! interruption: drafts are named by request, iteration and number, their seeds are derived from these names, and requests
//! whose drafts are all there are not drawn again.

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

/// A prompt as a trainer reads it: one text, or messages for a chat template.
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
    /// Its id.
    pub id: String,
    /// The instruction of its prompt.
    pub instruction: String,
    /// The rest of its prompt.
    pub rest: String,
    /// The ids of the tools that it needs.
    pub relevant: Vec<String>,
    /// What a model that is fine-tuned on descriptions should write: those of the needed tools, one a line.
    pub target: String,
}

/// A draft as it is kept: a line of `drafts.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DraftRecord {
    /// The request.
    pub id: String,
    /// Number of the round of drawing and training, from 1.
    pub iteration: usize,
    /// Number of the draft among those of its request, from 0.
    pub draft: usize,
    /// The seed that it was drawn with.
    pub seed: u64,
    /// The text.
    pub completion: String,
    /// The queries in it.
    pub queries: Vec<String>,
    /// Number of its tokens.
    pub tokens: usize,
    /// Its log-probability, to four decimals.
    pub logprob: Option<f64>,
    /// MMRR of what is retrieved with it.
    pub reward: f64,
    /// Share of the needed tools that is retrieved.
    pub recall: f64,
    /// Number of needed tools that are retrieved.
    pub hits: usize,
    /// The ids of what is retrieved, best first.
    pub ranking: Vec<String>,
}

/// How drafts are drawn and selected.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TrainingOptions {
    /// Number of the round of drawing and training, from 1.
    pub iteration: usize,
    /// Drafts of a request: 24 by default, as in the paper.
    pub drafts: usize,
    /// Which drafts are kept.
    pub selection: Selection,
    /// The least difference of rewards of a preference: 0.1 by default.
    pub margin: f64,
    /// Seed that the seeds of all drafts are derived from.
    pub seed: u64,
    /// The form of prompts.
    pub prompts: PromptForm,
}

impl Default for TrainingOptions {
    fn default() -> TrainingOptions {
        TrainingOptions {
            iteration: 1,
            drafts: 24,
            selection: Selection::default(),
            margin: 0.1,
            seed: 0,
            prompts: PromptForm::Text,
        }
    }
}

grammata_base::setters!(TrainingOptions {
    iteration: usize,
    drafts: usize,
    selection: Selection,
    margin: f64,
    seed: u64,
    prompts: PromptForm,
});

/// What was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingSummary {
    /// Requests.
    pub requests: usize,
    /// Requests whose drafts were drawn now; those of the others were there.
    pub drawn: usize,
    /// What the selection kept, and why not the others.
    pub selected: Selected,
    /// Preferences between drafts.
    pub preferences: usize,
    /// Mean reward of all drafts, and of the best draft of each request.
    pub mean_reward: (f64, f64),
}

/// The seed of a draft: 64 bits of the SHA-256 of its name.
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
/// `manifest.json` into a folder. `draw` gives the drafts of a request, one for each seed, in their order; `settings` is what
/// the manifest says of the model, the retriever and the trainer.
///
/// # Errors
/// A file cannot be read or written; `drafts.jsonl` was begun with other settings; two requests have one id; what `draw`
/// reports. Drafts that were written stay.
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

/// The manifest before drafts are counted: what must agree between the parts of one run.
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

/// Writes the head of the manifest of a new folder; refuses a folder that another run began.
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

/// `drafts.jsonl`, of which the whole drafts of whole requests are kept.
struct DraftFile {
    path: PathBuf,
    file: File,
    /// The drafts of the first requests.
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

/// How many rewards are in each of ten equal parts of 0 to 1; 1 is in the last.
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
    // a value can always be written
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|cause| Error::io(path, &cause))
}

/// The text of a file; None where there is none.
fn read_if_there(path: &Path, limits: &Limits) -> Result<Option<String>> {
    // not a link to nothing, which is an error
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
