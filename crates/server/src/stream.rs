//! Answers in events (`text/event-stream`).

use crate::body::{Body, Response};
use crate::engine::Output;
use http_body_util::StreamBody;
use hyper::body::{Bytes, Frame};
use hyper::header::{self, HeaderValue};
use serde_json::Value;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// How many events wait for a slow client before the writer does.
const WAITING: usize = 64;

/// The client has closed the connection.
#[derive(Debug)]
pub(crate) struct Gone;

/// Writes events into the body of a response. Dropping it ends the body.
pub(crate) struct Events(mpsc::Sender<Bytes>);

impl Events {
    /// Returns the writer and the response.
    pub(crate) fn new() -> (Events, Response) {
        let (sender, receiver) = mpsc::channel(WAITING);
        let mut response = Response::new(Body::Right(StreamBody::new(Pieces(receiver))));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // proxies would hold the events back
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        (Events(sender), response)
    }

    /// Writes an event, with its name if it has one.
    pub(crate) async fn send(&mut self, name: Option<&str>, data: &Value) -> Result<(), Gone> {
        let name = name.map_or(String::new(), |name| format!("event: {name}\n"));
        self.write(format!("{name}data: {data}\n\n")).await
    }

    /// Writes the mark at the end of the events of a chat completion.
    pub(crate) async fn done(&mut self) -> Result<(), Gone> {
        self.write("data: [DONE]\n\n".to_owned()).await
    }

    async fn write(&mut self, text: String) -> Result<(), Gone> {
        self.0.send(Bytes::from(text)).await.map_err(|_| Gone)
    }
}

/// The events that were written and not yet sent.
pub(crate) struct Pieces(mpsc::Receiver<Bytes>);

impl futures_core::Stream for Pieces {
    type Item = Result<Frame<Bytes>, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

/// The outputs of several generations in the order in which they came, each with the index of its generation.
pub(crate) struct Merged {
    receivers: Vec<Option<mpsc::UnboundedReceiver<Output>>>,
}

/// Merges the outputs of generations. It ends when all of them have.
pub(crate) fn merge(receivers: Vec<mpsc::UnboundedReceiver<Output>>) -> Merged {
    Merged { receivers: receivers.into_iter().map(Some).collect() }
}

impl Merged {
    /// Returns the next output. `None` after the last one of all generations.
    pub(crate) async fn recv(&mut self) -> Option<(usize, Output)> {
        std::future::poll_fn(|context| {
            let mut is_open = false;
            for (index, slot) in self.receivers.iter_mut().enumerate() {
                let Some(receiver) = slot else { continue };
                match receiver.poll_recv(context) {
                    Poll::Ready(Some(output)) => return Poll::Ready(Some((index, output))),
                    Poll::Ready(None) => *slot = None,
                    Poll::Pending => is_open = true,
                }
            }
            if is_open { Poll::Pending } else { Poll::Ready(None) }
        })
        .await
    }
}
