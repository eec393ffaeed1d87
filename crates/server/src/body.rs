//! The bodies of answers.

use crate::stream::Pieces;
use http_body_util::{Either, Full, StreamBody};
use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use serde_json::Value;

/// A whole text, or events that are still to come.
pub(crate) type Body = Either<Full<Bytes>, StreamBody<Pieces>>;

pub(crate) type Response = hyper::Response<Body>;

/// Returns an answer that is a fixed text of a media type.
pub(crate) fn text(kind: &'static str, text: &'static str) -> Response {
    let mut response = Response::new(Body::Left(Full::from(text)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Returns an answer in JSON.
pub(crate) fn json(status: StatusCode, value: &Value) -> Response {
    let mut response = Response::new(Body::Left(Full::from(value.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
