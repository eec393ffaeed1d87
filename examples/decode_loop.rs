//! A decode loop of your own, and other uses of a matcher: `cargo run --example decode_loop`.
//!
//! A random number generator replaces the model, so the output is a random word of the grammar.
#![allow(clippy::print_stdout)] // an example prints its results

use grammata::serve::{GrammarCache, accept_tokens, fill_masks};
use grammata::syntax::{Source, gbnf, json_schema};
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, LimitKind, Limits, Matcher, Result};
use std::sync::Arc;

fn main() -> Result<()> {
    let vocabulary = load()?;
    let compiled = compile(vocabulary)?;
    println!("{}", generate(&compiled, &mut Model(2))?);
    println!("{}", generate_within(&compiled, &mut Model(2), 30)?);
    go_back(&compiled)?;
    explain(&compiled)?;
    jump_forward(&compiled)?;
    share(&compiled)?;
    serve(Compiler::new(Arc::clone(compiled.vocabulary())), &mut Model(3))?;
    limit(&compiled)?;
    own_vocabulary()
}

/// A tokenizer file; `LoadOptions` has what the file does not say.
fn load() -> Result<Arc<Vocabulary>> {
    let options = LoadOptions::default()
        // without it: the special tokens with well-known names
        .eos(vec![TokenId::new(2)])
        // of the model's logits, if it is more than the tokenizer has
        .width(Some(49_152));
    let vocabulary = Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &options)?;
    Ok(Arc::new(vocabulary))
}

/// Any front end gives a grammar; a compiler makes it one for the vocabulary.
fn compile(vocabulary: Arc<Vocabulary>) -> Result<CompiledGrammar> {
    let source = std::fs::read_to_string("grammars/function-call/schema.json")
        .map_err(|cause| grammata::Error::io("grammars/function-call/schema.json".as_ref(), &cause))?;
    let options = json_schema::Options::default().whitespace(json_schema::Whitespace::Compact);
    let schema = json_schema::compile(&source, &options)?;
    let compiled = Compiler::new(vocabulary).compile(&schema.grammar)?;
    // unknown keywords and the like; bytes that the vocabulary cannot spell
    for warning in schema.warnings.iter().chain(&compiled.warnings()) {
        println!("{warning}");
    }
    Ok(compiled)
}

/// The loop: mask, choose, accept, until nothing more may come.
fn generate(compiled: &CompiledGrammar, model: &mut Model) -> Result<String> {
    let vocabulary = compiled.vocabulary();
    let mut matcher = compiled.matcher();
    let mut mask = vec![0u32; vocabulary.mask_words()];
    while !matcher.is_finished() {
        // bit i % 32 of word i / 32 is 1 where token i may come
        matcher.fill_mask(&mut mask)?;
        let token = model.choose(&mask);
        matcher.accept_token(token)?;
    }
    Ok(String::from_utf8_lossy(&matcher.bytes()).into_owned())
}

/// Within a budget of tokens: only those come after which the text can still be complete in time.
fn generate_within(compiled: &CompiledGrammar, model: &mut Model, budget: usize) -> Result<String> {
    let mut matcher = compiled.matcher();
    println!("{} tokens do", matcher.distance()?);
    let mut mask = vec![0u32; compiled.vocabulary().mask_words()];
    for left in (1..=budget).rev() {
        matcher.fill_mask_within(left, &mut mask)?; // an error, if no text is so short
        matcher.accept_token(model.choose(&mask))?;
        if matcher.is_finished() {
            break;
        }
    }
    assert!(matcher.is_accepting());
    Ok(String::from_utf8_lossy(&matcher.bytes()).into_owned())
}

/// Replaces a model and its sampler. Chooses allowed tokens at random, preferring short ASCII tokens to keep the output
/// short.
struct Model(u64);

impl Model {
    fn choose(&mut self, mask: &[u32]) -> TokenId {
        let allowed: Vec<u32> =
            (0..mask.len() as u32 * 32).filter(|&i| mask[i as usize / 32] >> (i % 32) & 1 == 1).collect();
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // low ids are the single bytes and the commonest tokens
        let few = allowed.len().min(24) as u64;
        TokenId::new(allowed[((self.0 >> 33) % few) as usize])
    }
}

