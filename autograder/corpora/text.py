"""Tiny Shakespeare: from a folder, from the cache of an earlier download, or from the network."""

import hashlib
import os
from pathlib import Path

from autograder.errors import GptHwError

FILE = "tinyshakespeare.txt"
FOLDER_VARIABLE = "GPT_HW_DATA"
URL = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
PATIENCE_S = 20  # without an answer from the network; the whole text is one megabyte


def shakespeare(folder: Path | None = None) -> str:
    """Give the text, 1,115,394 characters.

    It is looked for in ``folder`` (else in the folder that GPT_HW_DATA names), then in the cache, then fetched
    into the cache. Whatever its source, it is exactly the text that every figure of the course was measured on.

    Args:
        folder: Where tinyshakespeare.txt may lie.

    Raises:
        GptHwError: It is nowhere and cannot be fetched, or what was found is another text.
    """
    named = _named_folder(folder)
    if named is not None and (named / FILE).exists():
        return _read(named / FILE)
    kept = cache_folder() / FILE
    return _read(kept) if _is_right(kept) else _fetch(named)


def available(folder: Path | None = None) -> bool:
    """Say whether ``shakespeare(folder)`` would answer without a download."""
    named = _named_folder(folder)
    if named is not None and (named / FILE).exists():
        return _is_right(named / FILE)
    return _is_right(cache_folder() / FILE)


def cache_folder() -> Path:
    """Name the folder of this user for what was downloaded or takes long to compute; it need not be there yet."""
    import pooch  # type: ignore[import-untyped]  # it has no types

    return Path(pooch.os_cache("gpt-hw"))


def _named_folder(folder: Path | None) -> Path | None:
    name = folder or os.environ.get(FOLDER_VARIABLE)
    return Path(name).expanduser() if name else None


def _is_right(path: Path) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == SHA256
    except OSError:
        return False


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise GptHwError(f"{path} cannot be read: {error.strerror}.", "Look at its permissions.") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        raise GptHwError(
            f"{path} is not the text that the course was measured on: its {len(content):,} bytes have the SHA-256 "
            f"{digest[:12]}..., not {SHA256[:12]}...",
            f"Fetch it again, unchanged (line ends too), from {URL}, or remove it and let gpt-hw fetch it.",
        )
    return content.decode("utf-8")


def _fetch(named: Path | None) -> str:
    import pooch

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = pooch.retrieve(
            URL, f"sha256:{SHA256}", fname=FILE, path=folder, downloader=pooch.HTTPDownloader(timeout=PATIENCE_S)
        )
    except (OSError, ValueError) as error:
        places = " or ".join(str(place) for place in (named, folder) if place is not None)
        raise GptHwError(
            f"No right copy of {FILE} is in {places}, and {_why_not_fetched(error)}.",
            f"Fetch {URL} where there is a network, save it as {FILE}, and name its folder with --data "
            f"or in the environment variable {FOLDER_VARIABLE}.",
        ) from error
    return _read(Path(path))


def _why_not_fetched(error: Exception) -> str:
    if not isinstance(error, OSError):
        return "what the network gave is another text"  # pooch's ValueError: the digest is wrong
    if error.errno is None:
        return "the network did not give it"  # what requests raises is an OSError without a number
    return f"the cache cannot be written: {error.strerror}"
