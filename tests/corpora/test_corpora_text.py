"""The text is the one that everything was measured on, or a sentence says what to do; its pieces give it back."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pooch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.corpora import available, bpe, byte_pairs, characters, perplexity_of, shakespeare, text
from autograder.errors import GptHwError

STAND_IN = "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n" * 40

needs_text = pytest.mark.skipif(
    not available(), reason=f"{text.FILE} is not on this machine: name its folder in {text.FOLDER_VARIABLE}"
)


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """Give an empty cache, and no folder named outside."""
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "cache" / project)
    monkeypatch.delenv(text.FOLDER_VARIABLE, raising=False)
    return tmp_path / "cache" / "gpt-hw"


@pytest.fixture
def stand_in(monkeypatch) -> None:
    """Let a short text be the right one."""
    monkeypatch.setattr(text, "SHA256", hashlib.sha256(STAND_IN.encode()).hexdigest())


@pytest.fixture
def offline(monkeypatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # the discard port: nobody answers
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def served(monkeypatch) -> Iterator[list[bytes]]:
    """Serve, from this machine, what the test puts into the list."""
    content = [STAND_IN.encode()]

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if content else 404)
            self.end_headers()
            self.wfile.write(b"".join(content))

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setattr(text, "URL", f"http://127.0.0.1:{server.server_port}/input.txt")
        monkeypatch.setenv("no_proxy", "*")
        yield content
        server.shutdown()
        thread.join()


def put(folder: Path, content: str = STAND_IN) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / text.FILE).write_bytes(content.encode())
    return folder


# ------------------------------------------------------------------------------------------- where the text is


def test_shakespeare_is_read_from_the_folder_that_is_named(tmp_path, cache, stand_in, offline, monkeypatch):
    folder = put(tmp_path / "here")
    assert available(folder) and shakespeare(folder) == STAND_IN
    assert not available()
    monkeypatch.setenv(text.FOLDER_VARIABLE, str(folder))
    assert available() and shakespeare() == STAND_IN
    assert not cache.exists()


def test_shakespeare_is_read_from_the_cache_when_the_folder_has_none(tmp_path, cache, stand_in, offline):
    put(cache)
    assert available() and shakespeare() == STAND_IN
    assert available(tmp_path) and shakespeare(tmp_path) == STAND_IN


def test_shakespeare_is_fetched_once(cache, stand_in, served):
    assert not available()
    assert shakespeare() == STAND_IN
    served.clear()
    assert available() and shakespeare() == STAND_IN


def test_shakespeare_replaces_a_broken_copy_in_its_own_cache(cache, stand_in, served):
    put(cache, STAND_IN[:50])
    assert not available()
    assert shakespeare() == STAND_IN
    assert (cache / text.FILE).read_bytes() == STAND_IN.encode()


@pytest.mark.parametrize("content", [STAND_IN.replace("\n", "\r\n"), STAND_IN[:-1], ""])
def test_shakespeare_refuses_another_text_in_the_folder_that_is_named(tmp_path, cache, stand_in, served, content):
    folder = put(tmp_path / "here", content)
    assert not available(folder)
    with pytest.raises(GptHwError) as caught:
        shakespeare(folder)
    assert str(folder / text.FILE) in caught.value.message and text.URL in caught.value.remedy
    assert (folder / text.FILE).read_bytes() == content.encode()  # what a person put there is theirs


def test_shakespeare_refuses_another_text_from_the_network_and_keeps_none(cache, stand_in, served):
    served[:] = [b"<html>Please log in</html>"]
    with pytest.raises(GptHwError, match="what the network gave is another text"):
        shakespeare()
    assert not available() and not (cache / text.FILE).exists()


def test_shakespeare_says_what_to_do_when_the_network_has_no_answer(tmp_path, cache, offline):
    with pytest.raises(GptHwError) as caught:
        shakespeare(tmp_path / "nothing")
    assert "the network did not give it" in caught.value.message
    assert str(tmp_path / "nothing") in caught.value.message and str(cache) in caught.value.message
    for word in (text.URL, text.FILE, "--data", text.FOLDER_VARIABLE):
        assert word in caught.value.remedy


def test_shakespeare_says_so_when_the_address_is_gone(cache, served):
    served.clear()
    with pytest.raises(GptHwError, match="the network did not give it"):
        shakespeare()


def test_shakespeare_says_so_when_the_cache_cannot_be_written(cache, served):
    cache.parent.write_text("a file where a folder should be")
    with pytest.raises(GptHwError, match="the cache cannot be written"):
        shakespeare()


@needs_text
def test_shakespeare_is_the_text_of_every_figure():
    content = shakespeare()
    assert len(content) == 1_115_394 and content.startswith("First Citizen:\n")
    ids, vocabulary = characters(content)
    assert len(ids) == 1_115_394 and len(vocabulary) == 65
    assert perplexity_of(np.zeros((1, 65)), ids[:1]) == pytest.approx(65, rel=1e-12)


# ------------------------------------------------------------------------------------------------------- pieces


@given(st.text(max_size=50))
@settings(max_examples=60, deadline=None)
def test_characters_give_the_text_again(content):
    ids, vocabulary = characters(content)
    assert ids.dtype == np.int64 and "".join(vocabulary[i] for i in ids) == content
    assert list(vocabulary) == sorted(set(content))


def test_bpe_gives_the_text_again_and_any_other(cache):
    pairs = byte_pairs(STAND_IN, 300)
    ids = bpe(STAND_IN, 300)
    assert ids.dtype == np.int64 and ids.min() >= 0 and ids.max() < pairs.vocab_size <= 300
    assert len(ids) < len(STAND_IN) / 1.5
    for content in (STAND_IN, "", "  two  spaces ", "Ünï \r\n\t\x00 汉 <unk> [MASK] ' 's"):
        assert pairs.decode(pairs.encode(content)) == content
    assert pairs.decode(ids) == STAND_IN


def test_bpe_decodes_whatever_it_encoded(cache):
    pairs = byte_pairs(STAND_IN, 300)

    @given(st.text(max_size=50))
    @settings(max_examples=60, deadline=None)
    def check(content):
        assert pairs.decode(pairs.encode(content)) == content

    check()


def test_bpe_is_kept_and_made_again_where_what_was_kept_is_broken(cache):
    ids = bpe(STAND_IN, 300)
    assert sorted(path.suffix for path in cache.iterdir()) == [".json", ".npy"]
    for path in cache.iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert (bpe(STAND_IN, 300) == ids).all()
    pair_file, id_file = sorted(cache.iterdir())
    pair_file.unlink()
    assert (bpe(STAND_IN, 300) == ids).all()  # the numbers alone, without learning again
    assert not pair_file.exists() and id_file.exists()


def test_bpe_of_another_text_or_size_is_kept_apart(cache):
    assert len(bpe(STAND_IN, 256)) == len(STAND_IN)
    assert len(bpe(STAND_IN, 300)) < len(STAND_IN)
    assert len(bpe(STAND_IN + "!", 256)) == len(STAND_IN) + 1


def test_bpe_works_where_nothing_can_be_kept(cache):
    cache.parent.write_text("a file where a folder should be")
    assert len(bpe(STAND_IN, 256)) == len(STAND_IN)


def test_bpe_refuses_less_than_the_bytes(cache):
    with pytest.raises(ValueError, match="vocab_size 255"):
        bpe(STAND_IN, 255)


@needs_text
@pytest.mark.slow
def test_bpe_of_the_text_has_as_many_pieces_as_the_chapter_says(tmp_path, monkeypatch):
    content = shakespeare()
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / project)  # learned here and now
    ids = bpe(content)
    # The chapter has 459,760; which of two equally frequent pairs is merged first moves it by some 30.
    assert abs(len(ids) - 459_760) <= 40
    assert ids.max() < 1024 and byte_pairs(content).decode(ids) == content
