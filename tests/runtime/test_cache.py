"""The cache on disk: one compile for two processes, damage and eviction survived, and never a reason to fail."""

from __future__ import annotations

import errno
import fcntl
import gc
import logging
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fa4dsl.runtime import Artifact, Manifest
from fa4dsl.runtime import cache as cache_module
from fa4dsl.runtime.cache import Cache, cache_key, cached, default_folder, info


def make(number: int = 0, size: int = 0) -> Artifact:
    manifest = Manifest("kernel", "kernel", "sm_90a", (), (32, 1, 1), options={"number": number})
    return Artifact(manifest, ".version 8.6\n.target sm_90a\n.visible .entry kernel() { ret; }\n" + "/" * size)


def key(number: int = 0) -> str:
    return cache_key(f"module {number}", "sm_90a")


def never() -> Artifact:
    raise AssertionError("built although the cache holds it")


def test_built_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.cached(key(), make) == make()
    assert cache.cached(key(), never) == make()
    # Another process: nothing in memory.
    assert Cache(tmp_path).cached(key(), never) == make()
    found = cache.info()
    assert (found.entries, found.hits, found.misses, found.damaged, found.usable) == (1, 1, 1, 0, True)
    assert found.size == (tmp_path / f"{key()}.fa4").stat().st_size


def test_the_key_tells_everything_apart() -> None:
    keys = [
        cache_key("a", "sm_90a"),
        cache_key("b", "sm_90a"),
        cache_key("a", "sm_100a"),
        cache_key("a", "sm_90a", {"depth": 64}),
        cache_key("a", "sm_90a", {"depth": 128}),
        cache_key("a", "sm_90a", {"depth": "64"}),
        cache_key("a", "sm_90a", {}, {"ptxas": "13.0"}),
        cache_key("a", "sm_90a", {}, {"ptxas": "13.5"}),
    ]
    assert len(set(keys)) == len(keys)
    assert cache_key(b"a", "sm_90a", {"x": 1, "y": 2}) == cache_key("a", "sm_90a", {"y": 2, "x": 1})
    assert all(len(name) == 64 and name.isalnum() for name in keys)


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def fails() -> Artifact:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.cached(key(), fails)
    assert cache.info().entries == 0
    assert cache.cached(key(), make) == make()


@pytest.mark.parametrize("damage", [b"", b"garbage", None, "flip", "two"])
def test_damaged_entries_are_built_again(tmp_path: Path, damage: object, caplog: pytest.LogCaptureFixture) -> None:
    Cache(tmp_path).cached(key(), make)
    path = tmp_path / f"{key()}.fa4"
    data = path.read_bytes()
    if damage is None:
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flip":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif damage == "two":
        from fa4dsl.runtime import save

        save(path, [make(1), make(2)])
    else:
        assert isinstance(damage, bytes)
        path.write_bytes(damage)
    cache = Cache(tmp_path)
    with caplog.at_level(logging.WARNING, "fa4dsl.cache"):
        assert cache.cached(key(), lambda: make(7)) == make(7)
    assert cache.damaged >= 1 and "will be compiled again" in caplog.text
    assert Cache(tmp_path).cached(key(), never) == make(7)


@pytest.mark.parametrize("kind", ["file in the way", "read-only", "absent parent"])
def test_folders_that_cannot_be_used(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "cache"
    if kind == "file in the way":
        folder.write_text("a file")
    elif kind == "read-only":
        # A folder below /proc cannot be written even by root, whom permission bits do not stop.
        folder = Path("/proc/self/fdinfo")
    else:
        folder = tmp_path / "a" / "b" / "c"
    cache = Cache(folder)
    assert cache.cached(key(), make) == make()
    assert cache.cached(key(), never) == make()
    usable = kind == "absent parent"
    assert cache.info().entries == (1 if usable else 0)
    assert Cache(folder).cached(key(), lambda: make(2)) == (make() if usable else make(2))
    assert cache.clear() == (1 if usable else 0)
    assert cache.read_record("tuning") is None
    cache.write_record("tuning", "{}")
    assert cache.read_record("tuning") == ("{}" if usable else None)


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path, limit=35_000)
    for number in range(3):
        cache.cached(key(number), lambda number=number: make(number, 10_000))
        os.utime(tmp_path / f"{key(number)}.fa4", (number + 1, number + 1))
    # A use makes the oldest the newest.
    assert Cache(tmp_path, limit=35_000).cached(key(0), never) == make(0, 10_000)
    cache.cached(key(3), lambda: make(3, 10_000))
    assert {path.stem for path in tmp_path.glob("*.fa4")} == {key(0), key(2), key(3)}
    assert cache.info().size <= cache.limit
    # One entry larger than the whole limit is kept until the next comes.
    cache.cached(key(4), lambda: make(4, 50_000))
    assert [path.stem for path in tmp_path.glob("*.fa4")] == [key(4)]


def test_what_a_crash_leaves_is_removed(tmp_path: Path) -> None:
    old, fresh = tmp_path / f".{key()}.fa4.abc", tmp_path / f".{key()}.fa4.def"
    for path in (old, fresh):
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    cache = Cache(tmp_path)
    cache.cached(key(), make)
    assert not old.exists() and fresh.exists()
    (tmp_path / "someone else's").write_text("kept")
    assert cache.clear() == 1
    assert [path.name for path in tmp_path.iterdir()] == ["someone else's"]


