//! Options of the requests to a server.

use crate::dialect::{DIALECTS, Dialect};
use crate::proxy::Proxy;
use crate::secret::{Header, Key};
use std::time::Duration;

grammata_base::options! {
    /// Options of the requests to a server.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct Options {
        /// The name of the model, which is sent with each request. None by default; servers with only one model need
        /// none.
        pub model: Option<String>,
        /// The key, sent as `Authorization: Bearer KEY`; none by default.
        pub key: Option<Key>,
        /// Further headers of each request, such as the `api-key` of Azure; none by default.
        pub headers: Vec<Header>,
        /// The proxy that connects to the server; none by default. See [`Proxy::of_environment`].
        pub proxy: Option<Proxy>,
        /// The forms of answers that the server accepts, with their encodings. The first of [`DIALECTS`] by default.
        pub dialect: &'static Dialect = &DIALECTS[0],
        /// Whether the server is asked to send an answer in parts while the model writes it. False by default.
        pub stream: bool,
        /// The sampling temperature. With 0, the default, the model takes the most probable token.
        pub temperature: f32 = 0.0,
        /// The seed of the sampling. Equal seeds give equal answers if the server supports seeds. 0 by default.
        pub seed: u64,
        /// Maximum number of tries of a request that fails for a temporary reason: no connection, a connection or
        /// stream that breaks off, or a status 429, 500, 502, 503 or 504. 4 by default; 0 means 1.
        pub tries: u32 = 4,
        /// The pause before the second try. The pause doubles before each further try, up to `most_pause`; up to half
        /// of it is left out at random. If the server asks for a pause (`Retry-After`, in seconds or as a date), that
        /// pause is used instead. 0.5 s by default.
        pub pause: Duration = Duration::from_millis(500),
        /// Maximum pause between tries. If the server asks for a longer pause, the request fails. 30 s by default.
        pub most_pause: Duration = Duration::from_secs(30),
        /// Timeout for resolving the server's name, and, with the same length, for connecting. 10 s by default.
        pub connect: Duration = Duration::from_secs(10),
        /// Timeout until an answer begins. Without `stream`, an answer begins when the model has ended. 120 s by
        /// default.
        pub first_byte: Duration = Duration::from_secs(120),
        /// Timeout of one try, up to the last byte of its answer. 300 s by default.
        pub deadline: Duration = Duration::from_secs(300),
        /// Maximum bytes of an answer; a longer one is an error. 8 MiB by default.
        pub answer_bytes: u64 = 8 << 20,
    }
}
