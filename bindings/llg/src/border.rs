//! The boundary to C: pointers from C become references, values become handles, and no panic crosses.
//!
//! Checked: NULL, alignment, sizes that no object has, and UTF-8. What cannot be checked (dangling handles, lengths
//! beyond the memory) is the caller's duty under the contract of the header.

use crate::errors;
use engine::Result;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

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

    /// Runs the body of a function. A panic becomes an error.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let guarded = catch_unwind(AssertUnwindSafe(work));
        guarded.unwrap_or_else(|panic| Err(errors::panicked(&*panic)))
    }

    /// The value of a handle, or a struct.
    pub(crate) fn reference<T>(&self, pointer: *const T, name: &'static str) -> Result<&T> {
        check(pointer, name)?;
        // SAFETY: it is aligned and not NULL; the contract of `new` covers the rest, and no function makes a `&mut` of
        // it
        Ok(unsafe { &*pointer })
    }

    /// A list of `count` elements.
    pub(crate) fn list<T: Copy>(&self, first: *const T, count: usize, name: &'static str) -> Result<&[T]> {
        if count == 0 {
            return Ok(&[]);
        }
        check(first, name)?;
        match count.checked_mul(size_of::<T>()) {
            Some(bytes) if isize::try_from(bytes).is_ok() => {}
            _ => return Err(errors::no_such_size(name, count)),
        }
        // SAFETY: it is aligned, not NULL and of a size that an object may have; the contract of `new` covers the rest
        Ok(unsafe { std::slice::from_raw_parts(first, count) })
    }

    /// UTF-8 text that ends with NUL.
    pub(crate) fn text(&self, string: *const c_char, name: &'static str) -> Result<&str> {
        check(string, name)?;
        // SAFETY: it is not NULL, and by the contract of `new` ends with NUL
        let string = unsafe { CStr::from_ptr(string) };
        string.to_str().map_err(|error| errors::not_utf8(name, &error))
    }

    /// Writes a value, unless the place is NULL or misaligned.
    pub(crate) fn set<T>(&self, place: *mut T, value: T) {
        if check(place, "place").is_ok() {
            // SAFETY: it is aligned, not NULL, and by the contract of `new` memory for one element
            unsafe { place.write(value) };
        }
    }

    /// Writes a message and a NUL to a buffer of `capacity` bytes. The message is truncated to whole characters that
    /// fit.
    pub(crate) fn write_message(&self, message: &str, buffer: *mut c_char, capacity: usize) {
        if buffer.is_null() || capacity == 0 || isize::try_from(capacity).is_err() {
            return;
        }
        let message = c_string(message);
        let bytes = message.as_bytes();
        let mut length = bytes.len().min(capacity - 1);
        while length > 0 && bytes.get(length).is_some_and(|byte| byte & 0xC0 == 0x80) {
            length -= 1;
        }
        // SAFETY: by the contract of `new` the buffer has `capacity` bytes, of which `length + 1` are written; this
        // function owns the message
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), buffer, length);
            buffer.add(length).write(0);
        }
    }

    /// Moves a value to the heap and returns its handle.
    pub(crate) fn give<T>(&self, value: T) -> *mut T {
        Box::into_raw(Box::new(value))
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

/// Converts text to a C string. A NUL, which would end it, is shown as U+2400.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{2400}")).unwrap_or_default()
}

fn check<T>(pointer: *const T, name: &'static str) -> Result<()> {
    if pointer.is_null() {
        return Err(errors::null(name));
    }
    if !pointer.is_aligned() {
        return Err(errors::misaligned(name, align_of::<T>()));
    }
    Ok(())
}
