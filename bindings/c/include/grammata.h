#ifndef GRAMMATA_H
#define GRAMMATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Grammata: grammars to token masks, for decoders in C and C++. docs/c.md is the guide.
 *
 * Contract of all functions:
 *
 * - Functions that can fail return a status; GRAMMATA_STATUS_OK is 0. On failure they set `*error`, set `*out` to NULL,
 *   and set the outputs that tell how far they came (`*length`, `*accepted`, `statuses`). Masks that cannot be computed
 *   are all 0. Other buffers do not change, nor do handles, unless the comment of a function says so.
 * - `error`, always the last argument, may be NULL. Otherwise `*error` is overwritten: with NULL on success, with a new
 *   error on failure, which the caller frees. It need not be initialized.
 * - The caller owns what is returned through `out`, and frees it once with the `_free` of its type. `_free(NULL)` does
 *   nothing. Using a handle after it was freed, or freeing it twice, is undefined.
 * - NULL for a handle, or for a pointer that is needed, is GRAMMATA_STATUS_USAGE; so is a misaligned pointer. A pointer
 *   to no elements may be NULL. Other pointers must be valid for as many elements as the call says, until the call
 *   returns; the library does not keep them.
 * - Handles may be freed in any order: a matcher keeps its grammar, a grammar its vocabulary.
 * - Strings that are returned as `const char *` are UTF-8, end with NUL, and live as long as the handle they come from.
 * - A list is written to `buffer`, which has room for `capacity` elements. `*length` is set to the length of the list,
 *   also if the buffer is too small: then nothing is written and the status is GRAMMATA_STATUS_TOO_SHORT. With a
 *   capacity of 0 the status is OK, so that a first call can ask for the length only.
 * - Paths and options end with NUL. Sources and bytes are passed with their length. Options may be NULL.
 *
 * Threads: any number of threads may use vocabularies, compilers, grammars, mask files, archives, archive builders,
 * caches, pools, explanations and errors at the same time. Any thread may use a matcher, but only one at a time: a call
 * on a matcher that another call is using returns GRAMMATA_STATUS_BUSY and changes nothing.
 */


/**
 * The major version of this header.
 */
#define GRAMMATA_VERSION_MAJOR 0

/**
 * The minor version.
 */
#define GRAMMATA_VERSION_MINOR 2

/**
 * The patch version.
 */
#define GRAMMATA_VERSION_PATCH 0

/**
 * The result of a call. Numbers never change; new ones may be added.
 */
enum GrammataStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Success.
     */
    GRAMMATA_STATUS_OK = 0,
    /**
     * A grammar, schema, pattern or spec is invalid or describes nothing; its author can correct it.
     */
    GRAMMATA_STATUS_GRAMMAR = 1,
    /**
     * A tokenizer or vocabulary cannot be read or is not exact.
     */
    GRAMMATA_STATUS_VOCABULARY = 2,
    /**
     * A limit was exceeded.
     */
    GRAMMATA_STATUS_LIMIT = 3,
    /**
     * A token or text is not allowed at its place, or no complete text is known within a budget.
     */
    GRAMMATA_STATUS_REJECTED = 4,
    /**
     * The caller used the library wrongly: NULL, text that is not UTF-8, a token out of range.
     */
    GRAMMATA_STATUS_USAGE = 5,
    /**
     * A language model cannot be run. No function of this header runs one.
     */
    GRAMMATA_STATUS_MODEL = 6,
    /**
     * A file cannot be read or written.
     */
    GRAMMATA_STATUS_IO = 7,
    /**
     * The matcher is in use by another call.
     */
    GRAMMATA_STATUS_BUSY = 8,
    /**
     * A buffer is too short for the result. `*length` is the length needed.
     */
    GRAMMATA_STATUS_TOO_SHORT = 9,
    /**
     * A defect of this library. The matcher used in the call can only be freed; everything else stays usable.
     */
    GRAMMATA_STATUS_PANIC = 10,
    /**
     * An error without a number in this version of the header; the error's text describes it.
     */
    GRAMMATA_STATUS_OTHER = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum GrammataStatus GrammataStatus;
#else
typedef int32_t GrammataStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of a distance.
 */
enum GrammataDistance
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The number suffices, and no smaller number does.
     */
    GRAMMATA_DISTANCE_EXACT = 0,
    /**
     * The number suffices; whether a smaller one would is unknown.
     */
    GRAMMATA_DISTANCE_AT_MOST = 1,
    /**
     * The vocabulary cannot spell any completion. There is no number.
     */
    GRAMMATA_DISTANCE_UNREACHABLE = 2,
    /**
     * No completion was found within the limits. There is no number.
     */
    GRAMMATA_DISTANCE_UNKNOWN = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum GrammataDistance GrammataDistance;
#else
typedef int32_t GrammataDistance;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kind of a part of an output: a JSON value, or a text of a rule.
 */
enum GrammataPart
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * `{}`
     */
    GRAMMATA_PART_OBJECT = 0,
    /**
     * `[]`
     */
    GRAMMATA_PART_ARRAY = 1,
    /**
     * `""`
     */
    GRAMMATA_PART_STRING = 2,
    /**
     * A number.
     */
    GRAMMATA_PART_NUMBER = 3,
    /**
     * `true` or `false`
     */
    GRAMMATA_PART_BOOLEAN = 4,
    /**
     * `null`
     */
    GRAMMATA_PART_NULL = 5,
    /**
     * A text of a rule.
     */
    GRAMMATA_PART_RULE = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum GrammataPart GrammataPart;
#else
typedef int32_t GrammataPart;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Mask files of many grammars for one vocabulary, each with a name. Shared parts are stored once.
 */
typedef struct GrammataArchive GrammataArchive;

/**
 * Builds an archive, which it holds in memory.
 */
typedef struct GrammataArchiveBuilder GrammataArchiveBuilder;

/**
 * Compiled grammars by their source and options, with a bound on their bytes. A grammar that several threads request
 * at the same time is compiled once.
 */
typedef struct GrammataCache GrammataCache;

/**
 * Compiles grammars for one vocabulary. Its grammars share masks of the strings, numbers and patterns that they have
 * in common.
 */
typedef struct GrammataCompiler GrammataCompiler;

