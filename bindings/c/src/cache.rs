//! Compiled grammars by their source, within a bound of bytes.

use crate::error::GrammataError;
use crate::failure::GrammataStatus;
use crate::grammar::{GrammataCompiler, GrammataGrammar};
use crate::options::{self, CacheOptions};
use crate::raw::Call;
use engine::Limits;
use engine::serve::GrammarCache;
use std::ffi::c_char;

/// Compiled grammars by their source and options, within a bound of bytes. A grammar that several threads ask for at once is compiled
/// once.
pub struct GrammataCache {
    cache: GrammarCache,
    limits: Limits,
}

/// Makes a cache.
///
/// Options: `max_bytes` (of grammars, tables and masks in memory; 268,435,456 unless it is given), and `folder`, made where it is
/// missing: what is not in memory begins with its mask file there, else a thread explores it and writes one for the next process.
/// `max_file_bytes` (1,073,741,824 unless it is given): past them the files that were written longest ago are removed. `states` and
/// `work` bound exploring, as of `grammata_mask_file_new`. Several processes may share a folder, whose files are trusted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_new(
    compiler: *const GrammataCompiler,
    options: *const c_char,
    out: *mut *mut GrammataCache,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let GrammataCompiler { compiler, limits } = call.handle(compiler, "compiler")?;
        let options = options::read::<CacheOptions>(&call, options)?;
        let budget = options.budget();
        let mut cache = GrammarCache::new(compiler.clone(), options.max_bytes);
        if let Some(folder) = options.folder {
            cache = cache.with_folder(folder, budget, options.max_file_bytes)?;
        }
        call.give(out, GrammataCache { cache, limits: limits.clone() })
    })
}

/// The grammar of a source: the one that is kept, else compiled now. It is freed like any other, and stays as long as it is needed
/// when the cache lets it go.
///
/// `notation` is `"json-schema"`, `"regex"`, `"gbnf"` or `"spec"`; the options are those of the function that compiles it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_get(
    cache: *const GrammataCache,
    notation: *const c_char,
    source: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.clear(out)?;
        let cache = call.handle(cache, "cache")?;
        let notation = call.string(notation, "notation")?.to_string_lossy();
        let text = call.text(source, length, "source")?;
        let (source, written) = options::source(&call, &notation, text, options, &cache.limits)?;
        let cached = cache.cache.get(&source);
        let located = engine::diagnostic::Source::new(text, written);
        let cached = cached.map_err(|error| error.in_source(&located))?;
        let mut warnings = cached.warnings.clone();
        warnings.extend(cached.compiled.warnings());
        located.locate(&mut warnings);
        call.give(out, GrammataGrammar::new(cached.compiled.clone(), &warnings))
    })
}

/// Waits until the mask files that were to be written are. A child of `fork()` has no thread that writes any, and waits for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_flush(
    cache: *const GrammataCache,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.handle(cache, "cache")?.cache.flush();
        Ok(())
    })
}

/// How many grammars are kept. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_length(cache: *const GrammataCache) -> usize {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.any(cache).map_or(0, |cache| cache.cache.len())
}

/// Bytes of the grammars that are kept. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_memory_usage(cache: *const GrammataCache) -> usize {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.any(cache).map_or(0, |cache| cache.cache.memory_usage())
}

/// Lets all grammars go.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_clear(
    cache: *const GrammataCache,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        call.handle(cache, "cache")?.cache.clear();
        Ok(())
    })
}

/// Frees a cache. Its grammars that were given out stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_free(cache: *mut GrammataCache) {
    // SAFETY: the contract of the header
    unsafe { Call::new() }.free(cache);
}
