//! A server with the protocol of OpenAI, `/v1/chat/completions` and `/v1/responses`, over a model that runs in the process.
//!
//! Answers under a schema are valid and, unless a request says otherwise, complete within its limit of tokens. Calls of
//! tools are valid too. What the server does not support it refuses, with the name of the parameter; nothing is ignored
//! in silence. `docs/serve.md` describes the protocol and the operation.

mod answer;
mod app;
mod auth;
mod body;
mod chat;
mod engine;
mod errors;
mod format;
mod http;
mod ids;
mod items;
mod listen;
mod messages;
mod metrics;
mod prompt;
mod reasoning;
mod request;
mod responses;
mod signals;
mod stream;
mod tags;
#[cfg(feature = "testing")]
pub mod testing;
mod tools;

pub use auth::ApiKey;
pub use engine::LoadModel;
pub use signals::stop_on_signals;

use app::{App, Family};
use engine::Engine;
use grammata::error::Result;
use grammata::explore::ExploreBudget;
use grammata::mask::Compiler;
use grammata::serve::GrammarCache;
use grammata::vocabulary::{TokenId, Vocabulary};
use grammata_agents::tools::{ReasoningMode, TagPreset};
use grammata_base::limits::Limits;
use grammata_decode::{ChatTemplate, Detokenizer, PromptTokenizer, SchedulerOptions};
use metrics::Metrics;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tags::Forms;
use tokio::sync::{Semaphore, oneshot};

/// The description of the protocol, as `/openapi.json` has it.
pub const OPEN_API: &str = include_str!("openapi.json");

grammata_base::options! {
    /// Settings of a [`Server`].
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct ServerOptions {
        /// The most outputs that are generated together. 16 by default.
        pub batch: usize = 16,
        /// The most outputs that wait; more are answered with status 429. 256 by default.
        pub queue: usize = 256,
        /// The most bytes of a body. 8 MiB by default.
        pub body_bytes: usize = 8 << 20,
        /// The most time in which the head, and then the body, of a request must arrive. 30 s by default.
        pub read_time: Duration = Duration::from_secs(30),
        /// The most time that a client may take to read what is written to it; then its connection is closed. 30 s by
        /// default.
        pub write_time: Duration = Duration::from_secs(30),
        /// The most connections at a time; further ones wait. 1,024 by default.
        pub connections: usize = 1024,
        /// The most bytes of compiled grammars that are kept. 256 MiB by default.
        pub grammar_bytes: usize = 256 << 20,
        /// A folder for [mask files](grammata::mask_file) of the grammars, which is created if it is missing: a grammar
        /// that an earlier server has explored is read from there. Nobody else should be able to write to it. None by
        /// default.
        pub folder: Option<PathBuf>,
        /// The most bytes of the files in this folder; the oldest are removed. 1 GiB by default.
        pub folder_bytes: u64 = 1 << 30,
        /// The most requests whose prompts and grammars are prepared at a time. 4 by default.
        pub compiling: usize = 4,
        /// The most time that running outputs have to end after the server was told to stop. 30 s by default.
        pub grace: Duration = Duration::from_secs(30),
        /// The key that clients must send. None by default: then the address must be a loopback address.
        pub key: Option<ApiKey>,
        /// Limits on schemas and grammars.
        pub limits: Limits,
    }
}

/// What a server serves.
pub struct Served {
    /// The name of the model in requests.
    pub name: String,
    /// The vocabulary of the model, with its end tokens.
    pub vocabulary: Arc<Vocabulary>,
    /// Encodes prompts.
    pub tokenizer: PromptTokenizer,
    /// Writes prompts; without one the texts of the messages are joined.
    pub template: Option<ChatTemplate>,
    /// How the family of the model writes calls and reasoning; without one there are no tools.
    pub preset: Option<TagPreset>,
    /// Whether the model reasons first, if the family has reasoning.
    pub reasoning: ReasoningMode,
    /// Creates the model, on the thread that will run it.
    pub model: LoadModel,
}

/// A server that is ready to answer.
pub struct Server {
    app: Arc<App>,
    options: ServerOptions,
}

impl Server {
    /// Loads the model.
    ///
    /// # Errors
    /// Those of the model; `tools/reader-style` if calls of the preset cannot be read as they come; `io/file` if the
    /// folder of mask files cannot be created.
    pub fn new(served: Served, options: ServerOptions) -> Result<Server> {
        let Served { name, vocabulary, tokenizer, template, preset, reasoning, model } = served;
        let family = preset.map(|preset| {
            preset.reader([], reasoning)?;
            let markers = preset.markers();
            let has_marker_tokens =
                !markers.is_empty() && markers.iter().all(|marker| vocabulary.special_id(marker).is_some());
            Ok(Family { preset, has_marker_tokens, reasoning })
        });
        let family = family.transpose()?;
        let metrics = Arc::new(Metrics::new());
        let spelled = family.as_ref().is_some_and(|family| family.has_marker_tokens);
        let detokenizer = Arc::new(Spelled { vocabulary: Arc::clone(&vocabulary), spelled });
        let scheduler = SchedulerOptions::default().batch(options.batch.max(1)).queue(options.queue);
        let (engine, context) = Engine::start(model, detokenizer, scheduler, Arc::clone(&metrics))?;
        let compiler = Compiler::new(Arc::clone(&vocabulary)).limits(options.limits.clone());
        let mut grammars = GrammarCache::new(compiler, options.grammar_bytes);
        if let Some(folder) = &options.folder {
            grammars = grammars.with_folder(folder, ExploreBudget::default(), options.folder_bytes)?;
        }
        let app = App {
            name,
            created: ids::now(),
            engine,
            grammars,
            forms: Forms::default(),
            compiling: Arc::new(Semaphore::new(options.compiling.max(1))),
            vocabulary,
            tokenizer,
            template,
            family,
            context,
            limits: options.limits.clone(),
            metrics,
        };
        Ok(Server { app: Arc::new(app), options })
    }

    /// Answers requests until `stop` is sent or dropped, and then until the requests that run have ended, or
    /// [`grace`](ServerOptions::grace) has passed.
    ///
    /// # Errors
    /// `server/no-key` if other machines could use the server without a key; `server/no-model` if the thread of the model
    /// has failed; the listener or the threads cannot be used.
    pub fn run(self, listener: TcpListener, stop: oneshot::Receiver<()>) -> Result<()> {
        listen::run(self.app, self.options, listener, stop)
    }

    /// Checks that a server may listen at an address.
    ///
    /// # Errors
    /// `server/no-key` if other machines could use the server without a key.
    pub fn check_address(address: SocketAddr, options: &ServerOptions) -> Result<()> {
        match address.ip().is_loopback() || options.key.is_some() {
            true => Ok(()),
            false => Err(errors::no_key(address)),
        }
    }
}

/// The vocabulary of a model, whose special tokens have their names as their text if `spelled` is set, apart from those
/// that end an output.
struct Spelled {
    vocabulary: Arc<Vocabulary>,
    spelled: bool,
}

impl Detokenizer for Spelled {
    fn token_count(&self) -> usize {
        self.vocabulary.width()
    }

    fn bytes(&self, token: u32) -> &[u8] {
        let id = TokenId::new(token);
        match self.vocabulary.special(id) {
            Some(name) if self.spelled && !self.vocabulary.is_eos(id) => name.as_bytes(),
            _ => self.vocabulary.bytes(id).unwrap_or_default(),
        }
    }
}