/**
 * One message of an error, or a warning of a grammar. It belongs to its error or grammar and must not be freed.
 */
typedef struct GrammataDiagnostic GrammataDiagnostic;

/**
 * The reason why a call failed: one or more messages about the input. It comes from `error` of any function, and is
 * freed with `grammata_error_free`.
 */
typedef struct GrammataError GrammataError;

/**
 * How the grammar reads a text.
 */
typedef struct GrammataExplanation GrammataExplanation;

/**
 * A grammar compiled for a vocabulary. Tables and masks are computed when a matcher first needs them, and shared by
 * all its matchers.
 */
typedef struct GrammataGrammar GrammataGrammar;

/**
 * `struct llama_sampler` of llama.cpp, which makes and frees it.
 */
typedef struct GrammataLlamaSampler GrammataLlamaSampler;

/**
 * A mask file: a grammar and its explored places, for one vocabulary.
 */
typedef struct GrammataMaskFile GrammataMaskFile;

/**
 * One sequence under a grammar.
 */
typedef struct GrammataMatcher GrammataMatcher;

/**
 * Threads for batches.
 */
typedef struct GrammataPool GrammataPool;

/**
 * The tokens of a tokenizer, as a model uses them.
 */
typedef struct GrammataVocabulary GrammataVocabulary;

/**
 * The beginning or the end of a part.
 */
typedef struct {
    /**
     * The kind of the part.
     */
    GrammataPart kind;
    /**
     * Whether the part ends. Otherwise it begins.
     */
    bool is_end;
    /**
     * The position of the first byte of the part in the text.
     */
    size_t start;
    /**
     * The position after its last byte; `start` if the part begins.
     */
    size_t end;
    /**
     * The step that reports the event, counted from 0.
     */
    size_t step;
} GrammataEvent;

/**
 * `struct llama_token_data`: a candidate.
 */
typedef struct {
    /**
     * The token.
     */
    int32_t id;
    /**
     * Its logit.
     */
    float logit;
    /**
     * Its probability.
     */
    float p;
} GrammataLlamaToken;

/**
 * `struct llama_token_data_array`: the candidates.
 */
typedef struct {
    /**
     * The first candidate.
     */
    GrammataLlamaToken *data;
    /**
     * The number of candidates.
     */
    size_t size;
    /**
     * The index of the chosen candidate.
     */
    int64_t selected;
    /**
     * Whether the candidates are sorted by logit.
     */
    bool sorted;
} GrammataLlamaTokens;

/**
 * `struct llama_sampler_i`: the six members that are used, and room for further ones, which are NULL.
 */
typedef struct {
    /**
     * Returns the sampler's name.
     */
    const char *(*name)(const GrammataLlamaSampler *sampler);
    /**
     * Accepts a chosen token.
     */
    void (*accept)(GrammataLlamaSampler *sampler, int32_t token);
    /**
     * Changes the logits of candidates.
     */
    void (*apply)(GrammataLlamaSampler *sampler, GrammataLlamaTokens *candidates);
    /**
     * Returns to the beginning of the text.
     */
    void (*reset)(GrammataLlamaSampler *sampler);
    /**
     * Makes an independent copy at the same place.
     */
    GrammataLlamaSampler *(*clone)(const GrammataLlamaSampler *sampler);
    /**
     * Frees the sampler's context.
     */
    void (*free)(GrammataLlamaSampler *sampler);
    /**
     * Members that llama.cpp has added or will add at the end.
     */
    void (*rest[26])(void);
} GrammataLlamaInterface;

/**
 * `llama_sampler_init` of llama.cpp, with the types of this header.
 */
typedef GrammataLlamaSampler *(*GrammataLlamaInit)(const GrammataLlamaInterface *iface, void *ctx);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library that is linked, such as `0.2.0`.
 */
const char *grammata_version(void);

/**
 * All limits with their defaults, as a JSON object: the values that `limits` may have in options. NULL only after a
 * defect of the library.
 */
const char *grammata_default_limits(void);

/**
 * Loads a tokenizer file: a `tokenizer.json` of Hugging Face, a `tekken.json`, a tiktoken rank file or a JSON list of
 * tokens.
 *
 * Options: `eos` (list of ids; default: the special tokens with well-known names), `specials` (object from names to
 * ids, in addition to those of the file), `added` (which added tokens of a `tokenizer.json` are special: "flagged", as
 * the file says; "special", all of them; or `{"named": [...]}`, the flagged and these), `width` (of the model's
 * logits, if it exceeds the number of the tokenizer's ids), `limits`.
 */
GrammataStatus grammata_vocabulary_from_file(const char *path,
                                             const char *options,
                                             GrammataVocabulary **out,
                                             GrammataError **error);

/**
 * Loads the content of a tokenizer file. The options are those of `grammata_vocabulary_from_file`.
 */
GrammataStatus grammata_vocabulary_from_bytes(const char *content,
                                              size_t length,
                                              const char *options,
                                              GrammataVocabulary **out,
                                              GrammataError **error);

/**
 * Makes a vocabulary of tokens, given by their concatenated bytes and the length of each. Token `i` has the id `i`; a
 * token of length 0 has no bytes, like special tokens and padding.
 *
 * Options: those of `grammata_vocabulary_from_file`; `eos` must be given, or a text that may continue could never end.
 */
GrammataStatus grammata_vocabulary_from_tokens(const char *bytes,
                                               size_t bytes_length,
                                               const size_t *lengths,
                                               size_t count,
                                               const char *options,
                                               GrammataVocabulary **out,
                                               GrammataError **error);

/**
 * The length of the model's logits, in tokens; a mask has one bit per token. 0 for NULL.
 */
size_t grammata_vocabulary_width(const GrammataVocabulary *vocabulary);

/**
 * The number of 32-bit words of a mask. 0 for NULL.
 */
size_t grammata_vocabulary_mask_words(const GrammataVocabulary *vocabulary);

/**
 * Whether a token is an end-of-sequence token. False for NULL.
 */
bool grammata_vocabulary_is_eos(const GrammataVocabulary *vocabulary, uint32_t token);

/**
 * The end-of-sequence tokens.
 */
