"""result.json: everything known about one graded submission, written whole or not at all."""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder import __version__
from autograder.errors import UsageError
from autograder.records import CheckResult, PartScore, SubmissionResult
from autograder.whole_file import write_whole

FORMAT_VERSION = 1
TOOL = "gpt-hw"  # the key of the tool's own version inside "environment"
SCORE_DECIMALS = 4
SECONDS_DECIMALS = 3

# Characters that JSON allows bare but that act on a terminal or reorder a line; lone surrogates are not UTF-8.
_RISKY_IN_JSON = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def to_json(result: SubmissionResult) -> dict[str, Any]:
    """Write down a graded submission as plain JSON values, hidden checks included: it is for instructors.

    Args:
        result: The graded submission.

    Returns:
        The content of result.json. ``environment`` always holds the tool's version under ``gpt-hw``; each part
        also has its ``weight``, so that the gradebook can be made from these files alone.
    """
    return {
        "version": FORMAT_VERSION,
        "submission": result.submission.name,
        "files": dict(sorted(result.submission.sha256.items())),
        "suites": result.suites_sha256,
        "config": result.config_sha256,
        "seed": result.seed,
        "sandbox": result.sandbox,
        "environment": {TOOL: __version__, **result.environment},
        "parts": {name: _part_json(score) for name, score in result.parts.items()},
        "total": short(result.total),
        "max": short(result.max),
        "flags": list(result.flags),
    }


def json_text(data: Mapping[str, Any]) -> str:
    """Format JSON for people and for terminals: letters as they are, control and direction characters escaped.

    Args:
        data: Plain JSON values; anything else, such as a path in ``environment``, is written as its text.

    Returns:
        The text, ending in a newline; reading it back gives the same values.
    """
    text = json.dumps(data, ensure_ascii=False, indent=2, default=str)
    return _RISKY_IN_JSON.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"


def write_atomically(path: Path, text: str) -> None:
    """Put a text at a path so that a reader, even after a power cut, finds the old text or the new one.

    Args:
        path: Where to write; folders that are missing are made.
        text: What to write, as UTF-8; a lone surrogate is written as a visible escape.

    Raises:
        UsageError: The folder or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8", "backslashreplace"), durable=True)
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> UsageError:
    """Make the error for a place that cannot be written: a full disk, a folder that is somebody else's."""
    remedy = "What is done is kept. Free some space, make the folder writable, or choose another one with --out."
    return UsageError(f"Cannot write {path}: {error.strerror or error}.", remedy)


def read_result(path: Path) -> dict[str, Any] | None:
    """Read a result.json of an earlier run, if there is one that can be used.

    Args:
        path: Where it would be.

    Returns:
        Its content; None where it is missing, unreadable, of another format version or not of the right shape.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return data if _is_result(data) else None


def is_current(
    old: Mapping[str, Any],
    *,
    files: Mapping[str, str],
    suites_sha256: str,
    config_sha256: str,
    version: str = __version__,
    parts: Collection[str] | None = None,
    seed: int | None = None,
    sandbox: int | None = None,
) -> bool:
    """Tell whether an earlier result still says what grading again would say.

    Args:
        old: A result that ``read_result`` gave.
        files: Name to digest of the files handed in now.
        suites_sha256: Digest of the suites as they are now.
        config_sha256: Digest of the policy as it is now.
        version: Version of this tool.
        parts: The parts asked for; None asks for those that the old result has.
        seed: The seed of this run; None for whatever it was.
        sandbox: The rung of protections of this run; None for whatever it was.

    Returns:
        False where anything differs, where a part asked for is not in it, and where one of them is unscored: our
        own failures are always tried again.
    """
    wanted = old["parts"].keys() if parts is None else parts
    return (
        old.get("files") == dict(files)
        and follows(old, suites_sha256, config_sha256, version=version, seed=seed, sandbox=sandbox)
        and all(name in old["parts"] and old["parts"][name]["score"] is not None for name in wanted)
    )


def follows(
    old: Mapping[str, Any],
    suites_sha256: str,
    config_sha256: str,
    *,
    version: str = __version__,
    seed: int | None = None,
    sandbox: int | None = None,
) -> bool:
    """Tell whether an earlier result was graded by these rules, whatever was handed in; see ``is_current``."""
    return (
        old.get("suites") == suites_sha256
        and old.get("config") == config_sha256
        and old["environment"].get(TOOL) == version
        and seed in (None, old.get("seed"))
        and sandbox in (None, old.get("sandbox"))
    )


def brief(result: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of a result what a gradebook needs: a class of a thousand must fit into memory.

    Returns:
        The result without its files, and in each part the number of checks by outcome in place of the checks.
    """
    parts = {}
    for name, part in result["parts"].items():
        counts = Counter(check["outcome"] for check in part.get("checks", ()))
        parts[name] = {key: value for key, value in part.items() if key != "checks"} | {"outcomes": dict(counts)}
    return {key: value for key, value in result.items() if key != "files"} | {"parts": parts}


def unresolved(results: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Say which submissions have a part without a score through our fault, which must not become a number.

    Args:
        results: What ``read_result`` or ``brief`` gave. A part that a person has scored by hand has a score.

    Returns:
        Submission -> parts, such as ``{"ada": ["part3"]}``; empty where every part is scored.
    """
    found = {}
    for result in results:
        names = [name for name, part in result["parts"].items() if part["score"] is None]
        if names:
            found[str(result["submission"])] = names
    return found


def _part_json(score: PartScore) -> dict[str, Any]:
    """Write down one part."""
    return {
        "points": short(score.points),
        "score": None if score.score is None else short(score.score),
        "outcome": score.outcome.value,
        "weight": short(score.weight),
        "checks": [_check_json(result) for result in score.results],
    }


def _check_json(result: CheckResult) -> dict[str, Any]:
    """Write down one check; the message holds all that was told, one paragraph each."""
    told = (text.strip("\n") for text in (result.message, result.diagnosis, result.traceback))
    return {
        "id": result.check.id,
        "title": result.check.title,
        "points": short(result.check.points),
        "score": None if result.score is None else short(result.score),
        "outcome": result.outcome.value,
        "message": "\n\n".join(text for text in told if text.strip()),
        "mistake": result.mistake,
        "seconds": round(result.seconds, SECONDS_DECIMALS),
    }


def short(number: float) -> float | int:
    """Round a score and write whole numbers as whole numbers."""
    rounded = round(float(number), SCORE_DECIMALS)
    return int(rounded) if rounded.is_integer() else rounded


def _is_number(value: object) -> bool:
    """Tell numbers from everything else; JSON's true and NaN are no numbers here."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


def _is_result(data: object) -> bool:
    """Check the shape that the gradebook and a rerun rely on."""
    if not isinstance(data, dict) or data.get("version") is True or data.get("version") != FORMAT_VERSION:
        return False
    parts, flags = data.get("parts"), data.get("flags")
    if not isinstance(parts, dict) or not isinstance(flags, list) or not isinstance(data.get("submission"), str):
        return False
    if not isinstance(data.get("environment"), dict) or not all(isinstance(flag, str) for flag in flags):
        return False
    return all(map(_is_number, (data.get("total"), data.get("max")))) and all(map(_is_part, parts.values()))


def _is_part(part: object) -> bool:
    """Check the shape of one part."""
    if not isinstance(part, dict) or not all(map(_is_number, (part.get("points"), part.get("weight")))):
        return False
    return "score" in part and (part["score"] is None or _is_number(part["score"]))
