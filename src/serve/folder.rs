//! A folder of mask files for a cache: files are read when a grammar is first requested, and written after it was
//! compiled.

use crate::error::Result;
use crate::explore::ExploreBudget;
use crate::forking;
use crate::grammar::Grammar;
use crate::mask::{CompiledGrammar, Compiler};
use crate::mask_file::{EXTENSION, MaskFile};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::SystemTime;

/// Maximum number of jobs waiting for the writing thread. A grammar beyond it is not written.
const WAITING: usize = 64;

/// A folder of mask files.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Channel to the thread that writes; `None` if no thread could be started.
    jobs: Option<SyncSender<Job>>,
    /// The process that runs the thread. A child of `fork()` has no such thread, so it does not wait for it.
    process: u32,
}

enum Job {
    Write(Box<Grammar>, PathBuf),
    /// Replies when all earlier jobs are done.
    Flush(SyncSender<()>),
}

impl Folder {
    /// Opens a folder, creating it if it is missing, and starts its writing thread. After each file written, the oldest
    /// files are removed until the rest has at most `max_bytes` bytes.
    ///
    /// # Errors
    /// `io/file` if the folder cannot be created.
    pub(super) fn new(
        compiler: &Compiler,
        path: PathBuf,
        budget: ExploreBudget,
        max_bytes: u64,
    ) -> Result<Folder> {
        std::fs::create_dir_all(&path).map_err(|cause| crate::Error::io(&path, &cause))?;
        let (jobs, receiver) = sync_channel(WAITING);
        let (compiler, folder) = (compiler.clone(), path.clone());
        let work = move || write_all(&receiver, &compiler, &folder, &budget, max_bytes);
        let thread = std::thread::Builder::new().name("grammata-mask-files".to_owned()).spawn(work);
        Ok(Folder { path, jobs: thread.is_ok().then_some(jobs), process: std::process::id() })
    }

    /// The path of a grammar's file; its name is a hash of the grammar and the vocabulary.
    fn file(&self, compiler: &Compiler, grammar: &Grammar) -> PathBuf {
        let mut hasher = Sha256::new();
        hasher.update(compiler.vocabulary().fingerprint());
        hasher.update(MaskFile::hash_of(grammar));
        let hash = hasher.finalize();
        let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.path.join(format!("{name}.{EXTENSION}"))
    }

    /// Loads a grammar from its file. `None` if there is no file, if it cannot be read or loaded, or if it contains
    /// another grammar.
    pub(super) fn read(&self, compiler: &Compiler, grammar: &Grammar) -> Option<CompiledGrammar> {
        let file = MaskFile::open(self.file(compiler, grammar), compiler.get_limits()).ok()?;
        if !file.is_of(grammar) {
            return None;
        }
        compiler.load(file).ok()
    }

    /// Queues a grammar to be explored and written, unless the queue is full. Does nothing in a child of `fork()`,
    /// where the thread does not exist and the queue may be locked.
    pub(super) fn write(&self, compiler: &Compiler, grammar: &Grammar) {
        if self.process == std::process::id()
            && let Some(jobs) = &self.jobs
        {
            let job = Job::Write(Box::new(grammar.clone()), self.file(compiler, grammar));
            match jobs.try_send(job) {
                // if it is not queued, the next process that compiles the grammar will try again
                Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
            }
        }
    }

    /// Waits until all queued files are written. Returns immediately in a child of `fork()`, or if the thread has ended
    /// or could not be started.
    pub(super) fn flush(&self) {
        let (sender, receiver) = sync_channel(1);
        if self.process == std::process::id()
            && let Some(jobs) = &self.jobs
            && jobs.send(Job::Flush(sender)).is_ok()
        {
            // an error means that the thread has ended
            let _ = receiver.recv();
        }
    }
}

/// The loop of the writing thread, which ends when the channel is closed.
fn write_all(
    jobs: &Receiver<Job>,
    compiler: &Compiler,
    folder: &Path,
    budget: &ExploreBudget,
    max_bytes: u64,
) {
    while let Ok(job) = jobs.recv() {
        // no other thread forks the process meanwhile: its child could find tables locked
        let _running = forking::begin();
        match job {
            Job::Write(grammar, path) => {
                // another process, or an earlier job, may have written the same file
                if !path.exists() {
                    let compiled = compiler.detached().compile(&grammar);
                    let file = compiled.and_then(|compiled| compiled.explore(budget, &[]));
                    // a folder that is full or was removed only costs speed
                    if file.is_ok_and(|file| file.save(&path).is_ok()) {
                        shrink(folder, max_bytes);
                    }
                }
            }
            Job::Flush(done) => drop(done.send(())),
        }
    }
}

/// Removes the oldest mask files until the rest is within the bound. Processes that have a removed file open keep its
/// content.
fn shrink(folder: &Path, max_bytes: u64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, PathBuf, u64)> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let path = entry.path();
            let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let is_ours = path.extension().is_some_and(|extension| extension == EXTENSION);
            is_ours.then_some((metadata.modified().ok()?, path, metadata.len()))
        })
        .collect();
    files.sort();
    let mut bytes: u64 = files.iter().map(|file| file.2).sum();
    for (_, path, len) in files {
        if bytes <= max_bytes {
            break;
        }
        // another process may have removed it
        let _ = std::fs::remove_file(path);
        bytes -= len;
    }
}
