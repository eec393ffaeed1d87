/* Matchers and explanations at the border. */
#define _POSIX_C_SOURCE 200809L
#include "border.h"

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
    /* a row that failed allows nothing */
    FAILS(grammata_matcher_fill_mask(matcher, mask, 1, &error), TOO_SHORT, "mask/buffer-too-short");
    CHECK(mask[0] == 0);
    OK(grammata_matcher_fill_mask(matcher, mask, 3, &error));
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
    OK(grammata_matcher_is_token_allowed_within(matcher, A, 1, &answer, &error));
    CHECK(!answer);
    OK(grammata_matcher_is_token_allowed(matcher, A, &answer, &error));
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
    OK(grammata_matcher_accepts_prefix(fork, "b", 1, &answer, &error));
    CHECK(answer);
    OK(grammata_matcher_accepts_prefix(fork, "x", 1, &answer, &error));
    CHECK(!answer);
    FAILS(grammata_matcher_accepts_prefix(NULL, "x", 1, &answer, &error), USAGE, "c/null");
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

static void events(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataGrammar *grammar = grammar_of(vocabulary, "root ::= \"[\" [0-9] [0-9]? \"]\" | \"a\"");
    GrammataMatcher *matcher, *silent;
    GrammataEvent event;
    size_t first, count, length;
    char pointer[2];
    OK(grammata_matcher_new_with_events(grammar, &matcher, &error));
    OK(grammata_matcher_accept_bytes(matcher, "[7", 2, &error));
    OK(grammata_matcher_new_events(matcher, &first, &count, &error));
    CHECK(first == 0 && count == 2);
    OK(grammata_matcher_accept_bytes(matcher, "1", 1, &error));
    OK(grammata_matcher_new_events(matcher, &first, &count, &error));
    CHECK(first == 2 && count == 1);
    OK(grammata_matcher_event(matcher, 2, &event, &error));
    CHECK(event.kind == GRAMMATA_PART_NUMBER && event.is_end && event.start == 1 && event.end == 3);
    CHECK(event.step == 1);
    OK(grammata_matcher_event_name(matcher, 2, pointer, 2, &length, &error));
    CHECK(length == 2 && memcmp(pointer, "/0", 2) == 0);
    FAILS(grammata_matcher_event(matcher, 3, &event, &error), USAGE, "c/event-range");
    FAILS(grammata_matcher_event_name(matcher, 2, pointer, 1, &length, &error), TOO_SHORT, "c/buffer-too-short");
    OK(grammata_matcher_rollback(matcher, 1, &error));
    OK(grammata_matcher_accept_bytes(matcher, "]", 1, &error));
    OK(grammata_matcher_new_events(matcher, &first, &count, &error));
    CHECK(first == 2 && count == 2);
    FAILS(grammata_matcher_new_events(matcher, NULL, &count, &error), USAGE, "c/null");
    OK(grammata_matcher_reset(matcher, &error));
    FAILS(grammata_matcher_accept_bytes(matcher, "a", 1, &error), GRAMMAR, "events/not-json");
    grammata_matcher_free(matcher);
    OK(grammata_matcher_new(grammar, &silent, &error));
    OK(grammata_matcher_accept_bytes(silent, "a", 1, &error));
    OK(grammata_matcher_new_events(silent, &first, &count, &error));
    CHECK(count == 0);
    grammata_matcher_free(silent);
    const char *rules[1] = {"root"};
    OK(grammata_matcher_new_with_rule_events(grammar, rules, 1, &matcher, &error));
    OK(grammata_matcher_accept_bytes(matcher, "[7]", 3, &error));
    OK(grammata_matcher_new_events(matcher, &first, &count, &error));
    CHECK(first == 0 && count == 2);
    OK(grammata_matcher_event(matcher, 1, &event, &error));
    CHECK(event.kind == GRAMMATA_PART_RULE && event.is_end && event.start == 0 && event.end == 3);
    grammata_matcher_free(matcher);
    rules[0] = "other";
    FAILS(grammata_matcher_new_with_rule_events(grammar, rules, 1, &matcher, &error), GRAMMAR, "events/unknown-rule");
    grammata_grammar_free(grammar);
    grammata_vocabulary_free(vocabulary);
}

static void end_tokens(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataGrammar *grammar = grammar_of(vocabulary, "root ::= \"a\" \"b\"?");
    const uint32_t ends[] = {WIDTH - 1, WIDTH - 1}, wild[] = {END, WIDTH};
    GrammataMatcher *matcher;
    uint32_t mask[2];
    bool answer;
    OK(grammata_matcher_new_with_end_tokens(grammar, ends, 2, &matcher, &error));
    OK(grammata_matcher_accept_token(matcher, A, &error));
    OK(grammata_matcher_fill_mask(matcher, mask, 2, &error));
    CHECK(mask[0] >> B & 1 && !(mask[0] >> END & 1) && mask[(WIDTH - 1) / 32] >> (WIDTH - 1) % 32 & 1);
    OK(grammata_matcher_try_accept(matcher, END, &answer, &error));
    CHECK(!answer);
    OK(grammata_matcher_accept_token(matcher, WIDTH - 1, &error));
    OK(grammata_matcher_is_finished(matcher, &answer, &error));
    CHECK(answer);
    CHECK(grammata_matcher_free(matcher) == GRAMMATA_STATUS_OK);
    FAILS(grammata_matcher_new_with_end_tokens(grammar, NULL, 0, &matcher, &error), USAGE, "mask/no-end-tokens");
    FAILS(grammata_matcher_new_with_end_tokens(grammar, NULL, 1, &matcher, &error), USAGE, "c/null");
    FAILS(grammata_matcher_new_with_end_tokens(grammar, wild, 2, &matcher, &error), USAGE, "mask/end-token-range");
    FAILS(grammata_matcher_new_with_end_tokens(NULL, ends, 2, &matcher, &error), USAGE, "c/null");
    CHECK(!matcher);
    grammata_grammar_free(grammar);
    grammata_vocabulary_free(vocabulary);
}

