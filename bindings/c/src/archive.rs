//! Archives: mask files of many grammars in one file.

use crate::error::GrammataError;
use crate::failure::{self, GrammataStatus};
use crate::mask_file::GrammataMaskFile;
use crate::options::{self, FileOptions};
use crate::raw::{ask, free, make, run};
use crate::vocabulary::{self, GrammataVocabulary};
use engine::mask_file::{ArchiveBuilder, MaskArchive};
use std::ffi::c_char;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Mask files of many grammars for one vocabulary, each with a name. Shared parts are stored once.
pub struct GrammataArchive(MaskArchive);

/// Builds an archive, which it holds in memory.
pub struct GrammataArchiveBuilder(Mutex<ArchiveBuilder>);

impl GrammataArchive {
    pub(crate) fn archive(&self) -> &MaskArchive {
        &self.0
    }
}

impl GrammataArchiveBuilder {
    pub(crate) fn lock(&self) -> MutexGuard<'_, ArchiveBuilder> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes an archive builder for a vocabulary, without mask files.
///
/// Options: `limits` (`mask_archive_bytes` is the maximum size of the archive).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_new(
    vocabulary: *const GrammataVocabulary,
    options: *const c_char,
    out: *mut *mut GrammataArchiveBuilder,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let vocabulary = call.handle(vocabulary, "vocabulary")?;
        let FileOptions { limits } = options::read(&call, options)?;
        let builder = ArchiveBuilder::new(&vocabulary.vocabulary, &limits);
        Ok(GrammataArchiveBuilder(Mutex::new(builder)))
    })
}

/// Adds a mask file. Names must be unique, and all files must be for the archive's vocabulary. The same files in the
/// same order give the same bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_add(
    builder: *const GrammataArchiveBuilder,
    name: *const c_char,
    length: usize,
    file: *const GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let builder = call.handle(builder, "builder")?;
        let name = call.text(name, length, "name")?;
        let file = call.handle(file, "file")?.file();
        builder.lock().add(name, file)
    })
}

/// Writes the archive atomically: other processes see a complete file or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_save(
    builder: *const GrammataArchiveBuilder,
    path: *const c_char,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let builder = call.handle(builder, "builder")?;
        let path = vocabulary::path(call.string(path, "path")?)?;
        builder.lock().save(path)?;
        Ok(())
    })
}

/// Frees an archive builder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_free(builder: *mut GrammataArchiveBuilder) {
    free!(builder);
}

/// Opens an archive and reads its header. Other parts are read, and their checksums computed, on demand.
///
/// Options: `limits` (`mask_archive_bytes` is the maximum size of the file, `mask_file_bytes` that of one mask file in
/// it).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_open(
    path: *const c_char,
    options: *const c_char,
    out: *mut *mut GrammataArchive,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let path = vocabulary::path(call.string(path, "path")?)?;
        let FileOptions { limits } = options::read(&call, options)?;
        Ok(GrammataArchive(MaskArchive::open(path, &limits)?))
    })
}

/// The number of mask files of an archive. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_count(archive: *const GrammataArchive) -> usize {
    ask!(archive, 0, |archive| archive.0.len())
}

/// The name of the mask file at a place, which must be less than the count. Names are sorted. The name is written
/// without NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_name(
    archive: *const GrammataArchive,
    place: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let archive = &call.handle(archive, "archive")?.0;
        let name = archive.name_at(place)?.ok_or_else(|| failure::place(place, archive.len()))?;
        call.copy(name.as_bytes(), buffer.cast(), capacity, length)
    })
}

/// Returns the mask file of a name, for `grammata_compiler_load`. If there is none, `*out` is NULL and the status is
/// OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_get(
    archive: *const GrammataArchive,
    name: *const c_char,
    length: usize,
    out: *mut *mut GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.clear(out)?;
        let archive = &call.handle(archive, "archive")?.0;
        match archive.get(call.text(name, length, "name")?)? {
            Some(file) => call.give(out, GrammataMaskFile::new(file)),
            None => Ok(()),
        }
    })
}

/// Frees an archive. Mask files that were taken from it stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_free(archive: *mut GrammataArchive) {
    free!(archive);
}
