//! The thread that owns the model: requests go in through a channel, and what is generated comes out through one for each
//! request.

use crate::errors::ApiError;
use crate::metrics::Metrics;
use grammata::error::Error;
use grammata_decode::{
    ChosenToken, Detokenizer, Event, Generation, Model, Request, RequestId, Scheduler, SchedulerOptions,
};
use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc as parts, watch};

/// What a request has generated.
#[derive(Debug)]
pub(crate) enum Output {
    Token(ChosenToken),
    Text(String),
    /// The last one.
    Ended(Result<Box<Generation>, Error>),
}

/// Creates the model on the thread that runs it.
pub type LoadModel = Box<dyn FnOnce() -> Result<Box<dyn Model>, Error> + Send>;

struct Submitted {
    request: Request<'static>,
    outputs: parts::UnboundedSender<Output>,
    submitted: Instant,
    /// Counts against the room for requests until the request has ended.
    place: OwnedSemaphorePermit,
}

/// The handle of the thread. The thread ends when all handles are dropped and all requests have ended.
#[derive(Clone)]
pub(crate) struct Engine {
    submitted: mpsc::Sender<Submitted>,
    room: Arc<Semaphore>,
    /// How many outputs there is room for.
    most: u32,
    /// Closed when the thread has ended.
    alive: watch::Receiver<()>,
}

/// The places of the outputs of one request.
pub(crate) struct Places(OwnedSemaphorePermit);

impl Engine {
    /// Starts the thread and waits until the model is loaded. Returns the handle, and the length of the model's context
    /// in tokens if it declares one. At most `options.batch + options.queue` requests are accepted at a time.
    pub(crate) fn start(
        load: LoadModel,
        detokenizer: Arc<dyn Detokenizer + Send>,
        options: SchedulerOptions,
        metrics: Arc<Metrics>,
    ) -> Result<(Engine, Option<usize>), Error> {
        let most = options.batch.saturating_add(options.queue).min(Semaphore::MAX_PERMITS);
        let room = Arc::new(Semaphore::new(most));
        let (alive, is_alive) = watch::channel(());
        let (submitted, requests) = mpsc::channel();
        let (loaded, context) = mpsc::channel();
        let run = move || {
            // dropped when the thread ends, in whatever way
            let _alive = alive;
            match load() {
                Err(error) => drop(loaded.send(Err(error))),
                Ok(mut model) => {
                    let _ = loaded.send(Ok(model.context_length()));
                    run(&mut *model, &*detokenizer, options, &requests, &metrics);
                }
            }
        };
        let thread = std::thread::Builder::new().name("model".to_owned()).spawn(run);
        thread.map_err(|cause| crate::errors::no_thread(&cause))?;
        let context = context.recv().unwrap_or_else(|_| Err(crate::errors::engine_ended()))?;
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        Ok((Engine { submitted, room, most, alive: is_alive }, context))
    }

    /// Reserves room for the `n` outputs of a request.
    ///
    /// # Errors
    /// There is too little, now or ever.
    pub(crate) fn reserve(&self, n: u32) -> Result<Places, ApiError> {
        if n > self.most {
            let message = format!("`n` is {n}; this server has room for {} outputs", self.most);
            return Err(ApiError::invalid("n", message));
        }
        let places = Arc::clone(&self.room).try_acquire_many_owned(n);
        places.map(Places).map_err(|_| ApiError::busy())
    }

    /// Whether the thread runs.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.has_changed().is_ok()
    }

    /// Waits until the thread has ended, which it does on its own only if it has failed.
    pub(crate) async fn ended(&self) {
        // nothing is ever sent: the channel is closed when its sender is dropped
        let _ = self.alive.clone().changed().await;
    }

    /// Submits a request in one of the reserved places. Dropping the receiver cancels the request. `None` if there is no
    /// place left, or the thread has ended.
    pub(crate) fn submit(
        &self,
        places: &mut Places,
        request: Request<'static>,
    ) -> Option<parts::UnboundedReceiver<Output>> {
        let place = places.0.split(1)?;
        let (outputs, receiver) = parts::unbounded_channel();
        let submitted = Submitted { request, outputs, submitted: Instant::now(), place };
        self.submitted.send(submitted).ok()?;
        Some(receiver)
    }
}

/// A request that the scheduler has.
struct Running {
    outputs: parts::UnboundedSender<Output>,
    submitted: Instant,
    first: Option<Instant>,
    place: OwnedSemaphorePermit,
}

fn run(
    model: &mut dyn Model,
    detokenizer: &dyn Detokenizer,
    options: SchedulerOptions,
    requests: &mpsc::Receiver<Submitted>,
    metrics: &Metrics,
) {
    // the queue's bound is kept by the places
    let mut scheduler = Scheduler::new(detokenizer, options.queue(usize::MAX));
    let mut running: HashMap<RequestId, Running> = HashMap::new();
    loop {
        if scheduler.is_empty() {
            match requests.recv() {
                Ok(submitted) => submit(&mut scheduler, &mut running, submitted),
                Err(mpsc::RecvError) => break,
            }
        }
        requests.try_iter().for_each(|submitted| submit(&mut scheduler, &mut running, submitted));
        let gone: Vec<RequestId> =
            running.iter().filter(|(_, one)| one.outputs.is_closed()).map(|(id, _)| *id).collect();
        for id in gone {
            scheduler.cancel(model, id);
            running.remove(&id);
            metrics.cancelled.inc();
        }
        let before = Instant::now();
        let ended = scheduler.step(model, &mut |id, event| {
            let Some(one) = running.get_mut(&id) else { return };
            let output = match event {
                Event::Token(token) => {
                    if one.first.is_none() {
                        one.first = Some(Instant::now());
                        metrics.first_token.observe(one.submitted.elapsed().as_secs_f64());
                    }
                    Output::Token(token.clone())
                }
                Event::Text(text) => Output::Text(text.clone()),
                Event::Finished(_) => return,
            };
            // a closed channel is found before the next step
            let _ = one.outputs.send(output);
        });
        metrics.stepped(before.elapsed(), scheduler.running(), scheduler.waiting(), scheduler.statistics());
        for ended in ended {
            let Some(Running { outputs, place, .. }) = running.remove(&ended.id) else { continue };
            if let Ok(generation) = &ended.result {
                metrics.generated(generation);
            }
            // before the client knows of the end, so that its next request finds the place free
            drop(place);
            let _ = outputs.send(Output::Ended(ended.result.map(Box::new)));
        }
    }
    scheduler.close(model);
}

fn submit(scheduler: &mut Scheduler<'_>, running: &mut HashMap<RequestId, Running>, submitted: Submitted) {
    let Submitted { request, outputs, submitted, place } = submitted;
    match scheduler.submit(request) {
        Ok(id) => drop(running.insert(id, Running { outputs, submitted, first: None, place })),
        Err(error) => drop(outputs.send(Output::Ended(Err(error)))),
    }
}

/// How long a client should wait before it asks again, when there is no room.
pub(crate) const RETRY_AFTER: Duration = Duration::from_secs(1);
