"""Return the locations of all files of the project.

An argument `root` is `home()` or `ASSETS`. The path of an artifact is the path of its document, see `recsys.storage`.
"""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ASSETS = REPOSITORY / "assets"
# relative to REPOSITORY. The code writes them, so `machine.commit` ignores changes in them
RESULT_FOLDERS = ("assets/results", "assets/trials")
PUBLIC = "NEXTREEL_PUBLIC"  # environment variable, see `is_public`
# names of files in the folder of a checkpoint
STATE = "resume.pt"  # state of a stopped training
LOG = "log.jsonl"  # log of the training


def home() -> Path:
    """Return the home folder, with all downloads and computed files: $RECSYS_HOME, else the user data folder."""
    if folder := os.environ.get("RECSYS_HOME"):
        return Path(folder).expanduser()
    try:
        from platformdirs import user_data_path
    except ImportError:  # it is not installed on machines that only train
        return Path.home() / ".local" / "share" / "nextreel"
    return Path(user_data_path("nextreel", appauthor=False))


def is_public() -> bool:
    """Return whether the app is served to everyone. Then visitors can neither train nor add data."""
    return os.environ.get(PUBLIC, "") not in ("", "0")


def downloads() -> Path:
    """Return the folder of downloaded archives and wheels."""
    return home() / "downloads"


def prepared(dataset: str) -> Path:
    """Return the folder of a prepared data set."""
    return home() / "data" / dataset


def dataset_folders(dataset: str) -> list[Path]:
    """Return the folders of a data set in the home folder, with its files and everything computed from them."""
    kinds = ("data", "checkpoints", "results", "film_vectors", "tag_vectors", "maps", "trials", "downloads", "details")
    return [home() / kind / dataset for kind in kinds]


def details(dataset: str) -> Path:
    """Return the document of the film details from Wikidata."""
    return home() / "details" / dataset / "films.json"


def wikidata() -> Path:
    """Return the folder of the answers of Wikidata. All data sets share it, because films have IMDb ids."""
    return home() / "wikidata"


def encoder() -> Path:
    """Return the folder of the sentence encoder."""
    return home() / "encoder" / "all-MiniLM-L6-v2"


def checkpoints(root: Path, dataset: str, splitting: str) -> Path:
    """Return the folder of the checkpoints of all recommenders."""
    return root / "checkpoints" / dataset / splitting


def checkpoint(dataset: str, splitting: str, variant: str, seed: int) -> Path:
    """Return the folder of a checkpoint in the home folder."""
    return checkpoints(home(), dataset, splitting) / variant / f"seed-{seed}"


def shipped_checkpoint(dataset: str, splitting: str, variant: str) -> Path:
    """Return the folder of a shipped checkpoint."""
    return checkpoints(ASSETS, dataset, splitting) / variant


def checkpoint_seed(folder: Path) -> int | None:
    """Return the seed in the name of the folder of a checkpoint, or None if the name has another form."""
    number = folder.name.removeprefix("seed-")
    return int(number) if number.isdecimal() else None


def seeds(dataset: str, splitting: str, variant: str) -> list[int]:
    """Return the seeds that have a folder in the home folder, ascending. A folder may have no checkpoint yet."""
    folders = checkpoint(dataset, splitting, variant, 0).parent.glob("seed-*")
    return sorted(seed for folder in folders if (seed := checkpoint_seed(folder)) is not None)


def vectors(kind: str, dataset: str, texts_hash: str) -> Path:
    """Return the document of sentence vectors. `kind` is "film" or "tag", `texts_hash` the hash of the texts."""
    return home() / f"{kind}_vectors" / dataset / f"{texts_hash[:16]}.json"


def shipped_vectors(kind: str, dataset: str) -> Path:
    """Return the document of shipped sentence vectors. `kind` is "film" or "tag"."""
    return ASSETS / f"{kind}_vectors" / f"{dataset}.json"


def film_map(root: Path, dataset: str, variant: str) -> Path:
    """Return the document of the t-SNE map of a recommender's films."""
    return root / "maps" / dataset / f"{variant}.json"


def results(root: Path, dataset: str, protocol: str) -> Path:
    """Return the document of the board of results."""
    return root / "results" / dataset / f"{protocol}.json"


def ties(root: Path, dataset: str) -> Path:
    """Return the document of the experiment about ties, films that a user rated in the same second."""
    return root / "results" / "ties" / f"{dataset}.json"


def studies(root: Path) -> Path:
    """Return the folder of the results of studies."""
    return root / "results" / "studies"


def trials(root: Path, dataset: str, protocol: str) -> Path:
    """Return the document of the board of trials."""
    return root / "trials" / dataset / f"{protocol}.json"


def trial_run(dataset: str, protocol: str, name: str) -> Path:
    """Return the folder of a trial while it is trained."""
    return home() / "trials" / dataset / protocol / name


def jobs() -> Path:
    """Return the folder of the training jobs that were started in the app. It has a folder for each job."""
    return home() / "jobs"


def sample_lists() -> Path:
    """Return the file of ready-made watch lists."""
    return ASSETS / "sample_lists.json"


def film_names() -> Path:
    """Return the table of corrected titles and other names of films."""
    return ASSETS / "films" / "names.json"


def film_table(name: str) -> Path:
    """Return a table of MovieLens films: "directors", "languages" or "themes"."""
    return ASSETS / "films" / f"{name}.csv"


def published() -> Path:
    """Return the file of metrics that papers have published."""
    return REPOSITORY / "recsys" / "evaluation" / "published.json"


def translation(language: str) -> Path:
    """Return the file of translations of the interface."""
    return ASSETS / "locale" / f"{language}.po"


def checksums() -> Path:
    """Return the file that lists the SHA-256 of the shipped files without a hash in their content."""
    return ASSETS / "SHA256SUMS"
