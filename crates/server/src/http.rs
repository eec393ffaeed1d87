//! The places of the server, and what every request passes: the key, the size of the body, the log and the counters.

use crate::app::App;
use crate::auth::Key;
use crate::body::{self, Response};
use crate::errors::ApiError;
use crate::metrics::Answered;
use crate::{ServerOptions, chat, responses};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, StatusCode};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The server as connections see it.
#[derive(Clone)]
pub(crate) struct Service {
    app: Arc<App>,
    key: Option<Key>,
    body_bytes: usize,
    read_time: Duration,
}

/// Where a request may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Chat,
    Responses,
    Models,
    Health,
    Metrics,
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
            key: options.key.as_deref().map(Key::new),
            body_bytes: options.body_bytes,
            read_time: options.read_time,
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
                tracing::info!(place = place.name(), status = error.status().as_u16(), error = %error.value());
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
            return Ok(body::json(StatusCode::OK, &json!({ "status": "ok" })));
        }
        if let Some(key) = &self.key {
            key.check(request.headers())?;
        }
        match place {
            Place::Chat => chat::answer(Arc::clone(&self.app), &self.body(request).await?).await,
            Place::Responses => responses::answer(Arc::clone(&self.app), &self.body(request).await?).await,
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
    async fn body<B>(&self, request: Request<B>) -> Result<Bytes, ApiError>
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
        let body = Limited::new(request.into_body(), self.body_bytes).collect();
        match tokio::time::timeout(self.read_time, body).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(cause)) if cause.is::<LengthLimitError>() => {
                let message = format!("the body has more than {} bytes", self.body_bytes);
                Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", None, message))
            }
            Ok(Err(cause)) => {
                let message = format!("the body cannot be read: {cause}");
                Err(ApiError::new(StatusCode::BAD_REQUEST, "invalid_body", None, message))
            }
            Err(_) => {
                let message = format!("the body did not arrive within {} seconds", self.read_time.as_secs());
                Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_too_slow", None, message))
            }
        }
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
