"""Search for bytes that break a reader, guided by coverage: each reader of readers.py in turn.

    python -m tests.readers.fuzz --minutes 10
    python -m tests.readers.fuzz table history

This needs atheris (pip install atheris). The search of a reader ends with its first failure. Atheris stores the input
in a file crash-*. Readers are imported late, so that atheris can instrument recsys while it is imported.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

MAX_INPUT_BYTES = 16_384
MAX_INPUT_SECONDS = 5


def main(argv: Sequence[str] | None = None) -> None:
    """Fuzz the named readers, each in a process, because atheris ends its process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("readers", nargs="*", help="names of readers; default: all")
    parser.add_argument("--minutes", type=float, default=10.0, help="for each reader (10)")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # fuzz in this process
    options = parser.parse_args(argv)
    if options.here:
        return fuzz(options.readers[0], options.minutes)
    from tests.readers.readers import READERS

    for name in options.readers or READERS:
        command = [sys.executable, "-m", "tests.readers.fuzz", name, "--here", "--minutes", str(options.minutes)]
        process = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        counts = (line.split()[-1] for line in process.stderr.splitlines() if "number_of_executed_units" in line)
        print(f"{name}: {next(counts, '?')} inputs, exit code {process.returncode}", flush=True)
        if process.returncode:
            print(process.stdout[-3_000:], process.stderr[-1_000:], sep="\n", flush=True)
    return None


def fuzz(name: str, minutes: float) -> None:
    """Run atheris on a reader. It ends the process."""
    import atheris

    with atheris.instrument_imports(include=["recsys"]):
        from tests.readers.readers import READERS, accepts
    reader = READERS[name]
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(reader.intact):
            (Path(corpus) / str(number)).write_bytes(data)
        limits = [f"-max_total_time={minutes * 60:.0f}", f"-max_len={MAX_INPUT_BYTES}", f"-timeout={MAX_INPUT_SECONDS}"]
        atheris.Setup([sys.argv[0], *limits, "-print_final_stats=1", corpus], lambda data: accepts(reader, data))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
