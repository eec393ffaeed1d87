/* Prints how the structs of the header `llguidance.h` are laid out, whichever header that is. */
#include "llguidance.h"
#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("%s: %zu bytes\n", #type, sizeof(type))
#define AT(type, member) printf("%s.%s: %zu\n", #type, #member, offsetof(type, member))

int main(void) {
    SIZE(LlgParserLimits);
    AT(LlgParserLimits, max_items_in_row);
    AT(LlgParserLimits, initial_lexer_fuel);
    AT(LlgParserLimits, step_lexer_fuel);
    AT(LlgParserLimits, step_max_items);
    AT(LlgParserLimits, max_lexer_states);
    AT(LlgParserLimits, max_grammar_size);
    AT(LlgParserLimits, precompute_large_lexemes);
    AT(LlgParserLimits, verbose_errors);
    SIZE(LlgConstraintInit);
    AT(LlgConstraintInit, tokenizer);
    AT(LlgConstraintInit, log_buffer_level);
    AT(LlgConstraintInit, log_stderr_level);
    AT(LlgConstraintInit, ff_tokens_ok);
    AT(LlgConstraintInit, backtrack_ok);
    AT(LlgConstraintInit, limits);
    SIZE(LlgTokenizerInit);
    AT(LlgTokenizerInit, vocab_size);
    AT(LlgTokenizerInit, tok_eos);
    AT(LlgTokenizerInit, token_lens);
    AT(LlgTokenizerInit, token_bytes);
    AT(LlgTokenizerInit, tokenizer_json);
    AT(LlgTokenizerInit, tokenize_assumes_string);
    AT(LlgTokenizerInit, tokenize_fn);
    AT(LlgTokenizerInit, use_approximate_greedy_tokenize_fn);
    AT(LlgTokenizerInit, tokenize_user_data);
    AT(LlgTokenizerInit, slices);
    return 0;
}
