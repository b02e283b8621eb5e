"""Bar B1: made-up files for every reader of other people's bytes.

    python -m benchmarks.reliability.fuzz                             2,000 altered files for each reader
    python -m benchmarks.reliability.fuzz table history --minutes 10  led by coverage, one reader after the other

The second needs atheris (pip install atheris) and stops at the first input that breaks a reader, which it keeps as
crash-*. What the readers are stands in readers.py, which is read late so that atheris can watch recsys being imported.
"""

import argparse
import gc
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.reliability.promise import Outcome
    from benchmarks.reliability.readers import Reader

TIMES = 2_000
LARGE = 10_000_000  # bytes
SECONDS, MEGABYTES = 2.0, 200  # that a file of that size may take, on top of what was there
LONGEST_INPUT, MOST_SECONDS = 16_384, 5  # of one input, bytes and time


def main(argv: Sequence[str] | None = None) -> None:
    """Alter sound files, or let atheris find its way."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("readers", nargs="*", help="names of readers; none: all")
    parser.add_argument("--minutes", type=float, help="led by coverage, so long for each")
    parser.add_argument("--led", help=argparse.SUPPRESS)  # the process that atheris ends
    options = parser.parse_args(argv)
    if options.led:
        return led_by_coverage(options.led, options.minutes)
    from benchmarks.reliability.readers import READERS

    for name in options.readers or READERS:
        if options.minutes:
            command = [sys.executable, "-m", "benchmarks.reliability.fuzz", "--led", name]
            print(f"{name}: {_summary([*command, '--minutes', str(options.minutes)])}", flush=True)
        else:
            print(f"{name}: {', '.join(checks(name, READERS[name]))}", flush=True)
    return None


def checks(name: str, reader: "Reader", times: int = TIMES) -> dict[str, bool]:
    """What was seen of a reader, and whether it is as it should be."""
    from benchmarks.reliability.readers import altered, takes

    rng, found, slowest = random.Random(name), {}, 0.0
    for _ in range(times):
        data, began = altered(rng.choice(reader.sound), rng), time.perf_counter()
        try:
            takes(reader, data)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
            found[f"{name}: {type(error).__name__}: {error}, for {data[:80]!r}"] = False
        slowest = max(slowest, time.perf_counter() - began)
    found[f"{name}: {times:,} files, the slowest {slowest:.2f} s"] = slowest <= SECONDS
    return found


def large(name: str, reader: "Reader") -> dict[str, bool]:
    """The most time and memory that 10 MB take: each of its sound bytes, repeated."""
    from benchmarks.reliability.readers import takes
    from recsys.runtime import peak_memory_mb

    worst, most = 0.0, 0.0
    for sound in reader.sound:
        data = (sound * (LARGE // len(sound) + 1))[:LARGE]
        data = data[: data.rfind(b"\n") + 1 or None]  # whole lines, where there are some
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")  # Linux counts the peak from here on
        before, began = peak_memory_mb(), time.process_time()  # of the processor: others may use the machine too
        takes(reader, data)
        worst, most = max(worst, time.process_time() - began), max(most, peak_memory_mb() - before)
    return {f"{name}: 10 MB in {worst:.1f} s, {most:.0f} MB at the most": worst <= SECONDS and most <= MEGABYTES}


def b1() -> "Outcome":
    """Every reader."""
    from benchmarks.reliability.promise import judged
    from benchmarks.reliability.readers import READERS

    found: dict[str, bool] = {}
    for name, reader in READERS.items():
        found |= checks(name, reader) | large(name, reader)
    return judged(f"{TIMES:,} files for each of {len(READERS)} readers, and 10 MB of every kind", found)


def led_by_coverage(name: str, minutes: float) -> None:
    """Run atheris on a reader; it ends the process."""
    import atheris

    with atheris.instrument_imports(include=["recsys"]):
        from benchmarks.reliability.readers import READERS, takes
    reader = READERS[name]
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(reader.sound):
            (Path(corpus) / str(number)).write_bytes(data)
        limits = [f"-max_total_time={minutes * 60:.0f}", f"-max_len={LONGEST_INPUT}", f"-timeout={MOST_SECONDS}"]
        atheris.Setup([sys.argv[0], *limits, "-print_final_stats=1", corpus], lambda data: takes(reader, data))
        atheris.Fuzz()


def _summary(command: Sequence[str]) -> str:
    """How many inputs a run tried, or the last lines of one that broke."""
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    tried = next((line.split()[-1] for line in ended.stderr.splitlines() if "number_of_executed_units" in line), "?")
    if ended.returncode == 0:
        return f"{tried} inputs, nothing found"
    return f"{tried} inputs, then {ended.returncode}:\n{ended.stdout[-3_000:]}\n{ended.stderr[-1_000:]}"


if __name__ == "__main__":
    main()
