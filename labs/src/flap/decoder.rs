//! The decoding loop.

use super::progress::FlapProgress;
use super::score::{FlapOptions, FlapScore, FlapTerms, Incomplete};
use super::segment::{Segment, segment};
use grammata::error::Result;
use grammata_agents::flows::FlowDomain;
use grammata_agents_drive::flows::Similarity;
use grammata_decode::{Detokenizer, Feed, LogSoftmax, Logits, Model, Rows, SequenceId};

/// A plan that the decoder has written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlapPlan {
    /// The text after the prompt.
    pub text: String,
    /// Number of chosen tokens, including the end token if it ended the plan.
    pub tokens: usize,
    /// Number of model runs over one sequence, including that of the prompt.
    pub passes: usize,
    /// Number of batches fed to the model. The look-aheads of one token share theirs.
    pub batches: usize,
    /// Whether the plan ended with the domain's end.
    pub is_finished: bool,
}

/// FLAP's decoder with one hypothesis. Section 3 of the paper does not say whether the look-ahead of a candidate is
/// greedy and what ends a plan. Here it is greedy, and a plan ends after the domain's end, at an end token, where its
/// format can no longer be completed, and at the bounds of [`FlapOptions`].
pub struct FlapDecoder<'a> {
    /// The model.
    pub model: &'a mut dyn Model,
    /// The bytes of tokens.
    pub detokenizer: &'a dyn Detokenizer,
    /// Ids that end a text.
    pub end_tokens: &'a [u32],
    /// The similarity of thoughts, steps, names, descriptions and the query.
    pub similarity: &'a mut dyn Similarity,
    /// The domain.
    pub domain: &'a FlowDomain,
    /// The hyper-parameters.
    pub options: FlapOptions,
}

impl std::fmt::Debug for FlapDecoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlapDecoder").field("options", &self.options).finish_non_exhaustive()
    }
}

/// A candidate token with its look-ahead.
struct Candidate {
    token: u32,
    probability: f64,
    sequence: SequenceId,
    /// The text of the current thought and API, including the look-ahead.
    text: Vec<u8>,
    /// Number of tokens of the look-ahead, including the candidate.
    tokens: usize,
    /// The last token of the look-ahead, which the model was not fed yet.
    last: u32,
    /// The logits after the candidate, once they are computed.
    row: Option<Vec<f32>>,
    is_over: bool,
}

/// The part of the plan that is written.
struct State<'d> {
    progress: FlapProgress<'d>,
    /// The text of the current thought and API, from the line break and `[thought]` before it on.
    open: Vec<u8>,
    calls: usize,
}

