//! A language model in an ONNX file.

use super::cache::{Block, Cache, Copier, Joined, Reuse, Row, join};
use super::chooser::Chooser;
use super::copied::{self, Copied, Counts};
use super::copier::GraphCopier;
use super::errors;
use super::logits::{KeptLogits, OnDevice};
use super::session::{Device, Loaded, host_memory, load};
use super::signature::{KEEP, LogitsPositions, ModelSignature};
use crate::logits::Logits;
use crate::model::{Feed, Model, Rows, check_batch, check_truncate};
use crate::sequences::{SequenceId, Sequences};
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use ort::memory::{Allocator, MemoryInfo};
use ort::session::{IoBinding, Session};
use ort::value::{DynTensor, DynValue, Tensor};
use std::path::Path;
use std::sync::{Arc, Mutex};

grammata_base::options! {
    /// Settings of a model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct ModelOptions {
        /// Number of threads of one operator; 0 (the default) uses one per core.
        pub threads: usize,
        /// The device that runs the model; the CPU by default.
        pub device: Device = Device::Cpu,
        /// The context length of the model in tokens, as [`ModelFolder`](crate::ModelFolder) reads it. `None` (the
        /// default) if it is not known: a sequence that is too long is then not refused before the model runs.
        pub context_length: Option<usize>,
        /// The most sequences that one run of the model computes; 0 counts as 1, and with 1 sequences are computed one
        /// after the other. 32 by default. The memory of a run grows with this number.
        pub max_batch: usize = 32,
        /// Whether logits stay in the memory of the device, as [`Logits::Device`], and tokens are chosen there. The
        /// logits of all computed positions of a feed then stay there, not only those of the requested rows. `None`,
        /// the default, means true on a device other than the CPU and false on the CPU. With `Some(true)`, the CPU runs
        /// the same graphs as a device, also to copy caches, which is slower. With `Some(false)`, another device copies
        /// logits to the host, but still holds and copies the caches.
        pub on_device: Option<bool>,
    }
}

/// A language model in an ONNX file.
///
/// Caches stay on the device, and forks share them. If the model's first dimension is free, up to
/// [`ModelOptions::max_batch`] sequences of one batch that are fed equally many tokens are computed in one run; other
/// sequences are computed one after the other. Sequences with and without a cache do not share a run. In a run, shorter
/// caches begin with masked positions, if a trial shows that the model computes the same after them (with
/// `GroupQueryAttention` it does not); otherwise only caches of equal length are computed together, and several tokens
/// after a cache are fed to one sequence at a time. If the trial succeeds, sequences with a cache that are fed up to 16
/// tokens each may also share a run on a device other than the CPU or with [`ModelOptions::on_device`], with masked
/// positions before the tokens of shorter feeds. A model that returns the logits of the last position only is run up to
/// each requested position in turn, and then to the end of the feed. The logits of one run may differ from those of
/// separate runs in the last digits, and in more digits with kernels of 4-bit weights; [`ModelOptions::max_batch`] 1
/// keeps runs separate.
///
/// After a truncation or a change of the batch, the next run may copy the caches first, on their device.
#[derive(Debug)]
pub struct OrtModel {
    session: Session,
    binding: IoBinding,
    signature: ModelSignature,
    past_names: Vec<String>,
    present_names: Vec<String>,
    options: ModelOptions,
    cache_memory: MemoryInfo<'static>,
    copier: Copier,
    logits_memory: MemoryInfo<'static>,
    /// chooses from logits that stay on the device
    on_device: Option<OnDevice>,
    counts: Arc<Counts>,
    notices: Vec<Diagnostic>,
    sequences: Sequences<Sequence>,
    empty: Cache,
    logits: KeptLogits,
    /// whether the model computes the same after masked positions; `None` before the first batch that needs to know
    pads: Option<bool>,
}

#[derive(Clone, Debug)]
struct Sequence {
    tokens: Vec<u32>,
    cache: Cache,
}

/// Consecutive tokens of one feed, and the requested rows that they yield: (index in the answer, index among the
/// tokens).
struct Piece<'a> {
    sequence: SequenceId,
    tokens: &'a [u32],
    wanted: Vec<(usize, usize)>,
}

