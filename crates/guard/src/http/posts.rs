//! Open requests of a session with a server. Their number is bounded, and they can be cancelled.

use crate::wire::Id;
use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Maximum number of concurrent requests of a session; further ones wait.
const MOST: usize = 32;

/// A request to the server.
#[derive(Clone, Debug)]
pub(super) struct Post {
    pub(super) id: Id,
    /// Whether closing the response cancels the request, as in versions without `initialize`.
    ends_with_response: bool,
    is_cancelled: Arc<AtomicBool>,
}

impl Post {
    pub(super) fn new(id: Id, ends_with_response: bool) -> Post {
        Post { id, ends_with_response, is_cancelled: Arc::default() }
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }
}

/// The open requests of a session.
#[derive(Debug, Default)]
pub(super) struct Posts {
    open: Mutex<HashMap<Id, Post>>,
    ended: Condvar,
}

impl Posts {
    fn open(&self) -> MutexGuard<'_, HashMap<Id, Post>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request. Waits while [`MOST`] are open.
    pub(super) fn begin(&self, post: &Post) {
        let mut open = self.open();
        while open.len() >= MOST {
            open = self.ended.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
        open.insert(post.id.clone(), post.clone());
    }

    /// Removes a request.
    pub(super) fn end(&self, id: &Id) {
        self.open().remove(id);
        self.ended.notify_one();
    }

    /// Cancels a request by closing its response, when the server next sends a byte. Returns `false` if the request is
    /// cancelled by a message instead.
    pub(super) fn cancel(&self, id: &Id) -> bool {
        let mut open = self.open();
        let Some(post) = open.get(id).filter(|post| post.ends_with_response).cloned() else { return false };
        open.remove(id);
        drop(open);
        post.is_cancelled.store(true, Ordering::Release);
        self.ended.notify_one();
        true
    }
}

/// The response of a request, which ends when the request is cancelled.
pub(super) struct Response<'p, R>(pub(super) R, pub(super) Option<&'p Post>);

impl<R: Read> Read for Response<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(bytes)?;
        match self.1.is_some_and(Post::is_cancelled) {
            true => Err(io::ErrorKind::ConnectionAborted.into()),
            false => Ok(read),
        }
    }
}
