//! A device that fails if it must choose for several sequences in one call.

use crate::models::{Bytes, Function, TOKENS};
use grammata::{Diagnostic, Error, ErrorKind, Result};
use grammata_decode::{
    Choice, Chosen, DeviceLogits, DeviceRow, Feed, GenerationOptions, Logits, Model, Request, Scheduler,
    SchedulerOptions, SequenceId,
};

/// Logits on a device, whose `choose` fails if there is more than one choice.
#[derive(Debug, Default)]
struct Single(Vec<Vec<f32>>);

/// The rows of a [`Single`], with the default `choose` of the trait.
#[derive(Debug)]
struct Plain<'r>(&'r Single);

fn error() -> Error {
    Error::new(ErrorKind::Model, Diagnostic::new("test/device", "the device fails"))
}

impl DeviceLogits for Single {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn row(&self, _: usize) -> Option<DeviceRow> {
        None
    }

    fn copy(&self, index: usize, out: &mut Vec<f32>) -> Result<()> {
        out.clone_from(self.0.get(index).ok_or_else(error)?);
        Ok(())
    }

    fn choose(&self, choices: &[Choice<'_>]) -> Result<Vec<Result<Chosen>>> {
        if choices.len() > 1 { Err(error()) } else { Plain(self).choose(choices) }
    }
}

impl DeviceLogits for Plain<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn row(&self, index: usize) -> Option<DeviceRow> {
        self.0.row(index)
    }

    fn copy(&self, index: usize, out: &mut Vec<f32>) -> Result<()> {
        self.0.copy(index, out)
    }
}

/// A model that leaves its logits on the device.
struct OnDevice<M> {
    model: M,
    logits: Single,
}

impl<M: Model> Model for OnDevice<M> {
    fn vocabulary_size(&self) -> usize {
        self.model.vocabulary_size()
    }

    fn context_length(&self) -> Option<usize> {
        self.model.context_length()
    }

    fn open(&mut self) -> Result<SequenceId> {
        self.model.open()
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.model.fork(sequence)
    }

    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        self.model.truncate(sequence, length)
    }

    fn close(&mut self, sequence: SequenceId) {
        self.model.close(sequence);
    }

    fn length(&self, sequence: SequenceId) -> Result<usize> {
        self.model.length(sequence)
    }

    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        let logits = self.model.feed(batch)?;
        let row = |index| Ok(logits.row(index, &mut Vec::new())?.to_vec());
        self.logits.0 = (0..logits.len()).map(row).collect::<Result<_>>()?;
        Ok(Logits::Device(&self.logits))
    }
}

fn outputs(model: &mut dyn Model) -> Vec<(Vec<u32>, usize)> {
    let bytes = Bytes::new();
    let mut scheduler = Scheduler::new(&bytes, SchedulerOptions::default());
    for prompt in [vec![1, 2], vec![3], vec![4, 5, 6]] {
        scheduler.submit(Request::new(prompt, None, GenerationOptions::default().max_tokens(6))).unwrap();
    }
    let mut outputs = Vec::new();
    while !scheduler.is_empty() {
        for ended in scheduler.step(model, &mut |_, _| {}) {
            outputs.push((ended.result.unwrap().tokens, scheduler.statistics().failed_batches));
        }
    }
    scheduler.close(model);
    outputs
}

/// When the device fails, the model already has the tokens. Feeding the tokens again would double them in the sequence.
#[test]
fn choices_that_fail_together_are_made_alone_and_nothing_is_fed_twice() {
    let model = || Function::new(TOKENS, |sequence| crate::decode_drivers::hashed(11, sequence));
    let (mut host, mut device) = (model(), OnDevice { model: model(), logits: Single::default() });
    let expected = outputs(&mut host);
    assert_eq!(outputs(&mut device), expected);
    assert_eq!((expected.len(), expected[2].1, device.model.calls), (3, 0, host.calls));
    assert_eq!(device.model.fed, host.fed);
}