/// Splits a batch into rounds. The pieces of one round belong to different sequences and can be computed independently.
/// A feed is one piece, unless the model returns the logits of the last position only: then a piece ends at each
/// requested position and at the last token.
fn rounds<'a>(batch: &[Feed<'a>], logits: LogitsPositions) -> Vec<Vec<Piece<'a>>> {
    let mut rounds: Vec<Vec<Piece<'a>>> = Vec::new();
    let mut answer = 0;
    for &Feed { sequence, tokens, rows } in batch {
        let places: Vec<usize> = rows.places(tokens.len()).collect();
        let inner = places.iter().filter(|_| logits == LogitsPositions::Last).map(|place| place + 1);
        let mut ends: Vec<usize> = inner.chain([tokens.len()]).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut start = 0;
        for (round, end) in ends.into_iter().enumerate() {
            let inside = places.iter().enumerate().filter(|(_, place)| (start..end).contains(place));
            let wanted = inside.map(|(row, place)| (answer + row, place - start)).collect();
            let piece = Piece { sequence, tokens: tokens.get(start..end).unwrap_or_default(), wanted };
            match rounds.get_mut(round) {
                Some(pieces) => pieces.push(piece),
                None => rounds.push(vec![piece]),
            }
            start = end;
        }
        answer += places.len();
    }
    rounds
}

/// The work of one run: the indices of its pieces in the round.
struct Group {
    pieces: Vec<usize>,
    /// length of the cache of each piece, in tokens
    cached: Vec<usize>,
    /// number of tokens of the longest piece
    count: usize,
    /// number of last positions whose logits are requested from the model
    kept: usize,
}

/// The most tokens that a run feeds to one sequence if it feeds others fewer.
const MOST_FILLED: usize = 16;

impl OrtModel {
    /// Loads the model at `path`.
    ///
    /// # Errors
    /// ONNX Runtime is missing (`decode/ort-missing`) or cannot be used (`decode/ort-unusable`); the file cannot be
    /// opened (`io/file`), is not a regular file (`io/no-file`), or is not a model (`decode/model-file`); its inputs
    /// and outputs are not those of [`ModelSignature`] (`decode/model-signature`); or memory cannot be allocated
    /// (`decode/model-run`).
    pub fn load(path: &Path, options: &ModelOptions) -> Result<OrtModel> {
        let Loaded { session, runtime, notices } = load(path, options.device, options.threads)?;
        let signature = ModelSignature::of(&session)?;
        let device = runtime.device;
        let elsewhere = device != Device::Cpu;
        let counts = Arc::new(Counts::default());
        let (mut on_device, mut logits_memory) = (None, host_memory()?);
        if options.on_device.unwrap_or(elsewhere) {
            let (vocabulary, half) = (signature.vocabulary, signature.half_logits);
            let chooser = Chooser::new(runtime.clone(), vocabulary, half, Arc::clone(&counts));
            let chooser = Arc::new(Mutex::new(chooser));
            on_device = Some(OnDevice { device, chooser, counts: Arc::clone(&counts) });
            logits_memory = runtime.memory()?;
        }
        let copier = if elsewhere || on_device.is_some() {
            Copier::Device(GraphCopier::new(runtime.clone())?)
        } else {
            // a session reuses its memory; fresh memory from the system costs more than the copy
            Copier::Host(Allocator::new(&session, runtime.memory()?).map_err(errors::run)?)
        };
        let empty = Arc::new(Block::empty(1, &signature.cache).map_err(errors::run)?);
        Ok(OrtModel {
            binding: session.create_binding().map_err(errors::run)?,
            past_names: signature.past_names(),
            present_names: signature.present_names(),
            options: ModelOptions { device, ..*options },
            cache_memory: runtime.memory()?,
            copier,
            logits_memory,
            on_device,
            counts,
            notices,
            sequences: Sequences::new(),
            empty: Cache::of(&empty, 0),
            logits: KeptLogits::new(0, 0, false, None),
            pads: None,
            session,
            signature,
        })
    }

    /// Returns the numbers of bytes that passed between the host and the device so far. On the CPU without
    /// [`on_device`](ModelOptions::on_device), logits are not copied and not counted.
    pub fn copied(&self) -> Copied {
        self.counts.read()
    }

    /// Returns the checked inputs and outputs of the model.
    pub fn signature(&self) -> &ModelSignature {
        &self.signature
    }

    /// Returns the device that runs the model. It is the CPU if the requested device could not be used.
    pub fn device(&self) -> Device {
        self.options.device
    }

