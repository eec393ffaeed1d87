//! A server on loopback, and a client of it.

use grammata::error::Result;
use grammata::limits::Limits;
use grammata::vocabulary::{LoadOptions, Vocabulary};
use grammata_agents::tools::{ReasoningMode, TagPreset};
use grammata_decode::{ChatTemplate, Feed, Logits, Model, PromptTokenizer, RandomLogits, SequenceId};
use grammata_server::{Served, Server, ServerOptions};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// ChatML.
const TEMPLATE: &str = "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// The context of the model, in tokens.
pub(crate) const CONTEXT: usize = 4096;

/// What a model does besides random numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Play {
    /// How long each run takes.
    pub(crate) pause: Duration,
    /// The text that the model writes first, where the mask lets it.
    pub(crate) script: String,
    /// Whether the model panics after this many runs.
    pub(crate) runs: Option<usize>,
}

/// A model of random numbers with a bounded context, which may take a while for each run, or write a text.
struct Slow {
    model: RandomLogits,
    play: Play,
    script: Vec<u32>,
    /// The length of the prompt; a scripted model answers one request.
    prompt: Option<usize>,
    rows: Vec<Vec<f32>>,
}

impl Model for Slow {
    fn vocabulary_size(&self) -> usize {
        self.model.vocabulary_size()
    }
    fn context_length(&self) -> Option<usize> {
        Some(CONTEXT)
    }
    fn open(&mut self) -> Result<SequenceId> {
        self.model.open()
    }
    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.model.fork(sequence)
    }
    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        self.model.truncate(sequence, length)
    }
    fn close(&mut self, sequence: SequenceId) {
        self.model.close(sequence);
    }
    fn length(&self, sequence: SequenceId) -> Result<usize> {
        self.model.length(sequence)
    }
    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        std::thread::sleep(self.play.pause);
        if let Some(runs) = &mut self.play.runs {
            *runs = runs.checked_sub(1).expect("a model that fails");
        }
        if self.script.is_empty() {
            return self.model.feed(batch);
        }
        self.rows.clear();
        for feed in batch {
            let before = self.model.length(feed.sequence)?;
            let prompt = *self.prompt.get_or_insert(before + feed.tokens.len());
            for place in feed.rows.places(feed.tokens.len()) {
                let mut row = vec![0.0; self.model.vocabulary_size()];
                let at = (before + place + 1).checked_sub(prompt);
                let next = at.map(|at| self.script.get(at).copied().unwrap_or(self.end()));
                row[next.unwrap_or_default() as usize] = 100.0;
                self.rows.push(row);
            }
        }
        self.model.feed(batch)?;
        Ok(Logits::Host(self.rows.iter().map(Vec::as_slice).collect()))
    }
}

impl Slow {
    fn end(&self) -> u32 {
        vocabulary().eos()[0].get()
    }
}

fn vocabulary() -> Arc<Vocabulary> {
    static VOCABULARY: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    let read = || {
        let path = Path::new(crate::ROOT).join("tests/data/smollm2/tokenizer.json");
        Arc::new(Vocabulary::from_file(&path, &LoadOptions::default()).unwrap())
    };
    Arc::clone(VOCABULARY.get_or_init(read))
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a server for a family of models.
pub(crate) fn start(family: Option<&str>, options: ServerOptions) -> Running {
    start_playing(family, options, Play::default())
}

/// Starts a server whose model takes a while for each run.
pub(crate) fn start_slow(family: Option<&str>, options: ServerOptions, pause: Duration) -> Running {
    start_playing(family, options, Play { pause, ..Play::default() })
}

/// Starts a server whose model writes a text.
pub(crate) fn start_with_script(family: Option<&str>, script: &str) -> Running {
    start_playing(family, ServerOptions::default(), Play { script: script.to_owned(), ..Play::default() })
}

/// Starts a server whose model does more than random numbers.
pub(crate) fn start_playing(family: Option<&str>, options: ServerOptions, play: Play) -> Running {
    let limits = Limits::default();
    let play_fails = play.runs.is_some();
    let vocabulary = vocabulary();
    let width = vocabulary.width();
    let path = Path::new(crate::ROOT).join("tests/data/smollm2/tokenizer.json");
    let served = Served {
        name: "random".to_owned(),
        vocabulary,
        tokenizer: PromptTokenizer::from_file(&path, &limits).unwrap(),
        template: Some(ChatTemplate::new(TEMPLATE, &limits).unwrap()),
        preset: family.map(|family| TagPreset::named(family).unwrap()),
        reasoning: ReasoningMode::Enabled,
        model: Box::new(move || {
            let tokenizer = PromptTokenizer::from_file(&path, &Limits::default())?;
            let script = tokenizer.encode(&play.script, false)?;
            let model = RandomLogits::new(width, 7);
            Ok(Box::new(Slow { model, play, script, prompt: None, rows: Vec::new() }) as Box<dyn Model>)
        }),
    };
    let server = Server::new(served, options).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let fails = play_fails;
    let thread = std::thread::spawn(move || match server.run(listener, stopped) {
        Ok(()) => assert!(!fails, "the server goes on without its model"),
        Err(error) => assert!(fails && error.code() == "server/no-model", "{error}"),
    });
    Running { address, stop: Some(stop), thread: Some(thread) }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(std::thread::panicking() || ended.is_none_or(|ended| ended.is_ok()));
    }
}

/// An answer: its status, the values of its headers by name, and its body.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) body: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|cause| panic!("{cause}: {}", self.body))
    }

    /// The events of a stream, without the mark at its end.
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }
}

impl Running {
    /// Waits until the server ends on its own.
    pub(crate) fn wait(&self) {
        let start = std::time::Instant::now();
        while !self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a body of any form.
    pub(crate) fn send(&self, path: &str, kind: &str, body: &[u8], key: Option<&str>) -> Answered {
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let agent: ureq::Agent = config.into();
        let url = format!("http://{}{path}", self.address);
        let mut request = agent.post(&url).header("content-type", kind);
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body).unwrap();
        let retry_after =
            response.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        Answered { status, retry_after, body: response.body_mut().read_to_string().unwrap() }
    }

    pub(crate) fn get(&self, path: &str) -> Answered {
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let agent: ureq::Agent = config.into();
        let mut response = agent.get(format!("http://{}{path}", self.address)).call().unwrap();
        let status = response.status().as_u16();
        Answered { status, retry_after: None, body: response.body_mut().read_to_string().unwrap() }
    }

    /// Sends a chat completion with these members beside the model and one message.
    pub(crate) fn chat(&self, members: &Value) -> Answered {
        let messages = json!([{ "role": "user", "content": "Answer." }]);
        let mut body = json!({ "model": "random", "messages": messages });
        merge(&mut body, members);
        self.send("/v1/chat/completions", "application/json", body.to_string().as_bytes(), None)
    }

    /// Sends a request for a response with these members beside the model and an input.
    pub(crate) fn respond(&self, members: &Value) -> Answered {
        let mut body = json!({ "model": "random", "input": "Answer." });
        merge(&mut body, members);
        self.send("/v1/responses", "application/json", body.to_string().as_bytes(), None)
    }
}

fn merge(body: &mut Value, members: &Value) {
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
}

/// Checks that a text is JSON by a schema.
#[track_caller]
pub(crate) fn is_valid(schema: &Value, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|cause| panic!("{cause}: {text}"));
    assert!(jsonschema::validator_for(schema).unwrap().is_valid(&value), "{schema}: {text}");
}
