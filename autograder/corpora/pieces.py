"""Cut a text into numbered pieces: characters, or pairs of bytes merged again and again."""

import hashlib
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from autograder.corpora.text import cache_folder
from autograder.whole_file import write_whole

if TYPE_CHECKING:
    from tokenizers import Tokenizer

BYTES = 256  # pieces that are there before the first merge, so that no text is unknown


def characters(text: str) -> tuple[NDArray[np.int64], str]:
    """Number the characters of a text.

    Returns:
        int64 (n,), and the vocabulary: each character once, in the order of Unicode; its place is its number.
    """
    points = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    found, ids = np.unique(points, return_inverse=True)
    return ids.astype(np.int64), "".join(map(chr, found))


class BytePairs:
    """Pieces of bytes that were learned from a text; ``byte_pairs`` makes one."""

    def __init__(self, tokenizer: "Tokenizer") -> None:
        self._tokenizer = tokenizer

    @property
    def vocab_size(self) -> int:
        """Say how many pieces there are."""
        return int(self._tokenizer.get_vocab_size())

    def encode(self, text: str) -> NDArray[np.int64]:
        """Cut any text into pieces, int64 (n,)."""
        return np.array(self._tokenizer.encode(text).ids, dtype=np.int64)

    def decode(self, ids: NDArray[np.int64]) -> str:
        """Join pieces (n,) to a text; bytes that are no whole character become U+FFFD."""
        return str(self._tokenizer.decode(np.asarray(ids).tolist(), skip_special_tokens=False))


def byte_pairs(text: str, vocab_size: int = 1024) -> BytePairs:
    """Learn the pieces of a text: the 256 bytes and the most frequent merges, each within a word.

    Learning takes seconds, so the result is kept beside the downloaded text.

    Args:
        text: What to learn from.
        vocab_size: How many pieces there may be; fewer where the text has no more pairs.

    Raises:
        ValueError: ``vocab_size`` is less than the 256 bytes.

    Source: Sennrich et al. 2016; on bytes and with the pre-split of words: Radford et al. 2019, section 2.2.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    if vocab_size < BYTES:
        raise ValueError(f"vocab_size {vocab_size}: the {BYTES} bytes alone need {BYTES}")
    kept = _kept(text, vocab_size, "json")
    # A file that a newer or broken tokenizers cannot read is made anew; the library raises bare Exception.
    with suppress(Exception):
        return BytePairs(Tokenizer.from_file(str(kept)))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator([text], trainer)
    _keep(kept, tokenizer.to_str().encode())
    return BytePairs(tokenizer)


def bpe(text: str, vocab_size: int = 1024) -> NDArray[np.int64]:
    """Cut a text into the pieces that ``byte_pairs`` learns from it; kept like those.

    Returns:
        int64 (n,); ``byte_pairs(text, vocab_size).decode`` gives the text again.

    Raises:
        ValueError: ``vocab_size`` is less than the 256 bytes.
    """
    kept = _kept(text, vocab_size, "npy")
    with suppress(OSError, ValueError, EOFError):  # not there yet, or half of a file
        return np.asarray(np.load(kept, allow_pickle=False), dtype=np.int64)
    ids = byte_pairs(text, vocab_size).encode(text)
    stream = BytesIO()
    np.save(stream, ids.astype(np.uint32))
    _keep(kept, stream.getvalue())
    return ids


def _kept(text: str, vocab_size: int, ending: str) -> Path:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return cache_folder() / f"bpe-{vocab_size}-{digest}.{ending}"


def _keep(path: Path, content: bytes) -> None:
    with suppress(OSError):  # what cannot be kept is made again the next time
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
