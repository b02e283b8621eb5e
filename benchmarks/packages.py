"""Ask pip-audit for known vulnerabilities of the packages in deploy/requirements.lock.

    python -m benchmarks.packages

The exit code is 1 if a vulnerability is known, else 0. If the audit is not possible, the output begins with
"not audited". tests/test_gates.py checks minimum versions, licences and hashes.
"""

import json
import subprocess
import sys
from pathlib import Path
from shutil import which

from recsys.paths import REPOSITORY

LOCK = REPOSITORY / "deploy" / "requirements.lock"


def main() -> int:
    """Print the result of the audit and return the exit code."""
    program = which("pip-audit") or which("pip-audit", path=str(Path(sys.executable).parent))
    if program is None:
        print("not audited: pip-audit is not installed")
        return 0
    options = ["--strict", "--require-hashes", "--disable-pip", "--format=json", "--progress-spinner=off"]
    process = subprocess.run([program, *options, "-r", str(LOCK)], capture_output=True, text=True)
    try:
        packages = json.loads(process.stdout)["dependencies"]
    except (ValueError, KeyError):  # with --strict there is no output if a package could not be audited
        reasons = process.stderr.strip().splitlines() or ["no reason given"]
        print(f"not audited: {reasons[-1]}")
        return 0
    vulnerabilities = [
        f"{package['name']} {package['version']}: {item['id']}" for package in packages for item in package["vulns"]
    ]
    print(f"audited: {'; '.join(vulnerabilities) or f'no vulnerability is known in {len(packages)} packages'}")
    return int(bool(vulnerabilities))


if __name__ == "__main__":
    sys.exit(main())
