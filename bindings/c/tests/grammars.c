/* What the border promises of bad input, and what functions give on good input: of vocabularies, grammars and errors. Each of these programs is run under valgrind and with the address
 * sanitizer, which find what is used after it was freed, read past its end, or never freed. */
#define _POSIX_C_SOURCE 200809L
#include "border.h"

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
    FAILS(grammata_vocabulary_from_bytes("[\"a\", {\"special\": \"</s>\"}]", 26, "{\"added\": {\"named\": [\"<think>\"]}}",
                                         &vocabulary, &error),
          VOCABULARY, "vocabulary/no-added-token");
    OK(grammata_vocabulary_from_bytes("[\"a\", {\"special\": \"</s>\"}]", 26, "{\"added\": \"special\"}", &vocabulary, &error));
    grammata_vocabulary_free(vocabulary);
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
    const char *tag = "{\"type\": \"structural_tag\", \"format\": {\"type\": \"const_string\", \"value\": \"a\"}}";
    OK(grammata_compile_structural_tag(compiler, tag, strlen(tag), "{\"whitespace\": \"compact\"}", &grammar, &error));
    grammata_grammar_free(grammar);
    const char *named = "{\"type\": \"structural_tag\", \"format\": {\"type\": \"grammar\", \"name\": \"letter\"}}";
    const char *embedded = "{\"grammars\": {\"letter\": {\"notation\": \"regex\", \"text\": \"a+\"}}, \"whitespace\": \"compact\"}";
    OK(grammata_compile_structural_tag(compiler, named, strlen(named), embedded, &grammar, &error));
    grammata_grammar_free(grammar);
    FAILS(grammata_compile_structural_tag(compiler, named, strlen(named), NULL, &grammar, &error), GRAMMAR,
          "structural-tag/unknown-grammar");
    FAILS(grammata_compile_structural_tag(compiler, named, strlen(named), "{\"grammars\": {\"letter\": 1}}", &grammar, &error), USAGE,
          "c/options");
    FAILS(grammata_compile_structural_tag(compiler, named, strlen(named), "{\"colour\": 1}", &grammar, &error), USAGE, "c/options");

    /* a request of a family: calls of a tool, or an answer by a schema; an unknown format is not enforced */
    const char *request =
        "{\"family\": \"hermes\", \"reasoning\": \"disabled\", \"tools\": [{\"type\": \"function\", \"function\": "
        "{\"name\": \"b\"}}], \"answer\": {\"type\": \"string\", \"format\": \"isbn\"}}";
    OK(grammata_compile_request(compiler, request, strlen(request), NULL, &grammar, &error));
    CHECK(grammata_grammar_warning_count(grammar) >= 1);
    CHECK(strcmp(grammata_diagnostic_place(grammata_grammar_warning(grammar, 0)), "#/answer/format") == 0);
    grammata_grammar_free(grammar);
    FAILS(grammata_compile_request(compiler, "{}", 2, NULL, &grammar, &error), USAGE, "tools/tag-request");
    FAILS(grammata_compile_request(compiler, "{\"family\": \"b\"}", 15, NULL, &grammar, &error), USAGE, "tools/unknown-family");
    const char *lark = "first: \"a\"";
    OK(grammata_compile_lark(compiler, lark, strlen(lark), "{\"start\": \"first\"}", &grammar, &error));
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
    puts("grammars hold");
    return 0;
}