GrammataStatus grammata_vocabulary_eos(const GrammataVocabulary *vocabulary,
                                       uint32_t *buffer,
                                       size_t capacity,
                                       size_t *length,
                                       GrammataError **error);

/**
 * The bytes of a token. They belong to the vocabulary and do not end with NUL. For special tokens and padding `*bytes`
 * is NULL and `*length` 0.
 */
GrammataStatus grammata_vocabulary_token(const GrammataVocabulary *vocabulary,
                                         uint32_t token,
                                         const char **bytes,
                                         size_t *length,
                                         GrammataError **error);

/**
 * The name of a special token; NULL for every other token.
 */
const char *grammata_vocabulary_special(const GrammataVocabulary *vocabulary, uint32_t token);

/**
 * Splits bytes into tokens, taking the longest token at each place. This is not the tokenizer's own encoding, but the
 * tokens' bytes are the given ones. GRAMMATA_STATUS_REJECTED if no token fits somewhere.
 */
GrammataStatus grammata_vocabulary_encode_greedy(const GrammataVocabulary *vocabulary,
                                                 const char *bytes,
                                                 size_t bytes_length,
                                                 uint32_t *buffer,
                                                 size_t capacity,
                                                 size_t *length,
                                                 GrammataError **error);

/**
 * Frees a vocabulary. Compilers and grammars that were made with it stay valid.
 */
void grammata_vocabulary_free(GrammataVocabulary *vocabulary);

/**
 * Makes a compiler.
 *
 * Options: `limits` (object from names to numbers, as returned by `grammata_default_limits`; they apply to the sources
 * of its grammars, to compiling, and to masks).
 */
GrammataStatus grammata_compiler_new(const GrammataVocabulary *vocabulary,
                                     const char *options,
                                     GrammataCompiler **out,
                                     GrammataError **error);

/**
 * Computes the token index of the vocabulary now; otherwise the first grammar does (some 60 milliseconds for 128,000
 * tokens).
 */
GrammataStatus grammata_compiler_prepare(const GrammataCompiler *compiler,
                                         GrammataError **error);

/**
 * Frees a compiler. Its grammars stay valid.
 */
void grammata_compiler_free(GrammataCompiler *compiler);

/**
 * Compiles a JSON Schema.
 *
 * Options: `generation` (true: defaults for the output of a language model, which prevent runaway white space and
 * digits), `whitespace` (`"free"`, `"compact"`, `"short"`, `"spaced"`, `{"at_most": 3}`, `{"pattern": " ?"}`),
 * `property_order` (`"declared"`, `"any"`), `formats` (`"assert"`, `"annotate"`), `undeclared` (`"allowed"`,
 * `"refused"`), `numbers` (`"any"`, `"plain"`), `max_digits` (a number), `documents` (object from URIs to the
 * documents of references).
 */
GrammataStatus grammata_compile_json_schema(const GrammataCompiler *compiler,
                                            const char *schema,
                                            size_t length,
                                            const char *options,
                                            GrammataGrammar **out,
                                            GrammataError **error);

/**
 * Compiles a regular expression that matches whole texts.
 *
 * Options: `dialect` (`"rust"`, `"ecma262"`), `unicode` (default true), `case_insensitive`, `dot_matches_newline`,
 * `ascii_classes`, `search` (default false).
 */
GrammataStatus grammata_compile_regex(const GrammataCompiler *compiler,
                                      const char *pattern,
                                      size_t length,
                                      const char *options,
                                      GrammataGrammar **out,
                                      GrammataError **error);

/**
 * Compiles a grammar in GBNF, the notation of llama.cpp.
 *
 * Options: `root` (the rule to start from).
 */
GrammataStatus grammata_compile_gbnf(const GrammataCompiler *compiler,
                                     const char *grammar,
                                     size_t length,
                                     const char *options,
                                     GrammataGrammar **out,
                                     GrammataError **error);

/**
 * Compiles a structural tag, the JSON in which servers describe tool calls, given as text.
 *
 * Options: those of `grammata_compile_json_schema`, for its schemas; `grammars`, an object that maps each name used in
 * a format `{"type": "grammar", "name": …}` to an object with `notation` ("json-schema", "gbnf", …) and `text`.
 */
GrammataStatus grammata_compile_structural_tag(const GrammataCompiler *compiler,
                                               const char *tag,
                                               size_t length,
                                               const char *options,
                                               GrammataGrammar **out,
                                               GrammataError **error);

/**
 * Compiles a grammar in the notation of the Python package Lark.
 *
 * Options: `start` (the rule to start from; default `"start"`), `dialect` (of its patterns: `"rust"`, `"ecma262"`).
 */
GrammataStatus grammata_compile_lark(const GrammataCompiler *compiler,
                                     const char *grammar,
                                     size_t length,
                                     const char *options,
                                     GrammataGrammar **out,
                                     GrammataError **error);

/**
 * Compiles an automaton spec.
 *
 * Options: `format` (`"toml"`, `"json"`), `parameters` (object from names to values as text), `folder` (of the files
 * with schemas of arguments).
 */
GrammataStatus grammata_compile_spec(const GrammataCompiler *compiler,
                                     const char *spec,
                                     size_t length,
                                     const char *options,
                                     GrammataGrammar **out,
                                     GrammataError **error);

/**
 * Compiles what a model of a family may write for a request: reasoning, then calls of its tools in free text, or, with
 * the schema of an answer, calls or an answer in JSON by this schema.
 *
 * `request` is a JSON object. `family` names the family ("qwen_3", "harmony", …). The rest may be left out: `tools` and
 * `tool_choice` are those of a chat completion; `answer` (a JSON Schema); `reasoning` ("enabled", "disabled", "auto");
 * `parallel_tool_calls` (default true); `any_order` (of members; default false); `exclude_special_tokens` (default
 * true); `max_whitespace_cnt`. What is left out of the grammar or not enforced is a warning of the grammar.
 *
 * Options: those of `grammata_compile_structural_tag`.
 */
GrammataStatus grammata_compile_request(const GrammataCompiler *compiler,
                                        const char *request,
                                        size_t length,
                                        const char *options,
                                        GrammataGrammar **out,
                                        GrammataError **error);

/**
 * The number of warnings: about unknown keywords and the like, and about bytes that the vocabulary cannot spell.
 */
