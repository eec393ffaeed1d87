//! Exploring: computing configurations and masks ahead of time.
//!
//! - [`CompiledGrammar::explore`] walks along likely documents and then best-first through their neighbourhood, within
//!   an [`ExploreBudget`], and returns a [`MaskFile`].
//! - [`CompiledGrammar::warm`] explores on a background thread, in the grammar's own tables, for example during
//!   prefill; sequences have priority.
//! - [`CompiledGrammar::verify_masks`] compares a mask file with its own grammar.
//!
//! `walk` explores, `skeleton` makes documents of a grammar, `freeze` writes the explored places to a file, `warm` is
//! the thread, and `verify` compares a file with its grammar.
//!
//! ```
//! use grammata::explore::ExploreBudget;
//! use grammata::syntax::regex;
//! use grammata::vocabulary::{TokenId, VocabularyBuilder};
//! use grammata::Compiler;
//! use std::sync::Arc;
//!
//! let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "ab"])
//!     .special(TokenId::new(3), "<end>").eos([TokenId::new(3)]).build()?;
//! let compiler = Compiler::new(Arc::new(vocabulary));
//! let compiled = compiler.compile(&regex::compile("(ab)+", &regex::Options::default())?)?;
//! let file = compiled.explore(&ExploreBudget::default(), &[])?;
//! let loaded = compiler.load(file)?;
//! let mut matcher = loaded.matcher();
//! assert!(matcher.is_explored());
//! matcher.accept_token(TokenId::new(2))?;
//! assert_eq!(matcher.mask()?, compiled_mask(&compiled)?);
//! # fn compiled_mask(compiled: &grammata::CompiledGrammar)
//! #     -> grammata::Result<Arc<grammata::TokenMask>> {
//! #     let mut matcher = compiled.matcher();
//! #     matcher.accept_token(TokenId::new(2))?;
//! #     matcher.mask()
//! # }
//! # Ok::<(), grammata::Error>(())
//! ```

mod freeze;
mod skeleton;
mod verify;
mod walk;
mod warm;

pub use skeleton::documents as suggested_documents;
pub use warm::WarmUp;

use crate::error::Result;
use crate::mask::CompiledGrammar;
use crate::mask_file::MaskFile;
use crate::vocabulary::TokenId;
use std::fmt;
use std::time::Duration;

/// Bounds on exploring. Completing the steps of the places found may take a quarter more work, bytes and time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExploreBudget {
    /// Maximum number of places: texts that lead to the same configuration share a place. Default 4,096.
    pub states: usize,
    /// Maximum number of steps of work, counted as by [`Limits::mask_work`](crate::Limits::mask_work). Default
    /// 4,000,000, some 200 ms.
    pub work: u64,
    /// Maximum number of bytes of tables and masks in memory. Default 16 MiB.
    pub bytes: usize,
    /// Maximum time. With it, the result depends on the machine. Default none.
    pub time: Option<Duration>,
}

impl Default for ExploreBudget {
    fn default() -> ExploreBudget {
        ExploreBudget { states: 4_096, work: 4_000_000, bytes: 16 << 20, time: None }
    }
}

impl ExploreBudget {
    /// Sets the maximum number of places.
    pub fn states(self, states: usize) -> ExploreBudget {
        ExploreBudget { states, ..self }
    }

    /// Sets the maximum number of steps of work.
    pub fn work(self, work: u64) -> ExploreBudget {
        ExploreBudget { work, ..self }
    }

    /// Sets the maximum number of bytes of tables and masks in memory.
    pub fn bytes(self, bytes: usize) -> ExploreBudget {
        ExploreBudget { bytes, ..self }
    }

    /// Sets the maximum time.
    pub fn time(self, time: Duration) -> ExploreBudget {
        ExploreBudget { time: Some(time), ..self }
    }
}

impl fmt::Display for ExploreBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExploreBudget { states, work, bytes, time } = self;
        write!(f, "{states} places, {work} steps, {bytes} bytes")?;
        time.map_or(Ok(()), |time| write!(f, ", {time:?}"))
    }
}

impl CompiledGrammar {
    /// Explores the grammar and makes a mask file: first along the given documents, then along those that the grammar
    /// itself suggests, then through their neighbourhood. Places that cannot be explored (in lists whose items must
    /// differ, or where a limit was exceeded) are left to the engine. The same grammar, vocabulary, documents and
    /// budget without a time give the same bytes, whatever the grammar was used for before: exploring uses its own
    /// tables.
    ///
    /// # Errors
    /// `limit/exceeded` if computing the first configuration exceeds a limit.
    pub fn explore(&self, budget: &ExploreBudget, documents: &[Vec<TokenId>]) -> Result<MaskFile> {
        let tables = walk::Tables::Own(Box::new(self.own_cache()));
        let mut explorer = walk::Explorer::new(self, budget, tables);
        explorer.start()?;
        explorer.run(documents);
        explorer.freeze()
    }
}
