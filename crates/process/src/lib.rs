//! Child processes: groups that end together, and shell commands with a deadline.

mod group;
mod shell;

pub use group::Group;
#[cfg(unix)]
pub use group::end_all;
pub use shell::{ShellError, run_shell};
