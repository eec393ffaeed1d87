/*
 * The functions of llguidance that llama.cpp links, implemented by Grammata (libgrammata_llg). docs/hosts.md is the
 * guide.
 *
 * Names and layouts are those of llguidance 1.9.1, so that a program written for its header compiles with this one
 * unchanged. Of its 50 functions the 13 below are provided.
 *
 * Contract of all functions:
 *
 * - The caller owns a handle and frees it once. `_free(NULL)` does nothing. Using a handle after it was freed, or
 *   freeing it twice, is undefined. Handles may be freed in any order.
 * - NULL and misaligned pointers are errors like any other. Other pointers must be valid for as many elements as the
 *   call says, until the call returns; the library does not keep them.
 * - No function aborts the program, whatever the grammar.
 *
 * Threads: any number of threads may use a tokenizer at the same time. A matcher should be used by one thread at a
 * time: concurrent calls wait for each other, but the next call changes the mask.
 *
 * The environment variable GRAMMATA_LLG_BUDGET is the number of tokens within which each text should be complete; the
 * functions have no argument for it.
 */

#ifndef LLGUIDANCE_H
#define LLGUIDANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One text under a grammar. */
typedef struct LlgMatcher LlgMatcher;

/* The tokens of a model, and the grammars compiled for them. */
typedef struct LlgTokenizer LlgTokenizer;

/* The id of a token. */
typedef uint32_t LlgToken;

/* Limits of llguidance's parser. They are not read: the engine's own limits apply. */
typedef struct LlgParserLimits {
  size_t max_items_in_row;
  uint64_t initial_lexer_fuel;
  uint64_t step_lexer_fuel;
  size_t step_max_items;
  size_t max_lexer_states;
  size_t max_grammar_size;
  bool precompute_large_lexemes;
  bool verbose_errors;
} LlgParserLimits;

/* The parameters of a new matcher: see llg_constraint_init_set_defaults. */
typedef struct LlgConstraintInit {
  const LlgTokenizer *tokenizer;
  /* not read */
  uint32_t log_buffer_level;
  /* if at least 1, warnings about the grammar are written to standard error */
  uint32_t log_stderr_level;
  /* not read */
  bool ff_tokens_ok;
  /* not read */
  bool backtrack_ok;
  /* not read */
  LlgParserLimits limits;
} LlgConstraintInit;

/* The host's tokenizer. It is never called, since masks need only the tokens. */
typedef size_t (*LlgTokenizeFn)(const void *user_data, const uint8_t *bytes, size_t bytes_len, uint32_t *output_tokens,
                                size_t output_tokens_len);

/* The tokens of a model. */
typedef struct LlgTokenizerInit {
  /* the number of tokens and length of the logits; with `tokenizer_json` the file's number if that is greater */
  uint32_t vocab_size;
  /* the end-of-sequence token; UINT32_MAX if there is none */
  LlgToken tok_eos;
  /* the length of each token in bytes: `vocab_size` numbers */
  const uint32_t *token_lens;
  /* the concatenated bytes of all tokens; those of a special token are 0xFF and its name */
  const uint8_t *token_bytes;
  /* if not NULL: the content of a `tokenizer.json`, which is read instead of the lengths and bytes */
  const char *tokenizer_json;
  /* not read */
  bool tokenize_assumes_string;
  /* not called */
  LlgTokenizeFn tokenize_fn;
  /* not read */
  bool use_approximate_greedy_tokenize_fn;
  /* not read */
  const void *tokenize_user_data;
  /* not read */
  const char *const *slices;
} LlgTokenizerInit;

#ifdef __cplusplus
extern "C" {
#endif

/* Fills a struct with the default parameters of a matcher. */
void llg_constraint_init_set_defaults(LlgConstraintInit *init, const LlgTokenizer *tokenizer);

/*
 * Makes a tokenizer. Returns NULL on failure, with the message in `error_string`, truncated to `error_string_len` bytes
 * including its NUL. `error_string` may be NULL.
 */
LlgTokenizer *llg_new_tokenizer(const LlgTokenizerInit *tok_init, char *error_string, size_t error_string_len);

/* Makes another handle to a tokenizer, which must be freed separately. NULL for NULL. */
LlgTokenizer *llg_clone_tokenizer(const LlgTokenizer *tok);

/* Frees a handle to a tokenizer. Matchers that were made with it stay valid. */
void llg_free_tokenizer(LlgTokenizer *tok);

/*
 * Makes a matcher. It is never NULL: llg_matcher_get_error reports errors in the grammar. `constraint_type` is "lark",
 * "json_schema" (or "json"), "json_object" or "regex"; `data` is the text of the grammar, schema or pattern, and has no
 * effect with "json_object".
 */
LlgMatcher *llg_new_matcher(const LlgConstraintInit *init, const char *constraint_type, const char *data);

/* Makes an independent matcher at the same place. NULL for NULL. */
LlgMatcher *llg_clone_matcher(const LlgMatcher *matcher);

/* Frees a matcher. */
void llg_free_matcher(LlgMatcher *matcher);

/*
 * The error message of a matcher; NULL if it has none. The text lives as long as the matcher. Errors are permanent:
 * every later call fails.
 */
const char *llg_matcher_get_error(LlgMatcher *matcher);

/* Accepts a token. Returns 0, or -1 if the mask does not allow it or an earlier error exists. */
int32_t llg_matcher_consume_token(LlgMatcher *matcher, uint32_t token);

/*
 * Computes the mask of the tokens that may come next, or only of the end-of-sequence tokens after the end. Returns 0,
 * or -1 if this fails or an earlier error exists.
 */
int32_t llg_matcher_compute_mask(LlgMatcher *matcher);

/*
 * The mask computed since the last step: token `i` is bit `i % 32` of word `i / 32`. NULL if there is none. It is valid
 * until the next call on the matcher.
 */
const uint32_t *llg_matcher_get_mask(LlgMatcher *matcher);

/* The length of a mask in bytes. 0 if the matcher has no tokenizer. */
size_t llg_matcher_get_mask_byte_size(const LlgMatcher *matcher);

/* Returns to the beginning of the text. Returns 0, or -1 if an earlier error exists. */
int32_t llg_matcher_reset(LlgMatcher *matcher);

#ifdef __cplusplus
}
#endif

#endif
