import numpy as np
import pytest
import torch
import torch.nn.functional as F

from recsys.config import ConfigError
from recsys.data.dataset import DataError, HeldOut, Queries
from recsys.data.split import leave_one_out
from recsys.models import registry
from recsys.models.ablations import Bert4RecAblated
from recsys.models.bert4rec import IGNORE_INDEX, Bert4Rec, Bert4RecConfig
from recsys.models.bert4rec_paper import Bert4RecPaper
from recsys.models.layers import Dropout
from recsys.ranking import metrics
from recsys.training.batches import CounterRNG
from recsys.training.options import RunOptions
from tests import toys
from tests.models.configs import changed, untrained

SEQUENCES = [np.arange(start, start + 40) % 60 for start in range(500)]
LENGTHS = np.full(500, 40)
DRAWS = CounterRNG(seed=0, epoch=0)


BOTH = pytest.mark.parametrize("architecture", [Bert4Rec, Bert4RecPaper])


def small_bert4rec(architecture=Bert4Rec, **settings):
    return untrained(architecture(Bert4RecConfig(dim=16, length=10, **settings)))


def mask(draws=DRAWS, architecture=Bert4Rec, **settings):
    """Tokens and targets, (500, 40) each."""
    items, rows = np.concatenate(SEQUENCES), np.arange(500)
    tokens, targets = architecture(architecture.Config(**settings)).mask_items(items, LENGTHS, rows, 60, draws)
    return tokens.reshape(500, 40), targets.reshape(500, 40)


def test_a_fifth_of_the_items_is_masked_and_is_the_target_there():
    tokens, targets = mask(last_item_mask_prob=0.0)
    masked = tokens == 61
    assert masked.mean() == pytest.approx(0.2, abs=0.01)
    np.testing.assert_array_equal(masked, targets != IGNORE_INDEX)
    np.testing.assert_array_equal(np.where(targets == IGNORE_INDEX, tokens, targets), SEQUENCES)


def test_masks_change_with_the_epoch_and_the_seed():
    first, again = mask(), mask()
    np.testing.assert_array_equal(first, again)
    for other in (CounterRNG(seed=0, epoch=1), CounterRNG(seed=1, epoch=0)):
        both = (mask(other)[0] == 61) & (first[0] == 61)
        assert both.mean() == pytest.approx(0.18**2 + 0.1 / 40, abs=0.01)  # as often as two independent draws agree


def test_a_sequence_is_masked_alike_in_whatever_batch_it_lies():
    data, draws = toys.cycle(length=15), CounterRNG(seed=3, epoch=2)
    model = small_bert4rec()
    together = model.collate(data.histories, np.arange(8), 20, draws)
    for row in range(8):
        alone = model.collate(data.histories, np.array([row]), 20, draws)
        torch.testing.assert_close(alone.tokens[0], together.tokens[row])


def test_the_hidden_states_wanted_are_those_of_the_masked_items():
    model, data = small_bert4rec(), toys.dataset([np.arange(4), np.arange(9), [7]], 30)
    batch = model.collate(data.histories, np.arange(3), 30, CounterRNG(0, 0))
    rows = batch.loss_index // batch.positions.shape[1]
    positions = batch.positions.flatten()[batch.loss_index]
    assert torch.equal(batch.tokens[rows, positions], torch.full_like(positions, 31))
    assert (batch.tokens == 31).sum() == len(batch.targets)
    expected = [int(data.histories[row][position]) for row, position in zip(rows, positions, strict=True)]
    assert batch.targets.tolist() == expected


@BOTH
def test_what_is_computed_only_where_it_is_wanted_is_the_same(architecture):
    module = small_bert4rec(architecture, init=0.5, layers=2).module
    tokens = torch.tensor([[1, 31, 2, 8, 9], [3, 4, 31, 30, 30]])
    positions = torch.tensor([[1, 4, 0], [2, 0, 0]])
    everywhere, wanted = module(tokens), module(tokens, positions)
    torch.testing.assert_close(wanted, everywhere[torch.arange(2)[:, None], positions])
    gradients = [
        torch.autograd.grad(states.square().sum(), module.items.weight)[0]
        for states in (everywhere[torch.arange(2)[:, None], positions], wanted)
    ]
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)


def test_every_sample_has_a_target():
    _, targets = mask(mask_prob=0.0, last_item_mask_prob=0.0)
    assert ((targets != IGNORE_INDEX).sum(1) == 1).all()
    assert len(set(np.nonzero(targets != IGNORE_INDEX)[1])) == 40  # anywhere in the sequence


def test_some_samples_mask_the_last_item_and_no_other():
    tokens, _ = mask(last_item_mask_prob=1.0)
    assert (tokens[:, -1] == 61).all()
    assert (tokens == 61).sum() == 500


