/* Batches, threads and processes at the border. */
#define _POSIX_C_SOURCE 200809L
#include "border.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

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
        /* masks of the call before are not left in the rows of those that failed */
        CHECK(masks[0] != 0 && masks[2] != 0 && masks[4] == 0 && masks[5] == 0 && masks[6] == 0 && masks[7] == 0);
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
    /* the address sanitizer's allocator stays locked in the child if a thread of the pool allocates just now */
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
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

int main(void) {
    batches();
    threads();
    forks();
    puts("threads hold");
    return 0;
}
