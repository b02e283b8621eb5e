"""The list of checksums is up to date, and each altered byte of a listed file or of the list is reported."""

import random
import shutil
import subprocess
import sys

import pytest

from recsys import checksums, paths, verify
from recsys.data import film_names
from recsys.evaluation import published_figures
from recsys.serving import history

SHIPPED = [path.relative_to(paths.REPOSITORY) for path in checksums.listed_files()]
LIST = paths.checksums().relative_to(paths.REPOSITORY)
DATASETS = ("ml-1m", "ml-20m", "beauty")
READERS = {
    paths.film_names().name: lambda: film_names.read() != film_names.NO_NAMES,
    paths.sample_lists().name: history.sample_lists,
    paths.published().name: lambda: [published_figures.published(name, "full") for name in DATASETS],
}


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A repository that has only the listed files and the list."""
    for file in (*SHIPPED, LIST):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(paths.REPOSITORY / file, tmp_path / file)
    monkeypatch.setattr(paths, "REPOSITORY", tmp_path)
    monkeypatch.setattr(paths, "ASSETS", tmp_path / "assets")
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    return tmp_path


def damaged():
    texts = {*checksums.listed_files(), paths.checksums()}
    return [finding for finding in verify.check_all() if finding.problem and finding.path in texts]


def flipped(data, count, seed=0):
    """The data with one byte changed, for several places and bits, the first and the last byte among them."""
    drawn = random.Random(seed)
    for place in (0, len(data) - 1, *drawn.sample(range(len(data)), count)):
        changed = bytearray(data)
        changed[place] ^= 1 << drawn.randrange(8)
        yield bytes(changed)


def test_the_list_is_up_to_date():
    assert paths.checksums().read_bytes() == checksums.expected_content(), "run: python -m recsys.checksums"


def test_every_translation_is_in_the_list():
    assert set((paths.ASSETS / "locale").glob("*.po")) <= set(checksums.listed_files())


@pytest.mark.skipif(not shutil.which("sha256sum"), reason="no sha256sum on this system")
def test_sha256sum_reads_the_list(copied):
    command = ["sha256sum", "--check", "--strict", LIST.name]
    assert subprocess.run(command, cwd=paths.ASSETS, capture_output=True).returncode == 0
    paths.film_names().write_bytes(b"{}")
    assert subprocess.run(command, cwd=paths.ASSETS, capture_output=True).returncode != 0


def test_the_command_updates_the_list(copied):
    shutil.copytree(paths.Path(checksums.__file__).parent, copied / "recsys", dirs_exist_ok=True)
    paths.film_names().write_bytes(b"{}")
    assert [finding.path for finding in damaged()] == [paths.film_names()]
    subprocess.run([sys.executable, "-m", "recsys.checksums"], cwd=copied, check=True)
    assert damaged() == []


@pytest.mark.parametrize("file", [*SHIPPED, LIST], ids=lambda file: file.name)
def test_verify_reports_each_altered_byte_and_a_missing_file(copied, file):
    assert damaged() == []
    path = copied / file
    for data in flipped(path.read_bytes(), 20):
        path.write_bytes(data)
        findings = damaged()
        assert findings
        assert file == LIST or [finding.path for finding in findings] == [path]
        assert all(finding.command.startswith("git ") for finding in findings)
    path.unlink()
    assert [finding.path for finding in damaged()] == [path]


@pytest.mark.parametrize("name", READERS)
def test_an_altered_byte_never_stops_a_reader(copied, name):
    (path,) = [path for path in checksums.listed_files() if path.name == name]
    for data in flipped(path.read_bytes(), 300):
        path.write_bytes(data)
        READERS[name]()


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 100_000, b"[3]", b"3", b'{"t2": 3}', b'{"figures": [{}]}', None])
def test_a_damaged_file_counts_as_absent_and_one_warning_names_it(copied, caplog, name, data):
    (path,) = [path for path in checksums.listed_files() if path.name == name]
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    assert all(len(content) == 0 for content in (READERS[name]() or [[]]))
    READERS[name]()
    (warning,) = caplog.records
    assert str(path) in warning.getMessage()
