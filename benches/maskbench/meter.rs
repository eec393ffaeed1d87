//! Counts of a thread while one mask is computed: the engine's causes, allocations, page faults, preemption.
//!
//! Without the feature `attribution` a meter measures nothing.

use super::attribution::Measured;

#[cfg(not(feature = "attribution"))]
mod engine {
    use super::Measured;

    /// A meter that measures nothing.
    pub(crate) struct Meter;

    impl Meter {
        /// Starts to measure.
        pub(crate) fn start() -> Meter {
            Meter
        }

        /// Stops, and returns the measurement.
        pub(crate) fn stop(self) -> Measured {
            Measured::default()
        }
    }
}

#[cfg(feature = "attribution")]
mod engine {
    use super::{Measured, counting, system};
    use grammata::attribution::{Cause, begin, end};

    /// A meter that is running.
    pub(crate) struct Meter {
        heap: counting::Heap,
        thread: system::Thread,
    }

    impl Meter {
        /// Starts to measure.
        pub(crate) fn start() -> Meter {
            let meter = Meter { thread: system::Thread::now(), heap: counting::Heap::now() };
            begin();
            meter
        }

        /// Stops, and returns the measurement.
        pub(crate) fn stop(self) -> Measured {
            let breakdown = end();
            let (heap, thread) = (counting::Heap::now(), system::Thread::now());
            let some = |of: &dyn Fn(Cause) -> u64| {
                let causes = Cause::ALL.into_iter().filter(|&cause| cause != Cause::Unmarked);
                causes.map(|cause| (cause, of(cause))).filter(|&(_, nanoseconds)| nanoseconds > 0).collect()
            };
            Measured {
                total: breakdown.total(),
                causes: some(&|cause| breakdown.nanoseconds(cause)),
                in_vain: some(&|cause| breakdown.in_vain(cause)),
                allocations: heap.calls - self.heap.calls,
                bytes: heap.bytes - self.heap.bytes,
                large: heap.large - self.heap.large,
                faults: thread.faults - self.thread.faults,
                preemptions: thread.preemptions - self.thread.preemptions,
            }
        }
    }
}

pub(crate) use engine::Meter;

/// The system's allocator, counted per thread.
#[cfg(feature = "attribution")]
#[allow(dead_code)] // the tests of the runner keep their own allocator
pub(crate) mod counting {
    use std::alloc::{GlobalAlloc, Layout, System};
    use std::cell::Cell;
    use std::time::Instant;

    /// Blocks of this size or more are timed: for these the kernel allocates and frees memory.
    const LARGE: usize = 64 << 10;

    thread_local! {
        static HEAP: Cell<Heap> = const { Cell::new(Heap { calls: 0, bytes: 0, large: 0 }) };
    }

    /// The allocations of a thread so far.
    #[derive(Clone, Copy)]
    pub(crate) struct Heap {
        /// The number of allocations and reallocations.
        pub(crate) calls: u64,
        pub(crate) bytes: u64,
        /// Nanoseconds of allocating and freeing large blocks.
        pub(crate) large: u64,
    }

    impl Heap {
        pub(crate) fn now() -> Heap {
            HEAP.get()
        }
    }

    /// Runs a call of the allocator and counts it. The call is timed if `size` is large.
    fn counted<T>(calls: u64, size: usize, call: impl FnOnce() -> T) -> T {
        let start = (size >= LARGE).then(Instant::now);
        let result = call();
        let mut heap = HEAP.get();
        heap.calls += calls;
        heap.bytes += calls * size as u64;
        heap.large += start.map_or(0, |start| start.elapsed().as_nanos() as u64);
        HEAP.set(heap);
        result
    }

    pub(crate) struct Counting;

    #[allow(unsafe_code)] // each call is passed on to the system's allocator unchanged
    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            counted(1, layout.size(), || unsafe { System.alloc(layout) })
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            counted(1, layout.size(), || unsafe { System.alloc_zeroed(layout) })
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            counted(1, size.max(layout.size()), || unsafe { System.realloc(block, layout, size) })
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            counted(0, layout.size(), || unsafe { System.dealloc(block, layout) });
        }
    }
}

/// The system's counts of a thread.
#[cfg(feature = "attribution")]
mod system {
    /// Counts of a thread so far; 0 if the system does not report them.
    #[derive(Clone, Copy, Default)]
    pub(super) struct Thread {
        /// Page faults that needed no disk access.
        pub(super) faults: u64,
        /// Involuntary context switches.
        pub(super) preemptions: u64,
    }

    impl Thread {
        #[cfg(target_os = "linux")]
        #[allow(unsafe_code)] // `getrusage` fills a structure of plain numbers
        pub(super) fn now() -> Thread {
            let usage = unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
                usage
            };
            Thread { faults: usage.ru_minflt as u64, preemptions: usage.ru_nivcsw as u64 }
        }

        #[cfg(not(target_os = "linux"))]
        pub(super) fn now() -> Thread {
            Thread::default()
        }
    }
}

/// Returns the nanoseconds of one page fault, measured on memory that is touched for the first time, page by page.
pub(crate) fn fault_cost() -> f64 {
    const PAGES: usize = 4096;
    let mut memory: Vec<u8> = Vec::with_capacity(PAGES << 12);
    let begin = std::time::Instant::now();
    for page in memory.spare_capacity_mut().chunks_mut(1 << 12) {
        page[0].write(1);
    }
    let spent = begin.elapsed().as_nanos() as f64 / PAGES as f64;
    std::hint::black_box(&mut memory);
    spent
}
