"""What a language model learns from: tiny Shakespeare, a file of one's own, or a language of the course."""

import hashlib
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHAKESPEARE = "shakespeare"
_TRAIN_SHARE = 0.9
_DOCUMENTS, _LENGTH = 10_000, 64  # of a language: as many tokens as half of tiny Shakespeare's characters
_LETTERS = string.ascii_lowercase + string.ascii_uppercase
_SEED = 0  # one language, whatever the seed of the training


@dataclass(frozen=True)
class Codec:
    """How tokens and text become each other: the piece of each token, and what stands between pieces."""

    pieces: tuple[str, ...]
    between: str

    def encode(self, text: str) -> list[int]:
        """Turn a text into tokens.

        Raises:
            UsageError: A piece of it was not in the corpus.
        """
        number = {piece: i for i, piece in enumerate(self.pieces)}
        found = text.split() if self.between else list(text)
        strange = next((piece for piece in found if piece not in number), None)
        if strange is not None:
            some = " ".join(piece for piece in self.pieces[:60] if piece.strip())
            raise UsageError(f"{strange!r} does not occur in the corpus", f"it has: {some}")
        return [number[piece] for piece in found]

    def decode(self, ids: Sequence[int]) -> str:
        """Turn tokens into text."""
        return self.between.join(self.pieces[i] for i in ids)

    def facts(self) -> dict[str, Any]:
        """Write it for a checkpoint."""
        return {"pieces": list(self.pieces), "between": self.between}

    @staticmethod
    def of(facts: Mapping[str, Any]) -> "Codec":
        """Read it from a checkpoint."""
        return Codec(tuple(facts["pieces"]), facts["between"])


@dataclass(frozen=True)
class Corpus:
    """One stream of tokens to train on, int64 (N,), and one that is held out."""

    name: str
    codec: Codec
    train: "NDArray[np.int64]"
    held_out: "NDArray[np.int64]"

    @property
    def sha256(self) -> str:
        """Digest of the tokens that are trained on."""
        return hashlib.sha256(self.train.tobytes()).hexdigest()


def open_corpus(word: str, data: Path | None = None) -> Corpus:
    """Find a corpus.

    Args:
        word: ``shakespeare``, the name of a language, or a text file.
        data: The folder with tinyshakespeare.txt.

    Raises:
        UsageError: There is none of that name, or it cannot be read.
    """
    if word == SHAKESPEARE:
        return _from_text(word, _shakespeare(data))
    if word in LANGUAGES:
        return LANGUAGES[word]()
    path = Path(word)
    if not path.is_file():
        known = [SHAKESPEARE, *LANGUAGES]
        raise UsageError(f"there is no file {word}, and no corpus is called so", did_you_mean(word, known))
    try:
        return _from_text(word, path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{word} cannot be read ({error})", "it must be a text in UTF-8") from None


def _shakespeare(data: Path | None) -> str:
    from autograder.corpora import shakespeare

    try:
        return shakespeare(data)
    except ModuleNotFoundError:
        remedy = "pip install 'gpt-hw[labs]', name its folder with --data, or train on skip-induction"
        raise UsageError("tiny Shakespeare is not here, and fetching it needs pooch", remedy) from None


def _from_text(name: str, text: str) -> Corpus:
    from autograder.corpora import characters

    ids, vocabulary = characters(text)
    cut = int(len(ids) * _TRAIN_SHARE)
    return Corpus(name, Codec(tuple(vocabulary), ""), ids[:cut], ids[cut:])


def _skip_induction() -> Corpus:
    from autograder.corpora import SkipInduction

    language = SkipInduction(_rng())
    return _from_documents("skip-induction", language.documents(_DOCUMENTS, _LENGTH, _rng()), language.vocab_size)


def _copy() -> Corpus:
    from autograder.corpora import Copy

    language = Copy()
    return _from_documents("copy", language.documents(_DOCUMENTS, _LENGTH, _rng())[0], language.vocab_size)


def _repeat() -> Corpus:
    from autograder.corpora import Repeat

    language = Repeat()
    return _from_documents("repeat", language.documents(_DOCUMENTS, _LENGTH, _rng()), language.vocab_size)


def _referent() -> Corpus:
    from autograder.corpora import Referent

    language = Referent()
    rng = _rng()
    train, held_out = (language.sentences(pairs).idx for pairs in language.split(rng))
    drawn = rng.integers(0, len(train), _DOCUMENTS)  # in no order, and each many times
    return Corpus("referent", Codec(tuple(language.words), " "), train[drawn].reshape(-1), held_out.reshape(-1))


def _from_documents(name: str, docs: "NDArray[np.int64]", vocab_size: int) -> Corpus:
    cut = int(len(docs) * _TRAIN_SHARE)
    return Corpus(name, Codec(tuple(_LETTERS[:vocab_size]), ""), docs[:cut].reshape(-1), docs[cut:].reshape(-1))


def _rng() -> "np.random.Generator":
    import numpy as np

    return np.random.default_rng(_SEED)


LANGUAGES: dict[str, Callable[[], Corpus]] = {
    "skip-induction": _skip_induction,
    "copy": _copy,
    "repeat": _repeat,
    "referent": _referent,
}
