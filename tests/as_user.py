"""Run a command as an ordinary user, as ``python as_user.py COMMAND ...``; only root can.

Python often lies in root's own home, which nobody else may enter. Then the command gets a mount namespace in which
the folders that it needs, and nothing else of that home, stand at their usual places. The command takes this process's
place, so it has this process's number, output and exit status.
"""

import os
import shutil
import stat
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

USER = 65534  # nobody, on every Linux; needs no entry in /etc/passwd
REPOSITORY = Path(__file__).resolve().parents[1]


def is_possible() -> bool:
    """Tell whether this process can become somebody else."""
    return sys.platform == "linux" and os.geteuid() == 0


def needed_folders() -> list[Path]:
    """List what the command must be able to read: Python, its packages, this repository."""
    executable = Path(sys.executable)
    found = [sys.prefix, sys.base_prefix, REPOSITORY, executable.parent, executable.resolve().parent]
    return sorted({Path(path).absolute() for path in found} | {Path(path).resolve() for path in found})


def closed_ancestor(path: Path) -> Path | None:
    """Find the topmost folder on the way to a path that others may not pass through."""
    for folder in (*reversed(path.parents), path):
        if folder.is_dir() and not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None


def reopen(paths: Iterable[Path]) -> None:
    """Leave the machine's mount namespace for one in which others can reach these folders.

    Raises:
        OSError: This machine does not allow it.
    """
    closed = defaultdict(list)
    for path in paths:
        ancestor = closed_ancestor(path)
        if ancestor is not None and not any(path.is_relative_to(other) for other in closed[ancestor]):
            closed[ancestor].append(path)
    if not any(closed.values()):
        return
    from autograder.sandbox import syscalls

    syscalls.unshare(syscalls.CLONE_NEWNS)
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    for ancestor, folders in closed.items():
        if ancestor in folders:
            raise OSError(f"{ancestor} is itself closed to other users; install Python or the repository elsewhere")
        # Held open, since their paths lead into the new, empty folder from the next line on.
        held = {folder: os.open(folder, os.O_PATH) for folder in folders}
        syscalls.mount("tmpfs", str(ancestor), "tmpfs", 0, "size=1m,mode=755")
        for folder, descriptor in held.items():
            folder.mkdir(parents=True)
            syscalls.mount(f"/proc/self/fd/{descriptor}", str(folder), None, syscalls.MS_BIND | syscalls.MS_REC)
            os.close(descriptor)


def become(user: int) -> None:
    """Give up root for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def command(arguments: Sequence[str]) -> list[str]:
    """Write the command line that runs another one as an ordinary user."""
    return [sys.executable, str(Path(__file__).resolve()), *arguments]


def environment(home: Path) -> Mapping[str, str]:
    """Give a user the environment that they need, with a home of their own that they may write in."""
    home.mkdir(mode=0o755, exist_ok=True)
    shutil.chown(home, USER, USER)
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C.UTF-8"}


def main(arguments: Sequence[str]) -> None:
    """Become the user, then the command."""
    sys.path.insert(0, str(REPOSITORY))
    reopen(needed_folders())
    become(USER)
    os.execvp(arguments[0], list(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
