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
 * - Those that may fail give a status. GRAMMATA_STATUS_OK is 0. One that fails changes neither handles nor buffers: it sets
 *   `*error`, `*out` to NULL, and the places where it says how far it came (`*length`, `*accepted`, `statuses`).
 * - `error`, always the last argument, may be NULL. Else `*error` is overwritten: NULL on success, a new error on
 *   failure, which the caller frees. It need not be initialized.
 * - What comes back through `out` belongs to the caller, who frees it once with the `_free` of its type. `_free(NULL)`
 *   does nothing. To use a handle after it was freed, or to free it twice, is undefined.
 * - NULL for a handle, or for a pointer that is needed, is GRAMMATA_STATUS_USAGE; so is a misaligned pointer. A pointer to no
 *   elements may be NULL. Other pointers must be valid for as many elements as the call says, for as long as it takes;
 *   nothing is kept of them.
 * - Handles may be freed in any order: a matcher keeps its grammar, a grammar its vocabulary.
 * - Strings that come back as `const char *` are UTF-8, end with NUL, and live as long as the handle they come from.
 * - A list that comes back is written to `buffer`, which has room for `capacity` elements. `*length` is set to the length of the
 *   list in any case. Where the room is too small, nothing is written and the status is GRAMMATA_STATUS_TOO_SHORT; with a
 *   capacity of 0 it is OK, so that a first call may ask for the length alone.
 * - Paths and options end with NUL. Sources and bytes come with their length. Options may be NULL.
 *
 * Threads: vocabularies, compilers, grammars, mask files, archives, caches, pools, explanations, errors may be used by any number of threads at once.
 * A matcher may be used by one thread at a time, by any; a call on a matcher that another call is using is
 * GRAMMATA_STATUS_BUSY and changes nothing.
 */


/**
 * The version of this header: its first number.
 */
#define GRAMMATA_VERSION_MAJOR 0

/**
 * The second number.
 */
#define GRAMMATA_VERSION_MINOR 1

/**
 * The third number.
 */
#define GRAMMATA_VERSION_PATCH 0

/**
 * How a call ended. Numbers never change; new ones may come.
 */
enum GrammataStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * As asked.
     */
    GRAMMATA_STATUS_OK = 0,
    /**
     * A grammar, schema, pattern or spec cannot be read or means nothing: its author can correct it.
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
     * A token or text is not allowed where it was offered.
     */
    GRAMMATA_STATUS_REJECTED = 4,
    /**
     * The caller used the library in a way that cannot work: NULL, text that is not UTF-8, a token out of range.
     */
    GRAMMATA_STATUS_USAGE = 5,
    /**
     * A language model cannot be run. No function of this header runs one.
     */
    GRAMMATA_STATUS_MODEL = 6,
    /**
     * A file cannot be read.
     */
    GRAMMATA_STATUS_IO = 7,
    /**
     * The matcher is in use by another call.
     */
    GRAMMATA_STATUS_BUSY = 8,
    /**
     * A buffer is shorter than what should go into it. `*length` says what it takes.
     */
    GRAMMATA_STATUS_TOO_SHORT = 9,
    /**
     * A defect of this library. The matcher that was used cannot be used any more but freed; all else can.
     */
    GRAMMATA_STATUS_PANIC = 10,
    /**
     * Something that has no number in this version of the header; the error says what.
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
 * What is known of a distance.
 */
enum GrammataDistance
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * The number does, and no fewer.
     */
    GRAMMATA_DISTANCE_EXACT = 0,
    /**
     * The number is known to do; whether fewer would, is not.
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
 * Mask files of many grammars for one vocabulary, each with a name. What they share lies in it once.
 */
typedef struct GrammataArchive GrammataArchive;

/**
 * An archive in the making. It holds all of it in memory.
 */
typedef struct GrammataArchiveBuilder GrammataArchiveBuilder;

/**
 * Compiled grammars by their source and options, within a bound of bytes. A grammar that several threads ask for at once is compiled
 * once.
 */
typedef struct GrammataCache GrammataCache;

/**
 * Compiles grammars for one vocabulary. Its grammars share what is found out about the strings, numbers and patterns that they
 * have in common.
 */
typedef struct GrammataCompiler GrammataCompiler;

/**
 * One message: of an error, or a warning of a grammar. It belongs to these and is not freed.
 */
typedef struct GrammataDiagnostic GrammataDiagnostic;

/**
 * Why a call failed: one message about the input or several. From `error` of any function; freed with
 * `grammata_error_free`.
 */
typedef struct GrammataError GrammataError;

