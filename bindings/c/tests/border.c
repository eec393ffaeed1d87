/* What the border promises of bad input, and what each function gives on good input. Run under valgrind and with the address
 * sanitizer, which find what is used after it was freed, read past its end, or never freed. */
#define _POSIX_C_SOURCE 200809L
#include <grammata.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                          \
    do {                                                                     \
        if (!(what)) {                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);       \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

/* The status is as expected, and so is the code of the error, which is freed. */
static void expect(int line, GrammataStatus status, GrammataError *error, GrammataStatus wanted, const char *code) {
    const char *found = error ? grammata_error_code(error) : "none";
    if (status != wanted || strcmp(found, code) != 0 || grammata_error_status(error) != status) {
        fprintf(stderr, "border.c:%d: status %d, code %s; wanted %d, %s\n", line, (int)status, found, (int)wanted, code);
        if (error) fprintf(stderr, "%s\n", grammata_error_text(error));
        exit(1);
    }
    grammata_error_free(error);
}
#define OK(call) (error = (GrammataError *)8, status = (call), expect(__LINE__, status, error, GRAMMATA_STATUS_OK, "none"))
#define FAILS(call, wanted, code) \
    (error = (GrammataError *)8, status = (call), expect(__LINE__, status, error, GRAMMATA_STATUS_##wanted, code))

static GrammataError *error;
static GrammataStatus status;

enum { A, B, AB, BA, QUOTE, END, WIDTH = 40 };

static GrammataVocabulary *letters(void) {
    GrammataVocabulary *vocabulary;
    const size_t lengths[] = {1, 1, 2, 2, 1, 0};
    OK(grammata_vocabulary_from_tokens("ababba\"", 7, lengths, 6,
                                       "{\"eos\": [5], \"specials\": {\"<end>\": 5}, \"width\": 40}", &vocabulary, &error));
    return vocabulary;
}

static GrammataGrammar *grammar_of(const GrammataVocabulary *vocabulary, const char *gbnf) {
    GrammataCompiler *compiler;
    GrammataGrammar *grammar;
    OK(grammata_compiler_new(vocabulary, NULL, &compiler, &error));
    OK(grammata_compile_gbnf(compiler, gbnf, strlen(gbnf), NULL, &grammar, &error));
    grammata_compiler_free(compiler);
    return grammar;
}

static void vocabularies(void) {
    GrammataVocabulary *vocabulary = letters();
    const char *bytes;
    uint32_t ids[4];
    size_t length;
    CHECK(grammata_vocabulary_width(vocabulary) == WIDTH && grammata_vocabulary_mask_words(vocabulary) == 2);
    CHECK(grammata_vocabulary_is_eos(vocabulary, END) && !grammata_vocabulary_is_eos(vocabulary, A));
    OK(grammata_vocabulary_eos(vocabulary, ids, 4, &length, &error));
    CHECK(length == 1 && ids[0] == END);
    OK(grammata_vocabulary_token(vocabulary, AB, &bytes, &length, &error));
    CHECK(length == 2 && memcmp(bytes, "ab", 2) == 0);
    OK(grammata_vocabulary_token(vocabulary, END, &bytes, &length, &error));
    CHECK(length == 0 && !bytes && strcmp(grammata_vocabulary_special(vocabulary, END), "<end>") == 0);
    CHECK(!grammata_vocabulary_special(vocabulary, A) && !grammata_vocabulary_special(vocabulary, 4000000000u));
    FAILS(grammata_vocabulary_token(vocabulary, WIDTH, &bytes, &length, &error), USAGE, "c/token-range");
    OK(grammata_vocabulary_encode_greedy(vocabulary, "abba", 4, ids, 4, &length, &error));
    CHECK(length == 2 && ids[0] == AB && ids[1] == BA);
    FAILS(grammata_vocabulary_encode_greedy(vocabulary, "abc", 3, ids, 4, &length, &error), REJECTED, "c/no-token");
    FAILS(grammata_vocabulary_encode_greedy(vocabulary, "abba", 4, ids, 1, &length, &error), TOO_SHORT,
          "c/buffer-too-short");
    CHECK(length == 2);
    grammata_vocabulary_free(vocabulary);

    const size_t lengths[] = {1, SIZE_MAX};
    FAILS(grammata_vocabulary_from_tokens("a", 1, lengths, 2, NULL, &vocabulary, &error), USAGE, "c/lengths");
    CHECK(!vocabulary);
    FAILS(grammata_vocabulary_from_tokens("ab", 2, lengths, 1, NULL, &vocabulary, &error), USAGE, "c/lengths");
    FAILS(grammata_vocabulary_from_tokens("a", 1, NULL, 1, NULL, &vocabulary, &error), USAGE, "c/null");
    FAILS(grammata_vocabulary_from_tokens("a", SIZE_MAX, lengths, 1, NULL, &vocabulary, &error), USAGE, "c/size");
    FAILS(grammata_vocabulary_from_tokens("a", 1, lengths, 1, "{\"eos\": [7]}", &vocabulary, &error), VOCABULARY,
          "vocabulary/eos-range");
    FAILS(grammata_vocabulary_from_tokens("a", 1, lengths, 1, "{\"limits\": {\"token_bytes\": 0}}", &vocabulary, &error),
          LIMIT, "limit/exceeded");
    FAILS(grammata_vocabulary_from_tokens("a", 1, lengths, 1, "{\"ends\": [7]}", &vocabulary, &error), USAGE, "c/options");
    FAILS(grammata_vocabulary_from_tokens("a", 1, lengths, 1, "{", &vocabulary, &error), USAGE, "c/options");
    FAILS(grammata_vocabulary_from_tokens("a", 1, lengths, 1, "\xff", &vocabulary, &error), USAGE, "c/not-utf-8");
    FAILS(grammata_vocabulary_from_file("no/such/file", NULL, &vocabulary, &error), IO, "io/file");
    FAILS(grammata_vocabulary_from_file(NULL, NULL, &vocabulary, &error), USAGE, "c/null");
    FAILS(grammata_vocabulary_from_bytes("?", 1, NULL, &vocabulary, &error), VOCABULARY, "vocabulary/format");
    OK(grammata_vocabulary_from_bytes("[\"a\", {\"special\": \"</s>\"}]", 26, NULL, &vocabulary, &error));
    grammata_vocabulary_free(vocabulary);
}

static void grammars(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataCompiler *compiler;
    GrammataGrammar *grammar;
    FAILS(grammata_compiler_new(vocabulary, "{\"limits\": {\"no_such\": 1}}", &compiler, &error), USAGE, "c/options");
    OK(grammata_compiler_new(vocabulary, "{\"limits\": {\"pattern_bytes\": 64}}", &compiler, &error));
    grammata_vocabulary_free(vocabulary);
    OK(grammata_compiler_prepare(compiler, &error));
    OK(grammata_compile_regex(compiler, "A+", 2, "{\"case_insensitive\": true, \"dialect\": \"ecma262\"}", &grammar, &error));
    CHECK(grammata_grammar_memory_usage(grammar) > 0);
    grammata_grammar_free(grammar);
    OK(grammata_compile_gbnf(compiler, "x ::= \"a\"", 9, "{\"root\": \"x\"}", &grammar, &error));
    grammata_grammar_free(grammar);
    const char *spec = "kind = 'cfg'\nsymbols = ['a']\nstart = 's'\nrules = { s = ['a'] }";
    OK(grammata_compile_spec(compiler, spec, strlen(spec), "{\"format\": \"toml\"}", &grammar, &error));
    grammata_grammar_free(grammar);
    const char *schema = "{\"enum\": [\"a\", \"ab\"], \"colour\": 1}";
    OK(grammata_compile_json_schema(compiler, schema, strlen(schema),
                                    "{\"generation\": true, \"whitespace\": {\"at_most\": 1}, \"property_order\": \"any\","
                                    " \"formats\": \"annotate\", \"numbers\": \"plain\", \"max_digits\": 9,"
                                    " \"documents\": {\"u:v\": {\"type\": \"null\"}}}",
                                    &grammar, &error));
    /* of the front end and of the vocabulary, which cannot spell the letters' escapes */
    CHECK(grammata_grammar_warning_count(grammar) == 2 && !grammata_grammar_warning(grammar, 2));
    CHECK(strcmp(grammata_diagnostic_code(grammata_grammar_warning(grammar, 1)), "mask/missing-bytes") == 0);
    const GrammataDiagnostic *warning = grammata_grammar_warning(grammar, 0);
    CHECK(strcmp(grammata_diagnostic_code(warning), "json-schema/unknown-keyword") == 0);
    CHECK(strstr(grammata_diagnostic_place(warning), "colour"));
    grammata_grammar_free(grammar);

    /* several errors of one source */
    const char *bad = "root ::= a b\nc ::= d\n";
    status = grammata_compile_gbnf(compiler, bad, strlen(bad), NULL, &grammar, &error);
    CHECK(status == GRAMMATA_STATUS_GRAMMAR && !grammar && grammata_error_count(error) > 1);
    const GrammataDiagnostic *first = grammata_error_diagnostic(error, 0);
    CHECK(first && !grammata_error_diagnostic(error, 99));
    CHECK(strcmp(grammata_diagnostic_place(first), "line 1, column 10") == 0);
    CHECK(grammata_diagnostic_message(first) && grammata_diagnostic_help(first) && !grammata_diagnostic_file(first));
    CHECK(strstr(grammata_error_text(error), grammata_diagnostic_text(first)));
    grammata_error_free(error);

    FAILS(grammata_compile_regex(compiler, "a\xff", 2, NULL, &grammar, &error), USAGE, "c/not-utf-8");
    FAILS(grammata_compile_regex(compiler, "a", SIZE_MAX, NULL, &grammar, &error), USAGE, "c/size");
    FAILS(grammata_compile_regex(compiler, "(", 1, NULL, &grammar, &error), GRAMMAR, "regex/unclosed-group");
    FAILS(grammata_compile_regex(NULL, "a", 1, NULL, &grammar, &error), USAGE, "c/null");
    FAILS(grammata_compile_regex(compiler, "a", 1, NULL, NULL, &error), USAGE, "c/null");
    FAILS(grammata_compile_regex(compiler, "a", 1, "{\"dialect\": \"perl\"}", &grammar, &error), USAGE, "c/options");
    FAILS(grammata_compile_gbnf(compiler, bad, 21, "{\"root\": 1}", &grammar, &error), USAGE, "c/options");
    const char *nul = "{\"const\": \"\0\"}";
    FAILS(grammata_compile_json_schema(compiler, nul, 13, NULL, &grammar, &error), GRAMMAR, "json-schema/not-json");
    char *large = calloc(65, 1);
    memset(large, 'a', 65);
    FAILS(grammata_compile_regex(compiler, large, 65, NULL, &grammar, &error), LIMIT, "limit/exceeded");
    free(large);
    /* nobody wants to know */
    CHECK(grammata_compile_regex(compiler, "(", 1, NULL, &grammar, NULL) == GRAMMATA_STATUS_GRAMMAR);
    grammata_compiler_free(compiler);
}

static void matchers(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataGrammar *grammar = grammar_of(vocabulary, "root ::= \"ab\" (\"ab\" | \"b\")* \"a\"?");
    GrammataMatcher *matcher, *fork;
    OK(grammata_matcher_new(grammar, &matcher, &error));
    /* a matcher needs neither */
    grammata_grammar_free(grammar);
    grammata_vocabulary_free(vocabulary);

    uint32_t mask[3] = {7, 7, 7}, ids[4];
    char bytes[8];
    size_t length, steps;
    bool answer;
    OK(grammata_matcher_fill_mask(matcher, mask, 3, &error));
    CHECK(mask[0] == (1u << A | 1u << AB) && mask[1] == 0 && mask[2] == 0);
    FAILS(grammata_matcher_fill_mask(matcher, mask, 1, &error), TOO_SHORT, "mask/buffer-too-short");
    FAILS(grammata_matcher_fill_mask(matcher, NULL, 2, &error), USAGE, "c/null");
    FAILS(grammata_matcher_fill_mask(matcher, (uint32_t *)((char *)mask + 1), 2, &error), USAGE, "c/misaligned");
    FAILS(grammata_matcher_fill_mask(matcher, mask, SIZE_MAX / 2, &error), USAGE, "c/size");
    FAILS(grammata_matcher_fill_mask(NULL, mask, 2, &error), USAGE, "c/null");
    FAILS(grammata_matcher_fill_mask((GrammataMatcher *)1, mask, 2, &error), USAGE, "c/misaligned");
    CHECK(mask[0] == (1u << A | 1u << AB));

    OK(grammata_matcher_forced_bytes(matcher, bytes, 8, &length, &error));
    CHECK(length == 2 && memcmp(bytes, "ab", 2) == 0);
    OK(grammata_matcher_forced_bytes(matcher, NULL, 0, &length, &error));
    CHECK(length == 2);
    FAILS(grammata_matcher_forced_bytes(matcher, bytes, 1, &length, &error), TOO_SHORT, "c/buffer-too-short");
    FAILS(grammata_matcher_forced_bytes(matcher, NULL, 4, &length, &error), USAGE, "c/null");
    FAILS(grammata_matcher_forced_bytes(matcher, bytes, 8, NULL, &error), USAGE, "c/null");
    OK(grammata_matcher_forced_tokens(matcher, ids, 4, &length, &error));
    CHECK(length == 1 && ids[0] == AB);

    GrammataDistance kind;
    OK(grammata_matcher_distance(matcher, &kind, &length, &error));
    CHECK(kind == GRAMMATA_DISTANCE_EXACT && length == 1);
    OK(grammata_matcher_distance_in_bytes(matcher, &kind, &length, &error));
    CHECK(kind == GRAMMATA_DISTANCE_EXACT && length == 2);
    OK(grammata_matcher_fill_mask_within(matcher, 1, mask, 2, &error));
    CHECK(mask[0] == 1u << AB);
    FAILS(grammata_matcher_fill_mask_within(matcher, 0, mask, 2, &error), REJECTED, "matcher/budget");
    OK(grammata_matcher_may_come_within(matcher, A, 1, &answer, &error));
    CHECK(!answer);
    OK(grammata_matcher_may_come(matcher, A, &answer, &error));
    CHECK(answer);

    FAILS(grammata_matcher_accept_token(matcher, B, &error), REJECTED, "matcher/rejected");
    FAILS(grammata_matcher_accept_token(matcher, WIDTH, &error), USAGE, "c/token-range");
    FAILS(grammata_matcher_accept_token(matcher, UINT32_MAX, &error), USAGE, "c/token-range");
    FAILS(grammata_matcher_accept_token(matcher, WIDTH - 1, &error), REJECTED, "matcher/not-text");
    FAILS(grammata_matcher_accept_token(matcher, END, &error), REJECTED, "matcher/rejected");
    FAILS(grammata_matcher_accept_bytes(matcher, "\xff\0x", 3, &error), REJECTED, "matcher/rejected");
    OK(grammata_matcher_accept_bytes(matcher, NULL, 0, &error));
    const uint32_t draft[] = {AB, B, QUOTE, B}, wild[] = {AB, 99};
    OK(grammata_matcher_validate_tokens(matcher, draft, 4, &length, &error));
    CHECK(length == 2);
    OK(grammata_matcher_accept_tokens(matcher, draft, 4, &length, &error));
    CHECK(length == 2);
    FAILS(grammata_matcher_accept_tokens(matcher, wild, 2, &length, &error), USAGE, "c/token-range");
    OK(grammata_matcher_steps(matcher, &steps, &error));
    CHECK(steps == 3 + length);
    OK(grammata_matcher_rollback(matcher, length, &error));
    FAILS(grammata_matcher_rollback(matcher, 4, &error), USAGE, "matcher/rollback-too-far");
    OK(grammata_matcher_is_accepting(matcher, &answer, &error));
    CHECK(answer);
    OK(grammata_matcher_is_finished(matcher, &answer, &error));
    CHECK(!answer);

    /* a refusal is an answer */
    OK(grammata_matcher_fork(matcher, &fork, &error));
    OK(grammata_matcher_try_accept(fork, QUOTE, &answer, &error));
    CHECK(!answer);
    OK(grammata_matcher_try_accept(fork, B, &answer, &error));
    CHECK(answer);
    FAILS(grammata_matcher_try_accept(fork, WIDTH, &answer, &error), USAGE, "c/token-range");
    CHECK(!answer);
    FAILS(grammata_matcher_try_accept(fork, B, NULL, &error), USAGE, "c/null");
    OK(grammata_matcher_try_accept_bytes(fork, "bx", 2, &answer, &error));
    CHECK(!answer);
    OK(grammata_matcher_try_accept_bytes(fork, "ba", 2, &answer, &error));
    CHECK(answer);
    FAILS(grammata_matcher_try_accept_bytes(fork, NULL, 2, &answer, &error), USAGE, "c/null");
    OK(grammata_matcher_may_continue(fork, "b", 1, &answer, &error));
    CHECK(answer);
    OK(grammata_matcher_may_continue(fork, "x", 1, &answer, &error));
    CHECK(!answer);
    FAILS(grammata_matcher_may_continue(NULL, "x", 1, &answer, &error), USAGE, "c/null");
    OK(grammata_matcher_is_explored(fork, &answer, &error));
    CHECK(!answer);
    OK(grammata_matcher_check_budget(fork, 0, &error));
    OK(grammata_matcher_steps(fork, &steps, &error));
    CHECK(steps == 5);
    OK(grammata_matcher_reset(fork, &error));
    FAILS(grammata_matcher_check_budget(fork, 0, &error), REJECTED, "matcher/budget");
    CHECK(grammata_matcher_free(fork) == GRAMMATA_STATUS_OK);

    OK(grammata_matcher_fork(matcher, &fork, &error));
    OK(grammata_matcher_accept_token(fork, END, &error));
    FAILS(grammata_matcher_accept_token(fork, A, &error), REJECTED, "matcher/ended");
    OK(grammata_matcher_is_finished(fork, &answer, &error));
    CHECK(answer);
    OK(grammata_matcher_fill_mask(fork, mask, 2, &error));
    CHECK(mask[0] == 0 && mask[1] == 0);
    OK(grammata_matcher_rollback(fork, 2, &error));
    OK(grammata_matcher_bytes(fork, bytes, 8, &length, &error));
    CHECK(length == 2 && memcmp(bytes, "ab", 2) == 0);
    OK(grammata_matcher_bytes(matcher, bytes, 8, &length, &error));
    CHECK(length == 3 && memcmp(bytes, "abb", 3) == 0);
    OK(grammata_matcher_reset(matcher, &error));
    OK(grammata_matcher_bytes(matcher, NULL, 0, &length, &error));
    CHECK(length == 0);

    GrammataExplanation *explanation;
    OK(grammata_matcher_explain(matcher, "ax", 2, &explanation, &error));
    CHECK(!grammata_explanation_is_viable(explanation) && !grammata_explanation_may_end(explanation));
    CHECK(grammata_explanation_position(explanation) == 1 && grammata_explanation_found(explanation) == 'x');
    CHECK(strstr(grammata_explanation_expected(explanation), "`b`") && grammata_explanation_text(explanation));
    grammata_explanation_free(explanation);
    OK(grammata_matcher_explain_token(matcher, AB, &explanation, &error));
    CHECK(grammata_explanation_is_viable(explanation) && grammata_explanation_found(explanation) == -1);
    grammata_explanation_free(explanation);
    FAILS(grammata_matcher_explain_token(matcher, WIDTH, &explanation, &error), USAGE, "c/token-range");
    FAILS(grammata_matcher_explain(matcher, NULL, 2, &explanation, &error), USAGE, "c/null");
    CHECK(!explanation);
    CHECK(grammata_matcher_free(fork) == GRAMMATA_STATUS_OK);
    CHECK(grammata_matcher_free(matcher) == GRAMMATA_STATUS_OK);
}

/* The masks of two grammars along a text are the same. */
static void same(const GrammataGrammar *one, const GrammataGrammar *other, const uint32_t *tokens, size_t count) {
    GrammataMatcher *left, *right;
    uint32_t masks[2][2];
    OK(grammata_matcher_new(one, &left, &error));
    OK(grammata_matcher_new(other, &right, &error));
    for (size_t i = 0;; i++) {
        OK(grammata_matcher_fill_mask(left, masks[0], 2, &error));
        OK(grammata_matcher_fill_mask(right, masks[1], 2, &error));
        CHECK(memcmp(masks[0], masks[1], sizeof masks[0]) == 0);
        if (i == count) break;
        OK(grammata_matcher_accept_token(left, tokens[i], &error));
        OK(grammata_matcher_accept_token(right, tokens[i], &error));
    }
    grammata_matcher_free(left);
    grammata_matcher_free(right);
}

/* The path of a file in the folder of temporary files. */
static const char *temporary(const char *name) {
    static char path[256];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/grammata-border-%ld-%s", folder ? folder : "/tmp", (long)getpid(), name);
    return path;
}

static void mask_files(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataCompiler *compiler, *other;
    GrammataGrammar *grammar, *loaded;
    GrammataMaskFile *file, *again;
    GrammataMatcher *matcher;
    const uint32_t tokens[] = {AB, B, AB, A};
    char text[1024];
    size_t length, masks;
    bool answer;
    OK(grammata_compiler_new(vocabulary, NULL, &compiler, &error));
    const char *gbnf = "root ::= \"ab\" (\"ab\" | \"b\")* \"a\"?";
    OK(grammata_compile_gbnf(compiler, gbnf, strlen(gbnf), NULL, &grammar, &error));
    OK(grammata_mask_file_new(grammar, "{\"documents\": [\"abab\"], \"states\": 50, \"work\": 100000}", &file, &error));
    OK(grammata_mask_file_check(file, &error));
    CHECK(strstr(grammata_mask_file_contents(file), "\"masks\":") && strstr(grammata_mask_file_contents(file), "\"sections\":{"));
    const char *path = temporary("masks.gmask");
    OK(grammata_mask_file_save(file, path, &error));
    FAILS(grammata_mask_file_open(path, "{\"limits\": {\"mask_file_bytes\": 9}}", &again, &error), LIMIT, "limit/exceeded");
    CHECK(!again);
    OK(grammata_mask_file_open(path, NULL, &again, &error));
    CHECK(remove(path) == 0);
    const char *bytes = grammata_mask_file_bytes(file, &length), *copy = grammata_mask_file_bytes(again, &masks);
    CHECK(length == masks && memcmp(bytes, copy, length) == 0);
    grammata_mask_file_free(again);
    OK(grammata_mask_file_from_bytes(bytes, length, &again, &error));

    OK(grammata_compiler_load(compiler, again, &loaded, &error));
    grammata_mask_file_free(again);
    OK(grammata_grammar_verify_masks(loaded, &masks, &error));
    CHECK(masks > 1);
    OK(grammata_grammar_verify_masks(grammar, &masks, &error));
    CHECK(masks == 0);
    same(grammar, loaded, tokens, 4);
    OK(grammata_matcher_new(loaded, &matcher, &error));
    OK(grammata_matcher_is_explored(matcher, &answer, &error));
    CHECK(answer);
    grammata_matcher_free(matcher);

    OK(grammata_grammar_statistics(grammar, text, sizeof text, &length, &error));
    CHECK(length < sizeof text && text[0] == '{' && text[length - 1] == '}');
    text[length] = 0;
    CHECK(strstr(text, "\"masks_computed\":") && strstr(text, "\"strategies\":{"));
    FAILS(grammata_grammar_statistics(grammar, text, 3, &length, &error), TOO_SHORT, "c/buffer-too-short");
    CHECK(length > 3);
    FAILS(grammata_grammar_statistics(NULL, text, sizeof text, &length, &error), USAGE, "c/null");
    grammata_grammar_free(loaded);

    /* another vocabulary, a damaged file, none */
    const size_t lengths[] = {1, 0};
    grammata_vocabulary_free(vocabulary);
    OK(grammata_vocabulary_from_tokens("a", 1, lengths, 2, "{\"eos\": [1]}", &vocabulary, &error));
    OK(grammata_compiler_new(vocabulary, NULL, &other, &error));
    FAILS(grammata_compiler_load(other, file, &loaded, &error), GRAMMAR, "mask-file/other-vocabulary");
    CHECK(!loaded);
    bytes = grammata_mask_file_bytes(file, &length);
    FAILS(grammata_mask_file_from_bytes(bytes, length - 1, &again, &error), GRAMMAR, "mask-file/damaged-header");
    FAILS(grammata_mask_file_from_bytes(NULL, 0, &again, &error), GRAMMAR, "mask-file/no-mask-file");
    FAILS(grammata_mask_file_open("no/such/file", NULL, &again, &error), IO, "io/file");
    FAILS(grammata_mask_file_open(NULL, NULL, &again, &error), USAGE, "c/null");
    FAILS(grammata_mask_file_save(file, "no/such/folder/file", &error), IO, "io/file");
    FAILS(grammata_mask_file_save(NULL, "file", &error), USAGE, "c/null");
    FAILS(grammata_mask_file_check(NULL, &error), USAGE, "c/null");
    FAILS(grammata_mask_file_new(grammar, "{\"places\": 1}", &again, &error), USAGE, "c/options");
    CHECK(!again && !grammata_mask_file_bytes(NULL, &length) && length == 0 && !grammata_mask_file_contents(NULL));
    grammata_mask_file_free(file);
    grammata_mask_file_free(NULL);
    grammata_grammar_free(grammar);
    grammata_compiler_free(compiler);
    grammata_compiler_free(other);
    grammata_vocabulary_free(vocabulary);
}

static void caches(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataCompiler *compiler;
    GrammataCache *cache;
    GrammataGrammar *one, *other;
    GrammataMatcher *matcher;
    bool answer;
    char options[512], path[256];
    OK(grammata_compiler_new(vocabulary, NULL, &compiler, &error));
    OK(grammata_cache_new(compiler, "{\"max_bytes\": 1000000}", &cache, &error));
    OK(grammata_cache_get(cache, "regex", "a+", 2, "{\"case_insensitive\": true}", &one, &error));
    OK(grammata_cache_get(cache, "regex", "a+", 2, "{\"case_insensitive\": true}", &other, &error));
    CHECK(grammata_cache_length(cache) == 1 && grammata_cache_memory_usage(cache) > 0);
    grammata_grammar_free(other);
    OK(grammata_cache_get(cache, "gbnf", "root ::= \"a\"", 12, NULL, &other, &error));
    grammata_grammar_free(other);
    const char *spec = "kind = 'cfg'\nsymbols = ['a']\nstart = 's'\nrules = { s = ['a'] }";
    OK(grammata_cache_get(cache, "spec", spec, strlen(spec), NULL, &other, &error));
    grammata_grammar_free(other);
    OK(grammata_cache_get(cache, "json-schema", "{\"colour\": 1}", 13, NULL, &other, &error));
    CHECK(strstr(grammata_diagnostic_place(grammata_grammar_warning(other, 0)), "colour"));
    grammata_grammar_free(other);
    CHECK(grammata_cache_length(cache) == 4);
    FAILS(grammata_cache_get(cache, "regex", "(", 1, NULL, &other, &error), GRAMMAR, "regex/unclosed-group");
    CHECK(!other && grammata_cache_length(cache) == 4);
    FAILS(grammata_cache_get(cache, "perl", "a", 1, NULL, &other, &error), USAGE, "c/notation");
    FAILS(grammata_cache_get(cache, NULL, "a", 1, NULL, &other, &error), USAGE, "c/null");
    FAILS(grammata_cache_get(cache, "regex", "a", 1, "{\"root\": \"a\"}", &other, &error), USAGE, "c/options");
    FAILS(grammata_cache_get(NULL, "regex", "a", 1, NULL, &other, &error), USAGE, "c/null");
    OK(grammata_cache_clear(cache, &error));
    CHECK(grammata_cache_length(cache) == 0 && grammata_cache_length(NULL) == 0 && grammata_cache_memory_usage(NULL) == 0);
    OK(grammata_cache_flush(cache, &error));
    grammata_cache_free(cache);
    /* its grammar goes on */
    OK(grammata_matcher_new(one, &matcher, &error));
    OK(grammata_matcher_accept_token(matcher, A, &error));
    grammata_matcher_free(matcher);
    grammata_grammar_free(one);

    /* a folder for the next process */
    snprintf(path, sizeof path, "%s", temporary("folder"));
    snprintf(options, sizeof options, "{\"folder\": \"%s\", \"states\": 20, \"max_file_bytes\": 1000000}", path);
    for (int round = 0; round < 2; round++) {
        OK(grammata_cache_new(compiler, options, &cache, &error));
        OK(grammata_cache_get(cache, "regex", "(ab)+", 5, NULL, &one, &error));
        OK(grammata_cache_flush(cache, &error));
        OK(grammata_matcher_new(one, &matcher, &error));
        OK(grammata_matcher_is_explored(matcher, &answer, &error));
        CHECK(answer == (round == 1));
        grammata_matcher_free(matcher);
        grammata_grammar_free(one);
        grammata_cache_free(cache);
    }
    snprintf(options, sizeof options, "rm -r '%s'", path);
    CHECK(system(options) == 0);
    FAILS(grammata_cache_new(compiler, "{\"folder\": \"/dev/null/masks\"}", &cache, &error), IO, "io/file");
    FAILS(grammata_cache_new(compiler, "{\"bytes\": 1}", &cache, &error), USAGE, "c/options");
    FAILS(grammata_cache_new(NULL, NULL, &cache, &error), USAGE, "c/null");
    FAILS(grammata_cache_clear(NULL, &error), USAGE, "c/null");
    FAILS(grammata_cache_flush(NULL, &error), USAGE, "c/null");
    grammata_cache_free(NULL);
    grammata_compiler_free(compiler);
    grammata_vocabulary_free(vocabulary);
}

static void batches(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataGrammar *grammar = grammar_of(vocabulary, "root ::= [ab]*");
    GrammataMatcher *sequences[9];
    for (int i = 0; i < 9; i++) OK(grammata_matcher_new(grammar, &sequences[i], &error));
    GrammataPool *pools[2] = {NULL, NULL};
    OK(grammata_pool_new(2, &pools[1], &error));
    for (int p = 0; p < 2; p++) {
        uint32_t masks[9 * 2], tokens[9] = {A, B, AB, BA, A, B, QUOTE, 99, END};
        GrammataStatus statuses[9];
        OK(grammata_batch_fill_masks(pools[p], sequences, 9, masks, 18, 2, statuses, &error));
        for (int i = 0; i < 9; i++) {
            CHECK(statuses[i] == GRAMMATA_STATUS_OK && masks[2 * i] == (1u << A | 1u << B | 1u << AB | 1u << BA | 1u << END));
        }
        OK(grammata_batch_fill_masks(pools[p], sequences, 9, masks, 18, 2, NULL, &error));
        FAILS(grammata_batch_fill_masks(pools[p], sequences, 9, masks, 17, 2, NULL, &error), TOO_SHORT, "c/buffer-too-short");
        FAILS(grammata_batch_fill_masks(pools[p], sequences, 9, masks, 18, SIZE_MAX, NULL, &error), TOO_SHORT,
              "c/buffer-too-short");
        FAILS(grammata_batch_fill_masks(pools[p], sequences, 9, masks, 18, 1, statuses, &error), TOO_SHORT,
              "mask/buffer-too-short");
        FAILS(grammata_batch_fill_masks(pools[p], sequences, 9, masks, 18, 0, statuses, &error), TOO_SHORT,
              "mask/buffer-too-short");
        FAILS(grammata_batch_fill_masks(pools[p], NULL, 9, masks, 18, 2, statuses, &error), USAGE, "c/null");
        OK(grammata_batch_fill_masks(pools[p], NULL, 0, NULL, 0, 2, NULL, &error));
        FAILS(grammata_batch_accept_tokens(pools[p], sequences, tokens, 9, statuses, &error), REJECTED, "matcher/rejected");
        CHECK(statuses[0] == GRAMMATA_STATUS_OK && statuses[5] == GRAMMATA_STATUS_OK && statuses[8] == GRAMMATA_STATUS_OK);
        CHECK(statuses[6] == GRAMMATA_STATUS_REJECTED && statuses[7] == GRAMMATA_STATUS_USAGE);
        for (int i = 0; i < 9; i++) OK(grammata_matcher_reset(sequences[i], &error));
        /* one of them twice, and one that is none */
        GrammataMatcher *twice[] = {sequences[0], sequences[1], sequences[0], NULL};
        FAILS(grammata_batch_fill_masks(pools[p], twice, 4, masks, 18, 2, statuses, &error), BUSY, "c/busy");
        CHECK(statuses[0] == GRAMMATA_STATUS_OK && statuses[1] == GRAMMATA_STATUS_OK && statuses[3] == GRAMMATA_STATUS_USAGE);
        OK(grammata_matcher_reset(sequences[0], &error));
    }
    FAILS(grammata_pool_new(SIZE_MAX, &pools[0], &error), USAGE, "c/threads");
    grammata_pool_free(pools[1]);
    for (int i = 0; i < 9; i++) grammata_matcher_free(sequences[i]);
    grammata_grammar_free(grammar);
    grammata_vocabulary_free(vocabulary);
}

/* Steps of a matcher that another thread uses too: each is done or refused, and none is half done. */
static void *step(void *matcher) {
    size_t done = 0;
    for (int i = 0; i < 200; i++) {
        GrammataStatus status = grammata_matcher_accept_token(matcher, A, NULL);
        CHECK(status == GRAMMATA_STATUS_OK || status == GRAMMATA_STATUS_BUSY);
        done += status == GRAMMATA_STATUS_OK;
    }
    return (void *)done;
}

/* A grammar that other threads use too. */
static void *share(void *grammar) {
    GrammataMatcher *matcher;
    uint32_t mask[2];
    CHECK(grammata_matcher_new(grammar, &matcher, NULL) == GRAMMATA_STATUS_OK);
    for (int i = 0; i < 50; i++) {
        CHECK(grammata_matcher_fill_mask(matcher, mask, 2, NULL) == GRAMMATA_STATUS_OK && mask[0] == 1u << A);
        CHECK(grammata_matcher_accept_token(matcher, A, NULL) == GRAMMATA_STATUS_OK);
    }
    CHECK(grammata_matcher_free(matcher) == GRAMMATA_STATUS_OK);
    return NULL;
}

static void threads(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataGrammar *grammar = grammar_of(vocabulary, "root ::= \"a\"{400,} \"\\\"\"");
    GrammataMatcher *matcher;
    OK(grammata_matcher_new(grammar, &matcher, &error));
    pthread_t running[4];
    size_t sum = 0, steps;
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&running[i], NULL, step, matcher) == 0);
    for (int i = 0; i < 4; i++) {
        void *done;
        CHECK(pthread_join(running[i], &done) == 0);
        sum += (size_t)done;
    }
    OK(grammata_matcher_steps(matcher, &steps, &error));
    CHECK(steps == sum && sum > 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&running[i], NULL, share, grammar) == 0);
    for (int i = 0; i < 4; i++) CHECK(pthread_join(running[i], NULL) == 0);
    grammata_matcher_free(matcher);
    grammata_grammar_free(grammar);
    grammata_vocabulary_free(vocabulary);
}