    /// Returns notices from loading the model, for instance that CUDA could not be used.
    pub fn notices(&self) -> &[Diagnostic] {
        &self.notices
    }

    /// Returns whether sequences are computed the same after masked positions. This is tried with two short sequences.
    /// False without a trial if the model or `max_batch` does not permit several sequences in one run, or if the model
    /// has no input for positions. False as well if a run of the trial fails.
    fn can_pad(&mut self) -> bool {
        if !self.signature.any_batch || !self.signature.position_ids || self.options.max_batch < 2 {
            return false;
        }
        let [first, next] = [1, 2].map(|number| (number % self.signature.vocabulary) as u32);
        let mut trial = |pads: bool| -> Result<Vec<f32>> {
            self.pads = Some(pads);
            let ids = [self.open()?, self.open()?];
            let mut run = || -> Result<Vec<f32>> {
                for (&sequence, tokens) in ids.iter().zip([&[first][..], &[first, next, first]]) {
                    self.feed(&[Feed { sequence, tokens, rows: Rows::None }])?;
                }
                let mut found = Vec::new();
                for texts in [[&[next][..], &[first, next]], [&[first][..], &[next]]] {
                    let feeds = ids.into_iter().zip(texts);
                    let feeds = feeds.map(|(sequence, tokens)| Feed { sequence, tokens, rows: Rows::Last });
                    let (logits, mut row) = (self.feed(&feeds.collect::<Vec<_>>())?, Vec::new());
                    for number in 0..ids.len() {
                        found.extend_from_slice(logits.row(number, &mut row)?);
                    }
                }
                Ok(found)
            };
            let found = run();
            ids.into_iter().for_each(|id| self.close(id));
            found
        };
        // a model that fails on padded caches cannot use them
        matches!((trial(false), trial(true)), (Ok(alone), Ok(padded)) if are_alike(&alone, &padded))
    }