size_t grammata_grammar_warning_count(const GrammataGrammar *grammar);

/**
 * Warning `index`, which belongs to the grammar; NULL for larger indices.
 */
const GrammataDiagnostic *grammata_grammar_warning(const GrammataGrammar *grammar, size_t index);

/**
 * Bytes of the grammar, its automaton, and the tables and masks computed so far.
 */
size_t grammata_grammar_memory_usage(const GrammataGrammar *grammar);

/**
 * Sizes and counts as a JSON object: `states` of the automaton, `configurations` and `masks_computed` so far,
 * `strategies` (how the tokens of these masks were computed), `resets` of full tables, `automaton_bytes`,
 * `cache_bytes`, and `distances` computed for budgets. It is written without NUL, and is shorter than 1,024 bytes.
 */
GrammataStatus grammata_grammar_statistics(const GrammataGrammar *grammar,
                                           char *buffer,
                                           size_t capacity,
                                           size_t *length,
                                           GrammataError **error);

/**
 * Frees a grammar. Its matchers stay valid.
 */
void grammata_grammar_free(GrammataGrammar *grammar);

/**
 * Explores a grammar and makes a mask file of it. The same grammar, options and vocabulary give the same bytes.
 *
 * Options: `documents` (list of texts to explore first; texts that the vocabulary cannot spell are skipped), `states`
 * (maximum number of places to explore, default 4,096), `work` (maximum number of steps, default 4,000,000, some 200
 * milliseconds).
 */
GrammataStatus grammata_mask_file_new(const GrammataGrammar *grammar,
                                      const char *options,
                                      GrammataMaskFile **out,
                                      GrammataError **error);

/**
 * Reads a mask file into memory and checks its header and checksums.
 *
 * Options: `limits` (`mask_file_bytes` is the maximum size of the file).
 */
GrammataStatus grammata_mask_file_open(const char *path,
                                       const char *options,
                                       GrammataMaskFile **out,
                                       GrammataError **error);

/**
 * Reads a mask file from bytes, which are copied and checked.
 */
GrammataStatus grammata_mask_file_from_bytes(const char *content,
                                             size_t length,
                                             GrammataMaskFile **out,
                                             GrammataError **error);

/**
 * Returns the bytes of the file, `*length` of them. They belong to the handle. NULL for NULL.
 */
const char *grammata_mask_file_bytes(const GrammataMaskFile *file, size_t *length);

/**
 * Describes the file as a JSON object: the fingerprint of its `vocabulary` and the hash of its `grammar`, both in
 * hexadecimal; `bytes`; explored places (`states`, `states_with_mask`); `masks`; `shared_words`, the number of shared
 * bit sets (one bit per token) that masks are stored as differences from; and `sections`, the bytes of each. NULL for
 * NULL.
 */
const char *grammata_mask_file_contents(const GrammataMaskFile *file);

/**
 * Checks that all places and masks of the file are well-formed. `grammata_grammar_verify_masks` checks whether they
 * are correct.
 */
GrammataStatus grammata_mask_file_check(const GrammataMaskFile *file,
                                        GrammataError **error);

/**
 * Writes the file atomically: other processes see a complete file or none.
 */
GrammataStatus grammata_mask_file_save(const GrammataMaskFile *file, const char *path, GrammataError **error);

/**
 * Frees a mask file. Grammars that were loaded from it stay valid.
 */
void grammata_mask_file_free(GrammataMaskFile *file);

/**
 * Loads the grammar of a mask file, which must be for the compiler's vocabulary. What was explored is read from the
 * file, the rest is computed on demand. Masks are the same as after compiling the grammar. Files do not keep warnings
 * of the grammar's source.
 */
GrammataStatus grammata_compiler_load(const GrammataCompiler *compiler,
                                      const GrammataMaskFile *file,
                                      GrammataGrammar **out,
                                      GrammataError **error);

/**
 * Recomputes what the mask file of a loaded grammar says about the places that texts reach, and fails if anything
 * differs. `*masks` is the number of masks compared, 0 for a grammar that was not loaded from a file.
 */
GrammataStatus grammata_grammar_verify_masks(const GrammataGrammar *grammar,
                                             size_t *masks,
                                             GrammataError **error);

/**
 * Makes an archive builder for a vocabulary, without mask files.
 *
 * Options: `limits` (`mask_archive_bytes` is the maximum size of the archive).
 */
GrammataStatus grammata_archive_builder_new(const GrammataVocabulary *vocabulary,
                                            const char *options,
                                            GrammataArchiveBuilder **out,
                                            GrammataError **error);

/**
 * Adds a mask file. Names must be unique, and all files must be for the archive's vocabulary. The same files in the
 * same order give the same bytes.
 */
GrammataStatus grammata_archive_builder_add(const GrammataArchiveBuilder *builder,
                                            const char *name,
                                            size_t length,
                                            const GrammataMaskFile *file,
                                            GrammataError **error);

/**
 * Writes the archive atomically: other processes see a complete file or none.
 */
GrammataStatus grammata_archive_builder_save(const GrammataArchiveBuilder *builder,
                                             const char *path,
                                             GrammataError **error);

/**
 * Frees an archive builder.
 */
void grammata_archive_builder_free(GrammataArchiveBuilder *builder);

/**
 * Opens an archive and reads its header. Other parts are read, and their checksums computed, on demand.
 *
 * Options: `limits` (`mask_archive_bytes` is the maximum size of the file, `mask_file_bytes` that of one mask file in
 * it).
 */
GrammataStatus grammata_archive_open(const char *path,
                                     const char *options,
                                     GrammataArchive **out,
                                     GrammataError **error);

/**
 * The number of mask files of an archive. 0 for NULL.
 */
size_t grammata_archive_count(const GrammataArchive *archive);

/**
 * The name of the mask file at a place, which must be less than the count. Names are sorted. The name is written
 * without NUL.
 */
GrammataStatus grammata_archive_name(const GrammataArchive *archive,
                                     size_t place,
                                     char *buffer,
                                     size_t capacity,
                                     size_t *length,
                                     GrammataError **error);

/**
 * Returns the mask file of a name, for `grammata_compiler_load`. If there is none, `*out` is NULL and the status is
 * OK.
 */