/* A child of fork() goes on with what its parent has compiled, and makes pools of its own. */
static void forks(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataCompiler *compiler;
    GrammataCache *cache;
    GrammataGrammar *grammar;
    GrammataMatcher *matcher;
    GrammataPool *pool;
    uint32_t masks[12];
    char options[300], path[256];
    snprintf(path, sizeof path, "%s", temporary("fork"));
    snprintf(options, sizeof options, "{\"folder\": \"%s\"}", path);
    OK(grammata_compiler_new(vocabulary, NULL, &compiler, &error));
    OK(grammata_cache_new(compiler, options, &cache, &error));
    OK(grammata_cache_get(cache, "regex", "[ab]+", 5, NULL, &grammar, &error));
    OK(grammata_cache_flush(cache, &error));
    OK(grammata_pool_new(2, &pool, &error));
    OK(grammata_matcher_new(grammar, &matcher, &error));
    OK(grammata_batch_fill_masks(pool, &matcher, 1, masks, 2, 2, NULL, &error));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        GrammataMatcher *sequences[6] = {matcher};
        GrammataPool *own;
        GrammataGrammar *new_one;
        for (int i = 1; i < 6; i++) OK(grammata_matcher_fork(matcher, &sequences[i], &error));
        OK(grammata_pool_new(2, &own, &error));
        OK(grammata_batch_fill_masks(own, sequences, 6, masks, 12, 2, NULL, &error));
        CHECK(masks[10] == masks[0] && masks[0] != 0);
        OK(grammata_matcher_accept_token(matcher, A, &error));
        OK(grammata_cache_get(cache, "regex", "a", 1, NULL, &new_one, &error));
        /* nobody would ever come back from the parent's thread */
        OK(grammata_cache_flush(cache, &error));
        /* all is well: another program, as valgrind would count at the end of this one what the parent's threads had */
        execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
        _exit(1);
    }
    int ended;
    CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 7);
    OK(grammata_batch_fill_masks(pool, &matcher, 1, masks, 2, 2, NULL, &error));
    grammata_pool_free(pool);
    grammata_matcher_free(matcher);
    grammata_grammar_free(grammar);
    grammata_cache_free(cache);
    grammata_compiler_free(compiler);
    grammata_vocabulary_free(vocabulary);
    snprintf(options, sizeof options, "rm -r '%s'", path);
    CHECK(system(options) == 0);
}