def test_eighty_ten_ten():
    tokens, targets = mask(masking="80-10-10", last_item_mask_prob=0.0, architecture=Bert4RecAblated)
    token, target, item = tokens.ravel(), targets.ravel(), np.concatenate(SEQUENCES)
    masked = target != IGNORE_INDEX
    assert (token[masked] == 61).mean() == pytest.approx(0.8, abs=0.02)
    assert (token[masked] == item[masked]).mean() == pytest.approx(0.1, abs=0.02)
    assert len(np.unique(token[masked & (token != 61) & (token != item)])) == 60  # any item may replace one
    np.testing.assert_array_equal(token[~masked], item[~masked])
    np.testing.assert_array_equal(target[masked], item[masked])


def trained_hit_rate(histories, architecture=Bert4Rec, **settings):
    """HR@1 of the items that were left out, after 20 epochs or as many as the settings say."""
    split = leave_one_out(toys.dataset(histories, 20))
    toy = {"dim": 32, "length": 10, "epochs": 20, "batch_size": 16, "lr": 5e-3, "warmup_steps": 20}
    model = architecture(changed(Bert4RecConfig(), **toy | settings)).fit(
        split.train, split.valid, RunOptions(device="cpu")
    )
    ranks = metrics.target_ranks(model.score(split.test.queries), split.test.targets, split.test.queries.histories)
    return metrics.summary(ranks)["hr@1"]


@pytest.mark.parametrize("architecture", [Bert4Rec, pytest.param(Bert4RecPaper, marks=pytest.mark.slow)])
def test_it_learns_that_the_next_item_is_the_last_plus_one(architecture):
    histories = [(user + np.arange(6 + user % 11)) % 20 for user in range(120)]
    assert trained_hit_rate(histories, architecture, epochs=40, last_item_mask_prob=0.3) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["sampled-softmax", "gbce"])
def test_it_learns_by_a_sampled_loss_too(loss):
    histories = toys.cycle(n_items=20, n_users=200).histories
    sampled = {"loss": loss, "negatives": 19}  # as many as gBCE draws at most for 20 items
    assert trained_hit_rate(histories, epochs=30, length=12, last_item_mask_prob=0.5, **sampled) > 0.95


@BOTH
def test_padding_changes_nothing_while_it_learns(architecture):
    module = small_bert4rec(architecture, init=0.5, dropout=0.0).module.train()
    alone, padded = module(torch.tensor([[3, 4]])), module(torch.tensor([[3, 4, 30, 30], [1, 2, 3, 4]]))
    torch.testing.assert_close(padded[:1, :2], alone)


def test_each_side_has_a_slope_of_its_own():
    module = small_bert4rec(init=0.5, layers=1).module
    with torch.no_grad():
        module.blocks[0].relative_bias.slopes.fill_(200)
        module.blocks[0].relative_bias.slopes_after.fill_(0)
    states = module(torch.tensor([[4, 8, 31, 15, 16], [9, 7, 31, 15, 16], [4, 8, 31, 15, 9]]))
    torch.testing.assert_close(states[0, 2], states[1, 2])  # before the mask, no item is near enough
    assert not torch.allclose(states[0, 2], states[2, 2])  # after it, every item is


@BOTH
def test_it_matters_on_which_side_an_item_stands(architecture):
    module = small_bert4rec(architecture, init=0.5).module
    if architecture is Bert4Rec:
        with torch.no_grad():
            module.blocks[0].relative_bias.slopes_after.fill_(3)
    states = module(torch.tensor([[4, 31, 8], [8, 31, 4]]))
    assert not torch.allclose(states[0, 1], states[1, 1], atol=1e-3)


def test_only_the_newest_items_count_and_a_mask_follows_them():
    model = small_bert4rec()
    assert model.input_tokens(np.arange(25)).tolist() == [*range(16, 25), 31]
    assert model.input_tokens(np.array([], int)).tolist() == [31]
    shortest = untrained(Bert4Rec(Bert4RecConfig(length=2)))
    assert shortest.input_tokens(np.arange(25)).tolist() == [24, 31]


def test_dropout_zeroes_its_share_and_keeps_the_mean():
    torch.manual_seed(0)
    dropped = Dropout(0.25).train()(torch.ones(1001, 99))
    assert (dropped == 0).float().mean() == pytest.approx(0.25, abs=0.01)
    assert dropped.mean() == pytest.approx(1, abs=0.01)
    assert torch.equal(Dropout(0.25).eval()(torch.ones(5)), torch.ones(5))


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"length": 1}, "length is 1, but must be at least 2"),
        ({"dim": 64, "heads": 3}, "dim must be a multiple of heads"),
        ({"mask_prob": 1.5}, "mask_prob is 1.5, but must be at most 1"),
        ({"loss": "hinge"}, "loss is hinge, but must be 'softmax', 'sampled-softmax'"),
    ],
)
def test_settings_that_cannot_work_are_refused_when_they_are_made(settings, advice):
    with pytest.raises(ConfigError, match=advice):
        Bert4RecConfig(**settings)