/**
 * How the grammar takes a text.
 */
typedef struct GrammataExplanation GrammataExplanation;

/**
 * A grammar compiled for a vocabulary. Tables and masks are made when a matcher first needs them, and then kept for all.
 */
typedef struct GrammataGrammar GrammataGrammar;

/**
 * `struct llama_sampler`. llama.cpp makes and frees it.
 */
typedef struct GrammataLlamaSampler GrammataLlamaSampler;

/**
 * A mask file: a grammar and what was explored of it for one vocabulary.
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
     * The first of them.
     */
    GrammataLlamaToken *data;
    /**
     * How many there are.
     */
    size_t size;
    /**
     * The place of the one that was chosen.
     */
    int64_t selected;
    /**
     * Whether they are in the order of their logits.
     */
    bool sorted;
} GrammataLlamaTokens;

/**
 * `struct llama_sampler_i`: the six members that are used, and room for those that are not, which are NULL.
 */
typedef struct {
    /**
     * What the sampler is called.
     */
    const char *(*name)(const GrammataLlamaSampler *sampler);
    /**
     * Takes a token that was chosen.
     */
    void (*accept)(GrammataLlamaSampler *sampler, int32_t token);
    /**
     * Changes the logits of candidates.
     */
    void (*apply)(GrammataLlamaSampler *sampler, GrammataLlamaTokens *candidates);
    /**
     * Goes back to the beginning.
     */
    void (*reset)(GrammataLlamaSampler *sampler);
    /**
     * Makes another one at the same place.
     */
    GrammataLlamaSampler *(*clone)(const GrammataLlamaSampler *sampler);
    /**
     * Frees what is behind it.
     */
    void (*free)(GrammataLlamaSampler *sampler);
    /**
     * Members that llama.cpp has added since or will add at the end.
     */
    void (*rest[26])(void);
} GrammataLlamaInterface;

/**
 * `llama_sampler_init` of llama.cpp, by the types of this header.
 */
typedef GrammataLlamaSampler *(*GrammataLlamaInit)(const GrammataLlamaInterface *iface, void *ctx);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library that is linked, such as `0.1.0`.
 */
const char *grammata_version(void);

/**
 * All limits with their defaults, as a JSON object: what `limits` in the options of vocabularies and compilers may have. NULL
 * only after a defect of the library.
 */
const char *grammata_default_limits(void);

/**
 * Loads a tokenizer file: a `tokenizer.json` of Hugging Face, a `tekken.json`, a tiktoken rank file or a JSON list of tokens.
 *
 * Options: `eos` (list of ids; without it the special tokens with well-known names), `specials` (object from names to
 * ids, beside those of the file), `added` (which added tokens of a `tokenizer.json` are special: "flagged", as the file says;
 * "special", all of them; or `{"named": [...]}`, these too), `width` (of the model's logits, if it is more than the tokenizer has), `limits`.
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
 * Makes a vocabulary of tokens: the bytes of all after each other, and the length of each. Token `i` has the id `i`; one of
 * length 0 has no bytes, as special tokens and padding have none.
 *
 * Options: those of `grammata_vocabulary_from_file`; `eos` has to be given, or no text could end where it might go on.
 */
GrammataStatus grammata_vocabulary_from_tokens(const char *bytes,
                                               size_t bytes_length,
                                               const size_t *lengths,
                                               size_t count,
                                               const char *options,
                                               GrammataVocabulary **out,
                                               GrammataError **error);

/**
 * The length of the model's logits, in tokens: a mask has a bit for each. 0 for NULL.
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
 * The bytes of a token, which belong to the vocabulary and do not end with NUL: `*bytes` is NULL and `*length` 0 for special
 * tokens and padding.
 */
GrammataStatus grammata_vocabulary_token(const GrammataVocabulary *vocabulary,
                                         uint32_t token,
                                         const char **bytes,
                                         size_t *length,
                                         GrammataError **error);

/**
 * The name of a special token; NULL for every other one.
 */
const char *grammata_vocabulary_special(const GrammataVocabulary *vocabulary, uint32_t token);

/**
 * Splits bytes into tokens by taking the longest one at each place. That is not the tokenizer's own encoding, but the tokens'
 * bytes are the given ones. GRAMMATA_STATUS_REJECTED where no token fits.
 */
GrammataStatus grammata_vocabulary_encode_greedy(const GrammataVocabulary *vocabulary,
                                                 const char *bytes,
                                                 size_t bytes_length,
                                                 uint32_t *buffer,
                                                 size_t capacity,
                                                 size_t *length,
                                                 GrammataError **error);

