/* Samplers of llama.cpp at the border. llama.cpp itself is not here: its structs are declared as its header has them since the members
 * for back ends came, and its three functions are what they are there. `cargo xtask full llama-cpp` runs the real one. */
#include "border.h"

typedef struct { int32_t id; float logit, p; } llama_token_data;
typedef struct { llama_token_data *data; size_t size; int64_t selected; bool sorted; } llama_token_data_array;
struct llama_sampler;
struct llama_sampler_i {
    const char *(*name)(const struct llama_sampler *);
    void (*accept)(struct llama_sampler *, int32_t);
    void (*apply)(struct llama_sampler *, llama_token_data_array *);
    void (*reset)(struct llama_sampler *);
    struct llama_sampler *(*clone)(const struct llama_sampler *);
    void (*free)(struct llama_sampler *);
    void (*further[6])(void);
};
struct llama_sampler { struct llama_sampler_i *iface; void *ctx; };
_Static_assert(sizeof(struct llama_sampler_i) <= sizeof(GrammataLlamaInterface), "llama_sampler_i has more members");
_Static_assert(sizeof(llama_token_data) == sizeof(GrammataLlamaToken), "llama_token_data is another struct");
_Static_assert(sizeof(llama_token_data_array) == sizeof(GrammataLlamaTokens), "llama_token_data_array is another struct");

static struct llama_sampler *llama_sampler_init(struct llama_sampler_i *iface, void *ctx) {
    struct llama_sampler *sampler = malloc(sizeof *sampler);
    sampler->iface = iface;
    sampler->ctx = ctx;
    return sampler;
}
static void llama_sampler_free(struct llama_sampler *sampler) {
    sampler->iface->free(sampler);
    free(sampler);
}
static GrammataLlamaSampler *no_sampler(const GrammataLlamaInterface *iface, void *ctx) {
    (void)iface;
    (void)ctx;
    return NULL;
}

static struct llama_sampler *made(GrammataMatcher *matcher, const char *options) {
    GrammataLlamaSampler *sampler;
    OK(grammata_llama_sampler(matcher, (GrammataLlamaInit)llama_sampler_init, options, &sampler, &error));
    return (struct llama_sampler *)sampler;
}

/* The candidates that stay, as bits: all tokens, or the first `count` from `first` on. */
static uint64_t stay(struct llama_sampler *sampler, int32_t first, size_t count) {
    llama_token_data data[64];
    for (size_t i = 0; i < count; i++) data[i] = (llama_token_data){first + (int32_t)i, 1.0f, 0.0f};
    llama_token_data_array array = {data, count, -1, true};
    sampler->iface->apply(sampler, &array);
    uint64_t bits = 0;
    bool changed = false;
    for (size_t i = 0; i < count; i++) {
        if (data[i].logit == 1.0f) bits |= UINT64_C(1) << data[i].id;
        changed |= data[i].logit != 1.0f;
    }
    CHECK(array.data == data && array.size == count && array.selected == -1 && array.sorted == !changed);
    return bits;
}
#define BIT(token) (UINT64_C(1) << (token))