GrammataStatus grammata_archive_get(const GrammataArchive *archive,
                                    const char *name,
                                    size_t length,
                                    GrammataMaskFile **out,
                                    GrammataError **error);

/**
 * Frees an archive. Mask files that were taken from it stay valid.
 */
void grammata_archive_free(GrammataArchive *archive);

/**
 * The token index of the compiler's vocabulary as bytes, for `grammata_compiler_prepare_from` in another process.
 * Equal vocabularies have equal bytes, some 35 per token.
 */
GrammataStatus grammata_compiler_token_index(const GrammataCompiler *compiler,
                                             char *buffer,
                                             size_t capacity,
                                             size_t *length,
                                             GrammataError **error);

/**
 * Reads the token index of the vocabulary from bytes instead of computing it, in a fifth to a ninth of the time. Does
 * nothing if the compiler already has its index. The bytes cannot do harm, but masks depend on them: take them from
 * the same source as the vocabulary.
 */
GrammataStatus grammata_compiler_prepare_from(const GrammataCompiler *compiler,
                                              const char *index,
                                              size_t length,
                                              GrammataError **error);

/**
 * The token index of a mask file, `*length` bytes. They belong to the handle. NULL if it has none, and for NULL. An
 * archive has its own.
 */
const char *grammata_mask_file_token_index(const GrammataMaskFile *file,
                                           size_t *length);

/**
 * Makes a copy of a mask file with a token index, or without one if `length` is 0.
 */
GrammataStatus grammata_mask_file_with_token_index(const GrammataMaskFile *file,
                                                   const char *index,
                                                   size_t length,
                                                   GrammataMaskFile **out,
                                                   GrammataError **error);

/**
 * Sets the token index of an archive, once for all of its files; token indices of the files are left out.
 */
GrammataStatus grammata_archive_builder_set_token_index(const GrammataArchiveBuilder *builder,
                                                        const char *index,
                                                        size_t length,
                                                        GrammataError **error);

/**
 * The token index of an archive; `*length` is 0 if it has none.
 */
GrammataStatus grammata_archive_token_index(const GrammataArchive *archive,
                                            char *buffer,
                                            size_t capacity,
                                            size_t *length,
                                            GrammataError **error);

/**
 * Makes a cache.
 *
 * Options: `max_bytes` (maximum bytes of grammars, tables and masks in memory; default 268,435,456); `folder` (created
 * if it is missing: a grammar that is not in memory is loaded from its mask file there; if there is none, a background
 * thread explores it and writes the file for the next process); `max_file_bytes` (default 1,073,741,824; beyond it the
 * oldest files are removed); `states` and `work` (bound exploring, as for `grammata_mask_file_new`). Several processes
 * may share a folder, whose files are trusted.
 */
GrammataStatus grammata_cache_new(const GrammataCompiler *compiler,
                                  const char *options,
                                  GrammataCache **out,
                                  GrammataError **error);

/**
 * Returns the cached grammar of a source, or compiles it. The caller frees it like any other grammar; it stays valid
 * if the cache evicts it.
 *
 * `notation` is `"json-schema"`, `"regex"`, `"gbnf"`, `"lark"`, `"structural-tag"` or `"spec"`; the options are those
 * of the function that compiles it.
 */
GrammataStatus grammata_cache_get(const GrammataCache *cache,
                                  const char *notation,
                                  const char *source,
                                  size_t length,
                                  const char *options,
                                  GrammataGrammar **out,
                                  GrammataError **error);

/**
 * Waits until pending mask files are written. A child of `fork()` has no thread that writes files, so there this
 * returns immediately.
 */
GrammataStatus grammata_cache_flush(const GrammataCache *cache,
                                    GrammataError **error);

/**
 * The number of cached grammars. 0 for NULL.
 */
size_t grammata_cache_length(const GrammataCache *cache);

/**
 * Bytes of the cached grammars. 0 for NULL.
 */
size_t grammata_cache_memory_usage(const GrammataCache *cache);

/**
 * Evicts all grammars.
 */
GrammataStatus grammata_cache_clear(const GrammataCache *cache, GrammataError **error);

/**
 * Frees a cache. Grammars taken from it stay valid.
 */
void grammata_cache_free(GrammataCache *cache);

/**
 * Makes a matcher at the beginning of a text.
 */
GrammataStatus grammata_matcher_new(const GrammataGrammar *grammar,
                                    GrammataMatcher **out,
                                    GrammataError **error);

/**
 * Makes a matcher at the beginning of a text that ends with the given tokens instead of the vocabulary's
 * end-of-sequence tokens, like the `stop_token_ids` of a request. A mask contains each of them exactly if the text may
 * end, and none of the vocabulary's that is not given. Elsewhere only a token terminal that lists such a token allows
 * it. GRAMMATA_STATUS_USAGE if there are none, or one is outside the vocabulary.
 *
 * A given token with ordinary text, or one that a set "all tokens but these" contains, no longer counts as text. In
 * this case each call of this function compiles the grammar again. To get more matchers, fork the first.
 */
GrammataStatus grammata_matcher_new_with_end_tokens(const GrammataGrammar *grammar,
                                                    const uint32_t *tokens,
                                                    size_t count,
                                                    GrammataMatcher **out,
                                                    GrammataError **error);

/**
 * Makes an independent matcher at the same place. It shares the accepted prefix instead of copying it.
 */
GrammataStatus grammata_matcher_fork(GrammataMatcher *matcher, GrammataMatcher **out, GrammataError **error);

/**
 * Frees a matcher. If another call is using it, the status is GRAMMATA_STATUS_BUSY, and it is not freed.
 */
GrammataStatus grammata_matcher_free(GrammataMatcher *matcher);

/**
 * The bytes accepted so far.
 */
GrammataStatus grammata_matcher_bytes(GrammataMatcher *matcher,
                                      char *buffer,
                                      size_t capacity,
                                      size_t *length,
                                      GrammataError **error);

/**
 * The number of steps accepted so far, which can be rolled back. A step is one token, or the bytes of one call.
 */
GrammataStatus grammata_matcher_steps(GrammataMatcher *matcher,
                                      size_t *steps,
                                      GrammataError **error);

/**
 * Whether the text so far is a word of the grammar, so that it may end here.
 */
