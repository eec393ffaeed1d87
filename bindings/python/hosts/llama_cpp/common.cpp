// What llama.cpp's sampler for llguidance and its test need of the library `common`, so that this is not built for them: errors go to
// standard error and are counted, and the tokenizer is llama.cpp's own.

#include "common.h"
#include "log.h"

#include <cstdarg>
#include <cstdio>

int errors_logged = 0;

int common_log_get_verbosity_thold() {
    return LOG_LEVEL_ERROR;
}

struct common_log * common_log_main() {
    return nullptr;
}

void common_log_add(struct common_log *, enum ggml_log_level level, const char * format, ...) {
    errors_logged += level == GGML_LOG_LEVEL_ERROR;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

std::vector<llama_token> common_tokenize(const struct llama_vocab * vocab, const std::string & text, bool add_special, bool parse_special) {
    std::vector<llama_token> tokens(text.size() + 2);
    const int count = llama_tokenize(vocab, text.data(), text.size(), tokens.data(), tokens.size(), add_special, parse_special);
    tokens.resize(count);
    return tokens;
}
