"""Memory for masks: every kind, and memory that is refused."""

import array
import ctypes
import mmap
import pickle

import grammata
import numpy as np
import pytest
from conftest import bits

WORDS = 9  # of the vocabulary of single bytes


@pytest.fixture
def matcher(bytewise):
    return bytewise.compile_regex("[ac]").matcher()


class Tensor:
    """A tensor like those of torch: with DLPack and a method `numpy`, without the buffer protocol."""

    def __init__(self, size: int, device: tuple[int, int] = (1, 0)) -> None:
        self.memory = np.zeros(size, np.int32)
        self.device = device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **options: object) -> object:
        return self.memory.__dlpack__(**options)

    def numpy(self) -> np.ndarray:
        return self.memory


class Plain(Tensor):
    """A DLPack object without a method `numpy`."""

    numpy = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "memory",
    [
        np.ones(WORDS, np.int32),
        np.ones(WORDS, np.uint32),
        np.ones((3, WORDS), np.int32)[1],
        array.array("I", [1] * WORDS),
        array.array("i", [1] * WORDS),
        bytearray(b"\xff" * (4 * WORDS)),
        memoryview(bytearray(4 * WORDS)).cast("I"),
        (ctypes.c_uint32 * WORDS)(),
        mmap.mmap(-1, 4096),
    ],
    ids=lambda memory: type(memory).__name__,
)
def test_kinds_of_memory(matcher, memory):
    matcher.fill_mask(memory)
    assert bits(memory) == [97, 99]


@pytest.mark.parametrize("kind", [Tensor, Plain])
def test_dlpack(matcher, kind):
    tensor = kind(WORDS)
    matcher.fill_mask(tensor)
    assert bits(tensor.memory) == [97, 99]
    bound = grammata.MaskBuffer(tensor)
    tensor.memory[:] = 0
    matcher.fill_mask(bound)
    assert bits(tensor.memory) == [97, 99]
    matcher.fill_mask(kind(WORDS, (3, 0)))
    with pytest.raises(grammata.UsageError) as caught:
        matcher.fill_mask(kind(WORDS, (2, 1)))
    assert caught.value.code == "python/device" and "type 2" in caught.value.found


def unaligned() -> memoryview:
    memory = bytearray(4 * WORDS + 8)
    start = next(at for at in range(1, 4) if (ctypes.addressof(ctypes.c_char.from_buffer(memory)) + at) % 4)
    return memoryview(memory)[start : start + 4 * WORDS]


WRONG = {
    "read-only": (lambda: bytes(4 * WORDS), "python/read-only"),
    "read-only array": (lambda: np.broadcast_to(np.int32(0), WORDS), "python/read-only"),
    "floats": (lambda: np.zeros(WORDS, np.float32), "python/element-type"),
    "64 bits": (lambda: np.zeros(WORDS, np.int64), "python/element-type"),
    "bools": (lambda: np.zeros(300, bool), "python/element-type"),
    "signed bytes": (lambda: np.zeros(300, np.int8), "python/element-type"),
    "other order": (lambda: np.zeros(WORDS, ">i4"), "python/element-type"),
    "records": (lambda: np.zeros(WORDS, [("a", "i4")]), "python/element-type"),
    "gaps": (lambda: np.zeros(2 * WORDS, np.int32)[::2], "python/not-contiguous"),
    "columns": (lambda: np.zeros((WORDS, 2), np.int32, order="F"), "python/not-contiguous"),
    "misaligned": (unaligned, "python/misaligned"),
    "too short": (lambda: np.zeros(WORDS - 1, np.int32), "mask/buffer-too-short"),
    "too short by a byte": (lambda: bytearray(4 * WORDS - 1), "mask/buffer-too-short"),
    "empty": (lambda: np.zeros(0, np.int32), "mask/buffer-too-short"),
    "no memory": (lambda: [0] * WORDS, "python/no-buffer"),
    "nothing": (lambda: None, "python/no-buffer"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_memory(matcher, name):
    make, code = WRONG[name]
    for fill in (matcher.fill_mask, matcher.mask().write_to, lambda memory: matcher.fill_mask_within(1, memory)):
        with pytest.raises(grammata.UsageError) as caught:
            fill(make())
        assert caught.value.code == code
    if not code.startswith("mask/"):
        with pytest.raises(grammata.UsageError):
            grammata.MaskBuffer(make())
    if not code.startswith("mask/"):
        with pytest.raises(grammata.UsageError) as caught:
            grammata.fill_masks([matcher, matcher.fork()], make())
        assert caught.value.code == code
    matcher.accept_bytes("a")


class Lying(Tensor):
    """A DLPack object that fails where it is asked."""

    def __init__(self, where: str) -> None:
        super().__init__(WORDS)
        self.where = where

    def __dlpack_device__(self) -> tuple[int, int]:
        if self.where == "device":
            raise RuntimeError("no device")
        return "cpu" if self.where == "answer" else (1, 0)  # type: ignore[return-value]

    def numpy(self) -> np.ndarray:
        if self.where == "memory":
            raise RuntimeError("the tensor needs a gradient")
        return self.memory.astype(np.float64) if self.where == "elements" else self.memory


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("device", "python/no-buffer"),
        ("answer", "python/no-buffer"),
        ("memory", "python/no-buffer"),
        ("elements", "python/element-type"),
    ],
)
def test_objects_that_fail_where_they_are_asked(matcher, where, code):
    for fill in (matcher.fill_mask, grammata.MaskBuffer, lambda memory: grammata.mask_logits(np.zeros(9, np.float32), memory)):
        with pytest.raises(grammata.UsageError) as caught:
            fill(Lying(where))
        assert caught.value.code == code
    matcher.fill_mask(Lying("nowhere"))