/* Nothing is what every accessor takes. */
static void nothing(void) {
    CHECK(!grammata_error_text(NULL) && !grammata_error_code(NULL) && grammata_error_count(NULL) == 0);
    CHECK(!grammata_error_diagnostic(NULL, 0) && !grammata_diagnostic_found(NULL) && !grammata_diagnostic_cause(NULL));
    CHECK(!grammata_diagnostic_allowed(NULL) && grammata_error_status(NULL) == GRAMMATA_STATUS_OK);
    CHECK(grammata_vocabulary_width(NULL) == 0 && grammata_grammar_warning_count(NULL) == 0);
    CHECK(!grammata_explanation_text(NULL) && grammata_explanation_found(NULL) == -1);
    grammata_error_free(NULL);
    grammata_vocabulary_free(NULL);
    grammata_compiler_free(NULL);
    grammata_grammar_free(NULL);
    grammata_explanation_free(NULL);
    grammata_pool_free(NULL);
    CHECK(grammata_matcher_free(NULL) == GRAMMATA_STATUS_OK);
    CHECK(strstr(grammata_default_limits(), "\"mask_work\":"));
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", GRAMMATA_VERSION_MAJOR, GRAMMATA_VERSION_MINOR, GRAMMATA_VERSION_PATCH);
    CHECK(strcmp(grammata_version(), version) == 0);
}

int main(void) {
    nothing();
    vocabularies();
    grammars();
    matchers();
    mask_files();
    caches();
    batches();
    threads();
    forks();
    puts("the border holds");
    return 0;
}
