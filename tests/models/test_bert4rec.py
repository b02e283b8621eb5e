import numpy as np
import pytest
import torch

from recsys.data.schema import DataError, Queries
from recsys.data.split import leave_one_out
from recsys.evaluation import metrics
from recsys.models._transformer import Dropout
from recsys.models.bert4rec import NOTHING, Bert4Rec, Bert4RecConfig, cloze
from recsys.training.batches import Draws
from recsys.training.run import Run
from tests import toys

SEQUENCES = [np.arange(start, start + 40) % 60 for start in range(500)]
LENGTHS = np.full(500, 40)


DRAWS = Draws(seed=0, epoch=0)


def hide(draws=DRAWS, **settings):
    """Tokens and targets, (500, 40) each."""
    films, rows = np.concatenate(SEQUENCES), np.arange(500)
    tokens, targets = cloze(films, LENGTHS, rows, 60, Bert4RecConfig(**settings), draws)
    return tokens.reshape(500, 40), targets.reshape(500, 40)


def test_a_fifth_of_the_films_is_hidden_and_each_can_be_guessed_from_its_target():
    tokens, targets = hide(last_share=0.0)
    masked = tokens == 61
    assert masked.mean() == pytest.approx(0.2, abs=0.01)
    np.testing.assert_array_equal(masked, targets != NOTHING)
    np.testing.assert_array_equal(np.where(targets == NOTHING, tokens, targets), SEQUENCES)


def test_masks_change_with_the_epoch_and_the_seed():
    first, again = hide(), hide()
    np.testing.assert_array_equal(first, again)
    for other in (Draws(seed=0, epoch=1), Draws(seed=1, epoch=0)):
        both = (hide(other)[0] == 61) & (first[0] == 61)
        assert both.mean() == pytest.approx(0.18**2 + 0.1 / 40, abs=0.01)  # as often as chance has it


def test_a_sequence_is_masked_alike_in_whatever_batch_it_lies():
    data, draws = toys.cycle(length=15), Draws(seed=3, epoch=2)
    model = untrained()
    together = model.sample(data.histories, np.arange(8), 20, draws)
    for row in range(8):
        alone = model.sample(data.histories, np.array([row]), 20, draws)
        torch.testing.assert_close(alone.tokens[0], together.tokens[row])


def test_the_states_asked_for_are_those_of_the_hidden_films():
    model, data = untrained(), toys.dataset([np.arange(4), np.arange(9), [7]], 30)
    batch = model.sample(data.histories, np.arange(3), 30, Draws(0, 0))
    rows = batch.picked // batch.at.shape[1]
    places = batch.at.flatten()[batch.picked]
    assert torch.equal(batch.tokens[rows, places], torch.full_like(places, 31))
    assert (batch.tokens == 31).sum() == len(batch.targets)
    assert batch.targets.tolist() == [int(data.histories[row][place]) for row, place in zip(rows, places, strict=True)]


@pytest.mark.parametrize("fading", [False, True])
@pytest.mark.parametrize("pre_norm", [False, True])
def test_what_is_computed_only_where_it_is_wanted_is_the_same(pre_norm, fading):
    module = untrained(init=0.5, layers=2, pre_norm=pre_norm, fading=fading).module.eval()
    tokens = torch.tensor([[1, 31, 2, 8, 9], [3, 4, 31, 30, 30]])
    at = torch.tensor([[1, 4, 0], [2, 0, 0]])
    everywhere, wanted = module(tokens), module(tokens, at)
    torch.testing.assert_close(wanted, everywhere[torch.arange(2)[:, None], at])
    gradients = [
        torch.autograd.grad(states.square().sum(), module.items.weight)[0]
        for states in (everywhere[torch.arange(2)[:, None], at], wanted)
    ]
    torch.testing.assert_close(*gradients)


def test_every_sample_has_something_to_guess():
    _, targets = hide(mask_share=0.0, last_share=0.0)
    assert ((targets != NOTHING).sum(1) == 1).all()
    assert len(set(np.nonzero(targets != NOTHING)[1])) == 40  # anywhere in the sequence


def test_last_only_samples_hide_the_last_film_and_no_other():
    tokens, _ = hide(last_share=1.0)
    assert (tokens[:, -1] == 61).all()
    assert (tokens == 61).sum() == 500


def test_eighty_ten_ten():
    tokens, targets = hide(keep_some=True, last_share=0.0)
    token, target, film = tokens.ravel(), targets.ravel(), np.concatenate(SEQUENCES)
    guessed = target != NOTHING
    assert (token[guessed] == 61).mean() == pytest.approx(0.8, abs=0.02)
    assert (token[guessed] == film[guessed]).mean() == pytest.approx(0.1, abs=0.02)
    assert len(np.unique(token[guessed & (token != 61) & (token != film)])) == 60  # any film may replace one
    np.testing.assert_array_equal(token[~guessed], film[~guessed])
    np.testing.assert_array_equal(target[guessed], film[guessed])


