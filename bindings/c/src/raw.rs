//! The boundary to C: pointers from C become references, values become handles, and no panic crosses.
//!
//! Checked: NULL, alignment, sizes that no object has, UTF-8, and use by two threads at the same time. What cannot be
//! checked (dangling handles, lengths beyond the memory) is the caller's duty under the contract of the header.

use crate::error::GrammataError;
use crate::failure::{self, GrammataStatus, Result};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};

/// A call from C, whose caller keeps the contract of the header. References obtained from it do not outlive it.
pub(crate) struct Call(());

impl Call {
    /// Starts a call.
    ///
    /// # Safety
    /// While the value exists, each pointer passed to its methods must be NULL or misaligned, or
    /// - as a handle: come from this library and not be freed;
    /// - as a list: point to as many initialized elements as the method is told, which nobody changes meanwhile;
    /// - as a string: point to bytes that end with NUL, which nobody changes meanwhile;
    /// - as a place to write to: point to memory for as many elements, which nobody else reads or writes meanwhile.
    pub(crate) unsafe fn new() -> Call {
        Call(())
    }

    /// Runs the body of a function that returns a status. A panic becomes an error; `*error` is set to the error or
    /// NULL.
    pub(crate) fn run(
        &self,
        error: *mut *mut GrammataError,
        work: impl FnOnce() -> Result<()>,
    ) -> GrammataStatus {
        let guarded = catch_unwind(AssertUnwindSafe(work));
        let result = guarded.unwrap_or_else(|panic| Err(failure::panicked(&*panic)));
        let status = GrammataStatus::of_result(&result);
        let made = match result {
            // without `error` the message is not needed
            Err(failure) if !error.is_null() => Box::into_raw(Box::new(GrammataError::new(&failure))),
            _ => std::ptr::null_mut(),
        };
        if let Err(failure) = self.set(error, made, "error")
            && !error.is_null()
        {
            self.free(made);
            return GrammataStatus::of(&failure);
        }
        status
    }

    /// Like [`run`](Call::run), for a function that returns a handle by `*out`, which is NULL if the work fails.
    pub(crate) fn make<T>(
        &self,
        error: *mut *mut GrammataError,
        out: *mut *mut T,
        work: impl FnOnce() -> Result<T>,
    ) -> GrammataStatus {
        self.run(error, || {
            self.clear(out)?;
            self.give(out, work()?)
        })
    }