GrammataStatus grammata_matcher_is_accepting(GrammataMatcher *matcher, bool *answer, GrammataError **error);

/**
 * Whether the text has ended, or is a word that cannot be extended.
 */
GrammataStatus grammata_matcher_is_finished(GrammataMatcher *matcher, bool *answer, GrammataError **error);

/**
 * Whether a token may come next: its bit of the mask, without computing the mask.
 */
GrammataStatus grammata_matcher_is_token_allowed(GrammataMatcher *matcher,
                                                 uint32_t token,
                                                 bool *answer,
                                                 GrammataError **error);

/**
 * Whether some completion begins with these bytes. Nothing is accepted.
 */
GrammataStatus grammata_matcher_accepts_prefix(GrammataMatcher *matcher,
                                               const char *bytes,
                                               size_t length,
                                               bool *answer,
                                               GrammataError **error);

/**
 * Whether the next mask is read from the mask file that the grammar was loaded from, so that nothing is computed.
 */
GrammataStatus grammata_matcher_is_explored(GrammataMatcher *matcher,
                                            bool *answer,
                                            GrammataError **error);

/**
 * Whether a token is in the mask within a budget. To sample faster, sample from the plain mask, call this with the
 * token, and sample from the mask within the budget only if the answer is false: the texts are as likely as with the
 * mask within the budget.
 */
GrammataStatus grammata_matcher_is_token_allowed_within(GrammataMatcher *matcher,
                                                        uint32_t token,
                                                        size_t budget,
                                                        bool *answer,
                                                        GrammataError **error);

/**
 * Checks that a complete text is known within a budget of tokens. Otherwise the status is GRAMMATA_STATUS_REJECTED,
 * and the error names the smallest budget known to suffice.
 */
GrammataStatus grammata_matcher_check_budget(GrammataMatcher *matcher,
                                             size_t budget,
                                             GrammataError **error);

/**
 * The smallest number of tokens that lead to a complete text, without the end-of-sequence token; `*kind` says whether
 * `*tokens` is this number or only an upper bound. `*tokens` is 0 if no number is known.
 */
GrammataStatus grammata_matcher_distance(GrammataMatcher *matcher,
                                         GrammataDistance *kind,
                                         size_t *tokens,
                                         GrammataError **error);

/**
 * The smallest number of bytes that lead to a complete text, whether tokens spell them or not; `*kind` says whether
 * `*bytes` is this number or only an upper bound. `*bytes` is 0 if no number is known.
 */
GrammataStatus grammata_matcher_distance_in_bytes(GrammataMatcher *matcher,
                                                  GrammataDistance *kind,
                                                  size_t *bytes,
                                                  GrammataError **error);

/**
 * The longest byte string that every completion begins with, at most 65,536 bytes. It is empty if the text may end, if
 * more than one byte may come next, if a token of a token terminal may, or if a part bounded in tokens is open or may
 * follow.
 */
GrammataStatus grammata_matcher_forced_bytes(GrammataMatcher *matcher,
                                             char *buffer,
                                             size_t capacity,
                                             size_t *length,
                                             GrammataError **error);

/**
 * Tokens that leave no choice: they spell a prefix of the forced bytes, or are the only tokens of token terminals that
 * may come. The list ends where a longer token might reach beyond the forced bytes. The tokens are not accepted.
 */
GrammataStatus grammata_matcher_forced_tokens(GrammataMatcher *matcher,
                                              uint32_t *buffer,
                                              size_t capacity,
                                              size_t *length,
                                              GrammataError **error);

/**
 * Writes the mask of the tokens that may come next: token `i` is bit `i % 32` of word `i / 32`. `count` is the number
 * of words of the buffer, at least `grammata_vocabulary_mask_words`; words beyond the mask are cleared. After an
 * end-of-sequence token the mask is empty.
 */
GrammataStatus grammata_matcher_fill_mask(GrammataMatcher *matcher,
                                          uint32_t *words,
                                          size_t count,
                                          GrammataError **error);

/**
 * Writes the mask within a budget: at most `budget` tokens are still to come, including the next one, without the
 * end-of-sequence token. If this returns OK, then after each token of the mask it returns OK for a budget smaller by
 * one: the text will be complete within the budget. GRAMMATA_STATUS_REJECTED if no complete text is known within it.
 */
GrammataStatus grammata_matcher_fill_mask_within(GrammataMatcher *matcher,
                                                 size_t budget,
                                                 uint32_t *words,
                                                 size_t count,
                                                 GrammataError **error);

/**
 * Accepts a token. If the mask does not allow it, the status is GRAMMATA_STATUS_REJECTED, and the matcher does not
 * move.
 */
GrammataStatus grammata_matcher_accept_token(GrammataMatcher *matcher,
                                             uint32_t token,
                                             GrammataError **error);

/**
 * Accepts a token if the mask allows it: `*accepted` is whether it does. A rejected token costs no more than an
 * accepted one.
 */
GrammataStatus grammata_matcher_try_accept(GrammataMatcher *matcher,
                                           uint32_t token,
                                           bool *accepted,
                                           GrammataError **error);

/**
 * Accepts the longest allowed prefix of the tokens, such as a draft of speculative decoding, each token as a step.
 * `*accepted` is its length. The status is OK even if it is 0; the matcher is after the accepted tokens, also if a
 * later token fails the call, as one outside the vocabulary does.
 */
GrammataStatus grammata_matcher_accept_tokens(GrammataMatcher *matcher,
                                              const uint32_t *tokens,
                                              size_t count,
                                              size_t *accepted,
                                              GrammataError **error);

/**
 * The length of the longest prefix of the tokens that is allowed. The matcher does not move.
 */
GrammataStatus grammata_matcher_validate_tokens(GrammataMatcher *matcher,
                                                const uint32_t *tokens,
                                                size_t count,
                                                size_t *valid,
                                                GrammataError **error);

/**
 * Accepts bytes, as one step. If no completion continues so, the status is GRAMMATA_STATUS_REJECTED, and the matcher
 * does not move.
 */
GrammataStatus grammata_matcher_accept_bytes(GrammataMatcher *matcher,
                                             const char *bytes,
                                             size_t length,
                                             GrammataError **error);