def test_threads_build_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    built: list[int] = []

    def slow() -> Artifact:
        built.append(1)
        time.sleep(0.1)
        return make()

    found: list[Artifact] = []
    threads = [threading.Thread(target=lambda: found.append(cache.cached(key(), slow))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1 and len(found) == 8 and all(artifact is found[0] for artifact in found)


PROGRAM = """
import sys, time
from fa4dsl.runtime import Artifact, Manifest
from fa4dsl.runtime.cache import Cache
from pathlib import Path

folder, mark = Path(sys.argv[1]), Path(sys.argv[2])

def build():
    with mark.open("a") as file:
        file.write("built\\n")
    time.sleep(0.5)
    if len(sys.argv) > 3:
        import os
        os._exit(3)
    manifest = Manifest("kernel", "kernel", "sm_90a", (), (32, 1, 1))
    return Artifact(manifest, ".version 8.6\\n.target sm_90a\\n.visible .entry kernel() { ret; }\\n")

print(Cache(folder).cached("f" * 64, build).name)
"""


def test_two_processes_compile_once(tmp_path: Path) -> None:
    folder, mark = tmp_path / "cache", tmp_path / "mark"
    command = [sys.executable, "-c", PROGRAM, str(folder), str(mark)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[0] for process in processes] == ["kernel\n"] * 3
    assert mark.read_text() == "built\n"


def test_a_process_that_dies_holds_no_lock(tmp_path: Path) -> None:
    folder, mark = tmp_path / "cache", tmp_path / "mark"
    command = [sys.executable, "-c", PROGRAM, str(folder), str(mark)]
    assert subprocess.run([*command, "die"], timeout=60).returncode == 3
    assert subprocess.run(command, capture_output=True, text=True, timeout=60).stdout == "kernel\n"
    assert mark.read_text() == "built\n" * 2


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EIO, errno.ESTALE, errno.EOPNOTSUPP])
@pytest.mark.parametrize("failing", ["taking", "giving back"])
def test_file_systems_whose_locks_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, failing: str) -> None:
    flock = fcntl.flock
    failed = 0

    def broken(descriptor: int, operation: int) -> None:
        nonlocal failed
        if (operation == fcntl.LOCK_UN) == (failing == "giving back"):
            failed += 1
            raise OSError(number, os.strerror(number))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", broken)
    kept = Cache(tmp_path).cached(key(), make)
    assert kept == make() and failed
    # The entry is whole, and another process finds it.
    assert Cache(tmp_path).cached(key(), never) == make()


UNLOCKED = """
import errno, fcntl, os, sys, time
from pathlib import Path
from fa4dsl.runtime import Artifact, Manifest
from fa4dsl.runtime.cache import Cache
def no_locks(descriptor, operation):
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
fcntl.flock = no_locks
folder, mark, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
def build():
    # All are here before the first goes on, so all compile.
    (mark / str(os.getpid())).touch()
    while len(list(mark.iterdir())) < count:
        time.sleep(0.01)
    return Artifact(Manifest("kernel", "kernel", "sm_90a", (), (32, 1, 1)), ".version 8.6\\n.target sm_90a\\n.entry kernel() { ret; }\\n" + "/" * 100_000)
print(len(Cache(folder).cached("f" * 64, build).ptx))
"""


def test_without_locks_all_compile_and_nothing_is_damaged(tmp_path: Path) -> None:
    folder, mark = tmp_path / "cache", tmp_path / "mark"
    mark.mkdir()
    command = [sys.executable, "-c", UNLOCKED, str(folder), str(mark), "3"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    sizes = {process.communicate(timeout=60)[0] for process in processes}
    assert len(sizes) == 1 and len(list(mark.iterdir())) == 3
    cache = Cache(folder)
    assert cache.cached("f" * 64, never).manifest.name == "kernel" and cache.damaged == 0
    assert [path.name for path in folder.iterdir() if not path.name.endswith(".lock")] == ["f" * 64 + ".fa4"]


def test_an_artifact_that_nobody_has_is_not_kept_in_memory(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    held = cache.cached(key(), make)
    assert cache.cached(key(), never) is held
    del held
    gc.collect()
    assert not cache._memory and cache.cached(key(), never) == make()


def test_the_default_cache(cache_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert default_folder() == cache_directory
    assert cached(key(), make) == make() and info().entries == 1 and info().folder == str(cache_directory)
    assert cache_module.clear() == 1 and info().entries == 0
    monkeypatch.setenv("FA4DSL_CACHE_BYTES", "12345")
    assert info().limit == 12345
    monkeypatch.delenv("FA4DSL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_directory / "xdg"))
    assert default_folder() == cache_directory / "xdg" / "fa4dsl" / "kernels"


def test_without_the_helpers_of_an_install(cache_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that only launches has neither filelock nor platformdirs; the cache works there without locks."""
    monkeypatch.setitem(sys.modules, "filelock", None)
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert Cache(cache_directory).cached(key(), make) == make() and Cache(cache_directory).info().entries == 1
    monkeypatch.delenv("FA4DSL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_directory / "xdg"))
    assert default_folder() == cache_directory / "xdg" / "fa4dsl" / "kernels"
