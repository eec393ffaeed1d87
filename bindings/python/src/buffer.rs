//! Memory of Python that masks are written to where it lies.
//!
//! The interpreter's lock is not held while a mask is written, so nothing but the caller's care keeps another thread from
//! the same memory at the same time, as with any function of NumPy that gives the lock back. This is what `MaskBuffer` says.
#![allow(unsafe_code)] // slices over memory that the buffer protocol lends

use crate::ending::PythonCall;
use crate::errors::{self, Raise};
use pyo3::buffer::{ElementType, PyUntypedBuffer};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use std::sync::atomic::{AtomicBool, Ordering};

/// Types of devices in DLPack whose memory the processor can write: the CPU, and pinned memory of CUDA and ROCm.
const HOST: [i32; 3] = [1, 3, 11];

/// Memory that another object of Python lends, contiguous and aligned, of elements of 32 bits.
pub(crate) struct View {
    buffer: PyUntypedBuffer,
    /// 32-bit words.
    words: usize,
}

/// What the elements of a view are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elements {
    /// 32-bit integers with or without a sign, or bytes.
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
    /// The memory of an object that has the buffer protocol, or DLPack on the CPU.
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
        // `ElementType` does not say what order of bytes the format asks for
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
        // an empty bytearray may point anywhere
        if words > 0 && !address.is_multiple_of(4) {
            return Err(errors::exception(py, &errors::misaligned(address)));
        }
        Ok(View { words, buffer })
    }

    /// Rows and words of a row, if the memory has two dimensions of 32-bit elements.
    pub(crate) fn rows(&self) -> Option<(usize, usize)> {
        match *self.buffer.shape() {
            [rows, columns] if self.buffer.item_size() == 4 => Some((rows, columns)),
            _ => None,
        }
    }

    /// Where `count` rows from row `first` on lie, in words.
    ///
    /// # Errors
    /// `python/rows` if the memory does not have two dimensions, or not these rows.
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
        // SAFETY: the exporter keeps the memory in place until the buffer is released, which is when `self` is dropped; it is
        // writable, contiguous, aligned to 4 bytes and has `4 * words` of them, all checked in `new`; any bits are a `u32`.
        // That nothing else uses it meanwhile is the caller's part, written down in the documentation of `MaskBuffer`.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.words) }
    }

    /// The memory as floats, for work without the interpreter's lock.
    fn floats(&mut self) -> &mut [f32] {
        if self.words == 0 {
            return &mut [];
        }
        // SAFETY: as in `words`; any bits are an `f32`.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast(), self.words) }
    }

    /// Runs `work` on the words without the interpreter's lock.
    pub(crate) fn with_words<R: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut [u32]) -> R + Send,
    ) -> R {
        let words = self.words();
        py.detach(|| work(words))
    }

    /// Runs `work` on the floats without the interpreter's lock.
    pub(crate) fn with_floats<R: Send>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut [f32]) -> R + Send,
    ) -> R {
        let floats = self.floats();
        py.detach(|| work(floats))
    }
}

/// The memory of an object that has the buffer protocol. Some say nothing of strides where there are no gaps (those of ctypes):
/// a memoryview does.
fn memory(object: &Bound<'_, PyAny>) -> PyResult<PyUntypedBuffer> {
    PyUntypedBuffer::get(object).or_else(|cause| match PyMemoryView::from(object) {
        Ok(view) => PyUntypedBuffer::get(&view),
        Err(_) => Err(cause),
    })
}

/// An array over the memory of a DLPack object, which is not copied.
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
    // tensors of torch make the array themselves; the memory is theirs
    let made = match object.getattr_opt("numpy")? {
        Some(method) if method.is_callable() => method.call0(),
        _ => py.import("numpy").and_then(|numpy| numpy.call_method1("from_dlpack", (object,))),
    };
    made.map_err(|cause| no_buffer(&cause))
}

/// Memory that masks are written to where it lies, checked once: a NumPy array of 32-bit integers, a bytearray, a torch tensor on
/// the CPU, or another buffer or DLPack object; contiguous, writable, aligned to 4 bytes. The object lends it as long as this lives,
/// so that it cannot be resized.
///
/// A mask is written without the interpreter's lock. Nothing else may use the memory meanwhile: give each thread its own.
///
/// >>> import grammata
/// >>> memory = bytearray(8)
/// >>> len(grammata.MaskBuffer(memory))
/// 2
#[pyclass(frozen, module = "grammata")]
pub(crate) struct MaskBuffer {
    slot: Slot,
}

/// A view that one call at a time may use.
struct Slot {
    view: std::cell::UnsafeCell<View>,
    busy: AtomicBool,
}

// SAFETY: the view is reached only by the call that has set `busy`.
unsafe impl Sync for Slot {}

/// Gives the slot free again, even where the work panics.
struct Free<'a>(&'a AtomicBool);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl MaskBuffer {
    /// Runs `work` on the view, unless another call does.
    pub(crate) fn with_view<R>(&self, py: Python<'_>, work: impl FnOnce(&mut View) -> R) -> PyResult<R> {
        if self.slot.busy.swap(true, Ordering::Acquire) {
            return Err(errors::exception(py, &errors::buffer_in_use()));
        }
        let _free = Free(&self.slot.busy);
        // SAFETY: `busy` was not set, so that no other call has the view until `_free` is dropped.
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

/// Runs `work` on the view of a `MaskBuffer`, or of any object that lends its memory, for this call.
pub(crate) fn with_view<R>(
    object: &Bound<'_, PyAny>,
    work: impl FnOnce(&mut View) -> PyResult<R>,
) -> PyResult<R> {
    match object.cast::<MaskBuffer>() {
        Ok(bound) => bound.get().with_view(object.py(), work)?,
        Err(_) => work(&mut View::new(object, Elements::Words)?),
    }
}

/// Writes a mask to an object's memory, or to a row of it, without the interpreter's lock.
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

/// Writes `count` masks to rows of an object's memory from row `first` on: of two dimensions, its rows; of one dimension, equal parts
/// of the whole, and `first` is 0. `write` gets the words and how many a row has, and does not have the interpreter's lock.
pub(crate) fn fill_rows<R: Send>(
    object: &Bound<'_, PyAny>,
    first: usize,
    count: usize,
    write: impl FnOnce(&mut [u32], usize) -> grammata::Result<R> + Send,
) -> PyResult<R> {
    let py = object.py();
    with_view(object, |view| {
        let (place, row) = match view.rows() {
            // whether there are enough rows is for `write` to say
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