/**
 * Accepts bytes as one step if some completion begins with them: `*accepted` is whether one does.
 */
GrammataStatus grammata_matcher_try_accept_bytes(GrammataMatcher *matcher,
                                                 const char *bytes,
                                                 size_t length,
                                                 bool *accepted,
                                                 GrammataError **error);

/**
 * Undoes the last `steps` steps.
 */
GrammataStatus grammata_matcher_rollback(GrammataMatcher *matcher, size_t steps, GrammataError **error);

/**
 * Returns to the beginning of the text.
 */
GrammataStatus grammata_matcher_reset(GrammataMatcher *matcher, GrammataError **error);

/**
 * Makes a matcher at the beginning of a text, which reports the JSON values of the text as they begin and end. The
 * texts of the grammar must be JSON, as those of a JSON Schema are: a step that leaves JSON fails with
 * GRAMMATA_STATUS_GRAMMAR, and the matcher does not move.
 */
GrammataStatus grammata_matcher_new_with_events(const GrammataGrammar *grammar,
                                                GrammataMatcher **out,
                                                GrammataError **error);

/**
 * Makes a matcher at the beginning of a text, which reports the texts of rules as they begin and end. `rules` has
 * `count` names of rules, each ending with NUL. A second grammar is compiled for the call: to get more matchers, fork
 * the first. GRAMMATA_STATUS_GRAMMAR if the grammar has no such rule, or it cannot be reported.
 */
GrammataStatus grammata_matcher_new_with_rule_events(const GrammataGrammar *grammar,
                                                     const char *const *rules,
                                                     size_t count,
                                                     GrammataMatcher **out,
                                                     GrammataError **error);

/**
 * The events of the accepted steps that this function has not returned before: those of the indices from `*first` on,
 * `*count` of them, in the order of the text. A rollback takes events back: those of the steps that replace the undone
 * ones are new again. A fork has returned what its matcher had. There are none if the matcher was made without events.
 */
GrammataStatus grammata_matcher_new_events(GrammataMatcher *matcher,
                                           size_t *first,
                                           size_t *count,
                                           GrammataError **error);

/**
 * An event of the accepted steps. GRAMMATA_STATUS_USAGE if there is none of this index.
 */
GrammataStatus grammata_matcher_event(GrammataMatcher *matcher,
                                      size_t index,
                                      GrammataEvent *out,
                                      GrammataError **error);

/**
 * The JSON Pointer of a value, which is empty for the whole text, or the name of a rule, in UTF-8.
 * GRAMMATA_STATUS_USAGE if there is no event of this index.
 */
GrammataStatus grammata_matcher_event_name(GrammataMatcher *matcher,
                                           size_t index,
                                           char *buffer,
                                           size_t capacity,
                                           size_t *length,
                                           GrammataError **error);

/**
 * Writes `count + 1` masks for a draft of `count` tokens. The first is that of the current place; row `i`, which
 * begins at `words[i * row_words]`, is the mask after the first `i` tokens. `*allowed` is the length of the longest
 * allowed prefix of the draft. Later rows are all 0, as are all rows if a mask cannot be computed. A token outside the
 * vocabulary is not allowed. The matcher does not move.
 */
GrammataStatus grammata_matcher_fill_draft_masks(GrammataMatcher *matcher,
                                                 const uint32_t *tokens,
                                                 size_t count,
                                                 uint32_t *words,
                                                 size_t words_length,
                                                 size_t row_words,
                                                 size_t *allowed,
                                                 GrammataError **error);

/**
 * Like `grammata_matcher_fill_draft_masks`, with masks within a budget: `budget` tokens are still to come at this
 * place, and one fewer after each token of the draft. GRAMMATA_STATUS_REJECTED if no complete text is known within the
 * budget.
 */
GrammataStatus grammata_matcher_fill_draft_masks_within(GrammataMatcher *matcher,
                                                        const uint32_t *tokens,
                                                        size_t count,
                                                        size_t budget,
                                                        uint32_t *words,
                                                        size_t words_length,
                                                        size_t row_words,
                                                        size_t *allowed,
                                                        GrammataError **error);

/**
 * Writes a mask for each of the `count` nodes of a tree of draft tokens: that of node `n` begins at `words[n *
 * row_words]`. Node 0 is the root and represents the current place; `tokens[0]` is not read. `first_child[n]` is the
 * first child of node `n`, `next_sibling[n]` the next child of the same parent, and -1 means none. SGLang and XGrammar
 * call these arrays and the tokens `retrieve_next_token`, `retrieve_next_sibling` and `draft_tokens`.
 *
 * `reached` may be NULL; otherwise it has room for `count` answers: whether the tokens from the root to a node are
 * allowed in sequence. Rows of other nodes are all 0, as are all rows if the links are wrong or a mask cannot be
 * computed. GRAMMATA_STATUS_USAGE if the links do not form a tree. The matcher does not move.
 */
GrammataStatus grammata_matcher_fill_tree_masks(GrammataMatcher *matcher,
                                                const int64_t *first_child,
                                                const int64_t *next_sibling,
                                                const int64_t *tokens,
                                                size_t count,
                                                uint32_t *words,
                                                size_t words_length,
                                                size_t row_words,
                                                bool *reached,
                                                GrammataError **error);

/**
 * Makes a `llama_sampler` of llama.cpp that follows a copy of the matcher. It sets the logits of forbidden tokens to
 * minus infinity, and accepts chosen tokens. Cast `llama_sampler_init` to GrammataLlamaInit, and `*out` to `struct
 * llama_sampler *`. Put the sampler into the chain before samplers that drop tokens; the chain then owns it. Without a
 * chain, free it with `llama_sampler_free`.
 *
 * Options: `budget` (maximum number of tokens to come, without the end-of-sequence token: the text will be complete
 * within them; GRAMMATA_STATUS_REJECTED if that is impossible).
 *
 * `llama_sampler_reset` returns to the beginning of a text. After an error only the end-of-sequence tokens are
 * allowed, so that generation ends: see `grammata_llama_sampler_check`.
 *
 * The interface is that of llama.cpp since 2024. Members that later versions have added are NULL here; there is room
 * for 32 in all. Check `sizeof(struct llama_sampler_i) <= sizeof(GrammataLlamaInterface)` when you compile.
 */
