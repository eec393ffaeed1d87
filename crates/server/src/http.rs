//! The places of the server, and what every request passes: the key, the size of the body, the log and the counters.

use crate::app::App;
use crate::auth::{ApiKey, Key};
use crate::body::{self, Response};
use crate::errors::ApiError;
use crate::metrics::Answered;
use crate::{ServerOptions, chat, responses};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The server as connections see it.
#[derive(Clone)]
pub(crate) struct Service {
    app: Arc<App>,
    key: Option<Key>,
    body_bytes: usize,
    read_time: Duration,
    /// Room for the bytes of bodies.
    room: Arc<Semaphore>,
}

/// The page that shows the description of the protocol.
const PAGE: &str = include_str!("page.html");

/// How many bodies of the greatest size are kept at a time, until their outputs begin.
const BODIES: usize = 8;

/// The body of a request.
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    /// Its part of the room for all bodies.
    _room: Option<OwnedSemaphorePermit>,
}

/// Where a request may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Chat,
    Responses,
    Models,
    Health,
    Metrics,
    /// The description of the protocol, for programs and as a page.
    OpenApi,
    Page,
    Unknown,
}

impl Place {
    fn of(path: &str) -> Place {
        match path {
            "/v1/chat/completions" => Place::Chat,
            "/v1/responses" => Place::Responses,
            "/v1/models" => Place::Models,
            "/health" => Place::Health,
            "/metrics" => Place::Metrics,
            "/openapi.json" => Place::OpenApi,
            "/docs" => Place::Page,
            _ if path.starts_with("/v1/models/") => Place::Models,
            _ => Place::Unknown,
        }
    }

    /// The name in the log and the counters, which does not depend on what a client made up.
    fn name(self) -> &'static str {
        match self {
            Place::Chat => "/v1/chat/completions",
            Place::Responses => "/v1/responses",
            Place::Models => "/v1/models",
            Place::Health => "/health",
            Place::Metrics => "/metrics",
            Place::OpenApi => "/openapi.json",
            Place::Page => "/docs",
            Place::Unknown => "other",
        }
    }

    fn method(self) -> Method {
        match self {
            Place::Chat | Place::Responses => Method::POST,
            _ => Method::GET,
        }
    }
}

impl Service {
    pub(crate) fn new(app: Arc<App>, options: &ServerOptions) -> Service {
        Service {
            app,
            key: options.key.as_ref().map(ApiKey::hash),
            body_bytes: options.body_bytes,
            read_time: options.read_time,
            room: Arc::new(Semaphore::new(
                options.body_bytes.saturating_mul(BODIES).min(Semaphore::MAX_PERMITS),
            )),
        }
    }

    /// Answers a request.
    pub(crate) async fn answer<B>(&self, request: Request<B>) -> Response
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let start = Instant::now();
        let place = Place::of(request.uri().path());
        let response = match self.answer_at(place, request).await {
            Ok(response) => response,
            Err(error) => {
                // messages may quote contents
                let (code, param) = error.subject();
                tracing::info!(place = place.name(), status = error.status().as_u16(), code, param);
                error.response()
            }
        };
        let status = response.status().as_u16();
        self.app.metrics.answered.get_or_create(&Answered { path: place.name(), status }).inc();
        // for a stream this is the time to its first event
        tracing::info!(place = place.name(), status, seconds = start.elapsed().as_secs_f64());
        response
    }

    async fn answer_at<B>(&self, place: Place, request: Request<B>) -> Result<Response, ApiError>
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let path = request.uri().path().to_owned();
        if place == Place::Unknown {
            let message =
                format!("there is nothing at `{path}`; docs/serve.md lists the places of this server");
            return Err(ApiError::new(StatusCode::NOT_FOUND, "unknown_url", None, message));
        }
        if request.method() != place.method() {
            let message = format!("`{path}` takes {} only", place.method());
            return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", None, message));
        }
        if place == Place::Health {
            return Ok(match self.app.engine.is_alive() {
                true => body::json(StatusCode::OK, &json!({ "status": "ok" })),
                false => {
                    body::json(StatusCode::SERVICE_UNAVAILABLE, &json!({ "status": "the model has failed" }))
                }
            });
        }
        match place {
            Place::OpenApi => return Ok(body::text("application/json", crate::OPEN_API)),
            Place::Page => return Ok(body::text("text/html; charset=utf-8", PAGE)),
            _ => {}
        }
        if let Some(key) = &self.key {
            key.check(request.headers())?;
        }
        match place {
            Place::Chat => chat::answer(Arc::clone(&self.app), self.body(request).await?).await,
            Place::Responses => responses::answer(Arc::clone(&self.app), self.body(request).await?).await,
            Place::Models => self.models(path.strip_prefix("/v1/models/")),
            _ => {
                let mut response = Response::new(body::Body::Left(Full::from(self.app.metrics.text())));
                let kind =
                    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
                response.headers_mut().insert(header::CONTENT_TYPE, kind);
                Ok(response)
            }
        }
    }

    /// Reads the body of a request, within its limits.
    async fn body<B>(&self, request: Request<B>) -> Result<Received, ApiError>
    where
        B: hyper::body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        if kind.as_deref() != Some("application/json") {
            let message = "the header `Content-Type` must be `application/json`";
            return Err(ApiError::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                None,
                message,
            ));
        }
        match tokio::time::timeout(self.read_time, self.receive(request.into_body())).await {
            Ok(received) => received,
            Err(_) => {
                let message = format!("the body did not arrive within {} seconds", self.read_time.as_secs());
                Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", None, message))
            }
        }
    }

    /// Reads a body piece by piece. Each piece takes room that all bodies share, before it is kept.
    async fn receive<B>(&self, mut body: B) -> Result<Received, ApiError>
    where
        B: hyper::body::Body<Data = Bytes> + Unpin,
        B::Error: std::error::Error,
    {
        let (mut bytes, mut room) = (Vec::new(), None::<OwnedSemaphorePermit>);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|cause| {
                let message = format!("the body cannot be read: {cause}");
                ApiError::new(StatusCode::BAD_REQUEST, "invalid_body", None, message)
            })?;
            let Ok(piece) = frame.into_data() else { continue };
            if bytes.len() + piece.len() > self.body_bytes {
                let message = format!("the body has more than {} bytes", self.body_bytes);
                return Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", None, message));
            }
            let count = u32::try_from(piece.len()).unwrap_or(u32::MAX);
            let taken = Arc::clone(&self.room).try_acquire_many_owned(count).map_err(|_| ApiError::busy())?;
            match &mut room {
                Some(room) => room.merge(taken),
                None => room = Some(taken),
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(Received { bytes, _room: room })
    }

    /// The only model, by its name or in the list.
    fn models(&self, name: Option<&str>) -> Result<Response, ApiError> {
        let model = json!({
            "id": self.app.name, "object": "model", "created": self.app.created, "owned_by": "grammata",
        });
        match name {
            None => Ok(body::json(StatusCode::OK, &json!({ "object": "list", "data": [model] }))),
            Some(name) => {
                self.app.check_model(name)?;
                Ok(body::json(StatusCode::OK, &model))
            }
        }
    }
}

impl App {
    /// Checks that a request names the model of this server.
    pub(crate) fn check_model(&self, name: &str) -> Result<(), ApiError> {
        if name == self.name {
            return Ok(());
        }
        let message = format!("there is no model `{name}`; this server has `{}`", self.name);
        Err(ApiError::new(StatusCode::NOT_FOUND, "model_not_found", "model".to_owned(), message))
    }
}