/**
 * Frees a vocabulary. Compilers and grammars that were made with it keep what they need.
 */
void grammata_vocabulary_free(GrammataVocabulary *vocabulary);

/**
 * Makes a compiler.
 *
 * Options: `limits` (object from names to numbers, as of `grammata_default_limits`), which hold for the sources of its
 * grammars, for compiling, and for masks.
 */
GrammataStatus grammata_compiler_new(const GrammataVocabulary *vocabulary,
                                     const char *options,
                                     GrammataCompiler **out,
                                     GrammataError **error);

/**
 * Computes now what masks need of the vocabulary alone, which the first grammar does else: some 60 milliseconds for 128,000
 * tokens.
 */
GrammataStatus grammata_compiler_prepare(const GrammataCompiler *compiler,
                                         GrammataError **error);

/**
 * Frees a compiler. Its grammars stay.
 */
void grammata_compiler_free(GrammataCompiler *compiler);

/**
 * Compiles a JSON Schema.
 *
 * Options: `generation` (true: defaults for the output of a language model, which keep it from running away in blanks and
 * digits), `whitespace` (`"free"`, `"compact"`, `"short"`, `"spaced"`, `{"at_most": 3}`, `{"pattern": " ?"}`), `property_order`
 * (`"declared"`, `"any"`), `formats` (`"assert"`, `"annotate"`), `undeclared` (`"allowed"`, `"refused"`), `numbers` (`"any"`, `"plain"`), `max_digits` (a number),
 * `documents` (object from URIs to documents that references may name).
 */
GrammataStatus grammata_compile_json_schema(const GrammataCompiler *compiler,
                                            const char *schema,
                                            size_t length,
                                            const char *options,
                                            GrammataGrammar **out,
                                            GrammataError **error);

/**
 * Compiles a regular expression that describes whole texts.
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
 * Compiles a structural tag, the JSON in which servers ask for tool calls, given as text.
 *
 * Options: those of `grammata_compile_json_schema`, for the schemas in it; `grammars`, an object that has for each name in a format
 * `{"type": "grammar", "name": …}` an object with `notation` ("json-schema", "gbnf", …) and `text`.
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
 * Options: `start` (the rule to start from; default `"start"`).
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
 * Options: `format` (`"toml"`, `"json"`), `parameters` (object from names to values as text), `folder` (in which the files
 * with schemas of arguments are).
 */
GrammataStatus grammata_compile_spec(const GrammataCompiler *compiler,
                                     const char *spec,
                                     size_t length,
                                     const char *options,
                                     GrammataGrammar **out,
                                     GrammataError **error);

/**
 * How many warnings there are: unknown keywords and the like, and bytes that the vocabulary cannot spell.
 */
size_t grammata_grammar_warning_count(const GrammataGrammar *grammar);

/**
 * Warning `index`, which belongs to the grammar; NULL past the last.
 */
const GrammataDiagnostic *grammata_grammar_warning(const GrammataGrammar *grammar, size_t index);

/**
 * Bytes of the grammar, its automaton, and the tables and masks made so far.
 */
size_t grammata_grammar_memory_usage(const GrammataGrammar *grammar);

/**
 * Sizes and counts as a JSON object: `states` of the automaton, `configurations` and `masks_computed` so far, `strategies` (how the
 * tokens of these masks were computed), `resets` of full tables, `automaton_bytes`, `cache_bytes`, and the `distances` that budgets
 * have asked for. It is written without NUL, and is shorter than 1,024 bytes.
 */
GrammataStatus grammata_grammar_statistics(const GrammataGrammar *grammar,
                                           char *buffer,
                                           size_t capacity,
                                           size_t *length,
                                           GrammataError **error);

/**
 * Frees a grammar. Its matchers stay.
 */
void grammata_grammar_free(GrammataGrammar *grammar);

/**
 * Explores a grammar and makes a mask file of it. The same grammar, options and vocabulary make the same bytes.
 *
 * Options: `documents` (list of texts that are explored first), `states` (the most places to explore, 4,096 unless it is given),
 * `work` (the most steps, 4,000,000 unless it is given, some 200 milliseconds).
 */
GrammataStatus grammata_mask_file_new(const GrammataGrammar *grammar,
                                      const char *options,
                                      GrammataMaskFile **out,
                                      GrammataError **error);

/**
 * Reads a mask file into memory and checks its header and checksums.
 *
 * Options: `limits` (of which `mask_file_bytes` is the most that is read).
 */
