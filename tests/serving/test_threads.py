import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from recsys.bench.shapes import generated
from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.serving.models import hold_to_one_thread
from recsys.serving.recommend import recommend, recommend_many

WORLD = generated(200, 500, 20)


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    hold_to_one_thread()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def model():
    """Untrained: what it would say does not matter here."""
    torch.manual_seed(0)
    model = Bert4Rec(Bert4RecConfig(dim=8, length=30))
    model.module = model.build(WORLD.n_items)
    model.module.eval()
    return model


def test_eight_visitors_at_a_time_get_the_answers_of_one_after_another(model):
    serial = [recommend(WORLD, model, history) for history in WORLD.histories]

    def visit(first):
        """All histories, each visitor beginning with another one."""
        rows = np.roll(np.arange(WORLD.n_users), -first)
        return {row: recommend(WORLD, model, WORLD.histories[row]) for row in rows}

    with ThreadPoolExecutor(8) as visitors:
        for answers in visitors.map(visit, range(0, WORLD.n_users, 25)):
            assert [answers[row] for row in range(WORLD.n_users)] == serial


def test_a_batch_gets_the_answers_of_one_after_another(model):
    many = recommend_many(WORLD, model, WORLD.histories)
    for films, history in zip(many, WORLD.histories, strict=True):
        alone = recommend(WORLD, model, history)
        assert [film.score for film in films] == pytest.approx([film.score for film in alone], rel=1e-4, abs=1e-5)


def test_a_visitor_occupies_one_core(model):
    """Torch tells a new thread how many cores to use only at some of its operations: the encoder begins with one."""
    used = {}

    def visit():
        began, began_own = time.process_time(), time.thread_time()
        for history in WORLD.histories:
            recommend(WORLD, model, history)
        used["all"], used["own"] = time.process_time() - began, time.thread_time() - began_own

    visitor = threading.Thread(target=visit)
    visitor.start()
    visitor.join()
    assert used["all"] < 1.3 * used["own"]
