//! The open connections of a listener, within a bound.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of concurrent connections.
const MOST_CONNECTIONS: usize = 256;

/// The open connections by number, in the order in which they were opened. The stream is there as long as the request
/// has not arrived.
#[derive(Debug, Default)]
struct Open {
    last: u64,
    streams: BTreeMap<u64, Option<Arc<TcpStream>>>,
}

impl Open {
    /// Closes the connection that has waited longest for its request. Returns whether there was one.
    fn make_room(&mut self) -> bool {
        let waits = |(number, stream): (&u64, &Option<Arc<TcpStream>>)| Some((*number, stream.clone()?));
        let Some((number, stream)) = self.streams.iter().find_map(waits) else { return false };
        self.streams.remove(&number);
        // if this fails, the client has closed the connection already
        let _ = stream.shutdown(Shutdown::Both);
        true
    }
}

/// The open connections of a listener. When there are too many, connections whose request has not arrived give way to
/// new ones, so that clients that send nothing cannot keep others out.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<Open>);

impl Connections {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection whose request has not arrived. `None` if [`MOST_CONNECTIONS`] requests are being answered.
    pub(super) fn add(&self, stream: &Arc<TcpStream>) -> Option<Connection<'_>> {
        let mut open = self.open();
        if open.streams.len() >= MOST_CONNECTIONS && !open.make_room() {
            return None;
        }
        open.last += 1;
        let number = open.last;
        open.streams.insert(number, Some(Arc::clone(stream)));
        Some(Connection { all: self, number })
    }

    /// Closes the connection that has waited longest for its request, if there is one.
    pub(super) fn make_room(&self) {
        self.open().make_room();
    }
}

/// A connection. Dropping it removes it from the open ones.
#[derive(Debug)]
pub(super) struct Connection<'c> {
    all: &'c Connections,
    number: u64,
}

impl Connection<'_> {
    /// Records that the request has arrived.
    pub(super) fn has_request(&self) {
        if let Some(stream) = self.all.open().streams.get_mut(&self.number) {
            *stream = None;
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.all.open().streams.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    #[test]
    fn connections_without_a_request_give_way() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let all = Connections::default();
        let mut pairs = Vec::new();
        for number in 0..MOST_CONNECTIONS {
            let client = TcpStream::connect(address).unwrap();
            let connection = all.add(&Arc::new(listener.accept().unwrap().0)).unwrap();
            // only the connections 10 and 20 wait for their requests
            if ![10, 20].contains(&number) {
                connection.has_request();
            }
            pairs.push((client, connection));
        }
        let last = Arc::new(TcpStream::connect(address).unwrap());
        for closed in [10, 20] {
            let new = all.add(&last).unwrap();
            new.has_request();
            assert_eq!(pairs[closed].0.read(&mut [0]).unwrap(), 0, "{closed}");
            std::mem::forget(new);
        }
        assert!(all.add(&last).is_none());
        pairs.swap_remove(0);
        assert!(all.add(&last).is_some());
    }
}