    /// Like [`run`](Call::run), for a function that writes its answer to a place, given with its name.
    pub(crate) fn answer<T>(
        &self,
        error: *mut *mut GrammataError,
        (place, name): (*mut T, &'static str),
        work: impl FnOnce() -> Result<T>,
    ) -> GrammataStatus {
        self.run(error, || self.set(place, work()?, name))
    }

    /// The value of a handle.
    pub(crate) fn handle<T: Sync>(&self, handle: *const T, name: &'static str) -> Result<&T> {
        check(handle, name)?;
        // SAFETY: it is aligned and not NULL, so by the contract of `new` it comes from `give` and was not freed; `T`
        // is shared, as no function makes a `&mut` of a handle
        Ok(unsafe { &*handle })
    }

    /// A struct whose members are visible to C.
    pub(crate) fn layout<T>(&self, pointer: *const T, name: &'static str) -> Result<&T> {
        check(pointer, name)?;
        // SAFETY: it is aligned and not NULL; by the contract of `new` it points to one initialized element, which
        // nobody changes meanwhile
        Ok(unsafe { &*pointer })
    }

    /// The value of a handle, for functions that cannot report errors; `None` for NULL or a misaligned pointer.
    pub(crate) fn any<T: Sync>(&self, handle: *const T) -> Option<&T> {
        self.handle(handle, "handle").ok()
    }

    /// A list of `count` elements.
    pub(crate) fn list<T: Copy>(&self, first: *const T, count: usize, name: &'static str) -> Result<&[T]> {
        if count == 0 {
            return Ok(&[]);
        }
        check(first, name)?;
        check_size::<T>(count, name)?;
        // SAFETY: it is aligned, not NULL and of a size that an object may have; the contract of `new` covers the rest
        Ok(unsafe { std::slice::from_raw_parts(first, count) })
    }

    /// A list to write to. It may be uninitialized in C, so elements must be integers, for which all bits are valid.
    #[allow(clippy::mut_from_ref)] // the caller owns the memory; `self` bounds how long it is borrowed
    pub(crate) fn list_mut<T: Copy>(
        &self,
        first: *mut T,
        count: usize,
        name: &'static str,
    ) -> Result<&mut [T]> {
        if count == 0 {
            return Ok(&mut []);
        }
        check(first, name)?;
        check_size::<T>(count, name)?;
        // SAFETY: as for `list`, and nobody else reads or writes it
        Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    /// A list of bytes.
    pub(crate) fn bytes(&self, first: *const c_char, count: usize, name: &'static str) -> Result<&[u8]> {
        self.list(first.cast(), count, name)
    }

    /// UTF-8 text of `length` bytes.
    pub(crate) fn text(&self, first: *const c_char, length: usize, name: &'static str) -> Result<&str> {
        let bytes = self.bytes(first, length, name)?;
        str::from_utf8(bytes).map_err(|error| failure::not_utf8(name, &error))
    }

    /// A string that ends with NUL.
    pub(crate) fn string(&self, string: *const c_char, name: &'static str) -> Result<&CStr> {
        check(string, name)?;
        // SAFETY: it is not NULL, and by the contract of `new` ends with NUL
        Ok(unsafe { CStr::from_ptr(string) })
    }

    /// UTF-8 text that ends with NUL; `None` for NULL.
    pub(crate) fn maybe_text(&self, string: *const c_char, name: &'static str) -> Result<Option<&str>> {
        if string.is_null() {
            return Ok(None);
        }
        let text = self.string(string, name)?.to_str();
        text.map(Some).map_err(|error| failure::not_utf8(name, &error))
    }

    /// Writes a value to a place.
    pub(crate) fn set<T>(&self, place: *mut T, value: T, name: &'static str) -> Result<()> {
        check(place, name)?;
        // SAFETY: it is aligned, not NULL, and by the contract of `new` memory for one element. The old value is not
        // dropped
        unsafe { place.write(value) };
        Ok(())
    }

    /// Sets `*out` to NULL, before work that may fail.
    pub(crate) fn clear<T>(&self, place: *mut *mut T) -> Result<()> {
        self.set(place, std::ptr::null_mut(), "out")
    }

    /// Moves a value to the heap and writes its handle to `*out`.
    pub(crate) fn give<T>(&self, place: *mut *mut T, value: T) -> Result<()> {
        check(place, "out")?;
        self.set(place, Box::into_raw(Box::new(value)), "out")
    }

    /// Copies a list to a buffer of the caller, and sets `*length` to its length in any case. A capacity of 0 only asks
    /// for the length.
    pub(crate) fn copy<T: Copy>(
        &self,
        list: &[T],
        buffer: *mut T,
        capacity: usize,
        length: *mut usize,
    ) -> Result<()> {
        self.set(length, list.len(), "length")?;
        if capacity == 0 {
            return Ok(());
        }
        let buffer = self.list_mut(buffer, capacity, "buffer")?;
        match buffer.get_mut(..list.len()) {
            Some(room) => {
                room.copy_from_slice(list);
                Ok(())
            }
            None => Err(failure::too_short(capacity, list.len())),
        }
    }

    /// Frees a handle. A panic in its destructor is caught; the memory may then leak.
    pub(crate) fn free<T>(&self, handle: *mut T) {
        if check(handle, "handle").is_err() {
            return;
        }
        // SAFETY: it is aligned and not NULL, so by the contract of `new` it comes from `give` and was not freed
        let value = unsafe { Box::from_raw(handle) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
}

/// Runs the body of a function of the header that returns a status: see [`Call::run`].
macro_rules! run {
    ($error:expr, |$call:ident| $work:expr) => {{
        // SAFETY: the contract of the header
        let $call = unsafe { $crate::raw::Call::new() };
        $call.run($error, || $work)
    }};
}

/// Runs the body of a function that makes a handle: see [`Call::make`].
macro_rules! make {
    ($error:ident, $out:ident, |$call:ident| $value:expr) => {{
        // SAFETY: the contract of the header
        let $call = unsafe { $crate::raw::Call::new() };
        $call.make($error, $out, || $value)
    }};
}

/// Runs the body of a function that writes its answer to the place that an argument points to: see [`Call::answer`].
macro_rules! answer {
    ($error:ident, $place:ident, |$call:ident| $value:expr) => {{
        // SAFETY: the contract of the header
        let $call = unsafe { $crate::raw::Call::new() };
        $call.answer($error, ($place, stringify!($place)), || $value)
    }};
}

/// Asks the value of a handle; the answer for NULL is the second argument.
macro_rules! ask {
    ($handle:ident, $otherwise:expr, |$value:ident| $answer:expr) => {{
        // SAFETY: the contract of the header
        let call = unsafe { $crate::raw::Call::new() };
        match call.any($handle) {
            Some($value) => $answer,
            None => $otherwise,
        }
    }};
}

/// Frees a handle.
macro_rules! free {
    ($handle:ident) => {{
        // SAFETY: the contract of the header
        unsafe { $crate::raw::Call::new() }.free($handle);
    }};
}

pub(crate) use {answer, ask, free, make, run};

fn check<T>(pointer: *const T, name: &'static str) -> Result<()> {
    if pointer.is_null() {
        return Err(failure::null(name));
    }
    if !pointer.is_aligned() {
        return Err(failure::misaligned(name, pointer.addr(), align_of::<T>()));
    }
    Ok(())
}

/// Fails if `count` elements are larger than any object may be (half of the address space).
fn check_size<T>(count: usize, name: &'static str) -> Result<()> {
    match count.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(failure::no_such_size(name, count)),
    }
}

const IDLE: u8 = 0;
const IN_USE: u8 = 1;
/// A panic left the value in an unknown state.
const BROKEN: u8 = 2;

/// A value that at most one call may use at a time. A second call is refused; it does not wait.
pub(crate) struct Exclusive<T> {
    state: AtomicU8,
    value: UnsafeCell<T>,
}

// SAFETY: the value is only accessed through `Using`, which exists once at a time, so threads use it one after the
// other
unsafe impl<T: Send> Sync for Exclusive<T> {}

/// Exclusive access to an [`Exclusive`], until it is dropped.
pub(crate) struct Using<'a, T>(&'a Exclusive<T>);

impl<T> Exclusive<T> {
    pub(crate) fn new(value: T) -> Exclusive<T> {
        Exclusive { state: AtomicU8::new(IDLE), value: UnsafeCell::new(value) }
    }

    /// Gains access to the value. Fails if another call has it, or a panic broke it.
    pub(crate) fn acquire(&self) -> Result<Using<'_, T>> {
        match self.state.compare_exchange(IDLE, IN_USE, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(Using(self)),
            Err(IN_USE) => Err(failure::busy()),
            Err(_) => Err(failure::broken()),
        }
    }

    /// Reserves the value permanently, so that it can be freed. Fails only if another call is using it.
    pub(crate) fn retire(&self) -> Result<()> {
        match self.acquire() {
            Ok(using) => {
                std::mem::forget(using);
                Ok(())
            }
            Err(error) if GrammataStatus::of(&error) == GrammataStatus::Busy => Err(error),
            Err(_) => Ok(()),
        }
    }
}

impl<T> Deref for Using<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: `acquire` made this the only `Using` of the value
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Using<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `acquire` made this the only `Using` of the value, and `self` is mutably borrowed
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> AsMut<T> for Using<'_, T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T> Drop for Using<'_, T> {
    fn drop(&mut self) {
        let state = if std::thread::panicking() { BROKEN } else { IDLE };
        self.0.state.store(state, Ordering::Release);
    }
}
