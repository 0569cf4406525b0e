"""A file is the old one or the new one, never half of one."""

import errno
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from heedful import files
from heedful.errors import UserError
from heedful.files import folder_atomically, locked, write_atomically


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_written_file_has_the_text_and_leaves_nothing_beside_it(tmp_path):
    with write_atomically(tmp_path / "new" / "a.txt") as file:
        file.write("grün\nzwei\n")
        assert not (tmp_path / "new" / "a.txt").exists()
    assert (tmp_path / "new" / "a.txt").read_bytes() == "grün\nzwei\n".encode()
    assert names(tmp_path / "new") == ["a.txt"]


def test_bytes_are_written_as_they_are(tmp_path):
    with write_atomically(tmp_path / "a.bin", "wb") as file:
        file.write(b"\x00\r\n\xff")
    assert (tmp_path / "a.bin").read_bytes() == b"\x00\r\n\xff"


@pytest.mark.parametrize("fault", [RuntimeError, KeyboardInterrupt])
def test_a_failure_half_way_leaves_the_old_file(tmp_path, fault):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail_half_way():
        with write_atomically(path) as file:
            file.write("half of the ne")
            raise fault

    with pytest.raises(fault):
        fail_half_way()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_killed_process_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    program = (
        "import os, sys\nfrom heedful.files import write_atomically\n"
        "with write_atomically(sys.argv[1]) as file:\n"
        "    file.write('half'); file.flush(); os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", program, str(path)]).returncode == -9
    assert path.read_text() == "old"