    /// Creates the object that will hold the logits that a batch requests.
    fn room(&self, batch: &[Feed<'_>]) -> KeptLogits {
        let rows = batch.iter().map(|feed| feed.rows.places(feed.tokens.len()).count()).sum();
        KeptLogits::new(rows, self.signature.vocabulary, self.signature.half_logits, self.on_device.clone())
    }

    /// Groups the pieces of a round into runs: each group can be computed in one run.
    fn groups(&self, round: &[Piece<'_>]) -> Result<Vec<Group>> {
        let most = if self.signature.any_batch { self.options.max_batch.max(1) } else { 1 };
        let (pads, fills) = (self.pads == Some(true), self.fills());
        let mut groups: Vec<Group> = Vec::new();
        for (index, piece) in round.iter().enumerate() {
            let cached = self.sequences.get(piece.sequence)?.cache.length();
            let count = piece.tokens.len();
            let first = piece.wanted.iter().map(|&(_, place)| place).min();
            let kept = match self.signature.logits {
                LogitsPositions::All => count,
                LogitsPositions::Last => 1,
                LogitsPositions::Kept => first.map_or(1, |first| count - first),
            };
            // ONNX Runtime's GroupQueryAttention on the CPU refuses several sequences of several tokens after a cache
            let joins = cached == 0 || count == 1 || pads;
            let fits = |g: &&mut Group| {
                let caches =
                    g.cached.first() == Some(&cached) || pads && cached > 0 && g.cached.first() > Some(&0);
                let counts = g.count == count || fills && cached > 0 && count.max(g.count) <= MOST_FILLED;
                joins && caches && counts && g.pieces.len() < most
            };
            match groups.iter_mut().find(fits) {
                Some(group) => {
                    group.pieces.push(index);
                    group.cached.push(cached);
                    group.count = group.count.max(count);
                    group.kept = group.kept.max(kept);
                }
                None => groups.push(Group { pieces: vec![index], cached: vec![cached], count, kept }),
            }
        }
        Ok(groups)
    }

    /// Returns whether a run may feed some sequences fewer tokens, after masked filler tokens. A device computes
    /// fillers at almost no cost; on the CPU they would cost as much as tokens.
    fn fills(&self) -> bool {
        self.pads == Some(true) && matches!(self.copier, Copier::Device(_))
    }

    /// Runs the model on all pieces of a round, stores the requested logits in `logits`, and extends the sequences.
    fn run_round(&mut self, round: &[Piece<'_>], logits: &mut KeptLogits) -> Result<()> {
        for group in self.groups(round)? {
            let pieces: Vec<&Piece<'_>> = group.pieces.iter().filter_map(|&index| round.get(index)).collect();
            let (tensor, Joined { block, rows }) = self.run(&pieces, &group)?;
            let mut wanted = Vec::new();
            for (row, piece) in rows.iter().zip(&pieces) {
                for &(answer, place) in &piece.wanted {
                    let position = (group.kept + place).checked_sub(piece.tokens.len());
                    let position = position.ok_or_else(|| errors::few_logits(group.kept))?;
                    wanted.push((answer, row * group.kept + position));
                }
            }
            logits.push(tensor, &wanted).map_err(errors::run)?;
            for (&row, piece) in rows.iter().zip(&pieces) {
                let sequence = self.sequences.get_mut(piece.sequence)?;
                sequence.tokens.extend_from_slice(piece.tokens);
                sequence.cache = Cache::of(&block, row);
            }
        }
        Ok(())
    }

    /// Runs the model on one group. Returns the logits, the block of caches after the run, and the row of each piece in
    /// both.
    fn run(&mut self, pieces: &[&Piece<'_>], group: &Group) -> Result<(DynTensor, Joined)> {
        let caches = pieces.iter().map(|piece| Ok(&self.sequences.get(piece.sequence)?.cache));
        let caches: Vec<&Cache> = caches.collect::<Result<_>>()?;
        let most = self.options.context_length.map_or(usize::MAX, |limit| limit.saturating_sub(group.count));
        let reuse = Reuse { gaps: self.fills(), most };
        let Joined { block: past, rows } = join(&caches, &self.signature.cache, reuse, &mut self.copier)?;
        let total = past.length() + group.count;
        let mut held = past.rows().to_vec();
        for (&row, piece) in rows.iter().zip(pieces) {
            if let Some(row) = held.get_mut(row) {
                *row = row.and(total - piece.tokens.len()..total);
            }
        }
        let outputs = self.bind_and_run(pieces, &rows, &held, &past, group).map_err(errors::run);
        // otherwise the binding would keep the caches before this run in memory until the next run
        self.binding.clear();
        let (logits, present) = outputs?;
        self.check(&logits, &present, group.kept, held.len(), total)?;
        let logits = logits.downcast().map_err(errors::run)?;
        Ok((logits, Joined { block: Arc::new(Block::new(total, held, present)), rows }))
    }

    /// Binds inputs and outputs and runs the model. `rows` are the rows of the pieces in `past`, and `held` are the
    /// used positions of each row after the run. Returns the logits and the caches.
    fn bind_and_run(
        &mut self,
        pieces: &[&Piece<'_>],
        rows: &[usize],
        held: &[Row],
        past: &Block,
        group: &Group,
    ) -> ort::Result<(DynValue, Vec<DynValue>)> {
        let (height, count, total) = (held.len(), group.count, past.length() + group.count);
        let wide = if self.signature.position_ids { 2 } else { 1 };
        copied::count(&self.counts.tokens, height * (count * wide + total) * size_of::<i64>());
        // rows without a piece, and positions before the tokens of a piece, are masked, so their values do not matter
        let (mut tokens, mut positions) = (vec![0_i64; height * count], vec![0_i64; height * count]);
        for ((&row, piece), &cached) in rows.iter().zip(pieces).zip(&group.cached) {
            let first = (row + 1) * count - piece.tokens.len();
            let places = tokens.iter_mut().zip(&mut positions).skip(first);
            for (number, ((token, position), &fed)) in places.zip(piece.tokens).enumerate() {
                (*token, *position) = (i64::from(fed), (cached + number) as i64);
            }
        }
        let mut mask = vec![0_i64; height * total];
        held.iter().zip(mask.chunks_mut(total.max(1))).for_each(|(row, mask)| row.mark(mask));
        let binding = &mut self.binding;
        binding.bind_input("input_ids", &Tensor::from_array(([height, count], tokens))?)?;
        binding.bind_input("attention_mask", &Tensor::from_array(([height, total], mask))?)?;
        if self.signature.position_ids {
            binding.bind_input("position_ids", &Tensor::from_array(([height, count], positions))?)?;
        }
        if self.signature.logits == LogitsPositions::Kept {
            let shape: [usize; 0] = [];
            binding.bind_input(KEEP, &Tensor::from_array((shape, vec![group.kept as i64]))?)?;
        }
        for (name, value) in self.past_names.iter().zip(&past.values) {
            binding.bind_input(name, value)?;
        }
        // outputs are bound for each run, because their shapes grow
        binding.bind_output_to_device("logits", &self.logits_memory)?;
        for name in &self.present_names {
            binding.bind_output_to_device(name, &self.cache_memory)?;
        }
        let mut outputs = self.session.run_binding(binding)?;
        let mut take = |name: &str| {
            outputs.remove(name).ok_or_else(|| ort::Error::new(format!("the model gave no output `{name}`")))
        };
        let logits = take("logits")?;
        let present = self.present_names.iter().map(|name| take(name)).collect::<ort::Result<_>>()?;
        Ok((logits, present))
    }

    /// Checks the shapes of the outputs of a run, because a model may return other shapes than it declares.
    fn check(
        &self,
        logits: &DynValue,
        present: &[DynValue],
        kept: usize,
        rows: usize,
        total: usize,
    ) -> Result<()> {
        let (rows, total) = (rows as i64, total as i64);
        let shape = shape_of(logits);
        if shape != [rows, kept as i64, self.signature.vocabulary as i64] {
            return Err(errors::signature("the model gave logits of another shape", format!("{shape:?}")));
        }
        for ((value, expected), name) in present.iter().zip(&self.signature.cache).zip(&self.present_names) {
            let shape = shape_of(value);
            if shape != [rows, expected.heads as i64, total, expected.size as i64] {
                return Err(errors::signature(
                    format!("the model gave `{name}` of another shape"),
                    format!("{shape:?}"),
                ));
            }
        }
        Ok(())
    }
}

impl Model for OrtModel {
    fn vocabulary_size(&self) -> usize {
        self.signature.vocabulary
    }

    fn context_length(&self) -> Option<usize> {
        self.options.context_length
    }

    fn open(&mut self) -> Result<SequenceId> {
        Ok(self.sequences.open(Sequence { tokens: Vec::new(), cache: self.empty.clone() }))
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.sequences.fork(sequence)
    }

    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        check_truncate(self, sequence, length)?;
        let sequence = self.sequences.get_mut(sequence)?;
        sequence.tokens.truncate(length);
        sequence.cache.truncate(length);
        if length == 0 {
            sequence.cache = self.empty.clone();
        }
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.close(sequence);
    }

    fn length(&self, sequence: SequenceId) -> Result<usize> {
        Ok(self.sequences.get(sequence)?.tokens.len())
    }

    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        check_batch(self, batch)?;
        if self.pads.is_none() && batch.len() > 1 {
            let lengths = batch.iter().map(|feed| self.length(feed.sequence));
            let lengths: Vec<usize> = lengths.collect::<Result<_>>()?;
            if lengths.iter().any(|&length| length > 0 && Some(&length) != lengths.first()) {
                self.pads = Some(self.can_pad());
            }
        }
        let mut logits = self.room(batch);
        // frees the logits of the last batch before those of this one are created
        self.logits = KeptLogits::new(0, 0, false, None);
        let sequence = |feed: &Feed<'_>| Ok((feed.sequence, self.sequences.get(feed.sequence)?.clone()));
        let before: Vec<(SequenceId, Sequence)> = batch.iter().map(sequence).collect::<Result<_>>()?;
        for round in rounds(batch, self.signature.logits) {
            if let Err(error) = self.run_round(&round, &mut logits) {
                for (id, sequence) in before {
                    *self.sequences.get_mut(id)? = sequence;
                }
                return Err(error);
            }
        }
        self.logits = logits;
        self.logits.view()
    }
}

fn shape_of(value: &DynValue) -> &[i64] {
    value.dtype().tensor_shape().map_or(&[], |shape| &shape[..])
}

/// Returns whether two series of equal length differ little compared with the spread of `a`: the sum of the squared
/// differences is at most 1 % of the sum of the squared deviations of `a` from its mean. Different arithmetic causes
/// smaller differences, a different text greater ones.
fn are_alike(a: &[f32], b: &[f32]) -> bool {
    let count = a.len().max(1) as f64;
    let mean = a.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
    let spread: f64 = a.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum();
    let differences: f64 = a.iter().zip(b).map(|(&x, &y)| (f64::from(x) - f64::from(y)).powi(2)).sum();
    a.len() == b.len() && differences <= spread * 1e-2
}
