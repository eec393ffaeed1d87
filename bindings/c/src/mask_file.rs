//! Mask files: the result of exploring a grammar, for use by another process.

use crate::error::{GrammataError, c_string};
use crate::failure::GrammataStatus;
use crate::grammar::{GrammataCompiler, GrammataGrammar};
use crate::options::{self, ExploreOptions, FileOptions};
use crate::raw::{Call, answer, ask, free, make, run};
use crate::vocabulary;
use engine::MaskFile;
use serde_json::{Map, Value, json};
use std::ffi::{CString, c_char};
use std::sync::Arc;

/// A mask file: a grammar and its explored places, for one vocabulary.
pub struct GrammataMaskFile {
    file: Arc<MaskFile>,
    contents: CString,
}

impl GrammataMaskFile {
    pub(crate) fn file(&self) -> &MaskFile {
        &self.file
    }

    pub(crate) fn new(file: MaskFile) -> GrammataMaskFile {
        let found = file.contents();
        let sections: Map<String, Value> =
            found.sections.iter().map(|section| (section.name.to_owned(), json!(section.bytes))).collect();
        let hex = |hash: [u8; 32]| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let contents = json!({
            "vocabulary": hex(file.fingerprint()),
            "grammar": hex(file.grammar_hash()),
            "bytes": found.bytes,
            "states": found.states,
            "states_with_mask": found.states_with_mask,
            "masks": found.masks,
            "shared_words": found.shared_words,
            "sections": sections,
        });
        GrammataMaskFile { file: Arc::new(file), contents: c_string(&contents.to_string()) }
    }
}

/// Explores a grammar and makes a mask file of it. The same grammar, options and vocabulary give the same bytes.
///
/// Options: `documents` (list of texts to explore first; texts that the vocabulary cannot spell are skipped), `states`
/// (maximum number of places to explore, default 4,096), `work` (maximum number of steps, default 4,000,000, some 200
/// milliseconds).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_new(
    grammar: *const GrammataGrammar,
    options: *const c_char,
    out: *mut *mut GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let compiled = &call.handle(grammar, "grammar")?.compiled;
        let options = options::read::<ExploreOptions>(&call, options)?;
        let given = options.documents.iter().map(String::as_bytes);
        let documents: Vec<_> = given.filter_map(|text| compiled.vocabulary().encode_greedy(text)).collect();
        Ok(GrammataMaskFile::new(compiled.explore(&options.budget(), &documents)?))
    })
}

/// Reads a mask file into memory and checks its header and checksums.
///
/// Options: `limits` (`mask_file_bytes` is the maximum size of the file).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_open(
    path: *const c_char,
    options: *const c_char,
    out: *mut *mut GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let path = vocabulary::path(call.string(path, "path")?)?;
        let FileOptions { limits } = options::read(&call, options)?;
        Ok(GrammataMaskFile::new(MaskFile::open(path, &limits)?))
    })
}

/// Reads a mask file from bytes, which are copied and checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_from_bytes(
    content: *const c_char,
    length: usize,
    out: *mut *mut GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let content = call.bytes(content, length, "content")?;
        Ok(GrammataMaskFile::new(MaskFile::from_bytes(content)?))
    })
}

/// Returns the bytes of the file, `*length` of them. They belong to the handle. NULL for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_bytes(
    file: *const GrammataMaskFile,
    length: *mut usize,
) -> *const c_char {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let bytes = call.any(file).map_or(&[] as &[u8], |file| file.file.as_bytes());
    match call.set(length, bytes.len(), "length") {
        Ok(()) if !bytes.is_empty() => bytes.as_ptr().cast(),
        _ => std::ptr::null(),
    }
}

/// Describes the file as a JSON object: the fingerprint of its `vocabulary` and the hash of its `grammar`, both in
/// hexadecimal; `bytes`; explored places (`states`, `states_with_mask`); `masks`; `shared_words`, the number of shared
/// bit sets (one bit per token) that masks are stored as differences from; and `sections`, the bytes of each. NULL for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_contents(file: *const GrammataMaskFile) -> *const c_char {
    ask!(file, std::ptr::null(), |file| file.contents.as_ptr())
}

/// Checks that all places and masks of the file are well-formed. `grammata_grammar_verify_masks` checks whether they
/// are correct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_check(
    file: *const GrammataMaskFile,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| call.handle(file, "file")?.file.check())
}

/// Writes the file atomically: other processes see a complete file or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_save(
    file: *const GrammataMaskFile,
    path: *const c_char,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let file = call.handle(file, "file")?;
        let path = vocabulary::path(call.string(path, "path")?)?;
        file.file.save(path)
    })
}

/// Frees a mask file. Grammars that were loaded from it stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_mask_file_free(file: *mut GrammataMaskFile) {
    free!(file);
}

/// Loads the grammar of a mask file, which must be for the compiler's vocabulary. What was explored is read from the
/// file, the rest is computed on demand. Masks are the same as after compiling the grammar. Files do not keep warnings
/// of the grammar's source.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compiler_load(
    compiler: *const GrammataCompiler,
    file: *const GrammataMaskFile,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let compiler = call.handle(compiler, "compiler")?;
        let file = call.handle(file, "file")?;
        let compiled = compiler.compiler.load(Arc::clone(&file.file))?;
        let warnings = compiled.warnings();
        Ok(GrammataGrammar::new(compiled, &warnings))
    })
}

/// Recomputes what the mask file of a loaded grammar says about the places that texts reach, and fails if anything
/// differs. `*masks` is the number of masks compared, 0 for a grammar that was not loaded from a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_grammar_verify_masks(
    grammar: *const GrammataGrammar,
    masks: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    answer!(error, masks, |call| call.handle(grammar, "grammar")?.compiled.verify_masks())
}
