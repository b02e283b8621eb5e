import numpy as np
import pytest
import torch

from recsys.data.schema import Queries
from recsys.data.split import leave_one_out
from recsys.evaluation import metrics
from recsys.models._transformer import Dropout
from recsys.models.bert4rec import NOTHING, Bert4Rec, Bert4RecConfig, cloze
from recsys.training.run import Run
from tests import toys

SEQUENCES = [np.arange(start, start + 40) % 60 for start in range(500)]


def hide(**settings):
    config = Bert4RecConfig(**settings)
    samples = cloze(SEQUENCES, 60, config, np.random.default_rng(0))
    return [tokens for tokens, _ in samples], [targets for _, targets in samples]


def test_a_fifth_of_the_films_is_hidden_and_each_can_be_guessed_from_its_target():
    tokens, targets = hide(last_share=0.0)
    masked = np.concatenate(tokens) == 61
    assert masked.mean() == pytest.approx(0.2, abs=0.01)
    np.testing.assert_array_equal(masked, np.concatenate(targets) != NOTHING)
    restored = [np.where(target == NOTHING, token, target) for token, target in zip(tokens, targets, strict=True)]
    np.testing.assert_array_equal(np.concatenate(restored), np.concatenate(SEQUENCES))


def test_every_sample_has_something_to_guess():
    _, targets = hide(mask_share=0.0, last_share=0.0)
    assert all((target != NOTHING).sum() == 1 for target in targets)


def test_last_only_samples_hide_the_last_film_and_no_other():
    tokens, _ = hide(last_share=1.0)
    assert all(row[-1] == 61 and (row == 61).sum() == 1 for row in tokens)


def test_eighty_ten_ten():
    tokens, targets = hide(keep_some=True, last_share=0.0)
    token, target, film = (np.concatenate(rows) for rows in (tokens, targets, SEQUENCES))
    guessed = target != NOTHING
    assert (token[guessed] == 61).mean() == pytest.approx(0.8, abs=0.02)
    assert (token[guessed] == film[guessed]).mean() == pytest.approx(0.1, abs=0.02)
    np.testing.assert_array_equal(token[~guessed], film[~guessed])
    np.testing.assert_array_equal(target[guessed], film[guessed])


def test_windows_reach_the_old_films_of_long_histories():
    data = toys.dataset([np.arange(50)], 50)
    for windows, reached in ((False, 10), (True, 50)):
        model = Bert4Rec(Bert4RecConfig(length=10, windows=windows))
        seen = {film for seed in range(200) for film in model._stretches(data, np.random.default_rng(seed))[0]}
        assert len(seen) == reached


@pytest.mark.parametrize("pre_norm", [False, True])
def test_it_learns_that_the_next_film_is_the_last_plus_one(pre_norm):
    histories = [(user + np.arange(6 + user % 11)) % 20 for user in range(240)]
    split = leave_one_out(toys.dataset(histories, 20))
    config = Bert4RecConfig(
        dim=32, length=10, epochs=40, batch_size=16, lr=5e-3, warmup=20, last_share=0.3, pre_norm=pre_norm
    )
    model = Bert4Rec(config).fit(split.train, split.valid, Run(device="cpu"))
    ranks = metrics.target_ranks(model.score(split.test.queries), split.test.targets, split.test.queries.histories)
    assert metrics.hit_rate(ranks, 1) > 0.95


def untrained(**settings):
    model = Bert4Rec(Bert4RecConfig(dim=16, length=10, **settings))
    torch.manual_seed(0)
    model.module = model.build(30)
    return model


def test_padding_changes_no_score():
    model = untrained(init=0.5)
    short, long = np.array([3, 4]), np.arange(9)
    together = model.score(Queries([short, long]))
    np.testing.assert_allclose(together[:1], model.score(Queries([short])), atol=1e-5)


def test_both_sides_of_a_film_are_looked_at():
    module = untrained(init=0.5).module.eval()
    first = module(torch.tensor([[1, 31, 2]]))[0, 1]
    assert not torch.allclose(first, module(torch.tensor([[1, 31, 3]]))[0, 1])
    assert not torch.allclose(first, module(torch.tensor([[3, 31, 2]]))[0, 1])


def test_only_the_newest_films_count_and_a_mask_follows_them():
    model = untrained()
    assert model.prompt(np.arange(25)).tolist() == [*range(16, 25), 31]
    assert model.prompt(np.array([], int)).tolist() == [31]


def test_dropout_zeroes_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    dropped = Dropout(0.25).train()(torch.ones(1001, 99))
    assert (dropped == 0).float().mean() == pytest.approx(0.25, abs=0.01)
    assert dropped.mean() == pytest.approx(1, abs=0.01)
    assert torch.equal(Dropout(0.25).eval()(torch.ones(5)), torch.ones(5))
