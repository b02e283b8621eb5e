"""Stored results of evaluations, with ranks (S seeds, B users), in a board `results/<data set>/<protocol>.json`.

A result in the home folder is preferred to the shipped result. If the data set is on this machine, results with
another fingerprint are not used. `documents` leaves out results that were measured on other users, because they cannot
be compared. This module loads neither torch nor Streamlit.
"""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any, NotRequired

import numpy as np
import pandas as pd
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from recsys import boards, errors, paths, progress, storage
from recsys.boards import Document
from recsys.data import own_data, prepared
from recsys.data.split import FORMER_OTHER_SCALE_RULE, LEAVE_ONE_OUT, OTHER_SCALE_RULE, Splitting
from recsys.errors import Message, RecsysError, disk_errors, recsys_command, restore_command
from recsys.evaluation import protocols
from recsys.models import registry
from recsys.ranking.metrics import METRICS as METRICS  # for pages, which do not import `ranking`

UNSEEN_ITEMS = "unseen"  # value of `calibration["over"]`: probabilities sum to 1 over the items that are not excluded

WarningCallback = Callable[[RecsysError], None]  # receives an error about a skipped result


class ResultError(RecsysError):
    """A result cannot be written or read."""


@with_config(ConfigDict(strict=True))
class Result(TypedDict):
    """A result document. A repeated evaluation gives the same values, except in `run`."""

    variant: str  # name of the recommender
    model: NotRequired[str]  # its class
    title: str
    family: str
    paper: str  # reference
    dataset: str
    protocol: dict[str, Any]  # its name and rules
    fingerprint: str  # `Dataset.fingerprint`: of the histories
    data_sha256: NotRequired[str]  # `Dataset.full_fingerprint`: of the histories, times and ratings
    details: NotRequired[str]  # `Details.fingerprint`, if the model uses credits; unlike "details" of a checkpoint
    also: NotRequired[str]  # another data set that the model was trained on
    config: dict[str, Any]  # settings of the recommender
    users: int  # number of evaluated users
    seeds: list[dict[str, Any]]  # {"seed", "metrics", "beyond"}
    mean: dict[str, float]  # metric → mean over seeds
    std: dict[str, float]  # {} for one seed
    interval: NotRequired[dict[str, list[float]]]  # metric → low, high: 95 % over users
    beyond: NotRequired[dict[str, float]]  # `list_metrics.beyond_accuracy`, mean over seeds; not for sampled candidates
    calibration: NotRequired[dict[str, Any]]  # `list_metrics.calibration` over the seeds of the last evaluation
    stars: NotRequired[dict[str, Any]]  # `rating_errors.summary` over the seeds of the last evaluation
    run: dict[str, Any]  # machine, date, training times ("trained") and, if seeds were added, the "earlier" run


_RESULT = TypeAdapter(Result)


def write(document: dict[str, Any], all_ranks: np.ndarray) -> None:
    """Write a result and its ranks (S, B) to the home folder. After a ResultError the old result is intact."""
    home_board, _ = _boards(document["dataset"], document["protocol"]["name"])
    _update_board(home_board, document["variant"], document, all_ranks)


def ship(dataset: str, protocol: str, variant: str) -> Path:
    """Copy a result from the home folder into assets/, and return the board in assets/."""
    home_board, shipped_board = _boards(dataset, protocol)
    variant_ranks = boards.read_ranks(home_board, [variant])[variant]
    _update_board(shipped_board, variant, _read_board(home_board)[variant], variant_ranks)
    return shipped_board


def check(board: Path) -> None:
    """Verify that a board is intact and contains results. Raises ResultError, with a command that repairs it."""
    try:
        boards.check(board)
    except (OSError, storage.DamagedFileError) as error:
        raise _damage_error(error, board) from error
    for variant, document in _read_board(board).items():
        _validate(document, board, variant)


def load(dataset: str, protocol: str, variant: str, warn: WarningCallback = errors.warn) -> dict[str, Any]:
    """Return the `Result` of a recommender.

    If the result in the home folder is not valid, `warn` is called and the shipped result is returned. Raises
    ResultError if there is no valid result for the data set on this machine.
    """
    _, document = _find_result(dataset, protocol, variant, warn)
    return document


def ranks(dataset: str, protocol: str, variant: str) -> np.ndarray:
    """Return the ranks of the held-out items, (S, B), users in the order of the data. Raises ResultError as `load`."""
    board, _ = _find_result(dataset, protocol, variant, errors.warn)
    try:
        return boards.read_ranks(board, [variant])[variant].astype(np.int32)  # stored in the smallest integer type
    except (OSError, storage.DamagedFileError) as error:
        raise _damage_error(error, board, variant) from error


def is_in_home(dataset: str, protocol: str, variant: str) -> bool:
    """Return whether a result is in the home folder. Raises ResultError if the board is damaged."""
    home_board, _ = _boards(dataset, protocol)
    return variant in _read_board(home_board)