GrammataStatus grammata_mask_file_open(const char *path,
                                       const char *options,
                                       GrammataMaskFile **out,
                                       GrammataError **error);

/**
 * Takes the bytes of a mask file, which are copied, and checks them.
 */
GrammataStatus grammata_mask_file_from_bytes(const char *content,
                                             size_t length,
                                             GrammataMaskFile **out,
                                             GrammataError **error);

/**
 * The bytes of the file, `*length` of them, which belong to the handle. NULL for NULL.
 */
const char *grammata_mask_file_bytes(const GrammataMaskFile *file, size_t *length);

/**
 * What the file holds, as a JSON object: the fingerprint of its `vocabulary` and the hash of its `grammar`, both in hexadecimal;
 * `bytes`; explored places (`states`, `states_with_mask`); `masks` and the `shared_words` that they are near to; and in `sections`
 * the bytes of each. NULL for NULL.
 */
const char *grammata_mask_file_contents(const GrammataMaskFile *file);

/**
 * Checks that all places and masks of the file are in order. Whether they are right, `grammata_grammar_verify_masks` finds out.
 */
GrammataStatus grammata_mask_file_check(const GrammataMaskFile *file,
                                        GrammataError **error);

/**
 * Puts the file into its place as a whole: another process finds all of it under the name, or nothing.
 */
GrammataStatus grammata_mask_file_save(const GrammataMaskFile *file, const char *path, GrammataError **error);

/**
 * Frees a mask file. Grammars that were loaded from it stay.
 */
void grammata_mask_file_free(GrammataMaskFile *file);

/**
 * The grammar of a mask file, which has to be of the compiler's vocabulary: what was explored is read from the file, the rest is made
 * as it is needed. Masks are those of the grammar compiled anew. Warnings of its source are not kept in files.
 */
GrammataStatus grammata_compiler_load(const GrammataCompiler *compiler,
                                      const GrammataMaskFile *file,
                                      GrammataGrammar **out,
                                      GrammataError **error);

/**
 * Computes all again that the mask file of a loaded grammar says: `*masks` is the number that were compared, 0 for a grammar that is
 * of no file.
 */
GrammataStatus grammata_grammar_verify_masks(const GrammataGrammar *grammar,
                                             size_t *masks,
                                             GrammataError **error);

/**
 * Makes an archive of a vocabulary without mask files.
 *
 * Options: `limits` (of which `mask_archive_bytes` is the most that the archive may have).
 */
GrammataStatus grammata_archive_builder_new(const GrammataVocabulary *vocabulary,
                                            const char *options,
                                            GrammataArchiveBuilder **out,
                                            GrammataError **error);

/**
 * Puts a mask file in. No two have the same name, and all are of the archive's vocabulary. The same files in the same order make the
 * same bytes.
 */
GrammataStatus grammata_archive_builder_add(const GrammataArchiveBuilder *builder,
                                            const char *name,
                                            size_t length,
                                            const GrammataMaskFile *file,
                                            GrammataError **error);

/**
 * Puts the archive into its place as a whole: another process finds all of it under the name, or nothing.
 */
GrammataStatus grammata_archive_builder_save(const GrammataArchiveBuilder *builder,
                                             const char *path,
                                             GrammataError **error);

/**
 * Frees an archive in the making.
 */
void grammata_archive_builder_free(GrammataArchiveBuilder *builder);

/**
 * Opens an archive and reads its header. What else is asked for is read, and its checksums computed, then.
 *
 * Options: `limits` (of which `mask_archive_bytes` is the most that the file may have, `mask_file_bytes` the most that is taken out of it
 * at once).
 */
GrammataStatus grammata_archive_open(const char *path,
                                     const char *options,
                                     GrammataArchive **out,
                                     GrammataError **error);

/**
 * How many mask files an archive has. 0 for NULL.
 */
size_t grammata_archive_count(const GrammataArchive *archive);

/**
 * The name of a mask file by its place, which is less than the count. Names are sorted. It is written without NUL.
 */
GrammataStatus grammata_archive_name(const GrammataArchive *archive,
                                     size_t place,
                                     char *buffer,
                                     size_t capacity,
                                     size_t *length,
                                     GrammataError **error);

/**
 * The mask file of a name, for `grammata_compiler_load`: `*out` is NULL if there is none, and the status is OK.
 */
GrammataStatus grammata_archive_get(const GrammataArchive *archive,
                                    const char *name,
                                    size_t length,
                                    GrammataMaskFile **out,
                                    GrammataError **error);

/**
 * Frees an archive. Mask files that were taken out of it stay.
 */
void grammata_archive_free(GrammataArchive *archive);

