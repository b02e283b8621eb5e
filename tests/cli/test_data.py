import pytest

from recsys.cli.main import main
from recsys.data import movielens
from tests.data import archives


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def get(*arguments):
    return main(["data", "get", *map(str, arguments)])


def test_the_list_names_every_set_with_its_licence(capsys):
    assert main(["data", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == list(movielens.SETS)
    assert all("research only" in line for line in lines)
    assert all(line.split()[4] == "no" for line in lines)


def test_the_list_shows_what_is_here(tmp_path, capsys):
    get("ml-1m", "--from", archives.write(tmp_path, archives.double_colon()))
    capsys.readouterr()
    main(["data", "list"])
    here = {line.split()[0]: line.split()[4] for line in capsys.readouterr().out.splitlines()[1:]}
    assert [name for name, answer in here.items() if answer == "yes"] == ["ml-1m"]


def test_getting_a_set_says_what_was_got_and_what_may_be_done_with_it(tmp_path, capsys):
    assert get("ml-1m", "--from", archives.write(tmp_path, archives.double_colon())) == 0
    said = capsys.readouterr()
    assert "not the official archive" in said.err
    assert "ml-1m is ready: 5 users, 5 films, 25 ratings (2 films have too few ratings to train on)" in said.out
    assert "licence: research only" in said.out


def test_a_failure_is_one_line_on_stderr_and_exit_code_1(tmp_path, capsys):
    assert get("ml-1m", "--from", archives.write(tmp_path, archives.comma())) == 1
    said = capsys.readouterr()
    assert "some.zip is not a sound archive of MovieLens 1M: it holds no ratings.dat" in said.err.splitlines()[-1]
    assert said.out == ""


def test_ctrl_c_in_a_download_is_one_word_and_exit_code_130(monkeypatch, capsys):
    def press(name, source, report):
        report({"stage": "download", "done": 5, "total": 10, "from": "here"})
        raise KeyboardInterrupt

    monkeypatch.setattr(movielens, "get", press)
    assert get("ml-1m") == 130
    assert capsys.readouterr().err.splitlines()[-1] == "stopped"
