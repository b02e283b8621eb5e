"""The packages that the app runs on: least versions, licences, pinned hashes, and what is known against them.

    python -m benchmarks.reliability.packages           ask for known holes; needs pip-audit

It ends with 1 where a hole is known. Where the service cannot be reached it says "not audited", which is no praise.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from shutil import which

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from recsys.paths import REPOSITORY

WANTED = REPOSITORY / "requirements.txt"
LOCK = REPOSITORY / "deploy" / "requirements.lock"
FLOORS = {  # package → the least version, and the holes that it closes
    "torch": ("2.10.0", "CVE-2025-32434, CVE-2026-24747: weights_only=True could be got round"),
    "streamlit": ("1.54.0", "CVE-2022-35918, CVE-2023-27494, CVE-2024-42474, CVE-2026-33682"),
    "starlette": ("1.1.0", "CVE-2026-48818 (Windows)"),
    "python-multipart": ("0.0.27", "CVE-2026-42561"),
}
LICENCES = {  # all let anybody use, change and pass on; MPL-2.0 asks for its own files to stay open, which they do
    *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0"),
    *("CNRI-Python", "ISC", "MIT", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib"),
}
SPELLINGS = {  # how packages without an SPDX expression call them
    "Apache 2.0 License": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "3-Clause BSD License": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
NVIDIA = ("nvidia-", "cuda-")  # NVIDIA's own libraries and terms: PyTorch's build for Linux brings them from PyPI
PIN = re.compile(r"^([\w.-]+)==([^\s;]+)(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}\b")


def shipped() -> dict[str, metadata.Distribution]:
    """Name → what is installed, of requirements.txt and of all that these need on this machine."""
    found: dict[str, metadata.Distribution] = {}
    open_ones = [Requirement(line) for line in WANTED.read_text("utf-8").splitlines() if line.strip()]
    while open_ones:
        wanted = open_ones.pop()
        name = canonicalize_name(wanted.name)
        if name not in found:
            found[name] = metadata.distribution(name)
            open_ones += needs(found[name])
    return found


def needs(package: metadata.Distribution) -> Iterator[Requirement]:
    """What a package needs on this machine, without extras."""
    for line in package.requires or []:
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
            yield wanted


def too_old() -> list[str]:
    """Lines "torch 2.9.1 < 2.10.0: CVE-…" of installed packages below their floor."""
    installed = {name: metadata.version(name) for name in FLOORS}
    return [
        f"{name} {installed[name]} < {least}: {why}"
        for name, (least, why) in FLOORS.items()
        if Version(installed[name]) < Version(least)
    ]


def licences(about: metadata.PackageMetadata) -> set[str]:
    """The SPDX names of all licences that a package is under, by its own word; an unknown spelling stays as it is."""
    if expression := about.get("License-Expression"):
        return set(re.split(r"\s+(?:AND|OR)\s+", expression.translate(str.maketrans("", "", "()"))))
    kinds = [line.split(" :: ")[-1] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    said = kinds or re.split(r"\s+(?:AND|OR)\s+", about.get("License", "none").strip().partition("\n")[0])
    return {SPELLINGS.get(kind, kind) for kind in said}


def unknown_licences() -> dict[str, set[str]]:
    """Package → licences of it that nobody has looked at yet."""
    ours = {name: package for name, package in shipped().items() if not name.startswith(NVIDIA)}
    unknown = {name: licences(package.metadata) - LICENCES for name, package in ours.items()}
    return {name: kinds for name, kinds in unknown.items() if kinds}


def pins(lock: str) -> dict[tuple[str, str], int]:
    """(package, version) → how many hashes a lock file has for it."""
    return {(canonicalize_name(name), version): len(HASH.findall(rest)) for name, version, rest in PIN.findall(lock)}


def unpinned(lock: str) -> list[str]:
    """What requirements.txt pins and a lock file does not, and packages there without a hash."""
    locked = pins(lock)
    wanted = [Requirement(line) for line in WANTED.read_text("utf-8").splitlines() if line.strip()]
    asked = {(canonicalize_name(one.name), str(one.specifier).removeprefix("==")) for one in wanted}
    return sorted([f"{name} {version}" for name, version in asked - set(locked)]) + [
        f"{name} {version} has no hash" for (name, version), hashes in locked.items() if not hashes
    ]


def audit() -> tuple[bool | None, str]:
    """Whether no hole is known in any pinned package, and a sentence; None: nobody could be asked."""
    program = which("pip-audit") or which("pip-audit", path=str(Path(sys.executable).parent))
    if program is None:
        return None, "pip-audit is not installed"
    options = ["--strict", "--require-hashes", "--disable-pip", "--format=json", "--progress-spinner=off"]
    done = subprocess.run([program, *options, "-r", str(LOCK)], capture_output=True, text=True)
    try:
        told = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):  # with --strict it says nothing once it could not ask about one of them
        return None, (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    holes = [f"{one['name']} {one['version']}: {hole['id']}" for one in told for hole in one["vulns"]]
    return not holes, "; ".join(holes) or f"no hole is known in {len(told)} packages"


def main() -> int:
    """Ask and print; 1 where a hole is known."""
    clean, said = audit()
    print(f"{'not audited' if clean is None else 'audited'}: {said}")
    return 1 if clean is False else 0


if __name__ == "__main__":
    sys.exit(main())
