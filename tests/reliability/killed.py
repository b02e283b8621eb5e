"""Commands that kill themselves (kill -9) before one of their changes of the disk."""

import multiprocessing
import os
import signal

from recsys.cli.main import main
from recsys.data import enrich, wikidata
from recsys.serving import themes
from recsys.text import encoder
from tests.models.conftest import words_as_vectors

CHANGES_OF_THE_DISK = ("fsync", "replace", "rename", "unlink", "rmdir", "mkdir")  # functions of os
_fork_server = multiprocessing.get_context("forkserver")  # imports torch only once
_fork_server.set_forkserver_preload(
    [
        *(__name__, "torch._dynamo", "sklearn.feature_extraction.text", "recsys.data.own_data", "recsys.models.fpmc"),
        *("recsys.evaluation.evaluate", "recsys.serving.predictor", "recsys.cli.train", "recsys.cli.evaluate"),
    ]
)


def run(home, arguments, kill_before=None):
    """Run a command in another process.

    Args:
        home: The home folder.
        arguments: The command.
        kill_before: Number of the change of the disk, from 0, before which the process dies. None: it does not.

    Returns:
        The exit code, -9 after a kill, and the number of changes of the disk.
    """
    n_changes = _fork_server.Value("i", 0)
    process = _fork_server.Process(target=_run, args=(str(home), arguments, kill_before, n_changes))
    process.start()
    process.join()
    return process.exitcode, n_changes.value


def _run(home, arguments, kill_before, n_changes):
    os.environ["RECSYS_HOME"] = home
    # no network
    encoder.encode, themes.fetch_encoder = words_as_vectors, lambda report: None
    wikidata.fetch_facts = lambda ids, report: {imdb: {"minutes": 90, "directors": [imdb]} for imdb in ids}
    enrich.BATCH_SIZE, enrich.PAUSE_SECONDS = 10, 0

    def counted(function):
        def call(*arguments, **options):
            if n_changes.value == kill_before:
                os.kill(os.getpid(), signal.SIGKILL)
            n_changes.value += 1
            return function(*arguments, **options)

        return call

    for name in CHANGES_OF_THE_DISK:
        setattr(os, name, counted(getattr(os, name)))
    raise SystemExit(main(arguments))
