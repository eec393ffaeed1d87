//! Tools for servers, which follow many sequences under many grammars at the same time.
//!
//! - [`GrammarCache`] keeps compiled grammars by their source and options, within a bound of bytes.
//! - [`fill_masks`] and [`accept_tokens`] process one step of many sequences on a thread pool; [`fill_rows`] also
//!   supports budgets, drafts of speculative decoding, and a choice of rows.
//!
//! ```
//! use grammata::serve::{GrammarCache, accept_tokens, fill_masks};
//! use grammata::syntax::Source;
//! use grammata::vocabulary::{TokenId, VocabularyBuilder};
//! use grammata::{Compiler, Matcher};
//! use std::sync::Arc;
//!
//! let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "ab"])
//!     .special(TokenId::new(3), "<end>").eos([TokenId::new(3)]).build()?;
//! let cache = GrammarCache::new(Compiler::new(Arc::new(vocabulary)), 256 << 20);
//! let one = cache.get(&Source::regex("a+"))?;
//! let two = cache.get(&Source::regex("ab?"))?;
//! assert!(Arc::ptr_eq(&one, &cache.get(&Source::regex("a+"))?));
//!
//! let mut matchers = [one.compiled.matcher(), two.compiled.matcher()];
//! let mut masks = [0u32; 2]; // a row of one word for each
//! assert!(fill_masks(&mut matchers, &mut masks, 1).iter().all(Result::is_ok));
//! assert_eq!(masks, [0b0001, 0b0101]); // "a"; "a", "ab"
//! let tokens = [TokenId::new(0), TokenId::new(2)];
//! assert!(accept_tokens(&mut matchers, &tokens).iter().all(Result::is_ok));
//! assert!(!matchers[0].is_finished() && matchers[1].is_finished());
//! # Ok::<(), grammata::Error>(())
//! ```

mod batch;
mod cache;
mod errors;
mod folder;

pub use batch::{RowRequest, accept_tokens, fill_masks, fill_rows};
pub use cache::{CacheStatistics, CachedGrammar, GrammarCache};