GrammataStatus grammata_llama_sampler(GrammataMatcher *matcher,
                                      GrammataLlamaInit init,
                                      const char *options,
                                      GrammataLlamaSampler **out,
                                      GrammataError **error);

/**
 * Checks that a sampler made by `grammata_llama_sampler` still follows its text. Otherwise `*error` is the error it
 * met: a token that was accepted but not allowed, or a limit.
 */
GrammataStatus grammata_llama_sampler_check(const GrammataLlamaSampler *sampler,
                                            GrammataError **error);

/**
 * Explains how the grammar reads bytes after those accepted so far. The matcher does not move.
 */
GrammataStatus grammata_matcher_explain(GrammataMatcher *matcher,
                                        const char *bytes,
                                        size_t length,
                                        GrammataExplanation **out,
                                        GrammataError **error);

/**
 * Explains how the grammar reads a token. The matcher does not move.
 */
GrammataStatus grammata_matcher_explain_token(GrammataMatcher *matcher,
                                              uint32_t token,
                                              GrammataExplanation **out,
                                              GrammataError **error);

/**
 * Whether the text can be completed. False for NULL.
 */
bool grammata_explanation_is_viable(const GrammataExplanation *explanation);

/**
 * Whether the text may end at the position. False for NULL.
 */
bool grammata_explanation_may_end(const GrammataExplanation *explanation);

/**
 * The length in bytes, from the beginning of the sequence, of the longest prefix that some word of the grammar begins
 * with. 0 for NULL.
 */
size_t grammata_explanation_position(const GrammataExplanation *explanation);

/**
 * The byte at which the text leaves the grammar; -1 if it does not, and for NULL.
 */
int32_t grammata_explanation_found(const GrammataExplanation *explanation);

/**
 * What was expected at the position, on one line.
 */
const char *grammata_explanation_expected(const GrammataExplanation *explanation);

/**
 * The whole explanation, on one line.
 */
const char *grammata_explanation_text(const GrammataExplanation *explanation);

/**
 * Frees an explanation.
 */
void grammata_explanation_free(GrammataExplanation *explanation);

/**
 * Makes a pool of `threads` threads; 0 means one per core. A pool does not survive `fork()`: a child must make its
 * own.
 */
GrammataStatus grammata_pool_new(size_t threads,
                                 GrammataPool **out,
                                 GrammataError **error);

/**
 * Frees a pool after waiting for its threads to end.
 */
void grammata_pool_free(GrammataPool *pool);

/**
 * Writes the mask of each matcher into its own row: the row of matcher `i` begins at `words[i * row_words]`. A matcher
 * that fails does not stop the others, and its row is all 0. A matcher fails, too, if it is NULL, in use by another
 * call, or listed before.
 *
 * `pool` may be NULL: the calling thread then does the work. `statuses` may be NULL; otherwise it has room for `count`
 * statuses, one per matcher. The result is OK if all statuses are OK; otherwise the result and `error` are those of
 * the first matcher that failed. If an argument cannot be used, the call fails before any matcher is used.
 */
GrammataStatus grammata_batch_fill_masks(const GrammataPool *pool,
                                         GrammataMatcher *const *matchers,
                                         size_t count,
                                         uint32_t *words,
                                         size_t words_length,
                                         size_t row_words,
                                         GrammataStatus *statuses,
                                         GrammataError **error);

/**
 * Accepts one token in each matcher: token `i` in matcher `i`. A matcher that fails does not stop the others, and does
 * not move. `pool`, `statuses` and the result are as for `grammata_batch_fill_masks`.
 */
GrammataStatus grammata_batch_accept_tokens(const GrammataPool *pool,
                                            GrammataMatcher *const *matchers,
                                            const uint32_t *tokens,
                                            size_t count,
                                            GrammataStatus *statuses,
                                            GrammataError **error);

/**
 * The status that was returned with the error; OK for NULL.
 */
GrammataStatus grammata_error_status(const GrammataError *error);

/**
 * The whole error as the program prints it, over several lines.
 */
const char *grammata_error_text(const GrammataError *error);

/**
 * The code of the first message, such as `matcher/rejected`. Codes do not change from one release to the next.
 */
const char *grammata_error_code(const GrammataError *error);

/**
 * The number of messages of an error: 1, or up to 20 if the parser of a grammar could recover. 0 for NULL.
 */
size_t grammata_error_count(const GrammataError *error);

/**
 * Message `index` of the error, counted from 0; NULL from the number of messages on. Messages with a line and a column
 * are in the order of the source, others in the order of the checks.
 */
const GrammataDiagnostic *grammata_error_diagnostic(const GrammataError *error,
                                                    size_t index);

/**
 * Frees an error.
 */
void grammata_error_free(GrammataError *error);

/**
 * The code of the message, such as `json-schema/unknown-type`.
 */
const char *grammata_diagnostic_code(const GrammataDiagnostic *diagnostic);

/**
 * The message itself, on one line.
 */
const char *grammata_diagnostic_message(const GrammataDiagnostic *diagnostic);

/**
 * The whole message as the program prints it, without the word `error` or `warning` before it.
 */
const char *grammata_diagnostic_text(const GrammataDiagnostic *diagnostic);

/**
 * The place in the input, such as `byte 9`, `line 2, column 4` or `#/properties/a`; NULL for the input as a whole.
 */
const char *grammata_diagnostic_place(const GrammataDiagnostic *diagnostic);

/**
 * The file that contains the place; NULL if unknown.
 */
const char *grammata_diagnostic_file(const GrammataDiagnostic *diagnostic);

/**
 * What was found at the message's place; NULL if there is nothing to show.
 */
const char *grammata_diagnostic_found(const GrammataDiagnostic *diagnostic);

/**
 * The message of another library or the operating system; NULL if there is none.
 */
const char *grammata_diagnostic_cause(const GrammataDiagnostic *diagnostic);

/**
 * What is allowed at the message's place; NULL if not given.
 */
const char *grammata_diagnostic_allowed(const GrammataDiagnostic *diagnostic);

/**
 * One line of help; NULL if there is none.
 */
const char *grammata_diagnostic_help(const GrammataDiagnostic *diagnostic);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GRAMMATA_H */
