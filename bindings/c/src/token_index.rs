//! Token indices: precomputed data of a vocabulary, for use by another process.

use crate::archive::{GrammataArchive, GrammataArchiveBuilder};
use crate::error::GrammataError;
use crate::failure::GrammataStatus;
use crate::grammar::GrammataCompiler;
use crate::mask_file::GrammataMaskFile;
use crate::raw::{Call, make, run};
use std::ffi::c_char;

/// The token index of the compiler's vocabulary as bytes, for `grammata_compiler_prepare_from` in another process.
/// Equal vocabularies have equal bytes, some 35 per token.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compiler_token_index(
    compiler: *const GrammataCompiler,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let index = call.handle(compiler, "compiler")?.compiler.token_index()?;
        call.copy(&index, buffer.cast(), capacity, length)
    })
}

/// Reads the token index of the vocabulary from bytes instead of computing it, in a fifth to a ninth of the time. Does
/// nothing if the compiler already has its index. The bytes cannot do harm, but masks depend on them: take them from
/// the same source as the vocabulary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compiler_prepare_from(
    compiler: *const GrammataCompiler,
    index: *const c_char,
    length: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let compiler = &call.handle(compiler, "compiler")?.compiler;
        compiler.prepare_from(call.bytes(index, length, "index")?)
    })
}

/// The token index of a mask file, `*length` bytes. They belong to the handle. NULL if it has none, and for NULL. An
/// archive has its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_token_index(
    file: *const GrammataMaskFile,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let index = call.any(file).and_then(|file| file.file().token_index()).unwrap_or_default();
    match call.set(length, index.len(), "length") {
        Ok(()) if !index.is_empty() => index.as_ptr().cast(),
        _ => std::ptr::null(),
    }
}

/// Makes a copy of a mask file with a token index, or without one if `length` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_with_token_index(
    file: *const GrammataMaskFile,
    index: *const c_char,
    length: usize,
    out: *mut *mut GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let file = call.handle(file, "file")?.file();
        let index = call.bytes(index, length, "index")?;
        Ok(GrammataMaskFile::new(file.with_token_index(index)?))
    })
}

/// Sets the token index of an archive, once for all of its files; token indices of the files are left out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_builder_set_token_index(
    builder: *const GrammataArchiveBuilder,
    index: *const c_char,
    length: usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let builder = call.handle(builder, "builder")?;
        builder.lock().set_token_index(call.bytes(index, length, "index")?.to_vec())?;
        Ok(())
    })
}

/// The token index of an archive; `*length` is 0 if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_archive_token_index(
    archive: *const GrammataArchive,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let index = call.handle(archive, "archive")?.archive().token_index()?.unwrap_or_default();
        call.copy(&index, buffer.cast(), capacity, length)
    })
}