/// Rollback takes steps back, for instance drafts that speculative decoding refused; fork goes two ways.
fn go_back(compiled: &CompiledGrammar) -> Result<()> {
    let mut matcher = compiled.matcher();
    matcher.accept_bytes(br#"{"name":"#)?;
    matcher.accept_bytes(br#""send"#)?;
    assert_eq!(matcher.steps(), 2);
    matcher.rollback(1)?;
    assert_eq!(matcher.bytes(), br#"{"name":"#);

    let mut other = matcher.fork();
    other.accept_bytes(br#""convert""#)?;
    matcher.accept_bytes(br#""send_email""#)?;
    Ok(())
}

/// A text that does not fit: where and why. `explain` leaves the matcher where it is.
fn explain(compiled: &CompiledGrammar) -> Result<()> {
    let mut matcher = compiled.matcher();
    let explanation = matcher.explain(br#"{"name":"weather"}"#)?;
    assert!(!explanation.is_viable());
    assert_eq!(explanation.position(), 9);
    assert_eq!(explanation.found(), Some(b'w'));
    println!("{}", explanation.expected_text());

    // what `accept_token` and `accept_bytes` refuse is an error with the same content
    let error = matcher.accept_bytes(br#"{"name":"weather"}"#).unwrap_err();
    assert_eq!(error.code(), "matcher/rejected");
    println!("{error}");
    Ok(())
}

/// Where only one continuation is possible, the model need not be called.
fn jump_forward(compiled: &CompiledGrammar) -> Result<()> {
    let mut matcher = compiled.matcher();
    assert_eq!(matcher.forced_bytes()?, br#"{"name":""#);
    for token in matcher.forced_tokens()? {
        matcher.accept_token(token)?;
    }
    Ok(())
}

/// A compiled grammar is shared, not copied; each thread has matchers of its own and all find the same masks.
fn share(compiled: &CompiledGrammar) -> Result<()> {
    let texts: Vec<Result<String>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (1..=4).map(|seed| scope.spawn(move || generate(compiled, &mut Model(seed)))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    for text in texts {
        println!("{}", text?);
    }
    let statistics = compiled.statistics();
    println!("{} masks, {} bytes of tables", statistics.masks_computed, statistics.cache_bytes);
    Ok(())
}

/// For a server: grammars by their source within a bound of bytes, and one step of all sequences over a pool of threads.
fn serve(compiler: Compiler, model: &mut Model) -> Result<()> {
    let row = compiler.vocabulary().mask_words();
    let cache = GrammarCache::new(compiler, 256 << 20);
    let requests = [r#"{"type": "integer", "minimum": 1, "maximum": 20}"#, r#"{"enum": ["yes", "no"]}"#];
    let mut sequences: Vec<Matcher> = Vec::new();
    for number in 0..6 {
        let grammar = cache.get(&Source::json_schema(requests[number % 2]))?;
        sequences.push(grammar.compiled.matcher());
    }
    println!("{} sequences of {} grammars", sequences.len(), cache.len());
    let mut masks = vec![0u32; row * sequences.len()];
    while !sequences.is_empty() {
        fill_masks(&mut sequences, &mut masks, row).into_iter().collect::<Result<()>>()?;
        let tokens: Vec<TokenId> = masks.chunks(row).map(|mask| model.choose(mask)).collect();
        accept_tokens(&mut sequences, &tokens).into_iter().collect::<Result<()>>()?;
        for ended in sequences.extract_if(.., |sequence| sequence.is_finished()) {
            println!("{}", String::from_utf8_lossy(&ended.bytes()));
        }
        masks.truncate(row * sequences.len());
    }
    Ok(())
}

/// Every cap is a field of `Limits`; going over one is an error of its own kind that names it.
fn limit(compiled: &CompiledGrammar) -> Result<()> {
    let limits = limits_of_a_server().automaton_states(100);
    let compiler = Compiler::new(Arc::clone(compiled.vocabulary())).limits(limits);
    let error = compiler.compile(compiled.grammar()).unwrap_err();
    assert_eq!(error.limit(), Some(LimitKind::AutomatonStates));
    println!("{error}");
    Ok(())
}

/// The limits of a service whose clients send schemas of at most some hundred kilobytes.
fn limits_of_a_server() -> Limits {
    Limits::default().source_bytes(200_000).compile_work(2_000_000).mask_work(2_000_000).cache_bytes(64 << 20)
}

/// Builds a vocabulary without a tokenizer file, and checks a mask.
fn own_vocabulary() -> Result<()> {
    let end = TokenId::new(4);
    let vocabulary =
        VocabularyBuilder::from_tokens(["a", "b", "ab", "ba"]).special(end, "<end>").eos([end]).build()?;
    let pairs = gbnf::compile(r#"root ::= "ab"+"#, &gbnf::Options::default())?;
    let mut matcher = Compiler::new(Arc::new(vocabulary)).compile(&pairs.grammar)?.matcher();
    matcher.accept_token(TokenId::new(2))?;
    let mut mask = [0];
    matcher.fill_mask(&mut mask)?;
    assert_eq!(mask, [0b10101]); // "a", "ab" and the end
    Ok(())
}
