//! Draws graphs in Graphviz's notation as SVG, with the layout of the `layout-rs` crate.
//!
//! The time of that crate's layout grows steeply with the size, and it recurses and panics on failed assertions. So
//! graphs of more than [`MOST_EDGES`] edges are refused, and the layout runs on a thread with a large stack, which may
//! panic and is abandoned after [`MOST_TIME`].

use crate::draw::canvas::Canvas;
use crate::io::errors;
use crate::io::messages::Progress;
use grammata::error::Result;
use layout::gv::{DotParser, GraphBuilder};
use std::cell::Cell;
use std::panic;
use std::sync::Once;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Maximum number of edges (lines with an arrow) of a graph. The layout of 160 edges took 12 seconds, that of 192 a
/// minute.
const MOST_EDGES: usize = 160;
/// Maximum time for a layout.
const MOST_TIME: Duration = Duration::from_secs(60);
/// Stack size of the layout's thread, in bytes.
const STACK: usize = 256 << 20;

/// Returns the SVG of a graph in the DOT language.
///
/// # Errors
/// The graph has too many edges, its layout takes longer than [`MOST_TIME`], or the layout fails.
pub(crate) fn render(dot: String) -> Result<String> {
    let edges = dot.lines().filter(|line| line.contains("->")).count();
    if edges > MOST_EDGES {
        return Err(errors::drawing_too_large(
            &format!("{edges} edges"),
            &format!("at most {MOST_EDGES} edges"),
        ));
    }
    let progress = Progress::start("laying out the graph");
    let (sender, receiver) = channel();
    // a panic of the crate is reported below as an error, so its own message is suppressed
    let quiet = move || quietly(|| sender.send(lay_out(&dot)));
    let thread = thread::Builder::new().stack_size(STACK).spawn(quiet);
    let outcome = match thread {
        Ok(_) => receiver.recv_timeout(MOST_TIME),
        Err(cause) => Ok(Err(format!("no thread could be started: {cause}"))),
    };
    progress.finish();
    match outcome {
        Ok(Ok(svg)) => Ok(svg),
        Ok(Err(cause)) => Err(errors::drawing_failed(&cause)),
        Err(RecvTimeoutError::Disconnected) => Err(errors::drawing_failed("the layout failed")),
        Err(RecvTimeoutError::Timeout) => Err(errors::drawing_too_large(
            &format!("{edges} edges"),
            "graphs that are laid out within a minute",
        )),
    }
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs a closure and suppresses the messages of its panics. Panics of other threads are reported as before.
fn quietly<R>(work: impl FnOnce() -> R) -> R {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                hook(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let result = work();
    IS_QUIET.set(false);
    result
}

/// A line of a label is broken at the first space after this many characters, because the layout reserves room for
/// whole lines.
const LINE: usize = 24;

/// Returns the graph with long lines of labels broken.
fn wrapped(dot: &str) -> String {
    let mut out = String::with_capacity(dot.len());
    // number of characters since the last line break in a label; `None` outside of labels
    let mut column = None;
    let mut rest = dot.chars();
    while let Some(c) = rest.next() {
        match (column, c) {
            (None, '"') => column = out.ends_with("label=").then_some(0),
            (Some(_), '"') => column = None,
            (Some(length), '\\') => {
                out.push(c);
                let escaped = rest.next().unwrap_or('\\');
                column = Some(if escaped == 'n' { 0 } else { length + 1 });
                out.push(escaped);
                continue;
            }
            (Some(LINE..), ' ') => {
                column = Some(0);
                out.push_str("\\n");
                continue;
            }
            (Some(length), _) => column = Some(length + 1),
            (None, _) => {}
        }
        out.push(c);
    }
    out
}

fn lay_out(dot: &str) -> Result<String, String> {
    let dot = wrapped(dot);
    let graph = DotParser::new(&dot).process()?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&graph);
    let mut canvas = Canvas::new();
    builder.get().do_it(false, false, false, &mut canvas);
    Ok(canvas.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn panics_of_other_threads_are_reported() {
        let reported = Arc::new(AtomicUsize::new(0));
        let (counter, before) = (Arc::clone(&reported), panic::take_hook());
        panic::set_hook(Box::new(move |info| match info.payload_as_str() {
            Some("expected") => _ = counter.fetch_add(1, Ordering::Relaxed),
            _ => before(info),
        }));
        let (begin, begun) = channel();
        let (end, ended) = channel::<()>();
        let layout = thread::spawn(move || {
            quietly(|| {
                let _ = begin.send(());
                let _ = ended.recv();
                panic!("expected")
            })
        });
        begun.recv().unwrap();
        assert!(thread::spawn(|| panic!("expected")).join().is_err());
        assert_eq!(reported.load(Ordering::Relaxed), 1, "while a layout is at work");
        drop(end);
        assert!(layout.join().is_err());
        assert_eq!(reported.load(Ordering::Relaxed), 1, "of the layout");
    }
}
