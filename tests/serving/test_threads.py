from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from benchmarks.generated_data import generate_dataset
from recsys.models.bert4rec import Bert4Rec, Bert4RecConfig
from recsys.serving.predictor import use_one_thread
from recsys.serving.recommend import Request, recommend, recommend_many
from tests.serving.given import predictor

WORLD = generate_dataset(80, 500, 20)
REQUESTS = [Request(tuple(history.tolist())) for history in WORLD.histories]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    use_one_thread()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def ready():
    """Untrained, as it does not matter here which films it recommends."""
    torch.manual_seed(0)
    model = Bert4Rec(Bert4RecConfig(dim=8, length=30))
    model.module = model.build(WORLD.n_items)
    model.module.eval()
    return predictor(WORLD, model)


def test_eight_threads_get_the_answers_of_one(ready):
    serial = [recommend(ready, request) for request in REQUESTS]

    def answer(first):
        """All requests, each thread beginning with another one."""
        rows = np.roll(np.arange(len(REQUESTS)), -first)
        return {row: recommend(ready, REQUESTS[row]) for row in rows}

    with ThreadPoolExecutor(8) as threads:
        for answers in threads.map(answer, range(0, len(REQUESTS), 10)):
            assert [answers[row] for row in range(len(REQUESTS))] == serial


def test_a_batch_gets_the_answers_of_one_after_another(ready):
    for films, request in zip(recommend_many(ready, REQUESTS), REQUESTS, strict=True):
        alone = recommend(ready, request)
        assert [film.score for film in films] == pytest.approx([film.score for film in alone], rel=1e-4, abs=1e-5)


def test_a_request_in_a_new_thread_occupies_one_core(ready):
    torch.set_num_threads(4)
    use_one_thread()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(recommend, ready, REQUESTS[0]).result()
        assert thread.submit(torch.get_num_threads).result() == 1
