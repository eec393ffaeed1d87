//! The errors of masks.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};

/// A configuration of tables that were dropped was about to be read in those that replaced them.
pub(super) fn stale_configuration() -> Error {
    Error::new(
        ErrorKind::Usage,
        Diagnostic::new(
            "mask/stale-configuration",
            "a configuration of tables that were dropped was about to be used",
        )
        .help("this is a defect of this library; please report the grammar"),
    )
}