def test_memory_that_was_let_go(matcher):
    view = memoryview(bytearray(4 * WORDS))
    view.release()
    with pytest.raises(grammata.UsageError) as caught:
        matcher.fill_mask(view)
    assert caught.value.code == "python/no-buffer"
    mapped = mmap.mmap(-1, 4096)
    bound = grammata.MaskBuffer(mapped)
    with pytest.raises(BufferError):
        mapped.close()
    matcher.fill_mask(bound)
    del bound
    mapped.close()
    with pytest.raises(grammata.UsageError):
        matcher.fill_mask(mapped)


def test_bound_memory_is_lent(matcher):
    memory = bytearray(4 * WORDS)
    bound = grammata.MaskBuffer(memory)
    with pytest.raises(BufferError):
        memory.extend(b"more")
    matcher.fill_mask(bound)
    assert len(bound) == WORDS
    del bound
    memory.extend(b"more")


def test_batches(bytewise):
    grammar, other = bytewise.compile_regex("[ac]"), bytewise.compile_regex("b")
    for count in (0, 1, 3, 4, 5, 40):
        matchers = [(grammar if row % 2 else other).matcher() for row in range(count)]
        table = np.ones((count + 1, WORDS + 2), np.int32)
        assert grammata.fill_masks(matchers, table) is None
        flat = bytearray(4 * WORDS * count)
        assert grammata.fill_masks(matchers, flat, errors="return") == [None] * count
        for row in range(count):
            expected = [97, 99] if row % 2 else [98]
            assert bits(table[row]) == expected
            assert bits(flat[4 * WORDS * row : 4 * WORDS * (row + 1)]) == expected
        assert (table[count] == 1).all()
        failed = grammata.accept_tokens(matchers, [97] * count, errors="return")
        assert [error is None for error in failed] == [bool(row % 2) for row in range(count)]
        assert [matcher.steps for matcher in matchers] == [row % 2 for row in range(count)]


def test_wrong_batches(bytewise):
    matchers = [bytewise.compile_regex("a").matcher() for _ in range(6)]
    for count in (3, 6):
        some = matchers[:count]
        for memory in (np.zeros((count, WORDS - 1), np.int32), bytearray()):
            short = grammata.fill_masks(some, memory, errors="return")
            assert [error.code for error in short] == ["mask/buffer-too-short"] * count
            with pytest.raises(grammata.BatchError) as caught:
                grammata.fill_masks(some, memory)
            assert [error.code for error in caught.value.errors] == ["mask/buffer-too-short"] * count
            assert caught.value.code == "mask/buffer-too-short"
            assert str(caught.value).startswith(f"{count} of {count} matchers failed\nmatcher 0: error[mask/buffer-too-short]")
        for wrong in (
            lambda some=some: grammata.fill_masks(some, np.zeros((len(some) - 1, WORDS), np.int32)),
            lambda some=some: grammata.accept_tokens(some, [97]),
        ):
            with pytest.raises(grammata.UsageError) as caught:
                wrong()
            assert caught.value.code == "python/rows"
        with pytest.raises(grammata.UsageError) as caught:
            grammata.fill_masks([*some, some[0]], np.zeros((count + 1, WORDS), np.int32))
        assert caught.value.code == "python/matcher-in-use"
    grammata.fill_masks(matchers, np.zeros((6, WORDS), np.int32))
    with pytest.raises(grammata.UsageError) as caught:
        grammata.fill_masks(matchers, np.zeros((6, WORDS), np.int32), errors="ignore")
    assert caught.value.code == "python/option"
    with pytest.raises(TypeError):
        grammata.fill_masks([1], np.zeros((1, WORDS), np.int32))


