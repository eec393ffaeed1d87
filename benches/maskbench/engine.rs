//! The interface of an engine. The runner measures times outside, in the same way for all engines.

use serde_json::Value;
use std::time::Duration;

/// An engine under measurement, which turns schemas into masks.
pub(crate) trait Engine {
    /// Returns the name in reports.
    fn name(&self) -> &'static str;

    /// Returns the number of 32-bit words of a mask.
    fn mask_words(&self) -> usize;

    /// Writes the mask file of a schema, which is explored along some texts as tokens. Returns `None` if the file
    /// exists already or the engine has no mask files.
    fn write_masks(&self, _schema: &str, _known: &[Vec<u32>]) -> Option<Written> {
        None
    }

    /// Compiles a schema from its text.
    fn compile(&self, schema: &str) -> Result<Compilation, Refusal>;
}

/// A mask file that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// Time to read the schema, to explore it, and to write the file.
    pub(crate) time: Duration,
    pub(crate) bytes: usize,
    pub(crate) states: usize,
}

/// A compiled schema, and the time of the first part of compiling.
pub(crate) struct Compilation {
    pub(crate) compiled: Box<dyn Compiled>,
    /// The name of the first part, which is a field in the report, and its time.
    pub(crate) first_part: (&'static str, Duration),
}

/// A schema that an engine does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The engine's stable name of the error, or the engine's name if it has none.
    pub(crate) code: String,
    /// The keyword to blame, or another text that distinguishes such errors.
    pub(crate) keyword: String,
    /// The whole message.
    pub(crate) message: String,
}

/// A compiled schema.
pub(crate) trait Compiled {
    /// Begins a walk at the beginning of a text.
    fn session(&self) -> Box<dyn Session>;

    /// Computes masks ahead for some time, if the engine can do so.
    fn warm(&self, _time: Duration) {}

    /// Returns sizes and counts for the report.
    fn statistics(&self) -> Value;
}

/// One walk. Errors are the engine's own texts.
pub(crate) trait Session {
    /// Returns whether the next mask was computed by another process.
    fn is_explored(&self) -> bool {
        false
    }

    /// Writes the mask of the tokens that are allowed next.
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<(), String>;

    /// Accepts a token that the mask allows.
    fn accept(&mut self, token: u32) -> Result<(), String>;

    /// Returns whether the text may end here.
    fn is_accepting(&mut self) -> Result<bool, String>;

    /// Explains to a person why a token is not allowed here.
    fn explain(&mut self, token: u32) -> String;
}
