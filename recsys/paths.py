"""Every file location of the project, and nowhere else."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ASSETS = REPOSITORY / "assets"
MEASURED = ("assets/results", "assets/trials")  # within REPOSITORY: what measuring writes
PUBLIC = "NEXTREEL_PUBLIC"  # in the environment; anything but 0
LOG = "log.jsonl"  # in a checkpoint's folder: one training event a line


def home() -> Path:
    """The folder of everything downloaded or trained here: $RECSYS_HOME, else the platform's user data folder."""
    if chosen := os.environ.get("RECSYS_HOME"):
        return Path(chosen).expanduser()
    try:
        from platformdirs import user_data_path
    except ImportError:  # a bare training machine
        return Path.home() / ".local" / "share" / "nextreel"
    return Path(user_data_path("nextreel", appauthor=False))


def is_public() -> bool:
    """Whether this machine serves the app to everybody: visitors then neither train nor add data."""
    return os.environ.get(PUBLIC, "") not in ("", "0")


def downloads() -> Path:
    """Archives and wheels as fetched."""
    return home() / "downloads"


def prepared(dataset: str) -> Path:
    """The parsed form of one data set: arrays as .npy, the film table as parquet."""
    return home() / "data" / dataset


def dataset_folders(dataset: str) -> list[Path]:
    """Every folder in which something of one data set lies on this machine: its data, and all that was made of it."""
    kinds = ("data", "checkpoints", "results", "film_vectors", "tag_vectors", "maps", "trials", "downloads", "details")
    return [home() / kind / dataset for kind in kinds]


def details(dataset: str) -> Path:
    """Who made the films of a data set and what they are about, as Wikidata knows it."""
    return home() / "details" / dataset / "films.json"


def wikidata() -> Path:
    """Wikidata's answers, a file for each, for all sets together: films are known there by their IMDb ids."""
    return home() / "wikidata"


def encoder() -> Path:
    """The unpacked sentence encoder."""
    return home() / "encoder" / "all-MiniLM-L6-v2"


def checkpoint(dataset: str, splitting: str, variant: str, seed: int) -> Path:
    """A model trained or fitted on this machine, from the training part of one splitting."""
    return _checkpoints(home(), dataset, splitting) / variant / f"seed-{seed}"


def seeds(dataset: str, splitting: str, variant: str) -> list[int]:
    """Seeds with a folder on this machine, finished or not, ascending."""
    found = checkpoint(dataset, splitting, variant, 0).parent.glob("seed-*")
    names = [path.name.removeprefix("seed-") for path in found]
    return sorted(int(name) for name in names if name.isdecimal())


def shipped_checkpoint(dataset: str, splitting: str, variant: str) -> Path:
    """A model that comes with the project."""
    return _checkpoints(ASSETS, dataset, splitting) / variant


def _checkpoints(root: Path, dataset: str, splitting: str) -> Path:
    return root / "checkpoints" / dataset / splitting


def shipped_film_vectors(dataset: str) -> Path:
    """Sentence vectors of a data set's films, fp16, that come with the project."""
    return ASSETS / "film_vectors" / f"{dataset}.json"


def film_vectors(dataset: str, texts: str) -> Path:
    """Sentence vectors of a data set's films, fp16, computed on this machine; `texts`: the hash of what was encoded."""
    return home() / "film_vectors" / dataset / f"{texts[:16]}.json"


def shipped_tag_vectors(dataset: str) -> Path:
    """Sentence vectors of a data set's tags, fp16, that come with the project."""
    return ASSETS / "tag_vectors" / f"{dataset}.json"


def tag_vectors(dataset: str, texts: str) -> Path:
    """Sentence vectors of a data set's tags, fp16, computed on this machine; `texts`: the hash of what was encoded."""
    return home() / "tag_vectors" / dataset / f"{texts[:16]}.json"


def by_names() -> Path:
    """What people call films that their titles do not tell."""
    return ASSETS / "search" / "by_names.json"


def published() -> Path:
    """Figures that others published."""
    return REPOSITORY / "recsys" / "evaluation" / "published.json"


def translation(language: str) -> Path:
    """The translations of the interface into a language."""
    return ASSETS / "locale" / f"{language}.po"


def checksums() -> Path:
    """SHA-256 of shipped files that no sealed document covers."""
    return ASSETS / "SHA256SUMS"


def results(root: Path, dataset: str, protocol: str) -> Path:
    """The folder of result files under `root`, which is `home()` or `ASSETS`."""
    return root / "results" / dataset / protocol


def ties(root: Path, dataset: str) -> Path:
    """What was measured of the order within a second, under `root`, which is `home()` or `ASSETS`."""
    return root / "results" / "ties" / f"{dataset}.json"


def studies(root: Path) -> Path:
    """The folder of studies under `root`, which is `home()` or `ASSETS`."""
    return root / "results" / "studies"


def trial(root: Path, dataset: str, protocol: str, name: str) -> Path:
    """The folder that one training of a study left under `root`, which is `home()` or `ASSETS`."""
    return root / "trials" / dataset / protocol / name


def shipped_film_map(dataset: str, variant: str) -> Path:
    """Where each film of a data set lies on a recommender's t-SNE map, fp16, that comes with the project."""
    return ASSETS / "maps" / dataset / f"{variant}.json"


def film_map(dataset: str, variant: str) -> Path:
    """The same, computed on this machine."""
    return home() / "maps" / dataset / f"{variant}.json"


def jobs() -> Path:
    """The folder of training runs that were started in the app, a folder each."""
    return home() / "jobs"
