//! Trials: the units of an evaluation, with one output each.

use super::record::Arm;
use super::tasks::Task;

/// A task for an arm, with a seed if tokens are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'t> {
    pub(super) task: &'t Task,
    pub(super) arm: Arm,
    pub(super) seed: Option<u64>,
}

impl Trial<'_> {
    /// Returns the id of the trial's output in a journal.
    pub(super) fn id(&self) -> String {
        let seed = self.seed.map(|seed| format!(" seed-{seed}")).unwrap_or_default();
        format!("{} {}{seed}", self.task.id, self.arm.name())
    }
}

/// Returns all trials, ordered by task, then by arm, then by seed.
pub(super) fn all<'t>(tasks: &'t [Task], arms: &[Arm], seeds: &[Option<u64>]) -> Vec<Trial<'t>> {
    let of_task =
        |task| arms.iter().flat_map(move |&arm| seeds.iter().map(move |&seed| Trial { task, arm, seed }));
    tasks.iter().flat_map(of_task).collect()
}