@pytest.mark.parametrize("write", [write_atomically, folder_atomically])
def test_what_a_killed_writer_left_is_removed_by_the_next_of_that_name(tmp_path, write):
    program = (
        "import os, sys\nfrom heedful import files\n"
        "with getattr(files, sys.argv[1])(sys.argv[2]):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    command = [sys.executable, "-c", program, write.__name__, str(tmp_path / "out.csv")]
    assert subprocess.run(command).returncode == -9
    (left,) = names(tmp_path)
    assert left.startswith(".out.csv.")
    assert left.endswith(".part")
    others = [".other.csv.0a1b2c3d.part", ".out.csv.part", ".out.csv.download.part"]
    for other in others:  # of another name, or somebody else's
        (tmp_path / other).write_text("half")
    with write(tmp_path / "out.csv"):
        pass
    assert names(tmp_path) == sorted([*others, "out.csv"])


@pytest.mark.parametrize("write", [write_atomically, folder_atomically])
def test_two_writers_of_one_name_leave_each_other_alone(tmp_path, write):
    with suppress(UserError), write(tmp_path / "out"):  # of a folder the first to end has made it
        with write(tmp_path / "out"):
            assert len(names(tmp_path)) == 2
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == ["out"]


def test_a_writer_whose_new_file_was_taken_for_abandoned_makes_another(tmp_path, monkeypatch):
    lock, taken = files._lock, []

    def lock_too_late(path, *, wait):
        if not taken:
            taken.append(path)
            path.unlink()
            raise FileNotFoundError
        return lock(path, wait=wait)

    monkeypatch.setattr(files, "_lock", lock_too_late)
    with write_atomically(tmp_path / "a.txt") as file:
        file.write("new")
    assert len(taken) == 1
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("locks", ["none", "refused"])
def test_where_the_system_or_the_disk_knows_no_locks_files_are_written_and_none_removed(
    tmp_path, monkeypatch, locks
):
    if locks == "none":
        monkeypatch.setattr(files, "fcntl", None)
    else:
        refused = OSError(errno.ENOLCK, "No locks available")
        monkeypatch.setattr(files.fcntl, "flock", Mock(side_effect=refused))
    (tmp_path / ".a.txt.0a1b2c3d.part").write_text("its writer may live")
    with write_atomically(tmp_path / "a.txt") as file:
        file.write("new")
    assert names(tmp_path) == [".a.txt.0a1b2c3d.part", "a.txt"]


def test_only_whole_files_can_be_asked_for(tmp_path):
    with pytest.raises(ValueError, match="not 'a'"), write_atomically(tmp_path / "a.txt", "a"):
        pass
    assert names(tmp_path) == []


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_new_file_follows_the_mask_of_the_user(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        with write_atomically(tmp_path / "a.txt") as file:
            file.write("x")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == mode


def test_a_file_that_was_there_keeps_its_permissions(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("old")
    path.chmod(0o600)
    with write_atomically(path) as file:
        file.write("new")
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with write_atomically(tmp_path / "link.txt") as file:
        file.write("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_folder_where_a_file_should_go_is_refused(tmp_path):
    with pytest.raises(UserError, match="is a folder"), write_atomically(tmp_path):
        pass


@pytest.mark.parametrize("through", ["place", "link"])
def test_a_pipe_or_a_device_is_not_replaced_by_a_file(tmp_path, through):
    os.mkfifo(tmp_path / "place")
    (tmp_path / "link").symlink_to("place")
    with pytest.raises(UserError, match="a pipe or a device"), write_atomically(tmp_path / through):
        pass
    assert (tmp_path / "place").is_fifo()
    assert names(tmp_path) == ["link", "place"]


@pytest.mark.parametrize("write", [write_atomically, folder_atomically, locked])
def test_a_place_that_cannot_be_written_is_said_in_a_sentence(tmp_path, write):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UserError, match="cannot be written"), write(tmp_path / "file" / "below"):
        pass


def test_a_folder_appears_whole(tmp_path):
    with folder_atomically(tmp_path / "run") as folder:
        (folder / "a").write_text("1")
        assert not (tmp_path / "run").exists()
    assert names(tmp_path / "run") == ["a"]
    assert names(tmp_path) == ["run"]


def test_a_folder_that_fails_half_way_is_not_there(tmp_path):
    def fail_half_way():
        with folder_atomically(tmp_path / "run") as folder:
            (folder / "a").write_text("1")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert names(tmp_path) == []


def test_a_folder_that_is_there_is_refused_and_untouched(tmp_path):
    (tmp_path / "run").mkdir()
    with pytest.raises(UserError, match="is there already"), folder_atomically(tmp_path / "run"):
        pass
    assert names(tmp_path) == ["run"]


def replace_folder(path: Path, fault: BaseException | None = None) -> None:
    with folder_atomically(path, replacing=True) as folder:
        (folder / "new").write_text("2")
        assert path.exists()
        if fault is not None:
            raise fault


def test_a_folder_that_is_replaced_is_there_until_the_new_one_is_whole(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")
    full = OSError(errno.ENOSPC, "No space left on device")
    for fault, raised in ((full, UserError), (RuntimeError(), RuntimeError)):
        with pytest.raises(raised):
            replace_folder(tmp_path / "run", fault)
        assert (names(tmp_path), names(tmp_path / "run")) == (["run"], ["old"])
    replace_folder(tmp_path / "run")
    assert (names(tmp_path), names(tmp_path / "run")) == (["run"], ["new"])


@pytest.mark.parametrize("place", [0, 1])
def test_a_folder_that_cannot_be_moved_into_its_place_leaves_the_old_one_there(tmp_path, monkeypatch, place):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")
    moved, asked = os.replace, []

    def move(source, target):
        asked.append(source)
        if len(asked) - 1 == place:
            raise OSError(errno.EIO, "Input/output error")
        moved(source, target)

    monkeypatch.setattr(os, "replace", move)
    with pytest.raises(UserError, match="Input/output error"):
        replace_folder(tmp_path / "run")
    assert (names(tmp_path), names(tmp_path / "run")) == (["run"], ["old"])


@pytest.mark.parametrize("moves", [1, 2])
def test_a_replaced_folder_comes_back_if_the_replacing_process_was_killed(tmp_path, moves):
    """Killed between the two moves, the old one lies aside; killed after them, it is not needed any more."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "old").write_text("1")
    program = (
        "import os, sys\nfrom heedful.files import folder_atomically\n"
        "moved, left = os.replace, [int(sys.argv[2])]\n"
        "def move(source, target):\n"
        "    moved(source, target)\n"
        "    left[0] -= 1\n"
        "    if not left[0]: os.kill(os.getpid(), 9)\n"
        "os.replace = move\n"
        "with folder_atomically(sys.argv[1], replacing=True): pass\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "run"), str(moves)]
    assert subprocess.run(command).returncode == -9
    with pytest.raises(UserError, match="is there already"), folder_atomically(tmp_path / "run"):
        pass
    assert names(tmp_path / "run") == (["old"] if moves == 1 else [])
    replace_folder(tmp_path / "run")
    assert (names(tmp_path), names(tmp_path / "run")) == (["run"], ["new"])


def test_a_folder_that_somebody_makes_meanwhile_is_kept(tmp_path):
    def be_overtaken():
        with folder_atomically(tmp_path / "run"):
            (tmp_path / "run").mkdir()
            (tmp_path / "run" / "theirs").write_text("kept")

    with pytest.raises(UserError, match="is there already"):
        be_overtaken()
    assert names(tmp_path) == ["run"]
    assert names(tmp_path / "run") == ["theirs"]


def test_a_second_writer_is_told_who_holds_the_lock(tmp_path):
    with locked(tmp_path / "lock"):
        with (
            pytest.raises(UserError, match=rf"written by process {os.getpid()} on "),
            locked(tmp_path / "lock"),
        ):
            pass
        # The refused one must not have removed what says who holds it.
        assert (tmp_path / "lock.holder").exists()
    with locked(tmp_path / "lock"):
        pass


def test_a_lock_is_given_back_after_a_failure(tmp_path):
    with pytest.raises(RuntimeError), locked(tmp_path / "lock"):
        raise RuntimeError
    with locked(tmp_path / "lock"):
        assert (tmp_path / "lock.holder").exists()
    assert not (tmp_path / "lock.holder").exists()


def test_a_killed_holder_blocks_nobody(tmp_path):
    program = (
        "import sys, time\nfrom heedful.files import locked\n"
        "with locked(sys.argv[1]):\n    print('held', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"process {holder.pid} "), locked(tmp_path / "lock"):
            pass
        holder.kill()
        holder.wait()
    start = time.monotonic()
    with locked(tmp_path / "lock"):
        assert f"process {os.getpid()} " in (tmp_path / "lock.holder").read_text()
    assert time.monotonic() - start < 1
