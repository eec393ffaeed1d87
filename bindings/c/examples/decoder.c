/* Generates JSON under a schema: decoder TOKENIZER. The model is a random generator that knows no words but the allowed ones. */
#include <grammata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if a call failed. */
static void check(GrammataStatus status, GrammataError *error) {
    if (status != GRAMMATA_STATUS_OK) {
        fprintf(stderr, "%s\n", grammata_error_text(error));
        grammata_error_free(error);
        exit(1);
    }
}

/* Stands for the model and its sampler: one of the allowed tokens. */
static uint32_t choose(const uint32_t *mask, size_t width, uint64_t *state) {
    size_t allowed = 0, token;
    for (token = 0; token < width; token++) allowed += mask[token / 32] >> token % 32 & 1;
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    size_t chosen = (size_t)(*state >> 33) % allowed;
    for (token = 0; token < width; token++) {
        if ((mask[token / 32] >> token % 32 & 1) && chosen-- == 0) break;
    }
    return (uint32_t)token;
}

static const char SCHEMA[] =
    "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"city\", \"unit\", \"days\"],"
    " \"properties\": {\"city\": {\"enum\": [\"Bern\", \"Lima\", \"Oslo\"]},"
    "                \"unit\": {\"enum\": [\"celsius\", \"fahrenheit\"]},"
    "                \"days\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 14}}}";

/* One sequence: mask, choose, accept, until nothing more may come. */
static void generate(const GrammataVocabulary *vocabulary, const GrammataGrammar *grammar) {
    GrammataError *error;
    GrammataMatcher *matcher;
    check(grammata_matcher_new(grammar, &matcher, &error), error);
    size_t words = grammata_vocabulary_mask_words(vocabulary);
    uint32_t *mask = malloc(words * sizeof *mask);
    uint64_t state = 29;
    bool finished = false;
    while (mask && !finished) {
        check(grammata_matcher_fill_mask(matcher, mask, words, &error), error);
        uint32_t token = choose(mask, grammata_vocabulary_width(vocabulary), &state);
        check(grammata_matcher_accept_token(matcher, token, &error), error);
        check(grammata_matcher_is_finished(matcher, &finished, &error), error);
    }
    free(mask);

    char text[256];
    size_t length;
    check(grammata_matcher_bytes(matcher, text, sizeof text, &length, &error), error);
    printf("%.*s\n", (int)length, text);
    grammata_matcher_free(matcher);
}

/* Writes what masks need to a file, as something before the server may do, and makes the grammar of it, as the server does. */
static GrammataGrammar *through_a_file(const GrammataCompiler *compiler, const GrammataGrammar *grammar) {
    GrammataError *error;
    GrammataMaskFile *file;
    GrammataGrammar *loaded;
    const char *bounds = "{\"states\": 50, \"work\": 50000}";
    check(grammata_mask_file_new(grammar, bounds, &file, &error), error);
    check(grammata_mask_file_save(file, "decoder.gmask", &error), error);
    grammata_mask_file_free(file);

    check(grammata_mask_file_open("decoder.gmask", NULL, &file, &error), error);
    check(grammata_compiler_load(compiler, file, &loaded, &error), error);
    grammata_mask_file_free(file);
    remove("decoder.gmask");
    return loaded;
}

/* A text that does not fit, and what the error says of it. */
static void reject(const GrammataGrammar *grammar) {
    GrammataError *error;
    GrammataMatcher *matcher;
    check(grammata_matcher_new(grammar, &matcher, &error), error);
    const char *text = "{\"city\":\"Rome\"";
    GrammataStatus status = grammata_matcher_accept_bytes(matcher, text, strlen(text), &error);
    if (status == GRAMMATA_STATUS_REJECTED) {
        const GrammataDiagnostic *diagnostic = grammata_error_diagnostic(error, 0);
        printf("%s at %s\n", grammata_error_code(error), grammata_diagnostic_place(diagnostic));
        printf("%s\n", grammata_error_text(error));
    }
    grammata_error_free(error);
    grammata_matcher_free(matcher);
}

int main(int count, char **arguments) {
    if (count != 2) return fprintf(stderr, "usage: decoder TOKENIZER\n"), 2;
    GrammataError *error;
    GrammataVocabulary *vocabulary;
    GrammataCompiler *compiler;
    GrammataGrammar *grammar;
    check(grammata_vocabulary_from_file(arguments[1], NULL, &vocabulary, &error), error);
    check(grammata_compiler_new(vocabulary, NULL, &compiler, &error), error);
    const char *options = "{\"whitespace\": \"compact\", \"numbers\": \"plain\"}";
    check(grammata_compile_json_schema(compiler, SCHEMA, strlen(SCHEMA), options, &grammar, &error), error);
    for (size_t i = 0; i < grammata_grammar_warning_count(grammar); i++) {
        fprintf(stderr, "warning%s\n", grammata_diagnostic_text(grammata_grammar_warning(grammar, i)));
    }
    generate(vocabulary, grammar);
    reject(grammar);
    GrammataGrammar *loaded = through_a_file(compiler, grammar);
    generate(vocabulary, loaded);
    grammata_grammar_free(loaded);
    grammata_grammar_free(grammar);
    grammata_compiler_free(compiler);
    grammata_vocabulary_free(vocabulary);
    return 0;
}
