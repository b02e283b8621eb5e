import json
import random

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import load
from tests import loops
from tests.pages import world
from tests.served_app import PageError, Visitor


def button(label, widget, disabled=False, fragment=""):
    message = ForwardMsg()
    element = message.delta.new_element.button
    element.label, element.id, element.disabled = label, widget, disabled
    message.delta.fragment_id = fragment
    return message


def finished(status):
    return ForwardMsg(script_finished=status)


def test_a_visitor_records_enabled_buttons_until_a_run_ends():
    visitor = Visitor("")
    assert not visitor.read(button("*Move Heat (1995) up*", "a"))
    assert not visitor.read(button("*Move Fargo (1996) up*", "b", disabled=True))
    assert not visitor.read(button("Clear", "c", fragment="part"))
    assert {label: (widget.id, widget.fragment) for label, widget in visitor.buttons.items()} == {
        "*Move Heat (1995) up*": ("a", ""),
        "Clear": ("c", "part"),
    }
    assert not visitor.read(finished(ForwardMsg.FINISHED_EARLY_FOR_RERUN))
    assert visitor.read(finished(ForwardMsg.FINISHED_SUCCESSFULLY))


def test_an_error_on_the_page_is_raised():
    message = ForwardMsg()
    message.delta.new_element.exception.message = "it broke"
    with pytest.raises(PageError, match="it broke"):
        Visitor("").read(message)


def test_a_missing_button_is_named():
    with pytest.raises(PageError, match='no button "Clear'):
        loops.run(Visitor("").press("Clear", random.Random(0)))


@pytest.mark.slow
def test_visitors_of_the_real_app_are_answered(home, tmp_path, capsys):
    world.furnish(home)
    arguments = ["--visitors", "2", "--presses", "2", "--pause", "0.01", "--films", "5"]
    assert load.main([*arguments, "--json", str(tmp_path / "result.json")]) == 0
    result = json.loads((tmp_path / "result.json").read_text())["result"]
    assert (result["presses"], result["failed"]) == (4, 0)
    assert 0 < result["p50_ms"] <= result["p95_ms"] <= result["worst_ms"]
    assert "failed                      0 ≤ 0: met" in capsys.readouterr().out


def test_a_missed_target_is_the_exit_code(toy_home, monkeypatch):
    assert [target.limit for target in load.targets(10) if target.figure == "p95_ms"] == [1000]
    assert [target.limit for target in load.targets(11) if target.figure == "p95_ms"] == [None]

    async def slow(app, query, options):
        return {"failed": 0, "errors": [], "p95_ms": 1001}

    monkeypatch.setattr(load, "measure", slow)
    assert load.main(["--films", "5"]) == 1


def test_missing_data_is_one_line(home):
    with pytest.raises(SystemExit, match=r"data get ml-1m$"):
        load.main(["--data", "ml-1m"])
