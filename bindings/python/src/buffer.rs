//! Writes masks in place, to memory owned by Python objects.
//!
//! The interpreter's lock is not held while a mask is written. Only the caller can keep other threads from using the
//! same memory meanwhile, as with NumPy functions that release the lock. The documentation of `MaskBuffer` tells users
//! so.
#![allow(unsafe_code)] // slices over memory lent through the buffer protocol

use crate::errors::{self, Raise};
use grammata_python_border::ending::PythonCall;
use grammata_python_border::forking::{self, detach};
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use std::sync::atomic::{AtomicBool, Ordering};

/// DLPack device types with memory that the processor can write: CPU, and pinned memory of CUDA and ROCm.
const HOST: [i32; 3] = [1, 3, 11];

/// Memory lent by another Python object: contiguous, aligned, with elements of 32 bits or bytes.
pub(crate) struct View {
    buffer: PyUntypedBuffer,
    /// Length in 32-bit words.
    words: usize,
}

/// Element type of a view.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elements {
    /// 32-bit integers, signed or unsigned, or bytes.
    Words,
    /// 32-bit floats.
    Floats,
}

impl Elements {
    fn allowed(self) -> &'static str {
        match self {
            Elements::Words => "32-bit integers in the machine's byte order, or bytes",
            Elements::Floats => "32-bit floats in the machine's byte order",
        }
    }

    fn has(self, element: ElementType) -> bool {
        match self {
            Elements::Words => matches!(
                element,
                ElementType::SignedInteger { bytes: 4 } | ElementType::UnsignedInteger { bytes: 4 | 1 }
            ),
            Elements::Floats => element == ElementType::Float { bytes: 4 },
        }
    }
}

impl View {
    /// Views the memory of an object that supports the buffer protocol, or DLPack on the CPU.
    ///
    /// # Errors
    /// `python/no-buffer`, `python/device`, `python/read-only`, `python/element-type`, `python/not-contiguous`,
    /// `python/misaligned`.
    pub(crate) fn new(object: &Bound<'_, PyAny>, elements: Elements) -> PyResult<View> {
        let py = object.py();
        let buffer = match memory(object) {
            Ok(buffer) => buffer,
            Err(cause) => PyUntypedBuffer::get(&array(object, &cause)?)?,
        };
        if buffer.readonly() {
            return Err(errors::exception(py, &errors::read_only()));
        }
        let format = buffer.format();
        // `ElementType` drops the byte order of the format
        let other: &[u8] = if cfg!(target_endian = "little") { b">!" } else { b"<" };
        let is_native = format.to_bytes().first().is_none_or(|first| !other.contains(first));
        let size = match ElementType::from_format(format) {
            element if is_native && elements.has(element) => buffer.item_size(),
            _ => 0,
        };
        if !matches!(size, 1 | 4) {
            let found =
                format!("elements of {} bytes, format `{}`", buffer.item_size(), format.to_string_lossy());
            return Err(errors::exception(py, &errors::element_type(&found, elements.allowed())));
        }
        if !buffer.is_c_contiguous() {
            return Err(errors::exception(py, &errors::not_contiguous()));
        }
        let (words, address) = (buffer.len_bytes() / 4, buffer.buf_ptr() as usize);
        // an empty bytearray may have any address
        if words > 0 && !address.is_multiple_of(4) {
            return Err(errors::exception(py, &errors::misaligned(address)));
        }
        Ok(View { words, buffer })
    }

    /// Number of rows and words per row, if the memory has two dimensions of 32-bit elements.
    pub(crate) fn rows(&self) -> Option<(usize, usize)> {
        match *self.buffer.shape() {
            [rows, columns] if self.buffer.item_size() == 4 => Some((rows, columns)),
            _ => None,
        }
    }

    /// The range, in words, of `count` rows starting at row `first`.
    ///
    /// # Errors
    /// `python/rows` if the memory does not have two dimensions of 32-bit elements, or lacks some of these rows.
    pub(crate) fn place(&self, first: usize, count: usize) -> grammata::Result<std::ops::Range<usize>> {
        let (rows, columns) = self.rows().ok_or_else(errors::no_rows)?;
        match first.checked_add(count) {
            Some(end) if end <= rows => Ok(first * columns..end * columns),
            _ => Err(errors::rows(
                &format!("{rows} rows"),
                format!("rows {first} to {}", first.saturating_add(count)),
            )),
        }
    }

    /// The memory as words, for work without the interpreter's lock.
    fn words(&mut self) -> &mut [u32] {
        if self.words == 0 {
            return &mut [];
        }
        // SAFETY: the exporter keeps the memory in place until the buffer is released, which happens when `self` is
        // dropped. The memory is writable, contiguous, aligned to 4 bytes and has `4 * words` bytes, all checked in
        // `new`; any bits are a valid `u32`. The caller must keep others from using the memory meanwhile, as the
        // documentation of `MaskBuffer` says.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.words) }
    }

    /// The memory as floats, for work without the interpreter's lock.
    fn floats(&mut self) -> &mut [f32] {
        if self.words == 0 {
            return &mut [];
        }
        // SAFETY: as in `words`; any bits are a valid `f32`.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.words) }
    }

    /// Runs `work` on the words without the interpreter's lock.
    pub(crate) fn with_words<R: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut [u32]) -> R + Send,
    ) -> R {
        let words = self.words();
        detach(py, || work(words))
    }

    /// Runs `work` on the floats without the interpreter's lock.
    pub(crate) fn with_floats<R: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut [f32]) -> R + Send,
    ) -> R {
        let floats = self.floats();
        detach(py, || work(floats))
    }
}