int main(void) {
    GrammataVocabulary *vocabulary = letters();
    GrammataGrammar *grammar = grammar_of(vocabulary, "root ::= \"ab\" (\"ab\" | \"b\")* \"a\"?");
    GrammataMatcher *matcher;
    OK(grammata_matcher_new(grammar, &matcher, &error));
    struct llama_sampler *sampler = made(matcher, NULL);
    for (size_t i = 0; i < 6; i++) CHECK(sampler->iface->further[i] == NULL);
    CHECK(strcmp(sampler->iface->name(sampler), "grammata") == 0);

    /* all candidates by a mask, some of them one by one; ids that are no tokens never stay */
    CHECK(stay(sampler, 0, WIDTH + 8) == (BIT(A) | BIT(AB)));
    CHECK(stay(sampler, 0, WIDTH) == (BIT(A) | BIT(AB)));
    CHECK(stay(sampler, A, 1) == BIT(A) && stay(sampler, B, 1) == 0 && stay(sampler, WIDTH - 1, 2) == 0);
    CHECK(stay(sampler, -1, 1) == 0 && stay(sampler, 0, 0) == 0);
    sampler->iface->accept(sampler, A);
    CHECK(stay(sampler, 0, WIDTH) == BIT(B) || stay(sampler, 0, WIDTH) == (BIT(B) | BIT(BA)));
    struct llama_sampler *copy = sampler->iface->clone(sampler);
    sampler->iface->accept(sampler, B);
    CHECK(stay(sampler, END, 1) == BIT(END) && stay(copy, END, 1) == 0);
    /* after the end nothing else comes */
    sampler->iface->accept(sampler, END);
    CHECK(stay(sampler, 0, WIDTH) == BIT(END) && stay(sampler, END, 1) == BIT(END) && stay(sampler, A, 1) == 0);
    sampler->iface->accept(sampler, END);
    OK(grammata_llama_sampler_check((GrammataLlamaSampler *)sampler, &error));
    sampler->iface->reset(sampler);
    CHECK(stay(sampler, 0, WIDTH) == (BIT(A) | BIT(AB)));

    /* a token that was not allowed: the end alone stays, and the error can be asked for */
    sampler->iface->accept(sampler, QUOTE);
    FAILS(grammata_llama_sampler_check((GrammataLlamaSampler *)sampler, &error), REJECTED, "matcher/rejected");
    CHECK(stay(sampler, 0, WIDTH) == BIT(END) && stay(sampler, A, 1) == 0);
    sampler->iface->accept(sampler, A);
    sampler->iface->reset(sampler);
    OK(grammata_llama_sampler_check((GrammataLlamaSampler *)sampler, &error));
    sampler->iface->accept(sampler, 1000);
    FAILS(grammata_llama_sampler_check((GrammataLlamaSampler *)sampler, &error), USAGE, "c/token-range");
    llama_sampler_free(sampler);
    llama_sampler_free(copy);

    /* within a budget, which counts from the place of the matcher */
    sampler = made(matcher, "{\"budget\": 1}");
    CHECK(stay(sampler, 0, WIDTH) == BIT(AB) && stay(sampler, A, 1) == 0);
    sampler->iface->accept(sampler, AB);
    CHECK(stay(sampler, 0, WIDTH) == BIT(END) && stay(sampler, AB, 1) == 0);
    llama_sampler_free(sampler);

    GrammataLlamaSampler *out;
    GrammataLlamaInit init = (GrammataLlamaInit)llama_sampler_init;
    FAILS(grammata_llama_sampler(matcher, init, "{\"budget\": 0}", &out, &error), REJECTED, "matcher/budget");
    CHECK(out == NULL);
    FAILS(grammata_llama_sampler(matcher, init, "{\"budgets\": 1}", &out, &error), USAGE, "c/options");
    FAILS(grammata_llama_sampler(matcher, init, NULL, NULL, &error), USAGE, "c/null");
    FAILS(grammata_llama_sampler(NULL, init, NULL, &out, &error), USAGE, "c/null");
    FAILS(grammata_llama_sampler(matcher, NULL, NULL, &out, &error), USAGE, "c/null");
    FAILS(grammata_llama_sampler(matcher, no_sampler, NULL, &out, &error), USAGE, "c/null");
    FAILS(grammata_llama_sampler_check(NULL, &error), USAGE, "c/null");
    struct llama_sampler_i other = {0};
    struct llama_sampler foreign = {&other, NULL};
    FAILS(grammata_llama_sampler_check((GrammataLlamaSampler *)&foreign, &error), USAGE, "c/other-sampler");

    CHECK(grammata_matcher_free(matcher) == GRAMMATA_STATUS_OK);
    grammata_grammar_free(grammar);
    grammata_vocabulary_free(vocabulary);
    return 0;
}