def comparable_ranks(dataset: str, protocol: str, variant: str) -> np.ndarray:
    """Return the ranks of all seeds, (S, B). If each seed has another split, return the ranks of seed 0, (1, B).

    Raises ResultError as `load`, and if seed 0 is needed and missing.
    """
    all_ranks = ranks(dataset, protocol, variant)
    if not protocols.get_current_or_former(protocol).splitting.is_seeded:
        return all_ranks
    board, document = _find_result(dataset, protocol, variant, errors.warn)
    seeds = [row["seed"] for row in document["seeds"]]
    if 0 not in seeds:
        text = "{variant} has no result for seed 0, which comparisons need"
        raise ResultError(text, _evaluation_command(board, variant), variant=variant)
    return all_ranks[[seeds.index(0)]]


def available() -> list[tuple[str, str]]:
    """Return each (data set, protocol) with a result, in alphabetical order."""
    board_paths = [path for root in (paths.home(), paths.ASSETS) for path in root.glob("results/*/*.json")]
    older_folders = {path.parent for path in paths.home().glob("results/*/*/*.json")}  # see `_move_into_board`
    pairs = {(path.parent.name, path.stem) for path in (*board_paths, *older_folders)}
    return sorted((dataset, protocol) for dataset, protocol in pairs if dataset not in own_data.RESERVED_NAMES)


def version(dataset: str, protocol: str) -> str:
    """Return a text that changes when the data set or one of its results under the protocol changes."""
    return f"{prepared.fingerprint(dataset)}/{storage.version(*_boards(dataset, protocol))}"


def documents(dataset: str, protocol: str, warn: WarningCallback = errors.warn) -> list[dict[str, Any]]:
    """Return the results of all listed recommenders on the same users, best NDCG@10 first. See `registry.is_listed`.

    `warn` is called with an error for each damaged board and for each result that is left out. Such a result has other
    data or users than most results, or was written by another version of the program.
    """
    documents_by_board, failures = _read_boards(dataset, protocol)
    for failure in failures:
        warn(failure)
    valid_documents = []
    for variant in sorted(set[str]().union(*documents_by_board.values())):
        if registry.is_listed(variant):
            try:
                _, document = _first_valid(documents_by_board, dataset, variant, warn)
                valid_documents.append(document)
            except ResultError as error:
                warn(error)
    if not valid_documents:
        return []
    newest_first = sorted(valid_documents, key=lambda document: document["run"]["date"], reverse=True)
    # if several populations are equally common, `most_common` returns the population of the newest result
    [(population, _)] = Counter(map(population_key, newest_first)).most_common(1)
    comparable = []
    for document in valid_documents:
        if population_key(document) == population:
            comparable.append(document)
        else:
            command = recsys_command("evaluate", "all", "--dataset", dataset, "--protocol", protocol)
            text = (
                "{variant} is left out: it was not measured on the same people of {dataset} as most other recommenders"
            )
            warn(ResultError(text, command, variant=document["variant"], dataset=dataset))
    return sorted(comparable, key=lambda document: -document["mean"]["ndcg@10"])


def training_log(dataset: str, variant: str, splitting: Splitting = LEAVE_ONE_OUT) -> pd.DataFrame:
    """Return the training log of the lowest seed in the home folder, else the shipped log, else an empty table.

    There is a row per epoch, see `progress.read_epochs`. ndcg@10 and hr@10 are of the validation part.
    """
    location = (dataset, splitting.name, variant)  # the first arguments of functions of `paths`
    folders = [paths.checkpoint(*location, seed) for seed in paths.seeds(*location)]
    for folder in (*folders, paths.shipped_checkpoint(*location)):
        if (folder / paths.LOG).exists():
            return pd.DataFrame(progress.read_epochs(folder / paths.LOG) or {"epoch": []})
    return pd.DataFrame({"epoch": []})


def population_key(document: dict[str, Any]) -> str:
    """Return a text that identifies the evaluated users: data fingerprint, number of users, rules of the protocol.

    The wording of rules may change between versions of the program, so rules that are texts are left out. Only the
    presence of two of them counts: REPEATS and OTHER_SCALE_RULE. Results without them can come from older versions,
    which evaluated other users.
    """
    rules = document["protocol"]
    settings = {name: rule for name, rule in rules.items() if not isinstance(rule, str)}
    if protocols.REPEATS in rules:
        settings[protocols.REPEATS] = True
    if rules.get("users") in (OTHER_SCALE_RULE, FORMER_OTHER_SCALE_RULE):
        settings["other scale"] = True
    return json.dumps([document["fingerprint"], document["users"], settings], sort_keys=True)


def _boards(dataset: str, protocol: str) -> tuple[Path, Path]:
    """Return the board in the home folder and the shipped board.

    Results that an older version of the program has written are first moved into the board in the home folder.
    """
    home_board, shipped_board = (paths.results(root, dataset, protocol) for root in (paths.home(), paths.ASSETS))
    older_folder = home_board.with_suffix("")
    if older_folder.is_dir():
        try:
            _move_into_board(older_folder, home_board)
        except ResultError as error:
            errors.warn(error)
    return home_board, shipped_board