/**
 * What masks need of the compiler's vocabulary as bytes, for `grammata_compiler_prepare_from` of another process. The same vocabulary
 * has the same bytes, some 35 a token.
 */
GrammataStatus grammata_compiler_token_index(const GrammataCompiler *compiler,
                                             char *buffer,
                                             size_t capacity,
                                             size_t *length,
                                             GrammataError **error);

/**
 * Takes what masks need of the vocabulary from a token index in place of computing it, in a fifth to a ninth of the time. Nothing is
 * done where it is there already. The bytes can do no harm, but masks are by them: they are to come from where the vocabulary comes
 * from.
 */
GrammataStatus grammata_compiler_prepare_from(const GrammataCompiler *compiler,
                                              const char *index,
                                              size_t length,
                                              GrammataError **error);

/**
 * The token index of a mask file: `*length` bytes, which belong to the handle. NULL if it has none, and for NULL. An archive has its own.
 */
const char *grammata_mask_file_token_index(const GrammataMaskFile *file,
                                           size_t *length);

/**
 * The same mask file with a token index, or without one if `length` is 0.
 */
GrammataStatus grammata_mask_file_with_token_index(const GrammataMaskFile *file,
                                                   const char *index,
                                                   size_t length,
                                                   GrammataMaskFile **out,
                                                   GrammataError **error);

/**
 * Puts a token index into an archive in the making, once for all of its files; those that files have are left out.
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
 * Options: `max_bytes` (of grammars, tables and masks in memory; 268,435,456 unless it is given), and `folder`, made where it is
 * missing: what is not in memory begins with its mask file there, else a thread explores it and writes one for the next process.
 * `max_file_bytes` (1,073,741,824 unless it is given): past them the files that were written longest ago are removed. `states` and
 * `work` bound exploring, as of `grammata_mask_file_new`. Several processes may share a folder, whose files are trusted.
 */
GrammataStatus grammata_cache_new(const GrammataCompiler *compiler,
                                  const char *options,
                                  GrammataCache **out,
                                  GrammataError **error);

/**
 * The grammar of a source: the one that is kept, else compiled now. It is freed like any other, and stays as long as it is needed
 * when the cache lets it go.
 *
 * `notation` is `"json-schema"`, `"regex"`, `"gbnf"` or `"spec"`; the options are those of the function that compiles it.
 */
GrammataStatus grammata_cache_get(const GrammataCache *cache,
                                  const char *notation,
                                  const char *source,
                                  size_t length,
                                  const char *options,
                                  GrammataGrammar **out,
                                  GrammataError **error);

/**
 * Waits until the mask files that were to be written are. A child of `fork()` has no thread that writes any, and waits for none.
 */
GrammataStatus grammata_cache_flush(const GrammataCache *cache,
                                    GrammataError **error);

/**
 * How many grammars are kept. 0 for NULL.
 */
size_t grammata_cache_length(const GrammataCache *cache);

/**
 * Bytes of the grammars that are kept. 0 for NULL.
 */
size_t grammata_cache_memory_usage(const GrammataCache *cache);

/**
 * Lets all grammars go.
 */
GrammataStatus grammata_cache_clear(const GrammataCache *cache, GrammataError **error);

/**
 * Frees a cache. Its grammars that were given out stay.
 */
void grammata_cache_free(GrammataCache *cache);

/**
 * Makes a matcher at the beginning of a text.
 */
GrammataStatus grammata_matcher_new(const GrammataGrammar *grammar,
                                    GrammataMatcher **out,
                                    GrammataError **error);

/**
 * Makes a matcher at the beginning of a text that ends with these tokens, in place of the vocabulary's end-of-sequence tokens: the
 * `stop_token_ids` of a request. A mask has each of them exactly where the text may end, and none of the others; only a token
 * terminal that lists a token takes it elsewhere. GRAMMATA_STATUS_USAGE if there are none, or one is outside of the vocabulary.
 *
 * A token that is ordinary text is text no longer. The grammar is compiled again for each such call: fork the matcher if more are
 * needed.
 */
GrammataStatus grammata_matcher_new_with_end_tokens(const GrammataGrammar *grammar,
                                                    const uint32_t *tokens,
                                                    size_t count,
                                                    GrammataMatcher **out,
                                                    GrammataError **error);

/**
 * Makes a matcher of its own at the same place. What was accepted so far is shared, not copied.
 */
GrammataStatus grammata_matcher_fork(GrammataMatcher *matcher, GrammataMatcher **out, GrammataError **error);