static void drafts(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataGrammar *grammar = grammar_of(vocabulary, "root ::= \"ab\" (\"ab\" | \"b\")* \"a\"?");
    GrammataMatcher *matcher;
    uint32_t rows[8], first[2];
    size_t allowed, steps;
    OK(grammata_matcher_new(grammar, &matcher, &error));
    OK(grammata_matcher_fill_mask(matcher, first, 2, &error));
    const uint32_t draft[] = {AB, QUOTE, B};
    memset(rows, 255, sizeof rows);
    OK(grammata_matcher_fill_draft_masks(matcher, draft, 3, rows, 8, 2, &allowed, &error));
    CHECK(allowed == 1 && rows[0] == first[0] && rows[2] == (1u << A | 1u << B | 1u << AB | 1u << BA | 1u << END));
    CHECK(rows[4] == 0 && rows[5] == 0 && rows[6] == 0 && rows[7] == 0);
    /* the least text is one token: with a budget of one, only what ends there may come */
    FAILS(grammata_matcher_fill_draft_masks_within(matcher, draft, 3, 0, rows, 8, 2, &allowed, &error), REJECTED, "matcher/budget");
    CHECK(allowed == 0 && rows[0] == 0);
    OK(grammata_matcher_fill_draft_masks_within(matcher, draft, 1, 100, rows, 8, 2, &allowed, &error));
    CHECK(allowed == 1 && rows[0] == first[0]);
    FAILS(grammata_matcher_fill_draft_masks(matcher, draft, 3, rows, 7, 2, &allowed, &error), USAGE, "matcher/draft-rows");
    CHECK(allowed == 0 && rows[0] == 0);
    FAILS(grammata_matcher_fill_draft_masks(matcher, draft, 3, rows, 8, 1, &allowed, &error), TOO_SHORT,
          "mask/buffer-too-short");
    rows[0] = 1;
    FAILS(grammata_matcher_fill_draft_masks(matcher, NULL, 3, rows, 8, 2, &allowed, &error), USAGE, "c/null");
    CHECK(rows[0] == 0);
    FAILS(grammata_matcher_fill_draft_masks(matcher, draft, 3, NULL, 8, 2, &allowed, &error), USAGE, "c/null");
    FAILS(grammata_matcher_fill_draft_masks(matcher, draft, 3, rows, 8, 2, NULL, &error), USAGE, "c/null");

    /* the root has the children 1 and 2; 3 is below 2 */
    const int64_t child[] = {1, -1, 3, -1}, sibling[] = {-1, 2, -1, -1}, tokens[] = {-1, B, AB, A};
    bool reached[4];
    OK(grammata_matcher_fill_tree_masks(matcher, child, sibling, tokens, 4, rows, 8, 2, reached, &error));
    CHECK(reached[0] && !reached[1] && reached[2] && reached[3]);
    CHECK(rows[0] == first[0] && rows[2] == 0 && rows[6] == (1u << B | 1u << BA | 1u << END));
    OK(grammata_matcher_fill_tree_masks(matcher, child, sibling, tokens, 4, rows, 8, 2, NULL, &error));
    const int64_t circle[] = {1, 0, -1, -1};
    FAILS(grammata_matcher_fill_tree_masks(matcher, circle, sibling, tokens, 4, rows, 8, 2, reached, &error), USAGE,
          "matcher/draft-tree");
    CHECK(rows[0] == 0);
    FAILS(grammata_matcher_fill_tree_masks(matcher, child, sibling, tokens, 0, rows, 8, 2, reached, &error), USAGE,
          "matcher/draft-tree");
    FAILS(grammata_matcher_fill_tree_masks(matcher, NULL, sibling, tokens, 4, rows, 8, 2, reached, &error), USAGE, "c/null");
    FAILS(grammata_matcher_fill_tree_masks(matcher, child, sibling, tokens, SIZE_MAX / 2, rows, 8, 2, NULL, &error), USAGE,
          "c/size");
    OK(grammata_matcher_steps(matcher, &steps, &error));
    CHECK(steps == 0);
    CHECK(grammata_matcher_free(matcher) == GRAMMATA_STATUS_OK);
    grammata_grammar_free(grammar);
    grammata_vocabulary_free(vocabulary);
}

int main(void) {
    matchers();
    events();
    end_tokens();
    drafts();
    puts("matchers hold");
    return 0;
}
