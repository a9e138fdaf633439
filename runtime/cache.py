"""Compiled kernels on disk, so that a second process compiles nothing.

An entry is an artifact container named by the digest of everything that went into it. Writing goes to a temporary file that is renamed, so a reader
sees a whole entry or none; a lock for each key makes two processes compile once. Nothing here can fail a compilation: an entry that is damaged is
removed and compiled again, and a folder that cannot be used means compiling every time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
import threading
from dataclasses import dataclass, field
from functools import cache as remembered
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from fa4dsl.runtime.artifact_container import from_bytes, to_bytes, write_atomically
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.version import version

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fa4dsl.runtime.artifact import Artifact

log = logging.getLogger("fa4dsl.cache")

SUFFIX = ".fa4"
LOCK_TIMEOUT = 120.0
"""Seconds to wait for another process that compiles the same kernel; then both do."""
DEFAULT_LIMIT = 1 << 30
STALE_SECONDS = 3600


def cache_key(ir: str | bytes, target: str, options: Mapping[str, Any] | None = None, toolchain: Mapping[str, str] | None = None) -> str:
    """The digest that names an entry: IR text, target, options, this package's version, and the versions of the tools that compile it."""
    text = ir if isinstance(ir, bytes) else ir.encode()
    parts = {
        "ir": hashlib.sha256(text).hexdigest(),
        "target": target,
        "options": {str(key): repr(value) for key, value in (options or {}).items()},
        "version": version(),
        "toolchain": dict(toolchain or {}),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class CacheInfo:
    """Where the cache is and what it holds; `limit` and `size` in bytes. The counts are this process' own."""

    folder: str
    entries: int
    size: int
    limit: int
    usable: bool
    hits: int
    misses: int
    damaged: int


@dataclass
class Cache:
    """A cache in one folder. Safe for threads and processes."""

    folder: Path
    limit: int = DEFAULT_LIMIT
    hits: int = 0
    misses: int = 0
    damaged: int = 0
    _memory: WeakValueDictionary[str, Artifact] = field(default_factory=WeakValueDictionary)
    """Those that somebody has: an artifact that nobody has any more is gone, and is read again."""
    _unwritten: dict[str, Artifact] = field(default_factory=dict)
    """Those that the folder did not take, which would have to be built again."""
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def cached(self, key: str, build: Callable[[], Artifact]) -> Artifact:
        """The artifact under `key` (see `cache_key`), built if it is not there. Whatever `build` raises is the caller's."""
        found = self._memory.get(key)
        if found is not None:
            self.hits += 1
            return found
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            found = self._memory.get(key) or self._read(key)
            if found is not None:
                self.hits += 1
            else:
                found = self._build(key, build)
            self._memory[key] = found
        return found

    def _build(self, key: str, build: Callable[[], Artifact]) -> Artifact:
        with self._process_lock(key) as locked:
            # Another process may have written it while this one waited.
            found = self._read(key) if locked else None
            if found is not None:
                self.hits += 1
                return found
            self.misses += 1
            artifact = build()
            self._write(key, artifact)
        return artifact

    @contextlib.contextmanager
    def _process_lock(self, key: str) -> Any:
        """Yields whether the lock is held; a folder that allows none, or an owner that takes too long, only costs a second compilation.

        filelock takes flock(2), which the kernel drops with the process. On a network file system it may fail (ENOLCK, EIO, ESTALE), or hold among one
        machine's processes only (NFS without its lock service). Nothing is built on it but the saving: entries are whole by their renaming, and known
        by their digests, whoever writes them.
        """
        try:
            from filelock import FileLock, Timeout
        except ImportError as error:  # a machine that only launches
            log.info("no locks: %s", error)
            yield False
            return
        lock = FileLock(self.folder / f"{key}.lock", timeout=LOCK_TIMEOUT)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # filelock waits its whole time for a folder that takes no file at all; a file of our own tells at once.
            with tempfile.TemporaryFile(dir=self.folder):
                pass
            lock.acquire()
        except (OSError, RuntimeError, Timeout, Warning) as error:
            log.info("no lock for %s: %s", key, error)
            yield False
            return
        try:
            yield True
        finally:
            try:
                lock.release()
            except (OSError, RuntimeError) as error:
                log.info("the lock for %s is not given back: %s", key, error)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{SUFFIX}"

    def _read(self, key: str) -> Artifact | None:
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        try:
            (artifact,) = from_bytes(data)
        except (Fa4dslError, ValueError) as error:
            self.damaged += 1
            log.warning("the cached kernel %s is damaged and will be compiled again: %s", path, error)
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        # The time of last use, by which entries are evicted; a read-only cache keeps its order of writing.
        with contextlib.suppress(OSError):
            os.utime(path)
        return artifact

    def _write(self, key: str, artifact: Artifact) -> None:
        try:
            data = to_bytes([artifact])
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self._path(key), data)
        except (OSError, Fa4dslError) as error:
            log.info("the kernel %s is not kept in %s: %s", key, self.folder, error)
            self._unwritten[key] = artifact
            return
        self._evict()

    def _files(self) -> list[tuple[float, int, Path]]:
        """(time of last use, size, path) of every entry and record, least recently used first."""
        found = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith((SUFFIX, ".json")) and not entry.name.startswith("."):
                    with contextlib.suppress(OSError):
                        status = entry.stat()
                        found.append((status.st_mtime, status.st_size, Path(entry.path)))
        return sorted(found)

    def _evict(self) -> None:
        """Removes the least recently used entries until the rest fits, and what crashed processes left behind."""
        import time

        files = self._files()
        total = sum(size for _, size, _ in files)
        for _, size, path in files[:-1]:
            if total <= self.limit:
                break
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size
        old = time.time() - STALE_SECONDS
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                left_over = entry.name.startswith(".") or entry.name.endswith(".lock")
                with contextlib.suppress(OSError):
                    if left_over and entry.stat().st_mtime < old:
                        os.unlink(entry.path)

    def info(self) -> CacheInfo:
        """What is there now."""
        files = self._files()
        entries = sum(path.suffix == SUFFIX for _, _, path in files)
        size = sum(size for _, size, _ in files)
        return CacheInfo(str(self.folder), entries, size, self.limit, self._usable(), self.hits, self.misses, self.damaged)

    def _usable(self) -> bool:
        """Whether entries can be written: the folder, or the nearest parent that exists, is writable."""
        folder = self.folder
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)

    def clear(self) -> int:
        """Removes every entry, record and left-over file of the cache, and nothing else. Returns how many entries."""
        self._memory.clear()
        self._unwritten.clear()
        count = 0
        for _, _, path in self._files():
            with contextlib.suppress(OSError):
                path.unlink()
                count += path.suffix == SUFFIX
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.endswith(".lock") or (entry.name.startswith(".") and SUFFIX in entry.name):
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)
        return count

    def read_record(self, name: str) -> str | None:
        """The small text kept under `name` (autotuning); None where there is none that can be read."""
        try:
            return (self.folder / f"{name}.json").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def write_record(self, name: str, text: str) -> None:
        """Keeps a small text under `name`; a folder that cannot be written keeps none."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / f"{name}.json", text.encode())


def default_folder() -> Path:
    """FA4DSL_CACHE_DIR, else the user's cache folder as the platform has it."""
    chosen = os.environ.get("FA4DSL_CACHE_DIR")
    if chosen:
        return Path(chosen)
    try:
        from platformdirs import user_cache_path
    except ImportError:  # a machine that only launches
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fa4dsl" / "kernels"
    return user_cache_path("fa4dsl", appauthor=False) / "kernels"


def _limit() -> int:
    """FA4DSL_CACHE_BYTES, else 1 GiB."""
    text = os.environ.get("FA4DSL_CACHE_BYTES", "")
    return int(text) if text.isascii() and text.isdecimal() else DEFAULT_LIMIT


@remembered
def _cache_at(folder: Path, limit: int) -> Cache:
    return Cache(folder, limit)


def default_cache() -> Cache:
    """The cache that FA4DSL_CACHE_DIR or the platform names; one for each folder in a process."""
    return _cache_at(default_folder(), _limit())


def cached(key: str, build: Callable[[], Artifact]) -> Artifact:
    """`default_cache().cached(key, build)`."""
    return default_cache().cached(key, build)


def info() -> CacheInfo:
    """`default_cache().info()`."""
    return default_cache().info()


def clear() -> int:
    """`default_cache().clear()`."""
    return default_cache().clear()
