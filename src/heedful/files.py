"""Writing files so that a killed process leaves either the old file or the new one, never half of one."""

import errno
import io
import os
import re
import secrets
import shutil
import socket
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal

from filelock import FileLock, Timeout

from heedful.errors import UserError

try:
    import fcntl
except ImportError:  # not on Windows, where what a killed writer left is removed under a folder's lock alone
    fcntl = None  # type: ignore[assignment]

TEMPORARY, REPLACED = ".part", ".old"
# What a disk answers that is full, failing or not to be written: the user's to mend, whoever was writing.
_DISK = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS))


@contextmanager
def write_atomically(path: str | Path, mode: Literal["w", "wb"] = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path` and move it into place when the block ends without an error.

    Text is UTF-8 with "\\n" at line ends. A file that was there keeps its permissions; a link stays a link.
    """
    if mode not in ("w", "wb"):
        raise ValueError(f"a file is written whole, with mode 'w' or 'wb', not {mode!r}")
    path = Path(os.path.realpath(path))
    check_file(path)
    # Not tempfile.mkstemp: it makes files that only their owner can read, whatever the user's mask says.
    with _temporary(path, partial(Path.touch, exist_ok=False)) as temporary:
        with _said_to_the_user(path):
            raw = _Watched(temporary, "wb")
        try:
            with _closing(raw, mode) as file:
                yield file
                with _said_to_the_user(path):
                    file.flush()
                    os.fsync(raw.fileno())
            with _said_to_the_user(path):
                with suppress(FileNotFoundError):
                    os.chmod(temporary, path.stat().st_mode & 0o7777)
                os.replace(temporary, path)
                _sync_folder(path.parent)
        except BaseException as error:
            # Libraries that write tables and pictures turn a full disk into errors of their own.
            if raw.fault is not None and not isinstance(error, UserError):
                raise _cannot_be_written(path, raw.fault) from error
            raise


@contextmanager
def folder_atomically(path: str | Path, *, replacing: bool = False) -> Iterator[Path]:
    """Give a temporary folder beside `path`, moved into place when the block ends without an error.

    Refuses a `path` that is there already, unless `replacing`: then it stays as it was until the new one is
    whole, and is removed.
    """
    path = Path(path)
    taken = UserError(f"{path} is there already: choose another place, or remove it first.")
    _take_back(path)
    if os.path.lexists(path) and not replacing:
        raise taken
    with _temporary(path, Path.mkdir) as temporary:
        try:
            yield temporary
            there = os.path.lexists(path)
            if there and not replacing:  # somebody else made it while we worked
                raise taken
            with _said_to_the_user(path):
                for place, _, names in os.walk(temporary):
                    for name in names:
                        _sync(Path(place) / name)
                    _sync_folder(Path(place))
                if there:
                    os.replace(path, _temporary_name(path, REPLACED))
                os.replace(temporary, path)
                _sync_folder(path.parent)
        except OSError as error:
            if error.errno in _DISK:
                raise _cannot_be_written(path, error) from error
            raise
        finally:
            _take_back(path)


def check_file(path: str | Path) -> None:
    """Refuse a place for a file that is a folder, a pipe or a device: the last two would be replaced."""
    path = Path(path)
    if path.is_dir():
        raise UserError(f"{path} is a folder, where a file is to be written: choose another name.")
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is a pipe or a device, where a file is to be written: choose another name.")


def regular(path: str | Path) -> Path:
    """The path of what is to be read; a pipe or a device, which may never end, is refused."""
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise UserError(
            f"{path} is no regular file, and reading it might never end: save what it holds first."
        )
    return path


def check_folder(folder: str | Path, *, marks: Collection[str] = (), parts: Collection[str] = ()) -> None:
    """Refuse, before any work and without a trace, a place for results that is a file or has foreign files.

    A folder is one's own if it has an entry named in `marks`, or none but those named in `parts`; hidden
    ones do not count. Without marks and parts any folder will do.
    """
    folder = Path(folder)
    there = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if not there.is_dir():
        raise UserError(f"{there} is no folder, where results are to be written: choose another place.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"{there} cannot be written: choose another place for the results.")
    if there != folder or not (marks or parts):
        return
    names = {entry.name for entry in folder.iterdir() if not entry.name.startswith(".")}
    if not names & set(marks) and not names <= set(parts):
        raise UserError(f"{folder} holds other files: choose an empty or a new folder for the results.")


@contextmanager
def locked(path: str | Path) -> Iterator[None]:
    """Hold the lock `path` for the block; a second writer is told at once who holds it.

    The operating system drops the lock when its holder dies, so a killed process blocks nobody. What such a
    one left half written in the lock's folder is removed.
    """
    path = Path(path)
    holder = path.with_name(path.name + ".holder")
    with _said_to_the_user(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            who = "another process"
            with suppress(OSError):  # the holder may finish between our two looks
                who = holder.read_text(encoding="utf-8").strip() or who
            raise UserError(
                f"{path.parent} is being written by {who}: wait for it, or choose another place."
            ) from None
    try:
        with suppress(OSError):  # it only names us to others, and a full disk will be met soon enough
            holder.write_text(f"process {os.getpid()} on {socket.gethostname()}\n", encoding="utf-8")
        _remove_leftovers(path.parent, path.name)
        yield
    finally:
        with suppress(OSError):
            holder.unlink(missing_ok=True)
        lock.release()


class _Watched(io.FileIO):
    """A file that remembers whether writing to it has failed."""

    fault: OSError | None = None

    def write(self, content: Any) -> int:
        try:
            return super().write(content)
        except OSError as error:
            self.fault = error
            raise


@contextmanager
def _closing(raw: _Watched, mode: str) -> Iterator[IO[Any]]:
    """The file as text or bytes; closing it after a failure does not fail again."""
    buffered = io.BufferedWriter(raw)
    file: IO[Any] = buffered
    if "b" not in mode:
        file = io.TextIOWrapper(buffered, encoding="utf-8", newline="\n")
    try:
        yield file
    except BaseException:
        with suppress(OSError, ValueError):
            file.close()
        raw.close()
        raise
    file.close()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(path: Path) -> None:
    """See to it that a new name is on the disk too, where the system can do that.

    By now the file is whole under its name, and to call it unwritten would be false: a failure here only
    means that a power cut in the next moments may bring the old one back.
    """
    with suppress(OSError):
        _sync(path)


def _remove_leftovers(folder: Path, lock: str) -> None:
    """Remove what killed writers left half written, below this folder but not below others' locks."""
    for place, folders, names in os.walk(folder):
        if Path(place) != folder and lock in names:
            folders.clear()
            continue
        for name in [*folders, *names]:
            if name.startswith(".") and name.endswith(TEMPORARY):
                _remove(Path(place) / name)
                if name in folders:
                    folders.remove(name)


@contextmanager
def _temporary(path: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """A temporary file or folder beside `path`; what killed writers of this name left is removed.

    It is locked as long as its writer lives, and by that others know not to remove it.
    """
    lock = None
    with _said_to_the_user(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in _beside(path, TEMPORARY):
            _remove_if_abandoned(left)
        while True:
            temporary = _temporary_name(path)
            make(temporary)
            with suppress(OSError):  # there are disks that know no locks
                lock = _lock(temporary, wait=True)
            if os.path.lexists(temporary):
                break
            # Somebody took it for abandoned, in the moment before it was locked.
            if lock is not None:
                os.close(lock)
    try:
        yield temporary
    except BaseException:
        _remove(temporary)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _lock(path: Path, *, wait: bool) -> int | None:
    """A handle that holds a lock until it is closed or its process ends; None on a system without such."""
    if fcntl is None:
        return None
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _remove_if_abandoned(left: Path) -> None:
    with suppress(OSError):  # its writer lives, or it is another user's
        lock = _lock(left, wait=False)
        if lock is not None:
            _remove(left)
            os.close(lock)


def _remove(left: Path) -> None:
    """Remove a file or folder, as far as that is possible."""
    if left.is_dir():
        shutil.rmtree(left, ignore_errors=True)
    else:
        with suppress(OSError):
            left.unlink()


def _take_back(path: Path) -> None:
    """Put a folder back that was moved aside for one that never came; remove it where that one came."""
    for old in _beside(path, REPLACED):
        if os.path.lexists(path):
            _remove(old)
        else:
            with suppress(OSError):
                os.replace(old, path)


def _beside(path: Path, ending: str) -> list[Path]:
    """What lies beside `path` under names that `_temporary_name` gives."""
    names = re.compile(re.escape(f".{path.name[:100]}.") + "[0-9a-f]{8}" + re.escape(ending))
    try:
        return [path.with_name(name) for name in os.listdir(path.parent) if names.fullmatch(name)]
    except OSError:  # no such folder yet, or one that may not be listed
        return []


def _temporary_name(path: Path, ending: str = TEMPORARY) -> Path:
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}{ending}")


@contextmanager
def _said_to_the_user(path: Path) -> Iterator[None]:
    # Timeout, which `locked` handles itself, is an OSError too, and so is never seen here.
    try:
        yield
    except OSError as error:
        raise _cannot_be_written(path, error) from error


def _cannot_be_written(path: Path, error: OSError) -> UserError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "make room, and give the same command again"
    else:
        remedy = "choose another place"
    return UserError(f"{path} cannot be written ({error.strerror or error}): {remedy}.")
