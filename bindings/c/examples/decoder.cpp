// Generates several texts at once, each within a budget of tokens: decoder TOKENIZER.
#include <grammata.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// A handle that frees itself.
template <auto Free>
struct Freer {
    template <typename T>
    void operator()(T *handle) const { Free(handle); }
};
using Vocabulary = std::unique_ptr<GrammataVocabulary, Freer<grammata_vocabulary_free>>;
using Compiler = std::unique_ptr<GrammataCompiler, Freer<grammata_compiler_free>>;
using Grammar = std::unique_ptr<GrammataGrammar, Freer<grammata_grammar_free>>;
using Cache = std::unique_ptr<GrammataCache, Freer<grammata_cache_free>>;
using Matcher = std::unique_ptr<GrammataMatcher, Freer<grammata_matcher_free>>;
using Pool = std::unique_ptr<GrammataPool, Freer<grammata_pool_free>>;
using Error = std::unique_ptr<GrammataError, Freer<grammata_error_free>>;

// Calls a function with its last argument, the error, and throws what it says.
template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
    GrammataError *error;
    if (function(arguments..., &error) != GRAMMATA_STATUS_OK) {
        throw std::runtime_error(grammata_error_text(Error(error).get()));
    }
}

// Calls a function whose argument before the error is a place for a handle.
template <typename Handle, typename Function, typename... Arguments>
Handle make(Function function, Arguments... arguments) {
    typename Handle::pointer handle;
    call(function, arguments..., &handle);
    return Handle(handle);
}

// Stands for a model and its sampler: one of the allowed tokens.
std::uint32_t choose(const std::uint32_t *mask, std::size_t width, std::uint64_t &state) {
    std::vector<std::uint32_t> allowed;
    for (std::uint32_t token = 0; token < width; token++) {
        if (mask[token / 32] >> token % 32 & 1) allowed.push_back(token);
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    return allowed.at((state >> 33) % allowed.size());
}

std::string text_of(GrammataMatcher *matcher) {
    std::size_t length;
    call(grammata_matcher_bytes, matcher, nullptr, 0, &length);
    std::string text(length, '\0');
    call(grammata_matcher_bytes, matcher, text.data(), text.size(), &length);
    return text;
}

// All sequences take a step together, until all have ended.
void generate(const GrammataVocabulary *vocabulary, const GrammataGrammar *grammar) {
    std::vector<Matcher> sequences;
    for (int i = 0; i < 4; i++) sequences.push_back(make<Matcher>(grammata_matcher_new, grammar));
    auto pool = make<Pool>(grammata_pool_new, 2);
    auto row = grammata_vocabulary_mask_words(vocabulary);
    auto width = grammata_vocabulary_width(vocabulary);
    std::uint64_t state = 1;
    while (!sequences.empty()) {
        std::vector<GrammataMatcher *> matchers;
        for (auto &sequence : sequences) matchers.push_back(sequence.get());
        std::vector<std::uint32_t> masks(row * matchers.size());
        call(grammata_batch_fill_masks, pool.get(), matchers.data(), matchers.size(), masks.data(), masks.size(), row,
             nullptr);
        std::vector<std::uint32_t> tokens;
        for (std::size_t i = 0; i < matchers.size(); i++) tokens.push_back(choose(&masks[i * row], width, state));
        call(grammata_batch_accept_tokens, pool.get(), matchers.data(), tokens.data(), matchers.size(), nullptr);
        for (auto sequence = sequences.begin(); sequence != sequences.end();) {
            bool finished;
            call(grammata_matcher_is_finished, sequence->get(), &finished);
            if (finished) std::cout << text_of(sequence->get()) << '\n';
            sequence = finished ? sequences.erase(sequence) : sequence + 1;
        }
    }
}

// Within a budget of tokens: only those come after which the text can still be complete in time.
void generate_within(const GrammataVocabulary *vocabulary, const GrammataGrammar *grammar, std::size_t budget) {
    auto matcher = make<Matcher>(grammata_matcher_new, grammar);
    std::vector<std::uint32_t> mask(grammata_vocabulary_mask_words(vocabulary));
    std::uint64_t state = 3;
    bool finished = false;
    while (budget > 0 && !finished) {
        call(grammata_matcher_fill_mask_within, matcher.get(), budget--, mask.data(), mask.size());
        call(grammata_matcher_accept_token, matcher.get(),
             choose(mask.data(), grammata_vocabulary_width(vocabulary), state));
        call(grammata_matcher_is_finished, matcher.get(), &finished);
    }
    std::cout << text_of(matcher.get()) << '\n';
}

const std::string GRAMMAR = R"(
root  ::= "[" coin ("," coin){1,4} "]"
coin  ::= "\"" ("heads" | "tails") "\""
)";

}  // namespace

int main(int count, char **arguments) try {
    if (count != 2) {
        std::cerr << "usage: decoder TOKENIZER\n";
        return 2;
    }
    auto vocabulary = make<Vocabulary>(grammata_vocabulary_from_file, arguments[1], nullptr);
    auto compiler = make<Compiler>(grammata_compiler_new, vocabulary.get(), nullptr);
    auto cache = make<Cache>(grammata_cache_new, compiler.get(), "{\"max_bytes\": 67108864}");
    auto grammar =
        make<Grammar>(grammata_cache_get, cache.get(), "gbnf", GRAMMAR.data(), GRAMMAR.size(), nullptr);
    generate(vocabulary.get(), grammar.get());
    generate_within(vocabulary.get(), grammar.get(), 12);
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
