//! A cache of compiled grammars by their source.

use crate::error::GrammataError;
use crate::failure::GrammataStatus;
use crate::grammar::{GrammataCompiler, GrammataGrammar};
use crate::options::{self, CacheOptions};
use crate::raw::{ask, free, make, run};
use engine::Limits;
use engine::serve::GrammarCache;
use std::ffi::c_char;

/// Compiled grammars by their source and options, with a bound on their bytes. A grammar that several threads request
/// at the same time is compiled once.
pub struct GrammataCache {
    cache: GrammarCache,
    limits: Limits,
}

/// Makes a cache.
///
/// Options: `max_bytes` (maximum bytes of grammars, tables and masks in memory; default 268,435,456); `folder` (created
/// if it is missing: a grammar that is not in memory is loaded from its mask file there; if there is none, a background
/// thread explores it and writes the file for the next process); `max_file_bytes` (default 1,073,741,824; beyond it the
/// oldest files are removed); `states` and `work` (bound exploring, as for `grammata_mask_file_new`). Several processes
/// may share a folder, whose files are trusted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_new(
    compiler: *const GrammataCompiler,
    options: *const c_char,
    out: *mut *mut GrammataCache,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
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

/// Returns the cached grammar of a source, or compiles it. The caller frees it like any other grammar; it stays valid
/// if the cache evicts it.
///
/// `notation` is `"json-schema"`, `"regex"`, `"gbnf"`, `"lark"`, `"structural-tag"` or `"spec"`; the options are those
/// of the function that compiles it.
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
    make!(error, out, |call| {
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
        Ok(GrammataGrammar::new(cached.compiled.clone(), &warnings))
    })
}

/// Waits until pending mask files are written. A child of `fork()` has no thread that writes files, so there this
/// returns immediately.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_flush(
    cache: *const GrammataCache,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.handle(cache, "cache")?.cache.flush();
        Ok(())
    })
}

/// The number of cached grammars. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_length(cache: *const GrammataCache) -> usize {
    ask!(cache, 0, |cache| cache.cache.len())
}

/// Bytes of the cached grammars. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_memory_usage(cache: *const GrammataCache) -> usize {
    ask!(cache, 0, |cache| cache.cache.memory_usage())
}

/// Evicts all grammars.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_clear(
    cache: *const GrammataCache,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.handle(cache, "cache")?.cache.clear();
        Ok(())
    })
}

/// Frees a cache. Grammars taken from it stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_cache_free(cache: *mut GrammataCache) {
    free!(cache);
}
