//! `grammata generate`. Without the feature `ort` the error says how to build with it; with it, a tiny decoder runs
//! under a grammar.

use crate::cli::refused;

#[cfg(not(feature = "ort"))]
#[test]
fn without_onnx_runtime_it_says_how_to_build() {
    let error =
        refused("cli/no-onnx-runtime", &["generate", "grammars/json", "--model", "x.onnx", "--prompt", "x"]);
    assert!(error.contains("the feature `ort`"), "{error}");
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
    fn events_are_written_to_a_file_as_lines_of_json() {
        let grammar = pattern(r#"\{"a": \[(1|2)\], "b": "x"\}"#);
        let file = grammar.path().join("events.jsonl");
        let run = run(&arguments(&grammar, &["--events", file.to_str().unwrap()]));
        assert_eq!((run.code, run.out.len()), (0, 20), "{}", run.err);
        let written = std::fs::read_to_string(&file).unwrap();
        let events: Vec<serde_json::Value> =
            written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let shown: Vec<String> = events
            .iter()
            .map(|event| {
                format!("{} {} {}", event["event"], event["pointer"], event["bytes"]).replace('"', "")
            })
            .collect();
        assert_eq!(
            shown,
            [
                "begin  [0,0]",
                "begin /a [6,6]",
                "begin /a/0 [7,7]",
                "end /a/0 [7,8]",
                "end /a [6,9]",
                "begin /b [16,16]",
                "end /b [16,19]",
                "end  [0,20]"
            ]
        );
        assert_eq!((&events[6]["text"], &events[7].get("text")), (&"\"x\"".into(), &None));
    }

    #[test]
    fn the_end_of_a_number_alone_is_reported_and_other_texts_are_refused() {
        let grammar = pattern("[0-9]{1,2}");
        let file = grammar.path().join("events.jsonl");
        let file = file.to_str().unwrap();
        let run = run(&arguments(&grammar, &["--events", file]));
        assert_eq!(run.code, 0, "{}", run.err);
        let written = std::fs::read_to_string(file).unwrap();
        assert!(
            written.lines().last().unwrap().starts_with(r#"{"event":"end","kind":"number","pointer":"""#)
        );
        refused("events/not-json", &arguments(&pattern("yes|no"), &["--events", file]));
    }

    #[test]
    fn a_cut_text_ends_with_3() {
        let grammar = pattern("[a-z]{200}");
        let found = json(3, &arguments(&grammar, &["--max-tokens", "5", "--cut", "--output-format=json"]));
        assert_eq!(found["tokens"].as_array().unwrap().len(), 5);
        assert_eq!((&found["complete"], &found["verified"]), (&false.into(), &"prefix".into()));
        assert_eq!(found["finish"], "token-limit");
    }

    #[test]
    fn a_text_that_fills_the_context_ends_with_3() {
        let grammar = pattern("[a-z]{400}");
        let found = json(3, &arguments(&grammar, &["--max-tokens", "1000", "--cut", "--output-format=json"]));
        // the context length in `config.json` is 128
        assert_eq!(found["finish"], "context-limit");
        let whole = found["tokens"].as_array().unwrap().len()
            + found["timings"]["prompt_tokens"].as_u64().unwrap() as usize;
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
    fn a_text_is_complete_within_the_limit() {
        let grammar = pattern(r#"\{"a": "[a-z ]*", "b": \[([0-9]+(, [0-9]+)*)?\]\}"#);
        let mut lengths = Vec::new();
        for limit in 18..34 {
            let limit = limit.to_string();
            let more =
                ["--max-tokens", &limit, "--temperature", "2", "--seed", &limit, "--output-format=json"];
            let found = json(0, &arguments(&grammar, &more));
            assert_eq!((&found["complete"], &found["verified"]), (&true.into(), &"word".into()), "{found}");
            lengths.push(found["tokens"].as_array().unwrap().len());
            assert!(lengths.last().unwrap() <= &limit.parse().unwrap(), "{found}");
        }
        assert!(lengths.iter().any(|length| *length > 18), "{lengths:?}");
        for more in [&["--best-of", "3", "--temperature", "2"][..], &["--beam", "3"]] {
            let found = json(
                0,
                &arguments(&grammar, &[&["--max-tokens", "20", "--output-format=json"], more].concat()),
            );
            for one in found["hypotheses"].as_array().unwrap() {
                assert_eq!((&one["complete"], &one["verified"]), (&true.into(), &"word".into()), "{one}");
            }
        }
    }

    #[test]
    fn a_limit_that_is_too_small_is_refused_before_the_first_token() {
        let grammar = pattern("[a-z]{200}");
        let run = run(&arguments(&grammar, &["--max-tokens", "5"]));
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
        assert!(run.err.contains("error[matcher/budget]"), "{}", run.err);
        assert!(run.err.contains("found: 5 tokens"), "{}", run.err);
    }

    #[test]
    fn exact_samples_are_words() {
        let grammar = pattern("[a-e]{1,3}");
        let more = [
            "--temperature",
            "1",
            "--sampling",
            "exact",
            "--tries",
            "100000",
            "--logprobs",
            "--output-format=json",
        ];
        let found = json(0, &arguments(&grammar, &more));
        assert_eq!((&found["complete"], &found["verified"]), (&true.into(), &"word".into()), "{found}");
        assert!(found["exact"]["tries"].as_u64().unwrap() >= 1, "{found}");
        let refused = found["refused_mass"].as_array().unwrap();
        assert_eq!(refused.len(), found["tokens"].as_array().unwrap().len());
        assert!(refused.iter().all(|mass| (0.0..=1.0).contains(&mass.as_f64().unwrap())), "{found}");
        let more = ["--temperature", "1", "--sampling", "exact", "--tries", "1", "--seed", "3"];
        let found =
            json(3, &arguments(&pattern("(abcdefgh){9}"), &[&more[..], &["--output-format=json"]].concat()));
        assert_eq!((&found["finish"], &found["text"]), (&"exhausted".into(), &"".into()), "{found}");
        assert_eq!(run(&arguments(&grammar, &["--sampling", "exact"])).code, 2);
    }

    #[test]
    fn prompts_have_outputs_a_line() {
        let grammar = pattern("yes|no|perhaps");
        let path = grammar.path().to_str().unwrap();
        let lines = [
            r#"{"prompt": "hello", "id": "first"}"#,
            "",
            r#"{"prompt": "hello", "grammar": {"kind": "regex", "text": "[ab]{3}"}, "n": 2, "temperature": 1.5, "seed": 9}"#,
            r#"{"messages": [{"role": "user", "content": "hi"}], "schema": {"enum": [1, 2]}}"#,
            r#"{"prompt": "hello", "grammar": {"kind": "regex", "text": "("}}"#,
            r#"{"prompt": "hello", "colour": 1}"#,
            "not json",
            r#"{"prompt": "", "timeout_seconds": -1, "id": [1]}"#,
            r#"{"prompt": "hello", "max_tokens": 2, "grammar": {"kind": "regex", "text": "[a-z]{200}"}}"#,
            r#"{"prompt": "hello", "n": 0}"#,
        ];
        let file = grammar.path().join("prompts.jsonl");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let file = file.to_str().unwrap();
        let all = [
            "generate",
            path,
            "--model",
            MODEL,
            "--threads",
            "1",
            "--prompts",
            file,
            "--batch",
            "2",
            "--chat",
        ];
        let run = run(&all);
        assert_eq!(run.code, 2, "{}", run.err);
        let outputs: Vec<serde_json::Value> =
            run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let of = |line: u64| outputs.iter().filter(|output| output["line"] == line).collect::<Vec<_>>();
        assert_eq!(
            (of(1).len(), &of(1)[0]["id"], &of(1)[0]["verified"]),
            (1, &"first".into(), &"word".into())
        );
        assert!(["yes", "no", "perhaps"].contains(&of(1)[0]["text"].as_str().unwrap()));
        let mut samples: Vec<u64> = of(3).iter().map(|output| output["sample"].as_u64().unwrap()).collect();
        samples.sort_unstable();
        assert_eq!(samples, [0, 1]);
        assert!(of(3).iter().all(|output| output["text"].as_str().unwrap().len() == 3), "{outputs:?}");
        // the number may be written as 1.0
        let number: f64 = of(4)[0]["text"].as_str().unwrap().parse().unwrap();
        assert!([1.0, 2.0].contains(&number), "{outputs:?}");
        for line in [5, 6, 7, 8, 9, 10] {
            assert_eq!(of(line).len(), 1, "line {line}");
            assert_eq!(
                (&of(line)[0]["finish"], &of(line)[0]["text"]),
                (&"error".into(), &().into()),
                "line {line}"
            );
            let diagnostic = &of(line)[0]["diagnostics"][0];
            assert!(diagnostic["help"].is_string() && diagnostic["code"].is_string(), "{diagnostic}");
        }
        assert_eq!(of(8)[0]["id"], serde_json::json!([1]));
        assert!(run.err.contains("4 outputs from 9 lines, 6 failed"), "{}", run.err);
        let object = json(2, &[&all[..], &["--output-format=json"]].concat());
        assert_eq!(object["outputs"].as_array().unwrap().len(), 10);
        assert_eq!((&object["written"], &object["failed"]), (&4.into(), &6.into()));
        // a prompt alone has the same text as in the batch
        let alone = json(0, &arguments(&grammar, &["--output-format=json", "--chat"]));
        assert_eq!(alone["text"], of(1)[0]["text"]);
    }

    #[test]
    fn a_stop_string_ends_the_text_before_it() {
        let grammar = pattern("ab(cd){20}ef");
        let found =
            json(3, &arguments(&grammar, &["--stop", "xyz", "--stop", "dcd", "--output-format=json"]));
        assert_eq!((&found["text"], &found["complete"]), (&"abc".into(), &false.into()));
        assert_eq!(found["finish"], "stop-string");
    }

    #[test]
    fn what_there_is_when_the_time_is_over_is_kept() {
        let grammar = pattern("[a-z]{60}");
        let found = json(3, &arguments(&grammar, &["--timeout", "0", "--output-format=json"]));
        assert_eq!((&found["text"], &found["verified"]), (&"".into(), &"prefix".into()));
        assert_eq!(found["finish"], "timeout");
        json(0, &arguments(&grammar, &["--timeout", "60", "--output-format=json"]));
        let run = run(&arguments(&grammar, &["--timeout", "-1"]));
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
    }

    #[test]
    fn raw_text_is_checked_at_the_end() {
        let grammar = pattern("(no such text){3}");
        let found =
            json(3, &arguments(&grammar, &["--unconstrained", "--max-tokens", "8", "--output-format=json"]));
        assert_eq!(found["verified"], "rejected");
        assert_eq!(found["timings"]["mask_mean_seconds"], 0.0);
    }

    #[test]
    fn equal_seeds_give_equal_texts() {
        let grammar = pattern("[a-z ]{40}");
        let more = ["--temperature", "2", "--seed", "7", "--output-format=json", "--max-tokens", "60"];
        let texts = [0, 1].map(|_| json(0, &arguments(&grammar, &more))["text"].clone());
        assert_eq!(texts[0], texts[1]);
        assert_eq!(texts[0].as_str().unwrap().len(), 40);
    }

    /// Returns the texts of all hypotheses. Checks that the first is the output, that the scores never rise, and, if
    /// `distinct`, that all token sequences differ.
    fn hypotheses(found: &serde_json::Value, distinct: bool) -> Vec<String> {
        let all = found["hypotheses"].as_array().unwrap();
        for key in ["text", "tokens", "finish", "complete", "verified", "log_probability"] {
            assert_eq!(found[key], all[0][key], "{key}");
        }
        let scores: Vec<f64> = all.iter().map(|h| h["log_probability"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b) && scores[0] < 0.0, "{scores:?}");
        let texts: Vec<String> = all.iter().map(|h| h["text"].as_str().unwrap().to_owned()).collect();
        let tokens: std::collections::HashSet<String> = all.iter().map(|h| h["tokens"].to_string()).collect();
        assert!(!distinct || tokens.len() == all.len());
        texts
    }

    #[test]
    fn a_beam_gives_its_hypotheses() {
        let grammar = pattern("yes|no|perhaps");
        let found = json(0, &arguments(&grammar, &["--beam", "3", "--output-format=json"]));
        let texts = hypotheses(&found, true);
        assert_eq!(texts.len(), 3);
        assert!(texts.iter().all(|text| ["yes", "no", "perhaps"].contains(&text.as_str())));
        assert!(found["total_seconds"].as_f64().unwrap() > 0.0);
        let run = run(&arguments(&grammar, &["--beam", "3"]));
        assert_eq!((run.code, &run.out), (0, &texts[0]), "{}", run.err);
        assert!(run.err.contains("1. log-probability "), "{}", run.err);
        assert!(run.err.contains(&format!(": \"{}\"", texts[2])), "{}", run.err);
    }

    #[test]
    fn the_best_of_samples_is_written() {
        let grammar = pattern("[a-z]{3}");
        let more = ["--best-of", "5", "--temperature", "1.5", "--seed", "4", "--output-format=json"];
        let found = json(0, &arguments(&grammar, &more));
        let texts = hypotheses(&found, false);
        assert_eq!(texts.len(), 5);
        // the samples are those of single runs with consecutive seeds
        let mut single: Vec<String> = (4..9)
            .map(|seed: u64| {
                let seed = seed.to_string();
                let more = ["--temperature", "1.5", "--seed", &seed, "--output-format=json"];
                json(0, &arguments(&grammar, &more))["text"].as_str().unwrap().to_owned()
            })
            .collect();
        single.sort();
        let mut sorted = texts.clone();
        sorted.sort();
        assert_eq!(sorted, single);
        let of_mean = json(0, &arguments(&grammar, &[&more[..], &["--length-exponent", "1"]].concat()));
        assert_eq!(of_mean["hypotheses"].as_array().unwrap().len(), 5);
    }

    #[test]
    fn log_probabilities_are_of_each_token() {
        let grammar = pattern("the (yes|no)");
        let found = json(0, &arguments(&grammar, &["--output-format=json", "--logprobs"]));
        let all: Vec<f64> =
            found["log_probabilities"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
        assert_eq!(all.len(), found["tokens"].as_array().unwrap().len());
        assert!(all.iter().all(|&p| p < 0.0));
        let sum: f64 = all.iter().sum();
        assert!((found["log_probability"].as_f64().unwrap() - sum).abs() < 1e-9);
        assert!(json(0, &arguments(&grammar, &["--output-format=json"]))["log_probabilities"].is_null());
    }

    #[test]
    fn searches_that_exclude_each_other_are_refused() {
        let grammar = pattern("yes|no");
        let table: [&[&str]; 5] = [
            &["--beam", "0"],
            &["--beam", "2000"],
            &["--beam", "2", "--best-of", "2", "--temperature", "1"],
            &["--beam", "2", "--temperature", "1"],
            &["--best-of", "2"],
        ];
        for more in table {
            let run = run(&arguments(&grammar, more));
            assert_eq!((run.code, run.out.as_str()), (2, ""), "{more:?}: {}", run.err);
        }
    }

    #[test]
    fn a_reader_that_leaves_ends_the_generation() {
        let grammar = pattern("[a-z]{100}");
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_grammata"))
            .args(arguments(&grammar, &["--quiet"]))
            .current_dir(crate::ROOT)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait().unwrap().code(), Some(141));
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
