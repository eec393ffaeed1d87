"""Archives: files are read as they were added, and other files are refused."""

import threading

import grammata
import pytest

PATTERNS = ["a+", "(ab)+", "[0-9]{1,40}", "yes|no"]


@pytest.fixture(scope="module")
def grammars(bytewise: grammata.Compiler) -> dict[str, grammata.CompiledGrammar]:
    return {pattern: bytewise.compile_regex(pattern) for pattern in PATTERNS}


@pytest.fixture
def path(grammars, bytewise, tmp_path):
    builder = grammata.ArchiveBuilder(bytewise.vocabulary)
    for name, grammar in grammars.items():
        builder.add(name, grammar, states=50)
    assert len(builder) == len(PATTERNS)
    path = tmp_path / "patterns.gmasks"
    assert builder.save(path) == path.stat().st_size
    return path


def test_an_archive_is_a_mapping_of_mask_files(path, grammars, bytewise):
    archive = grammata.Archive.open(path)
    assert len(archive) == len(PATTERNS) and list(archive) == archive.names() == sorted(PATTERNS)
    assert archive.fingerprint == bytewise.vocabulary.fingerprint
    for name, grammar in grammars.items():
        assert name in archive
        assert archive[name].to_bytes() == archive.get(name).to_bytes() == grammar.to_bytes(states=50)
        matcher = bytewise.load(archive[name]).matcher()
        assert matcher.is_explored() and matcher.mask() == grammar.matcher().mask()
    archive.check()
    contents = archive.contents()
    assert contents["files"] == len(PATTERNS) and contents["bytes"] == path.stat().st_size
    assert 0 < sum(contents["sections"].values()) < contents["bytes"]


def test_a_file_is_found_by_its_source(path, grammars, bytewise):
    archive = grammata.Archive.open(path)
    for pattern in PATTERNS:
        assert archive.find(grammata.Source.regex(pattern)).to_bytes() == archive[pattern].to_bytes()
    assert archive.find(grammata.Source.regex("b+")) is None
    with pytest.raises(grammata.GrammarError) as caught:
        archive.find(grammata.Source.regex("("))
    assert caught.value.code == "regex/unclosed-group"


def test_names_that_are_not_there(path):
    archive = grammata.Archive.open(path)
    assert "b+" not in archive and archive.get("b+") is None and "" not in archive
    with pytest.raises(KeyError) as caught:
        archive["b+"]
    assert caught.value.args == ("b+",)
    with pytest.raises(TypeError):
        archive[0]


def test_what_is_no_archive_is_refused(path, grammars, tmp_path):
    whole = path.read_bytes()
    for name, content in (("empty", b""), ("json", b"{}"), ("cut", whole[:-1]), ("mask", grammars["a+"].to_bytes(states=3))):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(grammata.GrammarError) as caught:
            grammata.Archive.open(tmp_path / name)
        assert caught.value.code.startswith("mask-file/"), name
    # a byte in the middle is found when its block is read
    turned = bytearray(whole)
    turned[len(whole) // 2] ^= 0x55
    (tmp_path / "turned").write_bytes(turned)
    with pytest.raises(grammata.GrammarError) as caught:
        grammata.Archive.open(tmp_path / "turned").check()
    assert caught.value.code in ("mask-file/damaged", "mask-file/impossible")
    for missing in (tmp_path / "missing", tmp_path):
        with pytest.raises(grammata.FileError):
            grammata.Archive.open(missing)
    for limits in ({"mask_archive_bytes": 100}, {"mask_file_bytes": 100}):
        with pytest.raises(grammata.LimitError):
            grammata.Archive.open(path, limits=limits)["a+"]


def test_what_cannot_be_put_in(grammars, bytewise, compiler, tmp_path):
    builder = grammata.ArchiveBuilder(bytewise.vocabulary)
    builder.add("a+", grammars["a+"], states=3)
    with pytest.raises(grammata.UsageError) as caught:
        builder.add("a+", grammars["(ab)+"], states=3)
    assert caught.value.code == "mask-file/name-twice"
    with pytest.raises(grammata.GrammataError) as caught:
        builder.add("other", compiler.compile_regex("a"), states=3)
    assert caught.value.code == "mask-file/other-vocabulary"
    with pytest.raises(TypeError):
        builder.add("path", tmp_path / "one.gmask")
    with pytest.raises(grammata.LimitError):
        grammata.ArchiveBuilder(bytewise.vocabulary, limits={"mask_archive_bytes": 100}).add("a+", grammars["a+"], states=3)
    with pytest.raises(grammata.FileError):
        builder.save(tmp_path / "missing" / "a.gmasks")
    assert len(builder) == 1


def test_threads_fill_one_archive(bytewise, tmp_path):
    builder = grammata.ArchiveBuilder(bytewise.vocabulary)

    def add(first: int) -> None:
        for number in range(first, first + 8):
            builder.add(str(number), bytewise.compile_regex(f"{number}a*"), states=10)

    threads = [threading.Thread(target=add, args=(first,)) for first in (0, 8, 16, 24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    builder.save(tmp_path / "all.gmasks")
    archive = grammata.Archive.open(tmp_path / "all.gmasks")
    assert len(archive) == 32
    assert all(bytewise.load(archive[str(number)]).matcher().forced_bytes() == b"%d" % number for number in range(32))


def test_a_token_index_stands_for_computing_it(grammars, compiler, bytewise, tmp_path):
    index = compiler.token_index()
    assert index == grammata.Compiler(compiler.vocabulary).token_index()
    builder = grammata.ArchiveBuilder(compiler.vocabulary)
    builder.add("digits", compiler.compile_regex("[0-9]{1,40}"), states=20)
    builder.set_token_index(index)
    builder.save(tmp_path / "all.gmasks")
    archive = grammata.Archive.open(tmp_path / "all.gmasks")
    assert archive.token_index() == index and archive["digits"].token_index() is None
    prepared = grammata.Compiler(compiler.vocabulary)
    assert prepared.memory_usage() == 0
    prepared.prepare_from(archive.token_index())
    assert prepared.memory_usage() > 0
    for pattern in PATTERNS:
        assert prepared.compile_regex(pattern).matcher().mask() == compiler.compile_regex(pattern).matcher().mask()

    file = grammata.MaskFile.from_bytes(grammars["a+"].to_bytes(states=3))
    assert file.token_index() is None
    own = bytewise.token_index()
    again = grammata.MaskFile.from_bytes(file.with_token_index(own).to_bytes())
    assert again.token_index() == own
    assert again.with_token_index(b"").to_bytes() == file.to_bytes()
    for bad in (index, own[:-1], own[:40] + bytes([own[40] ^ 1]) + own[41:], b""):
        with pytest.raises(grammata.GrammarError) as caught:
            grammata.Compiler(bytewise.vocabulary).prepare_from(bad)
        assert caught.value.code == "mask-file/token-index"