def test_windows_reach_the_old_films_of_long_histories():
    histories, rows = [np.arange(50)], np.array([0])
    for windows, reached in ((False, 10), (True, 50)):
        model = Bert4Rec(Bert4RecConfig(length=10, windows=windows))
        seen = {film for epoch in range(200) for film in model._stretches(histories, rows, Draws(0, epoch))[0]}
        assert len(seen) == reached


@pytest.mark.parametrize(("pre_norm", "fading"), [(False, False), (True, False), (True, True)])
def test_it_learns_that_the_next_film_is_the_last_plus_one(pre_norm, fading):
    histories = [(user + np.arange(6 + user % 11)) % 20 for user in range(240)]
    split = leave_one_out(toys.dataset(histories, 20))
    config = Bert4RecConfig(
        dim=32,
        length=10,
        epochs=40,
        batch_size=16,
        lr=5e-3,
        warmup=20,
        last_share=0.3,
        pre_norm=pre_norm,
        fading=fading,
    )
    model = Bert4Rec(config).fit(split.train, split.valid, Run(device="cpu"))
    ranks = metrics.target_ranks(model.score(split.test.queries), split.test.targets, split.test.queries.histories)
    assert metrics.hit_rate(ranks, 1) > 0.95


def untrained(**settings):
    model = Bert4Rec(Bert4RecConfig(dim=16, length=10, **settings))
    torch.manual_seed(0)
    model.module = model.build(30)
    return model


@pytest.mark.parametrize("fading", [False, True])
def test_padding_changes_no_score(fading):
    model = untrained(init=0.5, fading=fading)
    short, long = np.array([3, 4]), np.arange(9)
    together = model.score(Queries([short, long]))
    np.testing.assert_allclose(together[:1], model.score(Queries([short])), atol=1e-5)


def test_both_sides_of_a_film_are_looked_at():
    module = untrained(init=0.5).module.eval()
    first = module(torch.tensor([[1, 31, 2]]))[0, 1]
    assert not torch.allclose(first, module(torch.tensor([[1, 31, 3]]))[0, 1])
    assert not torch.allclose(first, module(torch.tensor([[3, 31, 2]]))[0, 1])


def test_each_side_fades_by_its_own_slope():
    module = untrained(init=0.5, layers=1, fading=True).module.eval()
    with torch.no_grad():
        module.blocks[0].fading.slopes.fill_(200)
        module.blocks[0].fading.after.fill_(0)
    states = module(torch.tensor([[4, 8, 31, 15, 16], [9, 7, 31, 15, 16], [4, 8, 31, 15, 9]]))
    torch.testing.assert_close(states[0, 2], states[1, 2])  # of what lies before, nothing is near enough
    assert not torch.allclose(states[0, 2], states[2, 2])  # after it, all is


@pytest.mark.parametrize("fading", [False, True])
def test_it_matters_on_which_side_a_film_stands(fading):
    module = untrained(init=0.5, fading=fading).module.eval()
    if fading:
        with torch.no_grad():
            module.blocks[0].fading.after.fill_(3)
    states = module(torch.tensor([[4, 31, 8], [8, 31, 4]]))
    assert not torch.allclose(states[0, 1], states[1, 1], atol=1e-3)


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


@pytest.mark.parametrize("loss", ["sampled-softmax", "gbce"])
def test_it_learns_by_a_sampled_loss_too(loss):
    split = leave_one_out(toys.cycle(n_items=20, n_users=200))
    config = Bert4RecConfig(
        dim=32, length=12, epochs=20, batch_size=16, lr=5e-3, warmup=20, last_share=0.5, loss=loss, negatives=40
    )
    model = Bert4Rec(config).fit(split.train, split.valid, Run(device="cpu"))
    ranks = metrics.target_ranks(model.score(split.test.queries), split.test.targets, split.test.queries.histories)
    assert metrics.hit_rate(ranks, 1) > 0.95


@pytest.mark.parametrize(("loss", "claims"), [("softmax", True), ("sampled-softmax", True), ("gbce", False)])
def test_probabilities_are_claimed_only_where_the_loss_teaches_them(loss, claims):
    assert Bert4Rec(Bert4RecConfig(loss=loss)).softmax is claims


def test_an_unknown_loss_is_refused_before_training():
    split = leave_one_out(toys.cycle())
    with pytest.raises(DataError, match="sampled-softmax"):
        Bert4Rec(Bert4RecConfig(loss="hinge")).fit(split.train)


def test_data_without_films_is_refused():
    with pytest.raises(DataError, match="no films to train on"):
        Bert4Rec().fit(toys.dataset([[]], 5))
