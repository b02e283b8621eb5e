import json
import sys

import pytest

from recsys import paths, progress
from recsys.progress import TerminalProgress


def fetched(done, total=1000, stage="download"):
    return {"stage": stage, "done": done, "total": total, "from": "example.org"}


def shown(capsys, events, title="", bars=False):
    with pytest.MonkeyPatch.context() as patch, TerminalProgress(title) as report:
        patch.setattr(sys.stderr, "isatty", lambda: bars)
        for event in events:
            report(event)
    return capsys.readouterr()


def test_bytes_are_shown_as_a_bar(capsys):
    said = shown(capsys, [fetched(500), fetched(1000)], bars=True).err
    assert "example.org" in said
    assert "100%" in said
    assert "1.00k/1.00k" in said


def test_where_nobody_watches_a_stage_is_one_line(capsys):
    said = shown(capsys, [fetched(1), fetched(2), {"stage": "parse"}, *[fetched(n, 9, "fit") for n in range(9)]])
    assert said.err.splitlines() == [
        "downloading from example.org …",
        "reading …",
        "fitting the model, which is done once …",
    ]
    assert said.out == ""


def test_a_download_of_unknown_size_is_one_line(capsys):
    assert shown(capsys, [fetched(1, None), fetched(2, None)], bars=True).err == "downloading from example.org …\n"


def test_a_ranking_is_a_bar_with_a_title_or_nothing(capsys):
    ranked = [fetched(done, 60, "rank") for done in (30, 60)]
    assert "popular on toy: " in shown(capsys, ranked, title="popular on toy", bars=True).err
    assert shown(capsys, ranked, title="popular on toy").err == ""


def test_the_next_seed_begins_a_new_bar(capsys):
    twice = [fetched(done, 60, "rank") for done in (30, 60, 30, 60)]
    assert shown(capsys, twice, title="toy", bars=True).err.count("| 0/60") == 2


def test_a_note_is_said_and_clears_the_bar_away(capsys):
    said = shown(capsys, [fetched(500), {"stage": "note", "text": "the site is slow"}], bars=True).err
    assert said.endswith("\nthe site is slow\n")


def test_an_epoch_is_a_line_on_stdout(capsys):
    event = {"epoch": 12, "epochs": 100, "loss": 5.9124, "sequences_per_second": 640.2, "memory_mb": 413.0}
    event |= {"ndcg@10": 0.0981, "best": 0.1, "seconds_left": 750.0}
    said = shown(capsys, [event])
    expected = "epoch  12/100  loss 5.912  640 sequences/s  413 MB  NDCG@10 0.0981 (best 0.1000)  12:30 left\n"
    assert (said.out, said.err) == (expected, "")


@pytest.mark.parametrize("event", [{"stage": "unheard of"}, {"other": 1}])
def test_an_event_of_another_kind_is_passed_over(capsys, event):
    assert shown(capsys, [event]) == ("", "")


def test_programs_read_each_event_as_a_line_of_json(capsys):
    progress.print_json({"epoch": 1})
    progress.print_json({"epoch": 2})
    assert [json.loads(line)["epoch"] for line in capsys.readouterr().out.splitlines()] == [1, 2]


EVENTS = [{"epoch": 1, "loss": 2.5, "best": None}, {"stage": "note", "text": "naïve"}, {"epoch": 2, "loss": 0.1}]


def test_every_flipped_bit_in_a_log_is_noticed_and_costs_the_lines_it_is_in_alone(tmp_path):
    path = tmp_path / "log.jsonl"
    whole = "".join(f"{progress.to_line(event)}\n" for event in EVENTS).encode()
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert progress.count_damaged(path), bit
        kept = list(progress.read(path))
        assert all(event in EVENTS for event in kept), bit
        assert len(kept) >= len(EVENTS) - 2, bit
    path.write_bytes(whole)
    assert (list(progress.read(path)), progress.count_damaged(path)) == (EVENTS, 0)


def test_every_line_of_a_shipped_log_has_a_checksum():
    logs = sorted((paths.ASSETS / "checkpoints").rglob(paths.LOG))
    assert logs
    for path in logs:
        *lines, end = path.read_bytes().split(b"\n")
        assert not end
        assert all(line.startswith(b'{"crc32": "') for line in lines), path
        assert progress.count_damaged(path) == 0, path


def test_a_line_cut_short_by_a_kill_is_left_out_and_is_no_damage(tmp_path):
    path = tmp_path / "log.jsonl"
    whole = progress.to_line(EVENTS[0]).encode()
    for length in range(len(whole)):
        path.write_bytes(whole + b"\n" + whole[:length])
        assert (list(progress.read(path)), progress.count_damaged(path)) == (EVENTS[:1], 0)


def test_lines_without_a_checksum_are_read(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{json.dumps(event)}\n" for event in EVENTS))
    assert (list(progress.read(path)), progress.count_damaged(path)) == (EVENTS, 0)