@pytest.mark.parametrize("count", (3, 9))
def test_the_row_of_a_matcher_that_fails_allows_nothing(count):
    tokens = [bytes([byte]) for byte in range(256)]
    vocabulary = grammata.Vocabulary.from_tokens([*tokens, None], specials={"<end>": 256}, eos=256)
    grammar = grammata.Compiler(vocabulary).compile_regex("[ac]")
    limited = grammata.Compiler(vocabulary, limits={"mask_work": 0}).compile_regex("(a|b)*a(a|b){8}")
    matchers = [(grammar if row % 2 else limited).matcher() for row in range(count)]
    for errors in ("raise", "return"):
        table = np.full((count, WORDS), -1, np.int32)
        if errors == "raise":
            with pytest.raises(grammata.BatchError, match=rf"^{count // 2 + 1} of {count} matchers failed\nmatcher 0: ") as caught:
                grammata.fill_masks(matchers, table)
            failed = caught.value.errors
            assert pickle.loads(pickle.dumps(caught.value)).errors[0].code == "limit/exceeded"
        else:
            failed = grammata.fill_masks(matchers, table, errors="return")
        assert [error and error.code for error in failed] == [None if row % 2 else "limit/exceeded" for row in range(count)]
        assert [bits(row) for row in table] == [[97, 99] if row % 2 else [] for row in range(count)]
    one = np.full(WORDS, -1, np.int32)
    with pytest.raises(grammata.LimitError):
        matchers[0].fill_mask(one)
    assert bits(one) == []
    with pytest.raises(grammata.BatchError) as caught:
        grammata.accept_tokens([grammar.matcher() for _ in range(count)], [98] * (count - 1) + [97])
    assert [error is None for error in caught.value.errors] == [False] * (count - 1) + [True]


def test_logits():
    logits = np.arange(70, dtype=np.float32)
    mask = np.array([1, -1, 0b100000], np.int32)
    grammata.mask_logits(logits, mask)
    assert np.flatnonzero(np.isfinite(logits)).tolist() == [0, *range(32, 64), 69]
    for wrong in (np.broadcast_to(np.float32(0), 70), bytearray(280), np.zeros(70, ">f4")):
        with pytest.raises(grammata.UsageError):
            grammata.mask_logits(wrong, mask)
    for wrong in (mask.astype(np.int64), mask[::2], None, np.zeros(3, np.float32)):
        with pytest.raises(grammata.UsageError):
            grammata.mask_logits(np.zeros(70, np.float32), wrong)
    for wrong in (np.zeros(70, np.float64), np.zeros(70, np.float16), np.zeros(97, np.float32), np.zeros(140, np.float32)[::2]):
        with pytest.raises(grammata.UsageError):
            grammata.mask_logits(wrong, mask)


@pytest.mark.parametrize("width", [1, 31, 32, 33, 64, 70, 257])
@pytest.mark.parametrize("rows", [0, 1, 2, 3])
def test_logits_of_rows(rows, width):
    """Each row of logits is masked by its row of masks, whatever the width."""
    random = np.random.default_rng(rows * 1000 + width)
    masks = random.integers(-(2**31), 2**31, (rows, -(-width // 32)), dtype=np.int64).astype(np.int32)
    logits = random.normal(size=(rows, width)).astype(np.float32)
    allowed = np.unpackbits(masks.view(np.uint8).reshape(rows, 4 * masks.shape[1]), axis=1, bitorder="little")[:, :width].astype(bool)
    expected = np.where(allowed, logits, -np.inf).astype(np.float32)
    grammata.mask_logits(logits, masks)
    assert np.array_equal(logits, expected)
    for row in range(rows):
        one = random.normal(size=(1, width)).astype(np.float32)
        expected = np.where(allowed[row], one, -np.inf).astype(np.float32)
        again = [one[0].copy(), one.copy()]
        grammata.mask_logits(again[0], masks[row : row + 1])  # a row, and a table of one row
        grammata.mask_logits(again[1], masks[row])
        assert np.array_equal(again[0], expected[0]) and np.array_equal(again[1], expected)


@pytest.mark.parametrize(
    ("logits", "mask", "code", "help"),
    [
        ((129,), (4,), "python/width", "`width=129`"),
        ((2, 129), (2, 4), "python/width", "`width=129`"),
        ((96,), (4,), "python/width", "`mask[:3]`"),
        ((0,), (4,), "python/width", "`mask[:0]`"),
        ((2, 96), (2, 4), "python/width", "`mask[:3]`"),
        ((2, 128), (3, 4), "python/rows", "logits[row]"),
        ((2, 128), (8,), "python/rows", "logits[row]"),
        ((128,), (2, 2), "python/rows", "logits[row]"),
    ],
)
def test_logits_that_do_not_fit(logits, mask, code, help):
    """The error says what does not fit and how to mend it, and no logit is changed."""
    memory = np.ones(logits, np.float32)
    with pytest.raises(grammata.UsageError) as caught:
        grammata.mask_logits(memory, np.zeros(mask, np.int32))
    assert caught.value.code == code
    assert help in caught.value.help
    assert (memory == 1).all()
