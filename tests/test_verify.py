import re
import shlex
import subprocess

import numpy as np
import pytest

from recsys import arrays, boards, checkpoints, paths, progress, storage, verify
from recsys.cli.main import main
from recsys.data import datasets, film_details, prepared, published
from recsys.data.dataset import DataError
from recsys.data.download import exclusive_folder
from recsys.errors import recsys_command
from recsys.evaluation.protocols import FULL
from recsys.models import registry
from recsys.studies import trials
from recsys.text import encoder
from recsys.training.trainer import RunFolder
from tests import fakes, toys
from tests.data import archives
from tests.evaluation import made_up

STUDY = {"title": "A", "question": "B", "columns": [{"name": "n"}], "rows": [[1]]}
DAMAGE = {  # file, from the home → a part of the command that mends it
    "data/toy/item.npy": "data add toy --replace --interactions FILE",
    "data/toy/about.json": "data add toy --replace --interactions FILE",
    "details/toy/films.csv": "data enrich toy",
    "film_vectors/toy/a.safetensors": "rm -r",
    "film_vectors/toy/a.json": "rm -r",
    "tag_vectors/toy/a.safetensors": "rm -r",
    "maps/toy/counts.safetensors": "rm -r",
    "checkpoints/toy/leave-one-out/counts/seed-0/weights.safetensors": "train counts --dataset toy",
    "checkpoints/toy/leave-one-out/counts/seed-0/meta.json": "train counts --dataset toy",
    "checkpoints/toy/leave-one-out/counts/seed-0/resume.pt": "rm -r",
    "checkpoints/toy/leave-one-out/counts/seed-0/log.jsonl": "rm -r",
    "results/toy/full.json": "evaluate all --dataset toy --protocol full",
    "results/toy/full.npz": "evaluate all --dataset toy --protocol full",
    "results/toy/time/counts.json": "rm -r",  # of an older program
    "results/studies/length-toy.json": "rm -r",
    "results/ties/toy.json": "experiment ties --dataset toy",
    "trials/toy/full.json": "rm -r",
    "trials/toy/full.npz": "rm -r",
    "trials/toy/full/popular/trial.json": "rm -r",  # of an older program
}


@pytest.fixture(autouse=True)
def all_files(home, no_assets, tmp_path, monkeypatch):
    """Store a data set and one file of each kind that is computed from it."""
    monkeypatch.setattr(published, "SHIPPED_ARCHIVES", tmp_path / "assets" / "data")
    monkeypatch.setattr(registry, "get", fakes.VARIANTS.__getitem__)
    world = toys.dataset([[0, 1, 2, 3], [3, 2, 1, 0]], 4)
    prepared.save(world, {})
    film_details.write("toy", {100: {"directors": ["Somebody"]}})
    for path in (
        paths.vectors("film", "toy", "a"),
        paths.vectors("tag", "toy", "a"),
        paths.film_map(home, "toy", "counts"),
    ):
        arrays.write(path, "array", np.eye(4, dtype=np.float16), "a")
    folder = checkpoints.save("counts", fakes.Counts(fakes.CountsConfig()).fit(world), world, 0)
    RunFolder(folder).save({"run": {}})
    storage.replace_file(folder / paths.LOG, f"{progress.to_line({'epoch': 1, 'loss': 2.5})}\n".encode())
    made_up.keep("counts", [[1, 2]])
    for path in (paths.studies(home) / "length-toy.json", paths.ties(home, "toy")):
        storage.replace_file(path, storage.sign_document(STUDY))
    boards.update(paths.trials(home, "toy", FULL.name), {"popular": {"seed": 0}}, {"popular": np.array([1, 2])})
    older = [paths.trial_run("toy", FULL.name, "popular") / trials.OLDER_FILE, home / "results/toy/time/counts.json"]
    for path in older:
        storage.replace_file(path, storage.sign_document({"ranks": [1]}))


def stored(path):
    """A file by its name without hash."""
    return next(other for other in path.parent.iterdir() if storage.HASH.sub("", other.name) == path.name)


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_a_home_as_it_was_written_is_sound(home, capsys):
    assert main(["data", "verify", "toy"]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines} == {"sound"}
    assert last == f"all {len(lines)} are sound"
    looked_at = {str(found.path.relative_to(home)) for found in verify.check_dataset("toy")}
    folders = {
        shared for file in DAMAGE for shared in looked_at if file.startswith(shared.rpartition(".")[0] or shared)
    }
    assert folders == looked_at  # so each of them is damaged below


