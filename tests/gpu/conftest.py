"""GPU tests run in worker processes, one for each file: a fault loses a process' CUDA context for good, and must not fail the tests behind it.

A worker reports each test over a pipe. When a test has cost it the context, when it dies, or when a test takes longer than `LIMIT_SECONDS`, the
remaining tests of the file get a new worker. The process that the user started never touches the GPU beyond counting devices.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from typing import Any

import pytest

PIPE = "FA4DSL_GPU_TEST_PIPE"
"""In a worker's environment: the descriptor it writes reports to."""
START_SECONDS = 180.0
"""To start a worker: Python, the frameworks, collecting."""
LIMIT_SECONDS = float(os.environ.get("FA4DSL_GPU_TEST_SECONDS", "180"))


def in_worker() -> bool:
    return PIPE in os.environ


class Worker:
    """A pytest process for some tests of one file, and the reports it has sent."""

    def __init__(self, config: pytest.Config, tests: list[str]) -> None:
        self.tests = set(tests)
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in `end`
        reading, writing = os.pipe()
        command = [sys.executable, *(["-P"] if sys.flags.safe_path else []), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        environment = {**os.environ, PIPE: str(writing)}
        self.process = subprocess.Popen(
            command, cwd=config.rootpath, env=environment, pass_fds=[writing], stdout=self.log, stderr=subprocess.STDOUT
        )
        os.close(writing)
        self.started = False
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, args=(reading,), daemon=True).start()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading) as lines:
            for line in lines:
                self.messages.put(json.loads(line))
        self.messages.put(None)

    def next(self) -> dict[str, Any] | None:
        """The next message; None once the worker has ended. Raises `queue.Empty` after the limit."""
        message = self.messages.get(timeout=LIMIT_SECONDS if self.started else START_SECONDS)
        self.started = True
        return message

    def end(self) -> str:
        """Stops the worker and gives what it printed."""
        self.process.kill()
        self.process.wait()
        self.log.seek(0)
        text = self.log.read()
        self.log.close()
        return text


_workers: list[Worker] = []


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    if in_worker() or not item.get_closest_marker("gpu"):
        return None
    hook = item.ihook
    hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _run(item):
        hook.pytest_runtest_logreport(report=report)
    hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    if nextitem is None and _workers:
        _workers.pop().end()
    return True


def _run(item: pytest.Item) -> list[pytest.TestReport]:
    if _workers and item.nodeid not in _workers[0].tests:
        _workers.pop().end()
    if not _workers:
        items = item.session.items
        rest = [other.nodeid for other in items[items.index(item) :] if other.path == item.path]
        _workers.append(Worker(item.config, rest))
    worker = _workers[0]
    reports: list[pytest.TestReport] = []
    problem = "the process ended"
    try:
        while (message := worker.next()) is not None:
            if message.get("finished") == item.nodeid:
                worker.tests.discard(item.nodeid)
                if message["lost"]:
                    _workers.pop().end()
                return reports
            if "report" in message:
                reports.append(item.config.hook.pytest_report_from_serializable(config=item.config, data=message["report"]))
    except queue.Empty:
        problem = f"no end after {LIMIT_SECONDS:g} s"
    text = _workers.pop().end()
    failure = f"{problem} in this test; its process said:\n{text[-4000:]}"
    return [*reports, pytest.TestReport(item.nodeid, item.location, {}, "failed", failure, "call")]


# In a worker.


def _send(message: dict[str, Any]) -> None:
    os.write(int(os.environ[PIPE]), (json.dumps(message) + "\n").encode())


_config: list[pytest.Config] = []


def pytest_configure(config: pytest.Config) -> None:
    _config[:] = [config]


def pytest_collection_finish() -> None:
    if in_worker():
        _send({"collected": True})


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if in_worker():
        config = _config[0]
        _send({"report": config.hook.pytest_report_to_serializable(config=config, report=report)})


def pytest_runtest_logfinish(nodeid: str) -> None:
    if in_worker():
        _send({"finished": nodeid, "lost": _context_is_lost()})


def _context_is_lost() -> bool:
    """Whether a kernel's fault has made this process' context useless."""
    driver = sys.modules.get("cuda.bindings.driver")
    if driver is None:
        return False
    status, context = driver.cuCtxGetCurrent()
    return int(status) == 0 and int(context) != 0 and int(driver.cuCtxSynchronize()[0]) != 0
