//! Accepts connections until the server is told to stop.

use crate::ServerOptions;
use crate::app::App;
use crate::errors;
use crate::http::Service;
use grammata::error::{Error, Result};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};
use tokio_io_timeout::TimeoutStream;

/// How long the server waits when a connection cannot be accepted, for instance because there are no file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers requests until `stop` is sent or dropped.
pub(crate) fn run(
    app: Arc<App>,
    options: ServerOptions,
    listener: TcpListener,
    stop: oneshot::Receiver<()>,
) -> Result<()> {
    let unusable = |cause: std::io::Error| Error::io(Path::new("the listener"), &cause);
    crate::Server::check_address(listener.local_addr().map_err(unusable)?, &options)?;
    listener.set_nonblocking(true).map_err(unusable)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("server")
        .max_blocking_threads(options.compiling.max(1) + 8)
        .build()
        .map_err(|cause| errors::no_thread(&cause))?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(unusable)?;
        accept(app, &options, listener, stop).await
    })?;
    // what still runs has had its time
    runtime.shutdown_background();
    Ok(())
}

async fn accept(
    app: Arc<App>,
    options: &ServerOptions,
    listener: tokio::net::TcpListener,
    mut stop: oneshot::Receiver<()>,
) -> Result<()> {
    let (engine, mut ended) = (app.engine.clone(), Ok(()));
    let service = Service::new(app, options);
    let connections = Arc::new(Semaphore::new(options.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let graceful = GracefulShutdown::new();
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(options.read_time).keep_alive(true);
    loop {
        let next = async {
            let permit = Arc::clone(&connections).acquire_owned().await.ok()?;
            Some((listener.accept().await, permit))
        };
        let accepted = tokio::select! {
            _ = &mut stop => break,
            // without its model a server is of no use; whoever started it can start it again
            () = engine.ended() => {
                ended = Err(errors::engine_ended());
                break;
            }
            accepted = next => accepted,
        };
        let Some((accepted, permit)) = accepted else { break };
        let Ok((connection, _)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let _ = connection.set_nodelay(true);
        let service = service.clone();
        let answer = service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.answer(request).await) }
        });
        let mut connection = TimeoutStream::new(connection);
        // a client that does not read its answer gives its place to others
        connection.set_write_timeout(Some(options.write_time));
        let connection = TokioIo::new(Box::pin(connection));
        let connection = graceful.watch(builder.serve_connection(connection, answer));
        tokio::spawn(async move {
            // a broken connection is the client's affair
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(options.grace, graceful.shutdown()).await;
    ended
}
