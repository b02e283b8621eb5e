import json
import random

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import visitors
from tests import loops
from tests.pages import world


def button(label, widget, disabled=False, fragment=""):
    message = ForwardMsg()
    shown = message.delta.new_element.button
    shown.label, shown.id, shown.disabled = label, widget, disabled
    message.delta.fragment_id = fragment
    return message


def finished(status):
    return ForwardMsg(script_finished=status)


def test_a_visitor_remembers_the_buttons_that_can_be_pressed_and_knows_the_end_of_a_run():
    visitor = visitors.Visitor(None, "")
    assert not visitor.read(button("*Move Heat (1995) up*", "a"))
    assert not visitor.read(button("*Move Fargo (1996) up*", "b", disabled=True))
    assert not visitor.read(button("Clear", "c", fragment="part"))
    assert {one.label: (one.widget, one.fragment) for one in visitor.buttons.values()} == {
        "*Move Heat (1995) up*": ("a", ""),
        "Clear": ("c", "part"),
    }
    assert not visitor.read(finished(ForwardMsg.FINISHED_EARLY_FOR_RERUN))
    assert visitor.read(finished(ForwardMsg.FINISHED_SUCCESSFULLY))


def test_an_error_on_the_page_is_passed_on():
    message = ForwardMsg()
    message.delta.new_element.exception.message = "it broke"
    with pytest.raises(visitors.Stuck, match="it broke"):
        visitors.Visitor(None, "").read(message)


def test_a_button_that_is_not_there_is_named():
    with pytest.raises(visitors.Stuck, match='no button "Clear'):
        loops.run(visitors.Visitor(None, "").press("Clear", random.Random(0)))


def test_visitors_of_the_real_app_are_answered(tmp_path, monkeypatch, capsys):
    world.furnish(tmp_path)
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    asked = ["--visitors", "2", "--presses", "2", "--pause", "0.01", "--films", "5"]
    code = visitors.main([*asked, "--json", str(tmp_path / "result.json")])
    result = json.loads((tmp_path / "result.json").read_text())["result"]
    assert result["presses"] == 4
    assert 0 < result["p50_ms"] <= result["p95_ms"] <= result["worst_ms"]
    assert code == (0 if visitors.BAR.holds(result["p95_ms"]) else 1)
    assert "4 presses" in capsys.readouterr().out


def test_missing_data_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    assert visitors.main(["--data", "ml-1m"]) == 1
    assert "data get ml-1m" in capsys.readouterr().err