def test_data_without_items_is_refused():
    with pytest.raises(DataError, match="no films to train on"):
        Bert4Rec().fit(toys.dataset([[]], 5))


def test_a_training_example_masks_some_items_and_keeps_the_others():
    model, history = small_bert4rec(), np.arange(10)
    tokens = model.training_example(history)
    masked = tokens == model.module.mask
    assert 0 < masked.sum() < len(history)
    np.testing.assert_array_equal(tokens[~masked], history[~masked])


@BOTH
def test_tokens_are_embedded_as_the_network_is_given_them(architecture):
    model, tokens = small_bert4rec(architecture), np.array([4, 8, 31])
    items, positions = model.embed_tokens(tokens)
    assert (positions is None) is (architecture is Bert4Rec)
    added = items if positions is None else items + positions
    given = model.module.eval().embed(torch.from_numpy(tokens)[None])[0][0]
    expected = torch.from_numpy(added)
    torch.testing.assert_close(model.module.norm(expected) if positions is None else expected, given)


def test_validation_hides_the_items_that_were_seen():
    """Of 30 equal scores, ties count against the target: with 9 items hidden, 21 are left."""
    model = small_bert4rec()
    for weights in model.module.parameters():
        torch.nn.init.zeros_(weights)
    found = model._validate(model.module, HeldOut(Queries([np.arange(9)]), np.array([20])))
    assert found["mrr"] == pytest.approx(1 / 21, abs=1e-6)


def as_published(**settings):
    """An untrained bert4rec-paper of toy sizes, and its weights by name; biases and norms are drawn too."""
    variant = registry.get("bert4rec-paper")
    model = untrained(variant.model(changed(variant.preset("ml-1m"), dim=16, length=10, **settings)))
    return model, dict(model.module.state_dict())


@torch.inference_mode()
def test_as_published_the_network_is_that_of_the_papers_equations():
    """Equations 1 to 7, which are the thesis' too, from h⁰ = v + p to softmax(GELU(hW + b)Eᵀ + b)."""
    model, weights = as_published()
    for weight in model.module.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    tokens = torch.tensor([4, 8, 31, 15])

    def linear(x, name):
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x, name):
        return F.layer_norm(x, (16,), weights[f"{name}.weight"], weights[f"{name}.bias"])

    x = weights["items.weight"][tokens] + weights["positions.weight"][:4]
    for layer in ("blocks.0", "blocks.1"):
        q, k, v = (part.view(4, 2, 8).transpose(0, 1) for part in linear(x, f"{layer}.qkv").chunk(3, -1))
        heads = torch.softmax(q @ k.transpose(1, 2) / 8**0.5, -1) @ v
        x = norm(x + linear(heads.transpose(0, 1).reshape(4, 16), f"{layer}.out"), f"{layer}.norm_attention")
        forward = linear(F.gelu(linear(x, f"{layer}.forward_in")), f"{layer}.forward_out")
        x = norm(x + forward, f"{layer}.norm_forward")
    logits = F.gelu(linear(x, "project.0")) @ weights["items.weight"][:30].T + weights["bias"]
    torch.testing.assert_close(model.module.logits(model.module(tokens[None]))[0], logits, rtol=1e-4, atol=1e-4)


def test_as_published_weights_start_at_random_within_a_fiftieth_and_are_not_averaged():
    model, weights = as_published()
    module = model.module
    model.initialise(module, toys.cycle(30), 0)
    for name, weight in module.state_dict().items():
        torch.testing.assert_close(weight, weights[name])  # no head start
        if "norm" not in name:
            assert weight.abs().max() <= 0.02, name
    assert module.items.weight.abs().max() > 0.015
    schedule = registry.get("bert4rec-paper").preset("").schedule
    assert (schedule.lr, schedule.weight_decay, schedule.ema_decay) == (1e-4, 0.01, 0.0)


def test_as_published_some_samples_mask_the_last_item_alone():
    config = registry.get("bert4rec-paper").preset("ml-1m")
    tokens, _ = Bert4RecPaper(config).mask_items(np.concatenate(SEQUENCES), LENGTHS, np.arange(500), 60, DRAWS)
    masked = tokens.reshape(500, 40) == 61
    alone = (masked.sum(1) == 1) & masked[:, -1]
    assert alone.mean() == pytest.approx(1 / 11, abs=0.03)
    assert masked[~alone].mean() == pytest.approx(0.2, abs=0.02)


@pytest.mark.slow
def test_as_published_it_learns_that_the_next_item_is_the_last_plus_one():
    histories = [(user + np.arange(6 + user % 11)) % 20 for user in range(240)]
    settings = {"epochs": 60, "last_item_mask_prob": 0.3, "ema_decay": 0.0, "pmi_init": False}
    assert trained_hit_rate(histories, Bert4RecPaper, **settings) > 0.95
