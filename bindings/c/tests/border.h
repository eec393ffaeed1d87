/* What the programs share that test the border: checks of statuses and codes, a small vocabulary, names of temporary files. */
#ifndef BORDER_H
#define BORDER_H

#include <grammata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(what)                                                          \
    do {                                                                     \
        if (!(what)) {                                                       \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);       \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

/* The status is as expected, and so is the code of the error, which is freed. */
static inline void expect(const char *file, int line, GrammataStatus status, GrammataError *error, GrammataStatus wanted,
                          const char *code) {
    const char *found = error ? grammata_error_code(error) : "none";
    if (status != wanted || strcmp(found, code) != 0 || grammata_error_status(error) != status) {
        fprintf(stderr, "%s:%d: status %d, code %s; wanted %d, %s\n", file, line, (int)status, found, (int)wanted, code);
        if (error) fprintf(stderr, "%s\n", grammata_error_text(error));
        exit(1);
    }
    grammata_error_free(error);
}
#define OK(call) FAILS(call, OK, "none")
#define FAILS(call, wanted, code)                    \
    (error = (GrammataError *)8, status = (call),    \
     expect(__FILE__, __LINE__, status, error, GRAMMATA_STATUS_##wanted, code))

static GrammataError *error;
static GrammataStatus status;

enum { A, B, AB, BA, QUOTE, END, WIDTH = 40 };

static inline GrammataVocabulary *letters(void) {
    GrammataVocabulary *vocabulary;
    const size_t lengths[] = {1, 1, 2, 2, 1, 0};
    OK(grammata_vocabulary_from_tokens("ababba\"", 7, lengths, 6,
                                       "{\"eos\": [5], \"specials\": {\"<end>\": 5}, \"width\": 40}", &vocabulary, &error));
    return vocabulary;
}

static inline GrammataGrammar *grammar_of(const GrammataVocabulary *vocabulary, const char *gbnf) {
    GrammataCompiler *compiler;
    GrammataGrammar *grammar;
    OK(grammata_compiler_new(vocabulary, NULL, &compiler, &error));
    OK(grammata_compile_gbnf(compiler, gbnf, strlen(gbnf), NULL, &grammar, &error));
    grammata_compiler_free(compiler);
    return grammar;
}

/* The path of a file in the folder of temporary files. */
static inline const char *temporary(const char *name) {
    static char path[256];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/grammata-border-%ld-%s", folder ? folder : "/tmp", (long)getpid(), name);
    return path;
}

#endif
