/*
 * Grammata behind the functions of llguidance that llama.cpp links (libgrammata_llg). docs/hosts.md is the guide.
 *
 * Names and layouts are those of llguidance 1.9.1, so that a program written for its header is compiled with this one, unchanged.
 * Of its 50 functions the 13 below are there.
 *
 * Contract of all functions:
 *
 * - A handle belongs to the caller, who frees it once. `_free(NULL)` does nothing. To use a handle after it was freed, or to free
 *   it twice, is undefined. Handles may be freed in any order.
 * - NULL and misaligned pointers are errors like any other. Other pointers must be valid for as many elements as the call says,
 *   for as long as it takes; nothing is kept of them.
 * - No function aborts the program, whatever the grammar.
 *
 * Threads: tokenizers may be used by any number of threads at once. A matcher should be used by one thread at a time; calls at once
 * wait for each other, but a mask changes with the next call.
 *
 * The environment variable GRAMMATA_LLG_BUDGET has the number of tokens after which each text should be complete, as the functions have no
 * argument for it.
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

/* A token's number. */
typedef uint32_t LlgToken;

/* Limits of llguidance's parser. They are not read: the engine's own limits hold. */
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

/* What a matcher is made with: see llg_constraint_init_set_defaults. */
typedef struct LlgConstraintInit {
  const LlgTokenizer *tokenizer;
  /* not read */
  uint32_t log_buffer_level;
  /* from 1 on, what a schema warns of is written to standard error */
  uint32_t log_stderr_level;
  /* not read */
  bool ff_tokens_ok;
  /* not read */
  bool backtrack_ok;
  /* not read */
  LlgParserLimits limits;
} LlgConstraintInit;

/* The host's tokenizer. It is never called: masks need the tokens alone. */
typedef size_t (*LlgTokenizeFn)(const void *user_data, const uint8_t *bytes, size_t bytes_len, uint32_t *output_tokens,
                                size_t output_tokens_len);

/* The tokens of a model. */
typedef struct LlgTokenizerInit {
  /* how many there are, which is also the length of the logits */
  uint32_t vocab_size;
  /* the end-of-sequence token; UINT32_MAX if there is none */
  LlgToken tok_eos;
  /* `vocab_size` lengths in bytes */
  const uint32_t *token_lens;
  /* the bytes of all tokens, one after the other; those of a special token are 0xFF and its name */
  const uint8_t *token_bytes;
  /* if it is not NULL: the content of a `tokenizer.json`, read in place of the lengths and bytes */
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

/* Fills in what a matcher is made with. */
void llg_constraint_init_set_defaults(LlgConstraintInit *init, const LlgTokenizer *tokenizer);

/*
 * Makes a tokenizer. NULL if that fails: the message is then in `error_string`, cut to `error_string_len` bytes with the NUL at its
 * end. `error_string` may be NULL.
 */
LlgTokenizer *llg_new_tokenizer(const LlgTokenizerInit *tok_init, char *error_string, size_t error_string_len);

/* Makes another handle of a tokenizer, which is freed by itself. */
LlgTokenizer *llg_clone_tokenizer(const LlgTokenizer *tok);

/* Frees a handle of a tokenizer. Matchers that were made with it stay. */
void llg_free_tokenizer(LlgTokenizer *tok);

/*
 * Makes a matcher. It is never NULL: llg_matcher_get_error says what is wrong with the grammar. `constraint_type` is "lark",
 * "json_schema" (or "json"), "json_object" or "regex"; `data` is the text of the grammar, schema or pattern.
 */
LlgMatcher *llg_new_matcher(const LlgConstraintInit *init, const char *constraint_type, const char *data);

/* Makes a matcher of its own at the same place. */
LlgMatcher *llg_clone_matcher(const LlgMatcher *matcher);

/* Frees a matcher. */
void llg_free_matcher(LlgMatcher *matcher);

/* The error that a matcher met, as text; NULL if it met none. The text lives as long as the matcher. An error stays: every later
 * call fails. */
const char *llg_matcher_get_error(LlgMatcher *matcher);

/* Accepts a token: 0, or -1 if the mask does not allow it or an error came before. */
int32_t llg_matcher_consume_token(LlgMatcher *matcher, uint32_t token);

/* Makes the mask of the tokens that may come next, after the end the end-of-sequence token alone: 0, or -1 on error. */
int32_t llg_matcher_compute_mask(LlgMatcher *matcher);

/* The mask that was made since the last step: bit `i % 32` of word `i / 32` for token `i`. NULL if there is none. */
const uint32_t *llg_matcher_get_mask(LlgMatcher *matcher);

/* The length of a mask in bytes. 0 if the matcher has no tokenizer. */
size_t llg_matcher_get_mask_byte_size(const LlgMatcher *matcher);

/* Back to the beginning: 0, or -1 if an error came before. */
int32_t llg_matcher_reset(LlgMatcher *matcher);

#ifdef __cplusplus
}
#endif

#endif
