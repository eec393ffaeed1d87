//! What one output is made for.

use super::record::Arm;
use super::tasks::Task;

/// A task that an arm is to do, with a seed where tokens are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial<'t> {
    pub(super) task: &'t Task,
    pub(super) arm: Arm,
    pub(super) seed: Option<u64>,
}

impl Trial<'_> {
    /// The id of its output in a journal.
    pub(super) fn id(&self) -> String {
        let seed = self.seed.map(|seed| format!(" seed-{seed}")).unwrap_or_default();
        format!("{} {}{seed}", self.task.id, self.arm.name())
    }
}

/// All trials: the seeds of an arm together, the arms of a task together.
pub(super) fn all<'t>(tasks: &'t [Task], arms: &[Arm], seeds: &[Option<u64>]) -> Vec<Trial<'t>> {
    let of_task =
        |task| arms.iter().flat_map(move |&arm| seeds.iter().map(move |&seed| Trial { task, arm, seed }));
    tasks.iter().flat_map(of_task).collect()
}