def _move_into_board(folder: Path, board: Path) -> None:
    """Move the results of an older version, `<variant>.json` with an .npz file each, into a board.

    Damaged results are deleted with a warning. Raises ResultError, and keeps all files, if the board cannot be written.
    """
    older_documents, older_ranks = {}, {}
    with storage.locked(board), disk_errors(board, ResultError):
        for path in sorted(folder.glob("*.json")):
            try:
                document = storage.read_document(path)
                older_ranks[path.stem] = boards.read_ranks(path, ["ranks"])["ranks"]
            except storage.DamagedFileError as error:
                errors.warn(_damage_error(error, board, path.stem))
                continue
            document.pop("files", None)  # the hashes of the older files
            document.get("run", {}).pop("sha256", None)  # a hash of the older file
            older_documents[path.stem] = document
        if older_documents:
            boards.update(board, older_documents, older_ranks, _evaluation_command(board))
        with suppress(FileNotFoundError):  # another process has moved the results
            shutil.rmtree(folder)


def _read_boards(dataset: str, protocol: str) -> tuple[dict[Path, dict[str, Document]], list[ResultError]]:
    """Return {board: {recommender: document}}, the home folder first, and the errors of damaged boards."""
    documents_by_board, failures = {}, []
    for board in _boards(dataset, protocol):
        try:
            documents_by_board[board] = _read_board(board)
        except ResultError as error:
            failures.append(error)
    return documents_by_board, failures


def _find_result(dataset: str, protocol: str, variant: str, warn: WarningCallback) -> tuple[Path, Document]:
    """Return the board and the document of the result that `load` returns. Raises as `load`."""
    documents_by_board, failures = _read_boards(dataset, protocol)
    if failures and not any(variant in documents_of_board for documents_of_board in documents_by_board.values()):
        raise failures[0]
    for failure in failures:
        warn(failure)
    return _first_valid(documents_by_board, dataset, variant, warn)


def _first_valid(
    documents_by_board: Mapping[Path, Mapping[str, Document]], dataset: str, variant: str, warn: WarningCallback
) -> tuple[Path, Document]:
    """Return the board and the document of the first valid result of a recommender for the data on this machine.

    `warn` is called for each invalid result before it. Raises ResultError if there is no such result.
    """
    fingerprint = prepared.fingerprint(dataset)  # None: the data set is not on this machine
    failures = []
    candidates = {board: content[variant] for board, content in documents_by_board.items() if variant in content}
    for board, document in candidates.items():
        try:
            _validate(document, board, variant)
        except ResultError as error:
            failures.append(error)
            continue
        if fingerprint in (None, document["fingerprint"]):
            for failure in failures:
                warn(failure)
            return board, registry.with_current_names(deepcopy(document))  # boards are cached
    if failures:
        raise failures[0]
    command = _evaluation_command(next(iter(documents_by_board)), variant)
    if not candidates:
        raise ResultError("{variant} has not been measured yet", command, variant=variant)
    text = "{variant} was measured on a different version of {dataset} from the one on this computer"
    raise ResultError(text, command, variant=variant, dataset=dataset)


def _read_board(board: Path) -> dict[str, Document]:
    """Return the documents of a board by recommender. Raises ResultError with a command that restores the board."""
    try:
        return boards.read(board)
    except (OSError, storage.DamagedFileError) as error:
        raise _damage_error(error, board) from error


def _validate(document: Document, board: Path, variant: str) -> None:
    """Raise ResultError, with a command that repeats the evaluation, unless a document is a `Result`."""
    try:
        _RESULT.validate_python(document)
    except ValidationError as error:
        missing_field = error.errors()[0]["loc"][0]
        text = "{variant} in {path} was written by another version: it lacks {missing}"
        command = _evaluation_command(board, variant)
        raise ResultError(text, command, variant=variant, path=board, missing=missing_field) from error


def _update_board(board: Path, variant: str, document: Document, variant_ranks: np.ndarray) -> None:
    """Replace the result of a recommender in a board. Raises ResultError."""
    with disk_errors(board, ResultError):
        boards.update(board, {variant: document}, {variant: variant_ranks}, _evaluation_command(board))


def _damage_error(error: OSError | storage.DamagedFileError, board: Path, variant: str = "all") -> ResultError:
    """Return the error for a damaged board: the message of `error` and a command that restores the board."""
    message = error.sentence if isinstance(error, RecsysError) else Message.literal(str(error))
    if board.is_relative_to(paths.ASSETS):
        return ResultError(message, restore_command(board.with_name(f"{board.stem}*")))
    return ResultError(message, _evaluation_command(board, variant))


def _evaluation_command(board: Path, variant: str = "all") -> str:
    """Return the command that repeats an evaluation. "all": all evaluations of the board."""
    return recsys_command("evaluate", variant, "--dataset", board.parent.name, "--protocol", board.stem)