/**
 * Frees a matcher. GRAMMATA_STATUS_BUSY if another call is using it: it is then not freed.
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
 * How many steps were accepted so far and can be rolled back. A step is one token, or the bytes of one call.
 */
GrammataStatus grammata_matcher_steps(GrammataMatcher *matcher, size_t *steps, GrammataError **error);

/**
 * Whether the text so far is a word of the grammar, so that it may end here.
 */
GrammataStatus grammata_matcher_is_accepting(GrammataMatcher *matcher, bool *answer, GrammataError **error);

/**
 * Whether the text has ended, or is a word that nothing can be added to.
 */
GrammataStatus grammata_matcher_is_finished(GrammataMatcher *matcher, bool *answer, GrammataError **error);

/**
 * Whether a token may come next: what the mask says of it, without a mask.
 */
GrammataStatus grammata_matcher_may_come(GrammataMatcher *matcher,
                                         uint32_t token,
                                         bool *answer,
                                         GrammataError **error);

/**
 * Whether a word goes on with these bytes. Nothing is accepted.
 */
GrammataStatus grammata_matcher_may_continue(GrammataMatcher *matcher,
                                             const char *bytes,
                                             size_t length,
                                             bool *answer,
                                             GrammataError **error);

/**
 * Whether the next mask is read from the mask file that the grammar was loaded from, and nothing is computed.
 */
GrammataStatus grammata_matcher_is_explored(GrammataMatcher *matcher, bool *answer, GrammataError **error);

/**
 * Whether a token is in the mask within a budget. Draw from the plain mask, ask this of the token, and draw from the mask
 * within the budget only if the answer is no: that gives the same texts as the mask within the budget, sooner.
 */
GrammataStatus grammata_matcher_may_come_within(GrammataMatcher *matcher,
                                                uint32_t token,
                                                size_t budget,
                                                bool *answer,
                                                GrammataError **error);

/**
 * Whether a complete text is known within a budget of tokens. GRAMMATA_STATUS_REJECTED if not; the error names the least budget
 * that is known to do.
 */
GrammataStatus grammata_matcher_check_budget(GrammataMatcher *matcher,
                                             size_t budget,
                                             GrammataError **error);

/**
 * How few tokens lead to a complete text, the end-of-sequence token not counted. `*tokens` is 0 where there is no number.
 */
GrammataStatus grammata_matcher_distance(GrammataMatcher *matcher,
                                         GrammataDistance *kind,
                                         size_t *tokens,
                                         GrammataError **error);

/**
 * How few bytes lead to a complete text, whether tokens spell them or not. `*bytes` is 0 where there is no number.
 */
GrammataStatus grammata_matcher_distance_in_bytes(GrammataMatcher *matcher,
                                                  GrammataDistance *kind,
                                                  size_t *bytes,
                                                  GrammataError **error);

/**
 * The longest byte string that every completion begins with, 65,536 bytes at most. Empty where the text may end, where more
 * than one byte may come, or a token by its id.
 */
GrammataStatus grammata_matcher_forced_bytes(GrammataMatcher *matcher,
                                             char *buffer,
                                             size_t capacity,
                                             size_t *length,
                                             GrammataError **error);

/**
 * Tokens that leave no choice: they spell the beginning of the forced bytes, and are tokens by their ids where nothing else may
 * come. They are not accepted.
 */
GrammataStatus grammata_matcher_forced_tokens(GrammataMatcher *matcher,
                                              uint32_t *buffer,
                                              size_t capacity,
                                              size_t *length,
                                              GrammataError **error);

/**
 * Writes the mask of the tokens that may come next: bit `i % 32` of word `i / 32` for token `i`. `count` is that of the words
 * that there is room for, `grammata_vocabulary_mask_words` at least; those past the mask are cleared. After an end-of-sequence
 * token nothing may come.
 */
GrammataStatus grammata_matcher_fill_mask(GrammataMatcher *matcher,
                                          uint32_t *words,
                                          size_t count,
                                          GrammataError **error);

/**
 * Writes the mask within a budget: at most `budget` tokens are still to come, the next one among them, the end-of-sequence
 * token not. If this is OK once, then after each token of the mask it is OK for a budget less by one: the text is complete
 * within the budget. GRAMMATA_STATUS_REJECTED if no text is known that short.
 */
GrammataStatus grammata_matcher_fill_mask_within(GrammataMatcher *matcher,
                                                 size_t budget,
                                                 uint32_t *words,
                                                 size_t count,
                                                 GrammataError **error);

/**
 * Accepts a token. GRAMMATA_STATUS_REJECTED if the mask does not allow it; the matcher then stays where it was.
 */
