//! Mask files behind a cache: read when a grammar is first asked for, written after it was compiled.

use crate::error::Result;
use crate::explore::ExploreBudget;
use crate::grammar::Grammar;
use crate::mask::{CompiledGrammar, Compiler};
use crate::mask_file::{EXTENSION, MaskFile};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::SystemTime;

/// Grammars that wait to be written; more are not written.
const WAITING: usize = 64;

/// A folder of mask files.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// To the thread that writes; there is none where no thread could be started.
    jobs: Option<SyncSender<Job>>,
    /// The process that has the thread: a child of `fork()` has it not, and waits for nothing.
    process: u32,
}

enum Job {
    Write(Box<Grammar>, PathBuf),
    /// Says when all before it is done.
    Flush(SyncSender<()>),
}

impl Folder {
    /// A folder, made where it is missing, of which files are let go past a number of bytes.
    ///
    /// # Errors
    /// It cannot be made.
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

    /// The file of a grammar: its name is a hash of the grammar and the vocabulary.
    fn file(&self, compiler: &Compiler, grammar: &Grammar) -> PathBuf {
        let mut hasher = Sha256::new();
        hasher.update(compiler.vocabulary().fingerprint());
        hasher.update(MaskFile::hash_of(grammar));
        let hash = hasher.finalize();
        let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        self.path.join(format!("{name}.{EXTENSION}"))
    }

    /// The grammar as its file has it. What is no file of this grammar, or none that can be read, is as if it were not there.
    pub(super) fn read(&self, compiler: &Compiler, grammar: &Grammar) -> Option<CompiledGrammar> {
        let file = MaskFile::open(self.file(compiler, grammar), compiler.get_limits()).ok()?;
        if !file.is_of(grammar) {
            return None;
        }
        compiler.load(file).ok()
    }

    /// Has a file of a grammar written, unless many others wait for that.
    pub(super) fn write(&self, compiler: &Compiler, grammar: &Grammar) {
        if let Some(jobs) = &self.jobs {
            let job = Job::Write(Box::new(grammar.clone()), self.file(compiler, grammar));
            match jobs.try_send(job) {
                // then the next process that compiles it has it written
                Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
            }
        }
    }

    /// Waits until all that was to be written is.
    pub(super) fn flush(&self) {
        let (sender, receiver) = sync_channel(1);
        if self.process == std::process::id()
            && let Some(jobs) = &self.jobs
            && jobs.send(Job::Flush(sender)).is_ok()
        {
            // the thread is gone if it says nothing
            let _ = receiver.recv();
        }
    }
}

/// What the thread does until nobody sends anything any more.
fn write_all(
    jobs: &Receiver<Job>,
    compiler: &Compiler,
    folder: &Path,
    budget: &ExploreBudget,
    max_bytes: u64,
) {
    while let Ok(job) = jobs.recv() {
        match job {
            Job::Write(grammar, path) => {
                // who was faster wrote the same
                if !path.exists() {
                    let compiled = compiler.apart().compile(&grammar);
                    let file = compiled.and_then(|compiled| compiled.explore(budget, &[]));
                    // a folder that is full, or gone, costs speed alone
                    if file.is_ok_and(|file| file.save(&path).is_ok()) {
                        shrink(folder, max_bytes);
                    }
                }
            }
            Job::Flush(done) => drop(done.send(())),
        }
    }
}

/// Removes the files that were written longest ago until the rest is within the bound. Who has one open keeps it.
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
