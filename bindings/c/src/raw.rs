//! The border: pointers from C as references, values as handles, and no panic across.
//!
//! What can be checked is: NULL, alignment, sizes that no object has, UTF-8, and use by two threads at once. What cannot be
//! (dangling handles, lengths beyond the memory) is what the header asks of the caller.

use crate::error::GrammataError;
use crate::failure::{self, Failure, GrammataStatus, Result};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};

/// One call from C, whose caller has kept to the contract of the header. References that it gives do not outlive it.
pub(crate) struct Call(());

impl Call {
    /// Takes up the contract.
    ///
    /// # Safety
    /// For as long as the value lives, each pointer that its methods are given must be NULL or misaligned, or
    /// - as a handle: come from this library and not be freed;
    /// - as a list: lead to as many initialized elements as the method is told, which no one changes meanwhile;
    /// - as a string: lead to bytes that end with NUL, which no one changes meanwhile;
    /// - as a place to write to: lead to memory for as many elements, which no one else reads or writes meanwhile.
    pub(crate) unsafe fn new() -> Call {
        Call(())
    }

    /// Does the work of a function that gives a status. A panic becomes an error; `error` gets what there is to say.
    pub(crate) fn run(
        &self,
        error: *mut *mut GrammataError,
        work: impl FnOnce() -> Result<()>,
    ) -> GrammataStatus {
        let guarded = catch_unwind(AssertUnwindSafe(work));
        let result = guarded.unwrap_or_else(|panic| Err(failure::panicked(&*panic)));
        let (status, made) = match result {
            Ok(()) => (GrammataStatus::Ok, std::ptr::null_mut()),
            // nobody would read the message
            Err(failure) if error.is_null() => (failure.status, std::ptr::null_mut()),
            Err(failure) => (failure.status, Box::into_raw(Box::new(GrammataError::new(failure)))),
        };
        if let Err(failure) = self.set(error, made, "error")
            && !error.is_null()
        {
            self.free(made);
            return failure.status;
        }
        status
    }

    /// What a handle stands for.
    pub(crate) fn handle<T: Sync>(&self, handle: *const T, name: &'static str) -> Result<&T> {
        check(handle, name)?;
        // SAFETY: it is aligned and not NULL, so by the contract of `new` it comes from `give` and was not freed; `T` is
        // shared, as no function makes a `&mut` of a handle
        Ok(unsafe { &*handle })
    }

    /// A struct whose members C can see.
    pub(crate) fn layout<T>(&self, pointer: *const T, name: &'static str) -> Result<&T> {
        check(pointer, name)?;
        // SAFETY: it is aligned and not NULL; by the contract of `new` it leads to one initialized element, which no one changes
        // meanwhile
        Ok(unsafe { &*pointer })
    }

    /// What a handle stands for, where the function has no way to say that there is none.
    pub(crate) fn any<T: Sync>(&self, handle: *const T) -> Option<&T> {
        self.handle(handle, "handle").ok()
    }

    /// A list.
    pub(crate) fn list<T: Copy>(&self, first: *const T, count: usize, name: &'static str) -> Result<&[T]> {
        if count == 0 {
            return Ok(&[]);
        }
        check(first, name)?;
        check_size::<T>(count, name)?;
        // SAFETY: it is aligned, not NULL and of a size that an object may have; the contract of `new` has the rest
        Ok(unsafe { std::slice::from_raw_parts(first, count) })
    }

    /// A list to write to. C need not have initialized it: it holds integers, of which each value is one.
    #[allow(clippy::mut_from_ref)] // the memory is the caller's; `self` bounds how long it is borrowed
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
        // SAFETY: as for `list`, and no one else reads or writes it
        Ok(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    /// Bytes.
    pub(crate) fn bytes(&self, first: *const c_char, count: usize, name: &'static str) -> Result<&[u8]> {
        self.list(first.cast(), count, name)
    }

    /// Text by its length.
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

    /// Text that ends with NUL, or nothing.
    pub(crate) fn maybe_text(&self, string: *const c_char, name: &'static str) -> Result<Option<&str>> {
        if string.is_null() {
            return Ok(None);
        }
        let text = self.string(string, name)?.to_str();
        text.map(Some).map_err(|error| failure::not_utf8(name, &error))
    }

    /// Writes a value.
    pub(crate) fn set<T>(&self, place: *mut T, value: T, name: &'static str) -> Result<()> {
        check(place, name)?;
        // SAFETY: it is aligned, not NULL, and by the contract of `new` memory for one element. What was there is not dropped
        unsafe { place.write(value) };
        Ok(())
    }

    /// Sets a place for a handle to NULL, before the work that may fail.
    pub(crate) fn clear<T>(&self, place: *mut *mut T) -> Result<()> {
        self.set(place, std::ptr::null_mut(), "out")
    }

    /// Gives a value away as a handle.
    pub(crate) fn give<T>(&self, place: *mut *mut T, value: T) -> Result<()> {
        check(place, "out")?;
        self.set(place, Box::into_raw(Box::new(value)), "out")
    }

    /// Writes a list to a buffer of the caller.
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

    /// Frees a handle. A panic on the way is caught: the memory is then lost.
    pub(crate) fn free<T>(&self, handle: *mut T) {
        if check(handle, "handle").is_err() {
            return;
        }
        // SAFETY: it is aligned and not NULL, so by the contract of `new` it comes from `give` and was not freed
        let value = unsafe { Box::from_raw(handle) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
}

fn check<T>(pointer: *const T, name: &'static str) -> Result<()> {
    if pointer.is_null() {
        return Err(failure::null(name));
    }
    if !pointer.is_aligned() {
        return Err(failure::misaligned(name, pointer.addr(), align_of::<T>()));
    }
    Ok(())
}

/// No object has more than half of the addresses.
fn check_size<T>(count: usize, name: &'static str) -> Result<()> {
    match count.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(()),
        _ => Err(failure::no_such_size(name, count)),
    }
}

const IDLE: u8 = 0;
const IN_USE: u8 = 1;
/// A panic left the value as no one knows.
const BROKEN: u8 = 2;

/// A value that one call at a time may use. A second one is refused; it does not wait.
pub(crate) struct Exclusive<T> {
    state: AtomicU8,
    value: UnsafeCell<T>,
}

// SAFETY: `Using` alone leads to the value, and there is one at a time: the value is used by one thread after the other
unsafe impl<T: Send> Sync for Exclusive<T> {}

/// The use of an [`Exclusive`], until it is dropped.
pub(crate) struct Using<'a, T>(&'a Exclusive<T>);

impl<T> Exclusive<T> {
    pub(crate) fn new(value: T) -> Exclusive<T> {
        Exclusive { state: AtomicU8::new(IDLE), value: UnsafeCell::new(value) }
    }

    /// The use of the value, if no one else has it.
    pub(crate) fn acquire(&self) -> Result<Using<'_, T>> {
        match self.state.compare_exchange(IDLE, IN_USE, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Ok(Using(self)),
            Err(IN_USE) => Err(failure::busy()),
            Err(_) => Err(failure::broken()),
        }
    }

    /// Whether the value may be freed: no one uses it, and no one will.
    pub(crate) fn retire(&self) -> Result<()> {
        match self.acquire() {
            Ok(using) => {
                std::mem::forget(using);
                Ok(())
            }
            Err(Failure { status: GrammataStatus::Busy, error }) => {
                Err(Failure { status: GrammataStatus::Busy, error })
            }
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
        // SAFETY: `acquire` made this the only `Using` of the value, and it is borrowed as such
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
