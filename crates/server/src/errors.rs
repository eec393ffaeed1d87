//! The errors of the server itself, and how errors are answered.

use crate::body::{self, Response};
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{Error, ErrorKind};
use hyper::StatusCode;
use hyper::header::{self, HeaderValue};
use serde_json::{Value, json};

grammata_base::errors! {
    pub(crate) Usage;

    /// The thread of the model cannot be started.
    no_thread(cause: &std::io::Error) = Model "server/no-thread", "the thread of the model cannot be started"
        cause(cause)
        allowed("a process that may start threads")
        help("raise the limit on processes of this user or container");

    /// The thread of the model has ended.
    engine_ended() = Model "server/no-model", "the thread of the model has ended"
        help("see the log of the server, and start it again");

    /// A server that other machines reach, without a key.
    no_key(address: std::net::SocketAddr) = "server/no-key", "other machines could use this server without a key"
        found("the address {address}")
        allowed("a loopback address such as 127.0.0.1, or a key")
        help("name the environment variable that has the key: `--api-key-env NAME`");
}

/// An error as clients get it.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    /// The parameter or the place in the body that the error is about.
    param: Option<String>,
    code: String,
    message: String,
    /// The diagnostics of a grammar or a schema.
    details: Vec<Value>,
}

impl ApiError {
    pub(crate) fn new(
        status: StatusCode,
        code: impl Into<String>,
        param: impl Into<Option<String>>,
        message: impl Into<String>,
    ) -> ApiError {
        ApiError {
            status,
            param: param.into(),
            code: code.into(),
            message: message.into(),
            details: Vec::new(),
        }
    }

    /// A parameter with a value that it cannot have.
    pub(crate) fn invalid(param: &str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_value", param.to_owned(), message)
    }

    /// A parameter or a value that this server does not support.
    pub(crate) fn unsupported(param: &str, message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "unsupported_parameter", param.to_owned(), message)
    }

    /// There is no room for the request.
    pub(crate) fn busy() -> ApiError {
        ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "server_busy",
            None,
            "too many requests wait; ask again later",
        )
    }

    pub(crate) fn ended() -> ApiError {
        ApiError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "server_error",
            None,
            "the model does not run any more",
        )
    }

    /// The server has failed at a request.
    pub(crate) fn fault() -> ApiError {
        let message = "the server failed at this request; its log may say why";
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", None, message)
    }

    /// An error of the library about what is at `param` of the body.
    pub(crate) fn of(error: &Error, param: &str) -> ApiError {
        let first = error.diagnostic();
        let status = match error.kind() {
            ErrorKind::Model | ErrorKind::Io | ErrorKind::Vocabulary => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        let place = match first.place() {
            Place::Pointer(pointer) => pointer.replace('/', "."),
            _ => String::new(),
        };
        ApiError {
            status,
            param: Some(format!("{param}{place}")),
            code: first.code().to_owned(),
            message: first.to_string(),
            details: error.diagnostics().map(detail).collect(),
        }
    }

    /// The same error about tools that have no members `function` and `custom`, as those of responses.
    pub(crate) fn flat(mut self) -> ApiError {
        if let Some(param) = &mut self.param
            && param.starts_with("tools.")
        {
            *param = param.replacen(".function", "", 1).replacen(".custom", "", 1);
        }
        self
    }

    /// Names `param` as the place, because the place that the error has is one of a rewritten body.
    pub(crate) fn within(mut self, param: &str) -> ApiError {
        self.param = Some(param.to_owned());
        self
    }

    /// The code, and the parameter that the error is about.
    pub(crate) fn subject(&self) -> (&str, &str) {
        (&self.code, self.param.as_deref().unwrap_or_default())
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The member `error` of an answer or of an event.
    pub(crate) fn value(&self) -> Value {
        let kind = match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::NOT_FOUND => "not_found_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        let mut error =
            json!({ "message": self.message, "type": kind, "param": self.param, "code": self.code });
        if !self.details.is_empty() {
            error["diagnostics"] = Value::from(self.details.clone());
        }
        error
    }
}

/// Writes a diagnostic as JSON: code, message, place, and what it found, allows and advises.
pub(crate) fn detail(diagnostic: &Diagnostic) -> Value {
    let mut detail = json!({
        "code": diagnostic.code(),
        "message": diagnostic.message(),
        "place": diagnostic.place().to_string(),
    });
    let texts = [
        ("found", diagnostic.found_text()),
        ("allowed", diagnostic.allowed_text()),
        ("help", diagnostic.help_text()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            detail[name] = Value::from(text);
        }
    }
    detail
}

impl ApiError {
    /// The answer that has the error.
    pub(crate) fn response(&self) -> Response {
        let mut response = body::json(self.status, &json!({ "error": self.value() }));
        let headers = response.headers_mut();
        match self.status {
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                let seconds = crate::engine::RETRY_AFTER.as_secs();
                headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}