impl FlapDecoder<'_> {
    /// Writes a plan for `query` after `prompt`, which ends with `[thought]`.
    ///
    /// # Errors
    /// Errors of the model and the similarity.
    pub fn plan(&mut self, prompt: &[u32], query: &str) -> Result<FlapPlan> {
        let mut opened = vec![self.model.open()?];
        let written = self.write(prompt, query, &mut opened);
        opened.into_iter().for_each(|sequence| self.model.close(sequence));
        written
    }

    fn write(&mut self, prompt: &[u32], query: &str, opened: &mut Vec<SequenceId>) -> Result<FlapPlan> {
        let mut plan = FlapPlan::default();
        let mut bytes = Vec::new();
        let mut state = State { progress: FlapProgress::new(self.domain), open: Vec::new(), calls: 0 };
        let score = FlapScore { options: self.options, query };
        let mut row = self.feed(opened[0], prompt, &mut plan)?;
        while plan.tokens < self.options.max_tokens && state.calls < self.options.max_calls {
            let mut candidates = self.candidates(opened, &row, &state.open)?;
            self.look_ahead(&mut candidates, state.calls, &mut plan)?;
            let mut best: Option<(usize, f64)> = None;
            for (place, candidate) in candidates.iter().enumerate() {
                let heuristic = self.heuristic(&score, &state, candidate)?;
                let found = self.options.score(candidate.probability, heuristic);
                // candidates are in falling order of probability, so the first of equals wins
                if best.is_none_or(|(_, greatest)| found > greatest) {
                    best = Some((place, found));
                }
            }
            let Some((best, _)) = best else { break };
            let Candidate { token, sequence, row: after, .. } = candidates.swap_remove(best);
            plan.tokens += 1;
            if self.end_tokens.contains(&token) {
                break;
            }
            let piece = self.detokenizer.bytes(token);
            bytes.extend_from_slice(piece);
            state.open.extend_from_slice(piece);
            let last = plan.tokens >= self.options.max_tokens;
            if self.advance(&mut state, &mut plan)? || last {
                break;
            }
            let length = self.model.length(opened[0])?;
            row = match after {
                Some(row) => {
                    self.model.truncate(sequence, length + 1)?;
                    row
                }
                None => self.feed(sequence, &[token], &mut plan)?,
            };
            // only the best candidate's sequence is continued
            for other in std::mem::replace(opened, vec![sequence]) {
                if other != sequence {
                    self.model.close(other);
                }
            }
        }
        plan.text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(plan)
    }

    fn feed(&mut self, sequence: SequenceId, tokens: &[u32], plan: &mut FlapPlan) -> Result<Vec<f32>> {
        plan.passes += 1;
        plan.batches += 1;
        let logits = self.model.feed(&[Feed { sequence, tokens, rows: Rows::Last }])?;
        copied(&logits, 0)
    }

    /// Returns the most likely tokens, each with a fork of the first sequence.
    fn candidates(
        &mut self,
        opened: &mut Vec<SequenceId>,
        row: &[f32],
        open: &[u8],
    ) -> Result<Vec<Candidate>> {
        let softmax = LogSoftmax::of(row);
        let mut candidates = Vec::new();
        for token in most_likely(row, self.options.candidates.max(1)) {
            let sequence = self.model.fork(opened[0])?;
            opened.push(sequence);
            let logit = row.get(token as usize).copied().unwrap_or(f32::NEG_INFINITY);
            let text = [open, self.detokenizer.bytes(token)].concat();
            let is_over = self.end_tokens.contains(&token);
            let probability = softmax.at(logit).exp();
            candidates.push(Candidate {
                token,
                probability,
                sequence,
                text,
                tokens: 1,
                last: token,
                row: None,
                is_over,
            });
        }
        Ok(candidates)
    }

    /// Extends each candidate greedily to the end of its thought and API, to where its format breaks, to an end token,
    /// or to the length of the look-ahead. The sequences are fed in common batches.
    fn look_ahead(&mut self, candidates: &mut [Candidate], calls: usize, plan: &mut FlapPlan) -> Result<()> {
        let end = self.domain.apis[self.domain.end].name.as_str();
        loop {
            let open: Vec<usize> = candidates
                .iter()
                .enumerate()
                .filter(|(_, candidate)| {
                    let text = String::from_utf8_lossy(&candidate.text);
                    !candidate.is_over
                        && candidate.tokens < self.options.lookahead
                        && matches!(part(&text, calls, end), Segment::Open { .. })
                })
                .map(|(place, _)| place)
                .collect();
            if open.is_empty() {
                return Ok(());
            }
            let feeds: Vec<Feed<'_>> = open
                .iter()
                .map(|&place| &candidates[place])
                .map(|one| Feed {
                    sequence: one.sequence,
                    tokens: std::slice::from_ref(&one.last),
                    rows: Rows::Last,
                })
                .collect();
            plan.passes += feeds.len();
            plan.batches += 1;
            let logits = self.model.feed(&feeds)?;
            for (number, &place) in open.iter().enumerate() {
                let row = copied(&logits, number)?;
                let candidate = &mut candidates[place];
                let next = most_likely(&row, 1).first().copied();
                candidate.row.get_or_insert(row);
                match next.filter(|next| !self.end_tokens.contains(next)) {
                    Some(next) => {
                        candidate.text.extend_from_slice(self.detokenizer.bytes(next));
                        candidate.tokens += 1;
                        candidate.last = next;
                    }
                    None => candidate.is_over = true,
                }
            }
        }
    }

    /// Returns the heuristic H of a candidate. It is 0 if the text breaks the format or is incomplete; with
    /// [`Incomplete::Partial`], an incomplete text that did not end has the terms of its thought.
    fn heuristic(&mut self, score: &FlapScore<'_>, state: &State<'_>, candidate: &Candidate) -> Result<f64> {
        let end = self.domain.apis[self.domain.end].name.as_str();
        let text = String::from_utf8_lossy(&candidate.text);
        let terms = match part(&text, state.calls, end) {
            Segment::Complete { thought, name, .. } => {
                score.of_call(&state.progress, thought, name, self.similarity)?
            }
            Segment::Open { thought }
                if self.options.incomplete == Incomplete::Partial && !candidate.is_over =>
            {
                score.of_thought(&state.progress, thought, self.similarity)?
            }
            Segment::Open { .. } | Segment::Broken => FlapTerms::default(),
        };
        Ok(self.options.heuristic(&terms))
    }

    /// Records the thoughts and APIs that are complete. Returns whether the plan has ended.
    fn advance(&mut self, state: &mut State<'_>, plan: &mut FlapPlan) -> Result<bool> {
        let end = self.domain.apis[self.domain.end].name.as_str();
        loop {
            let text = String::from_utf8_lossy(&state.open).into_owned();
            match part(&text, state.calls, end) {
                Segment::Open { .. } => return Ok(false),
                Segment::Broken => return Ok(true),
                Segment::Complete { thought, name, length } => {
                    let (step, _) = state.progress.nearest_step(thought, self.similarity)?;
                    state.progress.take(step, name);
                    state.calls += 1;
                    if name == end {
                        plan.is_finished = true;
                        return Ok(true);
                    }
                    state.open = text.as_bytes().get(length..).unwrap_or_default().to_vec();
                    if state.open.is_empty() {
                        return Ok(false);
                    }
                }
            }
        }
    }
}

/// Reads a thought and its API. All but the first follow a line break and `[thought]`.
fn part<'t>(text: &'t str, calls: usize, end: &str) -> Segment<'t> {
    const MARK: &str = "\n[thought]";
    if calls == 0 {
        return segment(text, end);
    }
    match text.strip_prefix(MARK) {
        Some(rest) => match segment(rest, end) {
            Segment::Complete { thought, name, length } => {
                Segment::Complete { thought, name, length: length + MARK.len() }
            }
            other => other,
        },
        None if MARK.starts_with(text) => Segment::Open { thought: "" },
        None => Segment::Broken,
    }
}

fn copied(logits: &Logits<'_>, row: usize) -> Result<Vec<f32>> {
    let mut buffer = Vec::new();
    Ok(logits.row(row, &mut buffer)?.to_vec())
}

/// Returns at most `count` tokens with the greatest logits, in descending order, equals by ascending id. Tokens whose
/// logit is minus infinity or NaN are left out.
fn most_likely(row: &[f32], count: usize) -> Vec<u32> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
    for (token, &logit) in row.iter().enumerate() {
        let is_better = best.len() < count || best.last().is_some_and(|&(_, least)| logit > least);
        if is_better && logit > f32::NEG_INFINITY {
            let at = best.partition_point(|&(_, other)| other >= logit);
            best.insert(at, (token as u32, logit));
            best.truncate(count);
        }
    }
    best.into_iter().map(|(token, _)| token).collect()
}
