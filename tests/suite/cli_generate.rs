//! `grammata generate`: without the feature `ort` it says how to get it; with it, a tiny decoder runs under a grammar.
#![cfg(feature = "cli")]

use crate::cli::refused;

#[cfg(not(feature = "ort"))]
#[test]
fn without_onnx_runtime_it_says_how_to_build() {
    let error =
        refused("cli/no-onnx-runtime", &["generate", "grammars/json", "--model", "x.onnx", "--prompt", "x"]);
    assert!(error.contains("--features ort"), "{error}");
}

#[cfg(feature = "ort")]
mod with_onnx_runtime {
    use super::refused;
    use crate::cli::{json, run};

    const MODEL: &str = "tests/data/tiny-decoder";

    fn pattern(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("pattern.regex"), text).unwrap();
        folder
    }

    fn arguments<'a>(grammar: &'a tempfile::TempDir, more: &[&'a str]) -> Vec<&'a str> {
        let path = grammar.path().to_str().unwrap();
        let all = ["generate", path, "--model", MODEL, "--threads", "1", "--prompt", "hello"];
        all.iter().chain(more).copied().collect()
    }

    #[test]
    fn the_text_is_a_word_of_the_grammar() {
        let grammar = pattern("yes|no|perhaps");
        let run = run(&arguments(&grammar, &[]));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(["yes", "no", "perhaps"].contains(&run.out.as_str()), "{}", run.out);
        assert!(run.err.contains("checked: the text is a word of the grammar"), "{}", run.err);
        assert!(run.err.contains("masks: "), "{}", run.err);
    }

    #[test]
    fn quiet_writes_the_text_alone() {
        let grammar = pattern("yes|no");
        let run = run(&arguments(
            &grammar,
            &["--quiet", "--chat", "--system", "Be short.", "--temperature", "1.5"],
        ));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(["yes", "no"].contains(&run.out.as_str()), "{}", run.out);
        assert!(!run.err.contains("checked"), "{}", run.err);
    }

    #[test]
    fn a_cut_text_ends_with_3() {
        let grammar = pattern("[a-z]{200}");
        let found = json(3, &arguments(&grammar, &["--max-tokens", "5", "--json"]));
        assert_eq!(found["tokens"].as_array().unwrap().len(), 5);
        assert_eq!((&found["complete"], &found["verified"]), (&false.into(), &"prefix".into()));
        assert!(found["finish"].as_str().unwrap().contains("limit of 5 tokens"), "{found}");
    }

    #[test]
    fn a_text_that_fills_the_context_ends_with_3() {
        let grammar = pattern("[a-z]{400}");
        let found = json(3, &arguments(&grammar, &["--max-tokens", "1000", "--json"]));
        // config.json says 128
        assert!(found["finish"].as_str().unwrap().contains("context of 128 tokens is full"), "{found}");
        let whole =
            found["tokens"].as_array().unwrap().len() + found["prompt_tokens"].as_u64().unwrap() as usize;
        assert_eq!((whole, &found["complete"]), (128, &false.into()));
    }

    #[test]
    fn a_prompt_that_fills_the_context_is_refused() {
        let grammar = pattern("yes|no");
        let path = grammar.path().to_str().unwrap();
        let prompt = "q".repeat(300);
        for model in [MODEL.to_owned(), format!("{MODEL}/model.onnx")] {
            let error = refused(
                "decode/prompt-too-long",
                &["generate", path, "--model", &model, "--threads", "1", "--prompt", &prompt],
            );
            assert!(error.contains("allowed: fewer than 128 tokens"), "{error}");
        }
    }

    #[test]
    fn raw_text_is_checked_at_the_end() {
        let grammar = pattern("(no such text){3}");
        let found = json(3, &arguments(&grammar, &["--raw", "--max-tokens", "8", "--json"]));
        assert_eq!(found["verified"], "rejected");
        assert_eq!(found["mask_mean_ns"], 0);
    }

    #[test]
    fn equal_seeds_give_equal_texts() {
        let grammar = pattern("[a-z ]{40}");
        let more = ["--temperature", "2", "--seed", "7", "--json", "--max-tokens", "60"];
        let texts = [0, 1].map(|_| json(0, &arguments(&grammar, &more))["text"].clone());
        assert_eq!(texts[0], texts[1]);
        assert_eq!(texts[0].as_str().unwrap().len(), 40);
    }

    #[test]
    fn models_that_are_not_there_are_errors() {
        let grammar = pattern("yes");
        let path = grammar.path().to_str().unwrap();
        refused("cli/no-model", &["generate", path, "--model", "nothing/at/all.onnx", "--prompt", "x"]);
        let run = run(&["generate", path, "--model", "src", "--prompt", "x"]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
        assert!(run.err.contains("model.onnx"), "{}", run.err);
    }
}