GrammataStatus grammata_matcher_accept_token(GrammataMatcher *matcher,
                                             uint32_t token,
                                             GrammataError **error);

/**
 * Accepts a token if the mask allows it: `*accepted` says whether it does. A refusal costs no more than an acceptance.
 */
GrammataStatus grammata_matcher_try_accept(GrammataMatcher *matcher,
                                           uint32_t token,
                                           bool *accepted,
                                           GrammataError **error);

/**
 * Accepts tokens until one is rejected, each as a step: `*accepted` is how many were. That is OK, also if it is none: the matcher
 * stands after the accepted ones. So drafts of speculative decoding are taken as far as they fit.
 */
GrammataStatus grammata_matcher_accept_tokens(GrammataMatcher *matcher,
                                              const uint32_t *tokens,
                                              size_t count,
                                              size_t *accepted,
                                              GrammataError **error);

/**
 * How many tokens could be accepted one after the other. The matcher does not move.
 */
GrammataStatus grammata_matcher_validate_tokens(GrammataMatcher *matcher,
                                                const uint32_t *tokens,
                                                size_t count,
                                                size_t *valid,
                                                GrammataError **error);

/**
 * Accepts bytes, as one step. GRAMMATA_STATUS_REJECTED if no word goes on so; the matcher then stays where it was.
 */
GrammataStatus grammata_matcher_accept_bytes(GrammataMatcher *matcher,
                                             const char *bytes,
                                             size_t length,
                                             GrammataError **error);

/**
 * Accepts bytes as one step if a word goes on so: `*accepted` says whether one does.
 */
GrammataStatus grammata_matcher_try_accept_bytes(GrammataMatcher *matcher,
                                                 const char *bytes,
                                                 size_t length,
                                                 bool *accepted,
                                                 GrammataError **error);

/**
 * Takes back the last `steps` steps.
 */
GrammataStatus grammata_matcher_rollback(GrammataMatcher *matcher, size_t steps, GrammataError **error);

/**
 * Back to the beginning.
 */
GrammataStatus grammata_matcher_reset(GrammataMatcher *matcher, GrammataError **error);

/**
 * Writes `count + 1` masks for a draft of `count` tokens: the first is that of this place, row `i`, which begins at
 * `words[i * row_words]`, that after the first `i` tokens. `*allowed` is how many tokens are allowed one after the other; rows behind
 * them are all 0, as are all rows if the call fails. A token outside of the vocabulary is one that is not allowed. The matcher
 * stays where it is.
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
 * The same with masks within a budget: `budget` tokens are still to come at this place, and one fewer after each token of the
 * draft. GRAMMATA_STATUS_REJECTED if no complete text is known within the budget.
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
 * Writes a mask for each of the `count` nodes of a tree of draft tokens: that of node `n` begins at `words[n * row_words]`. Node 0 is
 * the root, which stands for this place; `tokens[0]` is not read. `first_child[n]` is the first child of node `n`, `next_sibling[n]`
 * the next child of the same parent, and -1 stands for none. These are the arrays `retrieve_next_token`, `retrieve_next_sibling` and
 * `draft_tokens` of SGLang and XGrammar.
 *
 * `reached` may be NULL; else it has room for `count` answers: whether the tokens from the root to a node are allowed one after the
 * other. Rows of other nodes are all 0, as are all rows if the call fails. GRAMMATA_STATUS_USAGE if the links make no tree. The
 * matcher stays where it is.
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
 * Makes a `llama_sampler` of llama.cpp that follows a copy of the matcher: it forbids the tokens that may not come, by a logit of minus
 * infinity, and accepts those that do. Cast `llama_sampler_init` to GrammataLlamaInit, and `*out` to `struct llama_sampler *`. Put it
 * before samplers that drop tokens into the chain, which then owns it; alone, it is freed with `llama_sampler_free`.
 *
 * Options: `budget` (tokens that may still come, the end-of-sequence token not counted: the text is then complete within them;
 * GRAMMATA_STATUS_REJECTED if it cannot be).
 *
 * `llama_sampler_reset` goes back to the beginning of a text. An error on the way leaves the end-of-sequence tokens alone allowed, so
 * that generation ends: see `grammata_llama_sampler_check`.
 *
 * The interface is that of llama.cpp since 2024, in which later versions have further members, all NULL here; there is room for 32 in all.
 * Check `sizeof(struct llama_sampler_i) <= sizeof(GrammataLlamaInterface)` when you compile.
 */
