/* Mask files, archives and caches at the border. */
#define _POSIX_C_SOURCE 200809L
#include "border.h"

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

static void archives(void) {
    GrammataVocabulary *vocabulary = letters(), *foreign;
    GrammataCompiler *compiler;
    GrammataGrammar *grammars[2], *loaded;
    GrammataMaskFile *files[2], *file;
    GrammataArchiveBuilder *builder;
    GrammataArchive *archive;
    const char *names[] = {"all", "b only"}, *patterns[] = {"[ab]*", "b+"};
    const uint32_t tokens[] = {B, B};
    char name[8];
    size_t length, masks;
    OK(grammata_compiler_new(vocabulary, NULL, &compiler, &error));
    OK(grammata_archive_builder_new(vocabulary, "{\"limits\": {\"mask_archive_bytes\": 100000}}", &builder, &error));
    for (int i = 1; i >= 0; i--) {
        OK(grammata_compile_regex(compiler, patterns[i], strlen(patterns[i]), NULL, &grammars[i], &error));
        OK(grammata_mask_file_new(grammars[i], "{\"states\": 50}", &files[i], &error));
        OK(grammata_archive_builder_add(builder, names[i], strlen(names[i]), files[i], &error));
    }
    FAILS(grammata_archive_builder_add(builder, "all", 3, files[0], &error), USAGE, "mask-file/name-twice");
    FAILS(grammata_archive_builder_add(builder, "\xff", 1, files[0], &error), USAGE, "c/not-utf-8");
    FAILS(grammata_archive_builder_add(builder, NULL, 1, files[0], &error), USAGE, "c/null");
    FAILS(grammata_archive_builder_add(builder, "x", 1, NULL, &error), USAGE, "c/null");
    FAILS(grammata_archive_builder_add(NULL, "x", 1, files[0], &error), USAGE, "c/null");
    const char *path = temporary("all.gmasks");
    OK(grammata_archive_builder_save(builder, path, &error));
    FAILS(grammata_archive_builder_save(builder, "no/such/folder/file", &error), IO, "io/file");
    FAILS(grammata_archive_builder_save(NULL, path, &error), USAGE, "c/null");
    grammata_archive_builder_free(builder);
    grammata_archive_builder_free(NULL);

    FAILS(grammata_archive_open(path, "{\"limits\": {\"mask_archive_bytes\": 9}}", &archive, &error), LIMIT, "limit/exceeded");
    CHECK(!archive && grammata_archive_count(NULL) == 0);
    OK(grammata_archive_open(path, "{\"limits\": {\"mask_file_bytes\": 9}}", &archive, &error));
    FAILS(grammata_archive_get(archive, "all", 3, &file, &error), LIMIT, "limit/exceeded");
    CHECK(!file);
    grammata_archive_free(archive);
    OK(grammata_archive_open(path, NULL, &archive, &error));
    CHECK(grammata_archive_count(archive) == 2);
    for (size_t i = 0; i < 2; i++) {
        OK(grammata_archive_name(archive, i, name, sizeof name, &length, &error));
        CHECK(length == strlen(names[i]) && memcmp(name, names[i], length) == 0);
        OK(grammata_archive_get(archive, name, length, &file, &error));
        CHECK(file && strcmp(grammata_mask_file_contents(file), grammata_mask_file_contents(files[i])) == 0);
        OK(grammata_compiler_load(compiler, file, &loaded, &error));
        grammata_mask_file_free(file);
        OK(grammata_grammar_verify_masks(loaded, &masks, &error));
        CHECK(masks > 0);
        same(grammars[i], loaded, tokens, 2);
        grammata_grammar_free(loaded);
    }
    FAILS(grammata_archive_name(archive, 2, name, sizeof name, &length, &error), USAGE, "c/place");
    FAILS(grammata_archive_name(archive, 1, name, 2, &length, &error), TOO_SHORT, "c/buffer-too-short");
    CHECK(length == 6);
    FAILS(grammata_archive_name(NULL, 0, name, sizeof name, &length, &error), USAGE, "c/null");
    /* that there is none is an answer */
    OK(grammata_archive_get(archive, "nothing", 7, &file, &error));
    CHECK(!file);
    FAILS(grammata_archive_get(archive, NULL, 3, &file, &error), USAGE, "c/null");
    FAILS(grammata_archive_get(NULL, "all", 3, &file, &error), USAGE, "c/null");
    OK(grammata_archive_get(archive, "all", 3, &file, &error));
    grammata_archive_free(archive);
    grammata_archive_free(NULL);
    CHECK(remove(path) == 0);
    /* it needs its archive no more */
    OK(grammata_mask_file_check(file, &error));
    grammata_mask_file_free(file);

    OK(grammata_mask_file_save(files[0], path, &error));
    FAILS(grammata_archive_open(path, NULL, &archive, &error), GRAMMAR, "mask-file/no-archive");
    CHECK(remove(path) == 0);
    FAILS(grammata_archive_open(path, NULL, &archive, &error), IO, "io/file");
    FAILS(grammata_archive_open(NULL, NULL, &archive, &error), USAGE, "c/null");
    OK(grammata_vocabulary_from_bytes("[\"a\", {\"special\": \"</s>\"}]", 26, NULL, &foreign, &error));
    OK(grammata_archive_builder_new(foreign, NULL, &builder, &error));
    FAILS(grammata_archive_builder_add(builder, "all", 3, files[0], &error), GRAMMAR, "mask-file/other-vocabulary");
    grammata_archive_builder_free(builder);
    grammata_vocabulary_free(foreign);
    for (int i = 0; i < 2; i++) {
        grammata_mask_file_free(files[i]);
        grammata_grammar_free(grammars[i]);
    }
    grammata_compiler_free(compiler);
    grammata_vocabulary_free(vocabulary);
}

