"""Mask files and pickles: masks are the same as those of a newly compiled grammar."""

import multiprocessing
import pickle

import grammata
import pytest


SCHEMA = {
    "type": "object",
    "required": ["size"],
    "properties": {"size": {"enum": ["small", "large"]}, "note": {"type": "string", "maxLength": 5}},
}
TEXT = '{"size": "small", "note": "a b"}'


def assert_same_masks(one: grammata.CompiledGrammar, other: grammata.CompiledGrammar, text: str = TEXT) -> None:
    left, right = one.matcher(), other.matcher()
    for token in one.vocabulary.encode_greedy(text) or []:
        assert left.mask() == right.mask()
        left.accept_token(token)
        right.accept_token(token)
    assert left.mask() == right.mask()
    assert left.is_accepting() and right.is_accepting()


@pytest.fixture(scope="module")
def grammar(compiler: grammata.Compiler) -> grammata.CompiledGrammar:
    return compiler.compile_json_schema(SCHEMA)


def test_a_file_has_the_masks_of_its_grammar(grammar, compiler, tmp_path):
    path = tmp_path / "size.gmask"
    grammar.save(path, documents=[TEXT])
    assert_same_masks(grammar, compiler.load(path))
    assert_same_masks(grammar, compiler.load_bytes(path.read_bytes()))


def test_the_same_bounds_make_the_same_bytes(grammar, compiler):
    few = grammar.to_bytes(states=3)
    assert few == compiler.detached().compile_json_schema(SCHEMA).to_bytes(states=3)
    assert len(few) < len(grammar.to_bytes())
    assert_same_masks(grammar, compiler.load_bytes(few))


def test_what_is_no_file_of_the_vocabulary_is_refused(grammar, compiler, bytewise, tmp_path):
    content = grammar.to_bytes(states=3)
    with pytest.raises(grammata.GrammataError) as caught:
        bytewise.load_bytes(content)
    assert caught.value.code == "mask-file/other-vocabulary"
    with pytest.raises(grammata.GrammataError) as caught:
        compiler.load_bytes(content[:-70])
    assert caught.value.code.startswith("mask-file/")
    with pytest.raises(grammata.FileError):
        compiler.load(tmp_path / "missing.gmask")
    with pytest.raises(grammata.FileError):
        grammar.save(tmp_path / "missing" / "size.gmask", states=1)


def test_a_file_is_bounded_by_the_limits_of_the_compiler(grammar, vocabulary, tmp_path):
    path = tmp_path / "size.gmask"
    grammar.save(path, states=3)
    with pytest.raises(grammata.LimitError):
        grammata.Compiler(vocabulary, limits={"mask_file_bytes": 100}).load(path)


def test_a_file_is_looked_at_before_it_is_loaded(grammar, compiler, vocabulary, tmp_path):
    path = tmp_path / "size.gmask"
    grammar.save(path, documents=[TEXT])
    file = grammata.MaskFile.open(path)
    file.check()
    assert file.fingerprint == vocabulary.fingerprint and len(file.grammar_hash) == 32
    assert "small" in file.grammar() and file.about
    contents = file.contents()
    assert contents["bytes"] == len(file.to_bytes()) == path.stat().st_size
    assert 0 < contents["masks"] and 0 < contents["states_with_mask"] <= contents["states"]
    assert 0 < sum(contents["sections"].values()) < contents["bytes"]
    loaded = compiler.load(file)
    assert loaded.verify_masks() > 0 and grammar.verify_masks() == 0
    matcher = loaded.matcher()
    assert matcher.is_explored() and not grammar.matcher().is_explored()
    assert_same_masks(grammar, loaded)
    file.save(tmp_path / "copy.gmask")
    assert (tmp_path / "copy.gmask").read_bytes() == grammata.MaskFile.from_bytes(file.to_bytes()).to_bytes()


def test_what_is_no_mask_file(grammar, tmp_path):
    path = tmp_path / "size.gmask"
    for content in (b"", b"{}", grammar.to_bytes(states=3)[:-1]):
        path.write_bytes(content)
        for read in (lambda: grammata.MaskFile.open(path), lambda content=content: grammata.MaskFile.from_bytes(content)):
            with pytest.raises(grammata.GrammataError) as caught:
                read()
            assert caught.value.code.startswith("mask-file/")
    with pytest.raises(grammata.FileError):
        grammata.MaskFile.open(tmp_path)
    with pytest.raises(grammata.LimitError):
        grammata.MaskFile.open(path, limits={"mask_file_bytes": 10})


def test_a_cache_keeps_its_files_for_the_next_process(compiler, tmp_path):
    source = grammata.Source.json_schema(SCHEMA)
    first = grammata.GrammarCache(compiler, folder=tmp_path / "masks", states=50)
    made = first.get(source)
    first.flush()
    assert len(list((tmp_path / "masks").glob("*.gmask"))) == 1
    again = grammata.GrammarCache(compiler.detached(), folder=tmp_path / "masks").get(source)
    assert again.matcher().is_explored() and not made.matcher().is_explored()
    assert_same_masks(made, again)
    (tmp_path / "file").touch()
    with pytest.raises(grammata.FileError):
        grammata.GrammarCache(compiler, folder=tmp_path / "file")


def test_a_thread_explores_while_something_else_is_done(compiler):
    grammar = compiler.detached().compile_json_schema(SCHEMA)
    warm = grammar.warm(states=200)
    places, masks = warm.wait()
    assert warm.is_finished() and warm.wait() == (0, 0)
    assert 0 < masks <= places <= 200 and grammar.statistics()["configurations"] >= places
    stopped = grammar.warm()
    assert stopped.cancel() >= (0, 0) and stopped.is_finished()


def test_a_vocabulary_comes_out_of_a_pickle_as_it_was(vocabulary, bytewise):
    for one in (vocabulary, bytewise.vocabulary):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert (again.width, again.eos, again.specials) == (one.width, one.eos, one.specials)


def test_a_grammar_comes_out_of_a_pickle_with_its_limits(vocabulary):
    compiler = grammata.Compiler(vocabulary, limits={"automaton_states": 5_000})
    grammar = compiler.compile_json_schema(SCHEMA)
    again = pickle.loads(pickle.dumps(grammar))
    assert_same_masks(grammar, again)
    assert again.__reduce__()[1][1] == {"automaton_states": 5_000}


def first_mask(grammar: grammata.CompiledGrammar) -> list[int]:
    return grammar.matcher().mask().ids()


def test_a_grammar_is_sent_to_a_new_process(bytewise):
    grammar = bytewise.compile_regex("[0-9]+")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(first_mask, (grammar,)) == first_mask(grammar)