GrammataStatus grammata_llama_sampler(GrammataMatcher *matcher,
                                      GrammataLlamaInit init,
                                      const char *options,
                                      GrammataLlamaSampler **out,
                                      GrammataError **error);

/**
 * Whether a sampler made by `grammata_llama_sampler` follows its text still; otherwise `*error` is what it met: a token that was
 * accepted and not allowed, or a limit.
 */
GrammataStatus grammata_llama_sampler_check(const GrammataLlamaSampler *sampler,
                                            GrammataError **error);

/**
 * Explains how the grammar takes bytes after what was accepted so far. The matcher does not move.
 */
GrammataStatus grammata_matcher_explain(GrammataMatcher *matcher,
                                        const char *bytes,
                                        size_t length,
                                        GrammataExplanation **out,
                                        GrammataError **error);

/**
 * Explains how the grammar takes a token. The matcher does not move.
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
 * Whether the text might have ended at the position. False for NULL.
 */
bool grammata_explanation_may_end(const GrammataExplanation *explanation);

/**
 * How many bytes from the beginning of the sequence are fine. 0 for NULL.
 */
size_t grammata_explanation_position(const GrammataExplanation *explanation);

/**
 * The byte at which the text leaves the grammar; -1 if it does not, and for NULL.
 */
int32_t grammata_explanation_found(const GrammataExplanation *explanation);

/**
 * What was expected at the position, in one line.
 */
const char *grammata_explanation_expected(const GrammataExplanation *explanation);

/**
 * The whole explanation, in one line.
 */
const char *grammata_explanation_text(const GrammataExplanation *explanation);

/**
 * Frees an explanation.
 */
void grammata_explanation_free(GrammataExplanation *explanation);

/**
 * Makes a pool of `threads` threads; 0 is one for each core. It does not survive `fork()`: a child makes its own.
 */
GrammataStatus grammata_pool_new(size_t threads,
                                 GrammataPool **out,
                                 GrammataError **error);

/**
 * Frees a pool: waits for its threads to end.
 */
void grammata_pool_free(GrammataPool *pool);

/**
 * Writes the mask of each matcher into a row of its own: that of matcher `i` begins at `words[i * row_words]`. One that fails
 * does not stop the others; its row is all 0.
 *
 * `pool` may be NULL: the work is then done by the calling thread. `statuses` may be NULL; else it has room for `count`
 * statuses, one for each matcher. The result is OK if all are; otherwise it is that of the first matcher that failed, as is
 * `error`.
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
 * Accepts one token in each matcher: token `i` in matcher `i`. One that fails does not stop the others, and stays where it was.
 * `pool`, `statuses` and the result are as for `grammata_batch_fill_masks`.
 */
GrammataStatus grammata_batch_accept_tokens(const GrammataPool *pool,
                                            GrammataMatcher *const *matchers,
                                            const uint32_t *tokens,
                                            size_t count,
                                            GrammataStatus *statuses,
                                            GrammataError **error);

/**
 * The status that came with the error; OK if it is NULL.
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
 * How many messages the error has: 1, or up to 20 where the reader of a grammar could go on after one.
 */
size_t grammata_error_count(const GrammataError *error);

/**
 * Message `index` of the error, in the order of the source; NULL past the last.
 */
const GrammataDiagnostic *grammata_error_diagnostic(const GrammataError *error, size_t index);

/**
 * Frees an error.
 */
void grammata_error_free(GrammataError *error);

/**
 * The code, such as `json-schema/unknown-type`.
 */
const char *grammata_diagnostic_code(const GrammataDiagnostic *diagnostic);

/**
 * The message, one line.
 */
const char *grammata_diagnostic_message(const GrammataDiagnostic *diagnostic);

/**
 * The whole message as the program prints it, without the word `error` or `warning` before it.
 */
const char *grammata_diagnostic_text(const GrammataDiagnostic *diagnostic);

/**
 * The place in the input, such as `byte 9`, `line 2, column 4` or `#/properties/a`; NULL if it is the input as a whole.
 */
const char *grammata_diagnostic_place(const GrammataDiagnostic *diagnostic);

/**
 * The file that the place is in; NULL if there is none.
 */
const char *grammata_diagnostic_file(const GrammataDiagnostic *diagnostic);

/**
 * What was found there; NULL if that says nothing.
 */
const char *grammata_diagnostic_found(const GrammataDiagnostic *diagnostic);

/**
 * What another library or the operating system said; NULL if nothing.
 */
const char *grammata_diagnostic_cause(const GrammataDiagnostic *diagnostic);

/**
 * What is allowed there; NULL if that says nothing.
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
