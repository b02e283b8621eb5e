import resource
import subprocess
from dataclasses import asdict
from functools import partial

import pytest

from recsys import paths, storage, verify
from recsys.cli.main import main
from recsys.data import datasets, wikidata
from recsys.data.dataset import DataError
from recsys.data.split import LEAVE_ONE_OUT
from recsys.errors import recsys_command
from recsys.jobs import queue
from recsys.training.trainer import RunFolder
from tests.data import archives
from tests.data.wikidata_fake import asking, title

pytestmark = pytest.mark.usefixtures("home")


def get(*arguments):
    return main(["data", "get", *map(str, arguments)])


def test_the_list_names_every_set_with_its_licence(capsys):
    assert main(["data", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(datasets.PUBLISHED)
    assert all("research only" in line for line in lines)
    assert [line.split()[0] for line in lines if line.split()[5] == "yes"] == ["ml-latest-sample"]


def test_the_list_shows_what_is_here(tmp_path, capsys):
    get("ml-1m", "--from", archives.write(tmp_path, archives.double_colon()))
    capsys.readouterr()
    main(["data", "list"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [line[0] for line in lines if line[5] == "yes"] == ["ml-latest-sample", "ml-1m"]
    assert next(line[1:4] for line in lines if line[0] == "ml-1m") == [
        "5",
        "5",
        "25",
    ]  # not what was published, and without infrequent films


def test_getting_a_set_says_what_was_got_and_what_may_be_done_with_it(tmp_path, capsys):
    assert get("ml-1m", "--from", archives.write(tmp_path, archives.double_colon())) == 0
    said = capsys.readouterr()
    assert "not the official archive" in said.err
    assert "ml-1m is ready: 5 users, 5 films, 25 ratings (2 films have too few ratings to train on)" in said.out
    assert "licence: of the published MovieLens 1M, research only" in said.out


def test_a_failure_is_one_line_on_stderr_and_exit_code_1(tmp_path, capsys):
    assert get("ml-1m", "--from", archives.write(tmp_path, archives.comma())) == 1
    said = capsys.readouterr()
    assert "some.zip is not a valid archive of MovieLens 1M: it holds no ratings.dat" in said.err.splitlines()[-1]
    assert said.out == ""


ROWS = "".join(f"{user},{item},{10 * user + item}\n" for user in range(300) for item in range(user % 4, 12))


def add(tmp_path, *arguments, rows=ROWS, name="shop"):
    path = tmp_path / "shop.csv"
    path.write_text(f"user,item,time\n{rows}")
    return main(["data", "add", name, "--interactions", str(path), *arguments])


def test_own_data_is_checked_kept_and_listed_as_ones_own(tmp_path, capsys):
    assert add(tmp_path) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "3,150 rows: 300 people, 12 items, 3,150 events"
    assert said[-1].startswith("shop is ready; train on it: ")
    main(["data", "list"])
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.split() == ["shop", "300", "12", "3,150", "yes", "yours"]


def test_own_data_trains_is_measured_and_answers_with_defaults(tmp_path, capsys):
    add(tmp_path)
    for command in (
        ["train", "markov", "--dataset", "shop"],
        ["evaluate", "markov", "--dataset", "shop"],
        ["recommend", "3", "--dataset", "shop", "--model", "markov", "-k", "1"],
    ):
        assert main(command) == 0, command
    assert capsys.readouterr().out.splitlines()[-1].split()[:2] == ["1", "4"]


def test_a_person_with_a_name_is_asked_for_by_it(tmp_path, capsys):
    add(tmp_path, rows="ann,tea,1\nann,soap,2\nann,milk,3\nbob,tea,1\nbob,soap,2\nbob,salt,3\n")
    assert main(["recommend", "--user", "bob", "--dataset", "shop", "--model", "popular", "-k", "1"]) == 0
    assert "milk" in capsys.readouterr().out.splitlines()[-1]
    assert main(["recommend", "--user", "eve", "--dataset", "shop", "--model", "popular"]) == 1
    assert "shop has no person eve; its 2 people have names such as ann, bob" in capsys.readouterr().err


def test_a_check_alone_adds_nothing(tmp_path, capsys):
    assert add(tmp_path, "--check") == 0
    assert "300 people" in capsys.readouterr().out
    assert datasets.prepared_names() == []


def test_what_min_ratings_leaves_out_is_said(tmp_path, capsys):
    assert add(tmp_path, "--min-ratings", "100") == 0
    assert "left out: 1 item with too few events, 75 events, and 0 people" in capsys.readouterr().out


def test_a_set_that_was_added_can_be_removed_but_not_while_somebody_trains_for_it(tmp_path, capsys):
    add(tmp_path)
    training = RunFolder(paths.checkpoint("shop", LEAVE_ONE_OUT.name, "bert4rec", 0))
    job = queue.Job(id="20260101-000000", variant="caser", dataset="shop", state=queue.State.WAITING)
    storage.replace_file(job.folder / queue.JOB_FILE, storage.sign_document(asdict(job)))
    assert main(["data", "remove", "shop"]) == 1
    queue.stop(job.id)
    with training.lock():
        assert main(["data", "remove", "shop"]) == 1
    assert capsys.readouterr().err.count("is being trained for shop") == 2
    assert paths.prepared("shop").is_dir()
    assert main(["data", "remove", "shop"]) == 0
    assert not paths.prepared("shop").exists()
    assert datasets.prepared_names() == []
    assert main(["data", "remove", "ml-1m"]) == 1


def test_a_first_add_that_the_disk_refuses_leaves_nothing(tmp_path, home):
    rows = "user,item,time\n" + "".join(f"u{n % 500},i{n},{n}\n" for n in range(5_000))
    (tmp_path / "some.csv").write_text(rows)
    line = [*recsys_command().split(), "data", "add", "shop", "--interactions", str(tmp_path / "some.csv")]
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (10_000, 10_000))  # bytes of a file
    done = subprocess.run(line, cwd=paths.REPOSITORY, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "File too large" in done.stderr
    assert not list((home / "data").iterdir())
    with pytest.raises(DataError, match="nothing of shop"):
        list(verify.check_dataset("shop"))
    assert not [found for found in verify.check_all() if found.problem]


def test_an_empty_folder_is_no_set(home):
    (home / "data" / "shop").mkdir(parents=True)
    (home / "data" / ".ml-1m~abcdefgh.part" / "new").mkdir(parents=True)  # left by a killed process
    assert not [found for found in verify.check_all() if found.problem]


@pytest.mark.parametrize(
    "command",
    [
        ["data", "get", datasets.DEFAULT_DATASET],
        ["data", "list"],
        ["data", "verify", "ml-1m"],
        ["train", "popular"],
        ["jobs"],
        ["jobs", "stop", "1"],
    ],
)
def test_a_home_that_is_a_loop_of_links_ends_without_a_traceback(tmp_path, home, capsys, command):
    home.symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(home)
    main(command)
    assert "Traceback" not in capsys.readouterr().err


def test_data_that_cannot_be_added_is_one_line(tmp_path, capsys):
    assert add(tmp_path, name="ml-1m") == 1
    assert add(tmp_path, "--user-col", "who") == 1
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_repeated_ratings_and_people_without_films_are_mentioned(tmp_path, capsys):
    files = archives.double_colon()
    name = "ml-1m/ratings.dat"
    files[name] += files[name].splitlines(keepends=True)[0] + b"9::70::3::5\n"
    get("ml-1m", "--from", archives.write(tmp_path, files))
    said = capsys.readouterr()
    assert "repeated ratings (same person, film and time), which count once: 1" in said.err
    assert "people left out because none of their films has at least 5 ratings: 1" in said.err
    assert "5 users, 5 films, 25 ratings" in said.out


def enrich(name):
    return main(["data", "enrich", name])


def test_enriching_says_what_is_known_and_that_it_is_free(tmp_path, capsys):
    get("ml-1m", "--from", archives.write(tmp_path, archives.double_colon()))  # its films: 10, 20, …
    with asking() as service:
        service.rows = [title("tt0114709", "Q171048", "Історія іграшок", "uk")]
        assert enrich("ml-1m") == 0
    said = capsys.readouterr()
    assert "ml-1m is enriched: Wikidata has data on 0 of its 7 films" in said.out
    assert "CC0" in said.out
    assert "asking Wikidata about the films" in said.err


def test_enriching_without_a_network_is_one_line_that_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(wikidata, "ADDRESS", "http://127.0.0.1:9/sparql")
    monkeypatch.setattr(wikidata, "PAUSE_SECONDS", 0.0)
    get("ml-1m", "--from", archives.write(tmp_path, archives.double_colon()))
    capsys.readouterr()
    assert enrich("ml-1m") == 1
    last = capsys.readouterr().err.splitlines()[-1]
    host = "query.wikidata.org"
    assert last.startswith(f"{host}: it refuses connections; check the network, or continue later; the details of")
    assert last.endswith("data enrich ml-1m")
