// Generates under JSON Schemas with llama.cpp, greedily, and says how long each part took.
//
//   generate MODEL SCHEMAS PROMPT MAX_TOKENS llg|sampler
//
// SCHEMAS has one schema a line; PROMPT is a text in which %s stands for the schema. `llg` is llama.cpp's own sampler, which calls
// the llg_* functions of the library that the program is linked to, or that is preloaded. `sampler` is grammata_llama_sampler,
// with MAX_TOKENS as its budget. Each schema has two outputs, one after the other, each a line of JSON: what the engine keeps of the first
// helps the second. llama.cpp's sampler logs an error and goes on without a constraint; such an output has `error`.

#include "llama.h"
#include "nlohmann/json.hpp"
#include "sampling.h"

#include <grammata.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

// in common.cpp
extern int errors_logged;

using Clock = std::chrono::steady_clock;

static double milliseconds(Clock::time_point since) {
    return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

static void fail(const std::string & message) {
    fprintf(stderr, "%s\n", message.c_str());
    exit(1);
}

static void check(GrammataStatus status, GrammataError * error) {
    if (status != GRAMMATA_STATUS_OK) {
        fail(grammata_error_text(error));
    }
}

static std::string piece(const llama_vocab * vocab, llama_token token, bool special) {
    std::string text(64, '\0');
    int length = llama_token_to_piece(vocab, token, text.data(), text.size(), 0, special);
    if (length < 0) {
        text.resize(-length);
        length = llama_token_to_piece(vocab, token, text.data(), text.size(), 0, special);
    }
    text.resize(length);
    return text;
}

// The vocabulary of a model: tokens without a text of their own are special, and all end-of-generation tokens end a text.
static GrammataCompiler * compiler(const llama_vocab * vocab) {
    std::string bytes;
    std::vector<size_t> lengths;
    nlohmann::json options = { { "eos", nlohmann::json::array() }, { "specials", nlohmann::json::object() } };
    for (llama_token token = 0; token < llama_vocab_n_tokens(vocab); token++) {
        const std::string text = piece(vocab, token, false);
        bytes += text;
        lengths.push_back(text.size());
        if (text.empty()) {
            options["specials"][std::string(llama_vocab_get_text(vocab, token)) + "<[" + std::to_string(token) + "]>"] = token;
        }
        if (llama_vocab_is_eog(vocab, token)) {
            options["eos"].push_back(token);
        }
    }
    GrammataError * error;
    GrammataVocabulary * vocabulary;
    GrammataCompiler * made;
    check(grammata_vocabulary_from_tokens(bytes.data(), bytes.size(), lengths.data(), lengths.size(), options.dump().c_str(),
                                          &vocabulary, &error), error);
    check(grammata_compiler_new(vocabulary, nullptr, &made, &error), error);
    check(grammata_compiler_prepare(made, &error), error);
    grammata_vocabulary_free(vocabulary);
    return made;
}

// A sampler of Grammata for a schema; nullptr, and the reason, if there is none.
static llama_sampler * sampler_of(const GrammataCompiler * compiler, const std::string & schema, int budget, std::string & reason) {
    static_assert(sizeof(llama_sampler_i) <= sizeof(GrammataLlamaInterface), "llama_sampler_i has more members");
    GrammataError * error = nullptr;
    GrammataGrammar * grammar = nullptr;
    GrammataMatcher * matcher = nullptr;
    GrammataLlamaSampler * sampler = nullptr;
    const std::string options = "{\"budget\": " + std::to_string(budget) + "}";
    const bool made =
        grammata_compile_json_schema(compiler, schema.data(), schema.size(), nullptr, &grammar, &error) == GRAMMATA_STATUS_OK &&
        grammata_matcher_new(grammar, &matcher, &error) == GRAMMATA_STATUS_OK &&
        grammata_llama_sampler(matcher, (GrammataLlamaInit) llama_sampler_init, options.c_str(), &sampler, &error) ==
            GRAMMATA_STATUS_OK;
    if (!made) {
        reason = grammata_error_text(error);
        grammata_error_free(error);
    }
    grammata_matcher_free(matcher);
    grammata_grammar_free(grammar);
    return (llama_sampler *) sampler;
}

int main(int argc, char ** argv) {
    if (argc != 6) {
        fail("generate MODEL SCHEMAS PROMPT MAX_TOKENS llg|sampler");
    }
    const std::string arm = argv[5];
    const int max_tokens = std::stoi(argv[4]);
    llama_log_set([](ggml_log_level level, const char * text, void *) {
        if (level == GGML_LOG_LEVEL_ERROR) fputs(text, stderr);
    }, nullptr);
    llama_backend_init();
    llama_model * model = llama_model_load_from_file(argv[1], llama_model_default_params());
    if (!model) fail("the model cannot be loaded");
    const llama_vocab * vocab = llama_model_get_vocab(model);
    llama_context_params parameters = llama_context_default_params();
    parameters.n_ctx = 4096;
    parameters.n_batch = 4096;
    parameters.n_threads = parameters.n_threads_batch = 1;
    llama_context * context = llama_init_from_model(model, parameters);
    if (!context) fail("there is no context");

    const auto before = Clock::now();
    GrammataCompiler * grammars = arm == "sampler" ? compiler(vocab) : nullptr;
    if (!grammars) {
        // the first one makes the tokenizer, which is kept
        llama_sampler_free(llama_sampler_init_llg(vocab, "lark", "start: \"a\""));
    }
    printf("%s\n", nlohmann::json({ { "vocabulary_ms", milliseconds(before) } }).dump().c_str());

    std::ifstream schemas(argv[2]);
    std::vector<llama_token_data> candidates(llama_vocab_n_tokens(vocab));
    for (std::string schema; std::getline(schemas, schema);) {
        std::string prompt = argv[3];
        prompt.replace(prompt.find("%s"), 2, schema);
        std::vector<llama_token> tokens(prompt.size() + 8);
        tokens.resize(llama_tokenize(vocab, prompt.data(), prompt.size(), tokens.data(), tokens.size(), true, true));
        for (int pass = 0; pass < 2; pass++) {
            llama_memory_clear(llama_get_memory(context), true);
            errors_logged = 0;

            const auto start = Clock::now();
            std::string reason;
            llama_sampler * sampler = grammars ? sampler_of(grammars, schema, max_tokens, reason)
                                               : llama_sampler_init_llg(vocab, "lark", ("%llguidance {}\nstart: %json " + schema).c_str());
            const double compile = milliseconds(start);
            if (!sampler || errors_logged) {
                if (sampler) llama_sampler_free(sampler);
                printf("%s\n", nlohmann::json({ { "pass", pass }, { "error", reason } }).dump().c_str());
                continue;
            }
            std::string text;
            int count = 0;
            bool has_ended = false;
            double mask = 0, longest = 0, decode = 0;
            llama_batch batch = llama_batch_get_one(tokens.data(), tokens.size());
            llama_token token = 0;
            if (llama_decode(context, batch)) fail("the prompt cannot be read");
            const auto first = Clock::now();
            while (count < max_tokens) {
                const float * logits = llama_get_logits_ith(context, -1);
                for (size_t id = 0; id < candidates.size(); id++) {
                    candidates[id] = { (llama_token) id, logits[id], 0.0f };
                }
                llama_token_data_array array = { candidates.data(), candidates.size(), -1, false };
                auto from = Clock::now();
                llama_sampler_apply(sampler, &array);
                double took = milliseconds(from);
                size_t best = 0;
                for (size_t at = 1; at < array.size; at++) {
                    if (array.data[at].logit > array.data[best].logit) best = at;
                }
                token = array.data[best].id;
                from = Clock::now();
                llama_sampler_accept(sampler, token);
                took += milliseconds(from);
                mask += took;
                longest = std::max(longest, took);
                if (llama_vocab_is_eog(vocab, token)) {
                    has_ended = true;
                    break;
                }
                count++;
                text += piece(vocab, token, false);
                from = Clock::now();
                batch = llama_batch_get_one(&token, 1);
                if (llama_decode(context, batch)) fail("the token cannot be read");
                decode += milliseconds(from);
            }
            const double total = milliseconds(first);
            llama_sampler_free(sampler);
            if (errors_logged) {
                printf("%s\n", nlohmann::json({ { "pass", pass }, { "error", "after " + text } }).dump().c_str());
                continue;
            }
            const nlohmann::json line = {
                { "pass", pass },
                { "text", text },           { "tokens", count },    { "has_ended", has_ended }, { "compile_ms", compile },
                { "constraint_ms", mask },  { "longest_ms", longest }, { "decode_ms", decode },  { "total_ms", total },
            };
            printf("%s\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
            fflush(stdout);
        }
    }
    grammata_compiler_free(grammars);
    llama_free(context);
    llama_model_free(model);
    return 0;
}
