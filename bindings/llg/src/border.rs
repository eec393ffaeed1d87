//! The border: pointers from C as references, values as handles, and no panic across.
//!
//! What can be checked is: NULL, alignment, sizes that no object has, and UTF-8. What cannot be (dangling handles, lengths beyond
//! the memory) is what the header asks of the caller.

use crate::errors;
use engine::Result;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

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

    /// Does the work of a function. A panic becomes an error.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let guarded = catch_unwind(AssertUnwindSafe(work));
        guarded.unwrap_or_else(|panic| Err(errors::panicked(&*panic)))
    }

    /// What a handle or a struct stands for.
    pub(crate) fn reference<T>(&self, pointer: *const T, name: &'static str) -> Result<&T> {
        check(pointer, name)?;
        // SAFETY: it is aligned and not NULL; the contract of `new` has the rest, and no function makes a `&mut` of it
        Ok(unsafe { &*pointer })
    }

    /// A list.
    pub(crate) fn list<T: Copy>(&self, first: *const T, count: usize, name: &'static str) -> Result<&[T]> {
        if count == 0 {
            return Ok(&[]);
        }
        check(first, name)?;
        match count.checked_mul(size_of::<T>()) {
            Some(bytes) if isize::try_from(bytes).is_ok() => {}
            _ => return Err(errors::no_such_size(name, count)),
        }
        // SAFETY: it is aligned, not NULL and of a size that an object may have; the contract of `new` has the rest
        Ok(unsafe { std::slice::from_raw_parts(first, count) })
    }

    /// Text that ends with NUL.
    pub(crate) fn text(&self, string: *const c_char, name: &'static str) -> Result<&str> {
        check(string, name)?;
        // SAFETY: it is not NULL, and by the contract of `new` ends with NUL
        let string = unsafe { CStr::from_ptr(string) };
        string.to_str().map_err(|error| errors::not_utf8(name, &error))
    }

    /// Writes a value, if there is a place for it.
    pub(crate) fn set<T>(&self, place: *mut T, value: T) {
        if check(place, "place").is_ok() {
            // SAFETY: it is aligned, not NULL, and by the contract of `new` memory for one element
            unsafe { place.write(value) };
        }
    }

    /// Writes a message and a NUL to a buffer of `capacity` bytes: as much of it as there is room for, in whole characters.
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
        // SAFETY: by the contract of `new` there is room for `capacity` bytes, of which `length + 1` are written; the message is
        // this function's own
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), buffer, length);
            buffer.add(length).write(0);
        }
    }

    /// Gives a value away as a handle.
    pub(crate) fn give<T>(&self, value: T) -> *mut T {
        Box::into_raw(Box::new(value))
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

/// Text as C has it. A NUL in it would end it: it is shown as U+2400.
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
