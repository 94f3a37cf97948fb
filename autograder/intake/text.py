"""Bytes of a part file to source text, by the rules that Python itself follows."""

import codecs
import io
import re
import tokenize

SOURCE_LIMIT = 1 << 20  # bytes; the longest part of the course is about 40 KiB
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# In these codecs ASCII does not mean itself: a file could say one thing to an editor and another to Python.
ESCAPING = ("utf-7", "unicode-escape", "raw-unicode-escape")
PRINTABLE = bytes(range(0x20, 0x7F))
# PEP 263: the coding line is a comment in line 1 or 2, and line 1 must then be blank or a comment.
CODING = re.compile(r"^([ \t\f]*#.*?coding[:=][ \t]*)([-\w.]+)", re.ASCII)
BLANK = re.compile(r"^[ \t\f]*(?:#.*)?$")


class Unreadable(Exception):
    """Something handed in cannot be taken; the text is a sentence for the student."""


def decode_source(data: bytes, name: str) -> str:
    """Turn the bytes of a Python file into text with plain newlines and no byte order mark.

    Args:
        data: The bytes as handed in.
        name: The file's name, for the sentence.

    Returns:
        The source. A coding line that names another encoding than UTF-8 now says utf-8, so that the text means the
        same when it is encoded again.

    Raises:
        Unreadable: If the bytes are too many, or are not text in the encoding that they declare.
    """
    check_size(len(data), name)
    if data.startswith(UTF_16_MARKS):
        raise Unreadable(f"{name} is UTF-16 text; save it as UTF-8")
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\0" in data:
        raise Unreadable(_nul_sentence(name, line_of(data, data.index(b"\0"))))
    encoding = _declared_encoding(data, name)
    try:
        text = data.removeprefix(BYTE_ORDER_MARK).decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(undecodable(data, name, encoding)) from error
    except (LookupError, ValueError) as error:
        raise Unreadable(
            f"{name} is not the {encoding} text that its coding line promises; save it as UTF-8"
        ) from error
    return settle(text, name)


def settle(text: str, name: str) -> str:
    """Check that text can be sent on as UTF-8 source, and make its coding line say so.

    Args:
        text: Source with plain newlines.
        name: The file's name, for the sentence.

    Raises:
        Unreadable: If the text has a NUL or half a surrogate pair, or is too long.
    """
    if "\0" in text:
        raise Unreadable(_nul_sentence(name, text.count("\n", 0, text.index("\0")) + 1))
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise Unreadable(f"{name} has a broken character (half of a surrogate pair) in line {line}") from error
    check_size(len(data), name)
    lines = text.split("\n", 2)
    for index in range(min(2, len(lines))):
        found = CODING.match(lines[index])
        if found is not None:
            if not _is_utf_8(found[2]):
                lines[index] = f"{found[1]}utf-8{lines[index][found.end() :]}"
            break
        if not BLANK.match(lines[index]):
            break
    return "\n".join(lines)


def check_size(size: int, name: str) -> None:
    """Refuse more source than any part can need.

    Raises:
        Unreadable: If there are more than 1 MiB of it.
    """
    if size > SOURCE_LIMIT:
        raise Unreadable(f"{name} has more than 1 MiB of source; hand in only the code of the part")


def undecodable(data: bytes, name: str, encoding: str) -> str:
    """Say which byte in which line stands in the way."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        where = f"byte 0x{data[error.start]:02x} in line {line_of(data, error.start)}"
        promised = "UTF-8 text" if _is_utf_8(encoding) else f"the {encoding} text that its coding line promises"
        return f"{name} is not {promised}: {where}; save it as UTF-8"
    return f"{name} is not {encoding} text; save it as UTF-8"


def line_of(data: bytes, position: int) -> int:
    """Count the line, from 1, in which a byte stands."""
    return data.count(b"\n", 0, position) + 1


def _declared_encoding(data: bytes, name: str) -> str:
    """Find the encoding that the file declares; it must be one in which ASCII means itself."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if codecs.lookup(encoding).name in ESCAPING or PRINTABLE.decode(encoding) != PRINTABLE.decode("ascii"):
            raise LookupError(encoding)
    except (SyntaxError, LookupError, ValueError) as error:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            raise Unreadable(undecodable(data, name, "utf-8")) from error
        raise Unreadable(
            f"{name} has a coding line that cannot be followed; remove it and save the file as UTF-8"
        ) from error
    return encoding


def _is_utf_8(encoding: str) -> bool:
    """Tell whether an encoding is UTF-8 under one of its names."""
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError:
        return False


def _nul_sentence(name: str, line: int) -> str:
    return f"{name} is not Python text: NUL byte in line {line}; save it again from a text editor as UTF-8"
