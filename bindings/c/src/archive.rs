//! Archives: mask files of many grammars in one file.

use crate::error::GrammataError;
use crate::failure::{self, GrammataStatus};
use crate::mask_file::GrammataMaskFile;
use crate::options::{self, FileOptions};
use crate::raw::Call;
use crate::vocabulary::{self, GrammataVocabulary};
use engine::mask_file::{ArchiveBuilder, MaskArchive};
use std::ffi::c_char;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Mask files of many grammars for one vocabulary, each with a name. What they share lies in it once.
pub struct GrammataArchive(MaskArchive);

/// An archive in the making. It holds all of it in memory.
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

/// Makes an archive of a vocabulary without mask files.
///
/// Options: `limits` (of which `mask_archive_bytes` is the most that the archive may have).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_new(
    vocabulary: *const GrammataVocabulary,
    options: *const c_char,
    out: *mut *mut GrammataArchiveBuilder,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let vocabulary = call.handle(vocabulary, "vocabulary")?;
        let FileOptions { limits } = options::read(&call, options)?;
        let builder = ArchiveBuilder::new(&vocabulary.vocabulary, &limits);
        call.give(out, GrammataArchiveBuilder(Mutex::new(builder)))
    })
}

/// Puts a mask file in. No two have the same name, and all are of the archive's vocabulary. The same files in the same order make the
/// same bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_add(
    builder: *const GrammataArchiveBuilder,
    name: *const c_char,
    length: usize,
    file: *const GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let builder = call.handle(builder, "builder")?;
        let name = call.text(name, length, "name")?;
        let file = call.handle(file, "file")?.file();
        Ok(builder.lock().add(name, file)?)
    })
}

/// Puts the archive into its place as a whole: another process finds all of it under the name, or nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_save(
    builder: *const GrammataArchiveBuilder,
    path: *const c_char,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let builder = call.handle(builder, "builder")?;
        let path = vocabulary::path(call.string(path, "path")?)?;
        builder.lock().save(path)?;
        Ok(())
    })
}

/// Frees an archive in the making.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_free(builder: *mut GrammataArchiveBuilder) {
    // SAFETY: the contract of the header
    unsafe { Call::new() }.free(builder);
}

/// Opens an archive and reads its header. What else is asked for is read, and its checksums computed, then.
///
/// Options: `limits` (of which `mask_archive_bytes` is the most that the file may have, `mask_file_bytes` the most that is taken out of it
/// at once).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_open(
    path: *const c_char,
    options: *const c_char,
    out: *mut *mut GrammataArchive,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let path = vocabulary::path(call.string(path, "path")?)?;
        let FileOptions { limits } = options::read(&call, options)?;
        call.give(out, GrammataArchive(MaskArchive::open(path, &limits)?))
    })
}

/// How many mask files an archive has. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_count(archive: *const GrammataArchive) -> usize {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.any(archive).map_or(0, |archive| archive.0.len())
}

/// The name of a mask file by its place, which is less than the count. Names are sorted. It is written without NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_name(
    archive: *const GrammataArchive,
    place: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let archive = &call.handle(archive, "archive")?.0;
        let name = archive.name_at(place)?.ok_or_else(|| failure::place(place, archive.len()))?;
        call.copy(name.as_bytes(), buffer.cast(), capacity, length)
    })
}

/// The mask file of a name, for `grammata_compiler_load`: `*out` is NULL if there is none, and the status is OK.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_get(
    archive: *const GrammataArchive,
    name: *const c_char,
    length: usize,
    out: *mut *mut GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let archive = &call.handle(archive, "archive")?.0;
        match archive.get(call.text(name, length, "name")?)? {
            Some(file) => call.give(out, GrammataMaskFile::new(file)),
            None => Ok(()),
        }
    })
}

/// Frees an archive. Mask files that were taken out of it stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_free(archive: *mut GrammataArchive) {
    // SAFETY: the contract of the header
    unsafe { Call::new() }.free(archive);
}