@pytest.mark.parametrize("file", DAMAGE)
def test_what_is_damaged_is_named_with_the_command_that_mends_it(home, capsys, file):
    flip(stored(home / file))
    assert main(["data", "verify", "toy"]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if line.startswith("damaged")]
    assert re.search(r"(damaged|missing).*; run: ", line.partition(" ")[2])
    assert DAMAGE[file] in line
    assert last == f"damaged: 1 of {len(lines)}"


def test_a_file_that_is_to_be_removed_is_made_again_later_and_all_is_sound(home):
    flip(paths.film_map(home, "toy", "counts"))
    (found,) = [found for found in verify.check_dataset("toy") if found.problem]
    subprocess.run(shlex.split(found.command), check=True)
    assert not [found for found in verify.check_dataset("toy") if found.problem]


def test_a_missing_array_and_a_set_of_another_version_are_said(home):
    victim = stored(paths.prepared("toy") / "user.npy")
    victim.unlink()
    assert next(verify.check_dataset("toy")).problem == f"{victim} is missing or damaged"
    (paths.prepared("toy") / "about.json").write_bytes(storage.sign_document({"format": 3}))
    assert next(verify.check_dataset("toy")).problem == "toy was prepared by another version"


def test_archives_are_known_by_what_was_published_or_by_what_the_set_was_made_of(home, tmp_path):
    archive = paths.downloads() / "ml-1m" / "ml-1m.zip"
    storage.replace_file(archive, archives.write(tmp_path, archives.double_colon()).read_bytes())
    problems = [finding.problem for finding in verify.check_dataset("ml-1m")]
    assert problems == ["is missing, or its hash is not the expected one"]
    datasets.get("ml-1m", archive)
    assert [found.problem for found in verify.check_dataset("ml-1m")] == ["", ""]
    flip(archive)
    found = next(verify.check_dataset("ml-1m"))
    assert (found.path, found.command) == (archive, recsys_command("data", "get", "ml-1m"))


def test_everything_is_every_set_and_what_belongs_to_none(home, monkeypatch):
    monkeypatch.setattr(encoder, "FILE_HASHES", {"config.json": storage.sha256(b"{}")})
    storage.replace_file(paths.encoder() / "config.json", b"{}")
    storage.replace_file(paths.wikidata() / "a.json", storage.sign_document({"films": {}}))
    arrays.write(paths.vectors("film", "other", "a"), "vectors", np.eye(2), "a")
    arrays.write(paths.shipped_vectors("film", datasets.DEFAULT_DATASET), "vectors", np.eye(2), "a")
    victims = [
        paths.encoder() / "config.json",
        paths.wikidata() / "a.json",
        paths.vectors("film", "other", "a"),
        paths.shipped_vectors("film", datasets.DEFAULT_DATASET),
    ]
    for victim in victims:
        flip(victim)
    mends = {found.path: found.command for found in verify.check_all() if found.problem}
    # neither this archive nor the list of checksums is there
    bundled = published.SHIPPED_ARCHIVES / f"{datasets.DEFAULT_DATASET}.zip"
    assert set(mends) == {paths.encoder(), *victims[1:], bundled, paths.checksums()}
    assert [mends[path].split()[0] for path in (victims[3], bundled)] == ["git", "git"]
    assert [found for found in verify.check_all() if found.path == paths.prepared("toy") and not found.problem]


@pytest.mark.parametrize("name", ["nonsense", "own", "ties", "studies", "/etc"])
def test_a_name_of_no_data_set_is_refused(home, name):
    with exclusive_folder(paths.downloads() / "own"):  # as `data add` does
        pass
    with pytest.raises(DataError, match=f"nothing of {name} on this machine; see: "):
        next(verify.check_dataset(name))


def test_a_damaged_copy_of_a_checkpoint_is_a_finding(home):
    folder = paths.checkpoint("toy", "leave-one-out", "counts", 0)
    copy = folder.with_name("seed-0.bak")
    copy.mkdir()
    (copy / checkpoints.META).write_bytes(b"{}")
    assert [found.path for found in verify.check_dataset("toy") if found.problem] == [copy / checkpoints.META]


def test_files_of_a_killed_writer_are_no_damage(home):
    (home / "data" / ".ml-1m~abc.part" / "new").mkdir(parents=True)  # of an older version
    (paths.prepared("toy") / "item-0123456789ab.npy").touch()
    (paths.prepared("toy") / "about.json.01234567.part").touch()
    assert not [found for found in verify.check_all() if found.problem and found.path.is_relative_to(home)]
