//! Child processes that end together with the processes that they have started.

use std::process::{Child, Command};
#[cfg(unix)]
use {
    rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid},
    std::collections::BTreeSet,
    std::sync::{Mutex, MutexGuard, PoisonError},
    std::time::{Duration, Instant},
};

/// The ids of the groups that run.
#[cfg(unix)]
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

#[cfg(unix)]
fn groups() -> MutexGuard<'static, BTreeSet<i32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A child process that leads a process group of its own. Dropping it kills the processes of the group. On systems
/// other than Unix there are no groups, and only the child is killed.
#[derive(Debug)]
pub struct Group(Child);

impl Group {
    /// Starts a command as the leader of a new group.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn start(command: &mut Command) -> std::io::Result<Group> {
        #[cfg(unix)]
        {
            std::os::unix::process::CommandExt::process_group(command, 0);
            // the lock is held meanwhile, so that `end_all` does not miss the child
            let mut groups = groups();
            let child = command.spawn()?;
            groups.insert(child.id().cast_signed());
            Ok(Group(child))
        }
        #[cfg(not(unix))]
        command.spawn().map(Group)
    }

    /// Returns the child process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            let id = self.0.id().cast_signed();
            let mut groups = groups();
            signal_group(id, Signal::KILL);
            groups.remove(&id);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Ends the processes of all groups that run: they get `SIGTERM`, and `SIGKILL` if they do not end within `grace`. No
/// group can be started afterwards; attempts wait for the end of this process. For a process that is about to end.
#[cfg(unix)]
pub fn end_all(grace: Duration) {
    let groups = groups();
    let start = Instant::now();
    groups.iter().for_each(|&id| signal_group(id, Signal::TERM));
    while groups.iter().any(|&id| runs(id)) && start.elapsed() < grace {
        std::thread::sleep(Duration::from_millis(5));
    }
    groups.iter().for_each(|&id| signal_group(id, Signal::KILL));
    std::mem::forget(groups);
}

/// Sends a signal to a group. Does nothing if the group has ended.
#[cfg(unix)]
fn signal_group(id: i32, signal: Signal) {
    if let Some(id) = Pid::from_raw(id) {
        let _ = kill_process_group(id, signal);
    }
}

/// Returns whether a process of a group runs. Children that have ended are waited for first, since they count until
/// then.
#[cfg(unix)]
fn runs(id: i32) -> bool {
    let Some(id) = Pid::from_raw(id) else { return false };
    while matches!(waitpgid(id, WaitOptions::NOHANG), Ok(Some(_))) {}
    test_kill_process_group(id).is_ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;

    /// A child that has ended may have left others: they end too.
    #[test]
    fn the_whole_group_is_killed() {
        for script in ["sleep 100 & echo started", "sleep 100 & echo started; sleep 100"] {
            let mut command = Command::new("sh");
            let mut group = Group::start(command.args(["-c", script]).stdout(Stdio::piped())).unwrap();
            let mut output = BufReader::new(group.child().stdout.take().unwrap());
            output.read_line(&mut String::new()).unwrap();
            drop(group);
            // the stream ends when no process has it open
            assert_eq!(output.read_to_end(&mut Vec::new()).unwrap(), 0);
        }
    }
}