static void token_indices(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataCompiler *compiler, *prepared;
    GrammataGrammar *grammar, *other;
    GrammataMaskFile *file, *with;
    GrammataArchiveBuilder *builder;
    GrammataArchive *archive;
    const uint32_t tokens[] = {AB, B};
    static char index[1 << 16], copy[1 << 16];
    size_t length, again;
    OK(grammata_compiler_new(vocabulary, NULL, &compiler, &error));
    OK(grammata_compiler_token_index(compiler, NULL, 0, &length, &error));
    CHECK(length > 32 && length < sizeof index);
    FAILS(grammata_compiler_token_index(compiler, index, length - 1, &again, &error), TOO_SHORT, "c/buffer-too-short");
    CHECK(again == length);
    OK(grammata_compiler_token_index(compiler, index, sizeof index, &length, &error));
    FAILS(grammata_compiler_token_index(NULL, index, sizeof index, &again, &error), USAGE, "c/null");

    OK(grammata_compiler_new(vocabulary, NULL, &prepared, &error));
    FAILS(grammata_compiler_prepare_from(prepared, index, length - 1, &error), GRAMMAR, "mask-file/token-index");
    FAILS(grammata_compiler_prepare_from(prepared, NULL, 0, &error), GRAMMAR, "mask-file/token-index");
    FAILS(grammata_compiler_prepare_from(prepared, NULL, 1, &error), USAGE, "c/null");
    FAILS(grammata_compiler_prepare_from(NULL, index, length, &error), USAGE, "c/null");
    OK(grammata_compiler_prepare_from(prepared, index, length, &error));
    OK(grammata_compile_regex(compiler, "(ab)*b", 6, NULL, &grammar, &error));
    OK(grammata_compile_regex(prepared, "(ab)*b", 6, NULL, &other, &error));
    same(grammar, other, tokens, 2);
    grammata_grammar_free(other);

    /* in a file */
    OK(grammata_mask_file_new(grammar, "{\"states\": 10}", &file, &error));
    CHECK(!grammata_mask_file_token_index(file, &again) && again == 0 && !grammata_mask_file_token_index(NULL, &again));
    OK(grammata_mask_file_with_token_index(file, index, length, &with, &error));
    const char *inside = grammata_mask_file_token_index(with, &again);
    CHECK(inside && again == length && memcmp(inside, index, length) == 0);
    grammata_mask_file_free(with);
    FAILS(grammata_mask_file_with_token_index(NULL, index, length, &with, &error), USAGE, "c/null");

    /* in an archive */
    const char *path = temporary("index.gmasks");
    OK(grammata_archive_builder_new(vocabulary, NULL, &builder, &error));
    OK(grammata_archive_builder_add(builder, "one", 3, file, &error));
    OK(grammata_archive_builder_save(builder, path, &error));
    OK(grammata_archive_open(path, NULL, &archive, &error));
    OK(grammata_archive_token_index(archive, copy, sizeof copy, &again, &error));
    CHECK(again == 0);
    grammata_archive_free(archive);
    OK(grammata_archive_builder_set_token_index(builder, index, length, &error));
    FAILS(grammata_archive_builder_set_token_index(NULL, index, length, &error), USAGE, "c/null");
    FAILS(grammata_archive_builder_set_token_index(builder, NULL, 1, &error), USAGE, "c/null");
    OK(grammata_archive_builder_save(builder, path, &error));
    OK(grammata_archive_open(path, NULL, &archive, &error));
    OK(grammata_archive_token_index(archive, copy, sizeof copy, &again, &error));
    CHECK(again == length && memcmp(copy, index, length) == 0);
    FAILS(grammata_archive_token_index(NULL, copy, sizeof copy, &again, &error), USAGE, "c/null");
    CHECK(remove(path) == 0);

    grammata_archive_free(archive);
    grammata_archive_builder_free(builder);
    grammata_mask_file_free(file);
    grammata_grammar_free(grammar);
    grammata_compiler_free(compiler);
    grammata_compiler_free(prepared);
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

int main(void) {
    mask_files();
    archives();
    token_indices();
    caches();
    puts("mask_files hold");
    return 0;
}
