//! `grammata serve`. Without the feature `server` the error says how to build with it; with it, a tiny decoder answers a
//! client until the process is told to stop.

use crate::cli::refused;

#[cfg(not(feature = "server"))]
#[test]
fn without_the_server_it_says_how_to_build() {
    let error = refused("cli/no-server", &["serve", "--model", "x.onnx"]);
    assert!(error.contains("--features server"), "{error}");
}

#[cfg(feature = "server")]
mod with_server {
    use super::refused;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::process::{Command, Stdio};

    const MODEL: &str = "tests/data/tiny-decoder";

    #[test]
    fn addresses_that_others_reach_need_a_key() {
        let arguments = ["serve", "--model", MODEL, "--listen", "0.0.0.0:0"];
        refused("server/no-key", &arguments);
        let with_key = [&arguments[..], &["--api-key-env", "GRAMMATA_NO_SUCH_VARIABLE"]].concat();
        refused("cli/no-variable", &with_key);
    }

    #[test]
    fn families_whose_calls_cannot_be_read_are_refused() {
        let arguments = ["serve", "--model", MODEL, "--listen", "127.0.0.1:0", "--family", "qwen_3_coder"];
        refused("tools/reader-style", &arguments);
    }

    #[test]
    #[cfg(unix)]
    fn the_program_answers_and_ends_on_a_signal() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let mut process = Command::new(env!("CARGO_BIN_EXE_grammata"))
            .args([
                "serve",
                "--model",
                MODEL,
                "--threads",
                "1",
                "--listen",
                "127.0.0.1:0",
                "--log-level",
                "off",
            ])
            .current_dir(root)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut messages = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("serving `tiny-decoder` at http://") {
            line.clear();
            assert!(messages.read_line(&mut line).unwrap() > 0, "the server has ended");
        }
        let address = line.trim().split("http://").nth(1).unwrap().trim_end_matches("/v1").to_owned();
        let body = r#"{"model": "tiny-decoder", "messages": [{"role": "user", "content": "hello"}],
            "structured_outputs": {"choice": ["zqx"]}}"#;
        let mut stream = TcpStream::connect(address).unwrap();
        let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json";
        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"content\":\"zqx\""), "{answer}");
        let stopped = Command::new("kill").args(["-TERM", &process.id().to_string()]).status().unwrap();
        assert!(stopped.success());
        assert!(process.wait().unwrap().success());
    }
}