/// The memory of an object that supports the buffer protocol. Some exporters, such as ctypes, give no strides for
/// contiguous memory; a memoryview adds them.
fn memory(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    PyUntypedBuffer::get(object).or_else(|cause| match PyMemoryView::from(object) {
        Ok(view) => PyUntypedBuffer::get(&view),
        Err(_) => Err(cause),
    })
}

/// An array over the memory of a DLPack object, without a copy.
fn array<'py>(object: &Bound<'py, PyAny>, cause: &PyErr) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let _call = PythonCall::begin(py);
    let name = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let no_buffer = |cause: &PyErr| errors::exception(py, &errors::no_buffer(&name, cause));
    let Ok(device) = object.call_method0("__dlpack_device__") else { return Err(no_buffer(cause)) };
    let device: PyResult<(i32, i32)> = device.extract();
    let (kind, id) = device.map_err(|cause| no_buffer(&cause))?;
    if !HOST.contains(&kind) {
        return Err(errors::exception(py, &errors::device(&format!("device {id} of type {kind}"))));
    }
    // torch tensors create the array themselves, over their own memory
    let made = match object.getattr_opt("numpy")? {
        Some(method) if method.is_callable() => method.call0(),
        _ => py.import("numpy").and_then(|numpy| numpy.call_method1("from_dlpack", (object,))),
    };
    made.map_err(|cause| no_buffer(&cause))
}

/// Memory for masks, which are written in place; it is checked once, here. The memory is a NumPy array of 32-bit
/// integers, a bytearray, a torch tensor on the CPU, or another buffer or DLPack object. It must be contiguous,
/// writable and aligned to 4 bytes. The object cannot be resized while this exists.
///
/// A mask is written without the interpreter's lock. Nothing else may use the memory meanwhile: give each thread its
/// own.
///
/// >>> import grammata
/// >>> memory = bytearray(8)
/// >>> len(grammata.MaskBuffer(memory))
/// 2
#[pyclass(frozen, module = "grammata")]
pub(crate) struct MaskBuffer {
    slot: Slot,
}

/// A view that at most one call may use at a time.
struct Slot {
    view: std::cell::UnsafeCell<View>,
    busy: AtomicBool,
}

// SAFETY: only the call that has set `busy` accesses the view.
unsafe impl Sync for Slot {}

/// Clears the flag of an object in use on drop, also if the work panics.
pub(crate) struct Free<'a>(pub(crate) &'a AtomicBool);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl MaskBuffer {
    /// Runs `work` on the view, or raises `python/buffer-in-use` if another call is using it.
    pub(crate) fn with_view<R>(&self, py: Python<'_>, work: impl FnOnce(&mut View) -> R) -> PyResult<R> {
        // no other thread forks the process while the view is in use: in its child it would stay so
        let _running = forking::begin(py);
        if self.slot.busy.swap(true, Ordering::Acquire) {
            return Err(errors::exception(py, &errors::buffer_in_use()));
        }
        let _free = Free(&self.slot.busy);
        // SAFETY: `busy` was not set, so no other call has the view until `_free` is dropped.
        Ok(work(unsafe { &mut *self.slot.view.get() }))
    }
}

#[pymethods]
impl MaskBuffer {
    #[new]
    #[pyo3(signature = (buffer, /))]
    fn new(buffer: &Bound<'_, PyAny>) -> PyResult<MaskBuffer> {
        let view = View::new(buffer, Elements::Words)?.into();
        Ok(MaskBuffer { slot: Slot { view, busy: AtomicBool::new(false) } })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with_view(py, |view| view.words)
    }
}

/// Runs `work` on the view of a `MaskBuffer`, or on a view of any other object's memory made for this call.
pub(crate) fn with_view<R>(
    object: &Bound<'_, PyAny>,
    work: impl FnOnce(&mut View) -> PyResult<R>,
) -> PyResult<R> {
    match object.cast::<MaskBuffer>() {
        Ok(bound) => bound.get().with_view(object.py(), work)?,
        Err(_) => work(&mut View::new(object, Elements::Words)?),
    }
}

/// Writes a mask to an object's memory, or to one row of it, without the interpreter's lock.
pub(crate) fn fill(
    object: &Bound<'_, PyAny>,
    row: Option<usize>,
    write: impl FnOnce(&mut [u32]) -> grammata::Result<()> + Send,
) -> PyResult<()> {
    let py = object.py();
    with_view(object, |view| {
        let place = match row {
            None => 0..view.words,
            Some(row) => view.place(row, 1).raise(py)?,
        };
        view.with_words(py, |words| write(&mut words[place])).raise(py)
    })
}

/// Writes `count` masks to rows of an object's memory, starting at row `first`. In two-dimensional memory of 32-bit
/// elements these are its rows. Other memory is divided into `count` equal parts, and `first` must be 0. `write` gets
/// the words and the number of words per row, and runs without the interpreter's lock.
pub(crate) fn fill_rows<R: Send>(
    object: &Bound<'_, PyAny>,
    first: usize,
    count: usize,
    write: impl FnOnce(&mut [u32], usize) -> grammata::Result<R> + Send,
) -> PyResult<R> {
    let py = object.py();
    with_view(object, |view| {
        let (place, row) = match view.rows() {
            // `write` checks whether there are enough rows
            Some((rows, columns)) if first <= rows => (first * columns..view.words, columns),
            Some((rows, _)) => {
                return Err(errors::rows(&format!("{rows} rows"), format!("more than {first}"))).raise(py);
            }
            None if first == 0 => (0..view.words, view.words / count.max(1)),
            None => return Err(errors::no_rows()).raise(py),
        };
        view.with_words(py, |words| write(&mut words[place], row)).raise(py)
    })
}
