from dataclasses import asdict, replace

import pytest

from recsys import machine
from recsys.data import prepared
from recsys.data.dataset import DataError
from recsys.models import presets, registry
from recsys.models.presets import DataSize as Size
from recsys.studies.plans import ABLATED
from tests import toys

BEAUTY = Size(40_226, 54_542, 353_962)
CLUB = Size(300, 400, 9_000)


@pytest.fixture
def sizes(monkeypatch):
    """Set the sizes of data sets as if they were prepared."""
    sizes = {"beauty": BEAUTY, "club": CLUB, "ml-1m": CLUB}
    monkeypatch.setattr(registry, "size_of", sizes.get)


@pytest.mark.parametrize(
    ("size", "alike"),
    [
        (Size(943, 1_349, 99_287), "ml-100k"),
        (Size(610, 3_650, 90_274), "ml-100k"),
        (Size(610, 9_742, 90_274), "ml-latest-small"),
        (Size(2_745, 6_135, 291_716), "ml-latest-sample"),
        (Size(6_040, 3_416, 999_611), "ml-1m"),
        (BEAUTY, "ml-1m"),
    ],
)
def test_a_set_is_like_the_tuned_one_of_its_size(size, alike):
    assert presets.nearest_tuned(size, needs_training=False) == alike


def test_a_network_never_gets_the_settings_of_the_sample():
    assert presets.nearest_tuned(Size(2_745, 6_135, 291_716), needs_training=True) == "ml-1m"


def test_a_small_data_set_gets_the_settings_of_ml_100k(sizes):
    for name in ("bert4rec", "sasrec-softmax", "markov", "ease"):
        assert registry.get(name).preset("club") == registry.get(name).preset("ml-100k"), name


def test_a_large_sparse_data_set_gets_a_sampled_loss_and_as_many_steps_as_ml_1m(sizes):
    default, scaled = registry.get("bert4rec").preset(""), registry.get("bert4rec").preset("beauty")
    assert (scaled.loss, scaled.negatives, scaled.dropout) == ("gbce", 256, 0.4)
    assert scaled.schedule.batch_size == 128
    steps = scaled.schedule.epochs * BEAUTY.users / scaled.schedule.batch_size
    assert steps == pytest.approx(default.schedule.epochs * 6_040 / default.schedule.batch_size, rel=0.02)
    assert not registry.get("sasrec-memory").preset("beauty").only_unseen
    assert registry.get("ease").preset("beauty").rank > 0


def test_a_tuned_data_set_keeps_its_settings_if_it_is_prepared(sizes):
    assert registry.get("bert4rec").preset("ml-1m") == registry.get("bert4rec").preset("")


@pytest.mark.parametrize(
    ("name", "tuned_sets"),
    [
        ("bert4rec", presets.TUNED),
        ("ncf", ("ml-100k", "ml-1m")),
        ("transrec", ("ml-100k", "ml-1m")),
        ("narm", ()),
        ("stamp", ()),
        ("mult-vae", ()),
    ],
)
def test_a_preset_is_tuned_only_for_the_data_sets_of_its_tuning(name, tuned_sets):
    names = (*presets.TUNED, "club", "")
    assert tuple(dataset for dataset in names if registry.get(name).has_tuned_preset(dataset)) == tuned_sets


def test_untuned_recommenders_exist():
    assert set(presets.UNTUNED) <= set(registry.RECOMMENDERS)


@pytest.mark.parametrize(("name", "ablated"), ABLATED.items())
def test_an_ablation_has_the_settings_of_the_whole_network(name, ablated):
    for dataset in presets.TUNED:
        settings = asdict(registry.get(name).preset(dataset))
        assert settings.items() <= asdict(registry.get(ablated).preset(dataset)).items(), dataset


def test_every_recommender_has_settings_for_every_size(monkeypatch):
    for size in (Size(1, 1, 1), CLUB, BEAUTY, Size(10**7, 10**6, 10**9)):
        monkeypatch.setattr(registry, "size_of", lambda _, size=size: size)
        for name in registry.names():
            registry.get(name).preset("some set")


def test_the_size_is_that_of_the_prepared_set(tmp_path, monkeypatch):
    monkeypatch.setenv("RECSYS_HOME", str(tmp_path))
    assert registry.size_of("toy") is None
    prepared.save(toys.dataset([[0, 1, 2], [1, 2]], 4), {})
    assert registry.size_of("toy") == Size(2, 4, 5)


@pytest.mark.parametrize("name", registry.names())
def test_the_memory_estimate_of_a_fit_grows_with_the_items(name):
    model = registry.get(name).model()
    few, many = model.fit_memory_bytes(10_000, 1_000), model.fit_memory_bytes(10_000, 100_000)
    assert 0 <= few <= many
    if model.needs_training:
        assert many > 5 * few > 0


def test_too_little_memory_for_a_network_raises_an_error(monkeypatch):
    world = toys.cycle()
    variant = registry.get("gsasrec")
    config = variant.preset("")
    model = variant.model(replace(config, schedule=replace(config.schedule, epochs=1)))
    numbers = 4 * 6 * (22 * 64 + 20)  # at least six copies of embeddings and biases
    assert model.fit_memory_bytes(world.n_users, world.n_items) > numbers
    monkeypatch.setattr(machine, "free_memory", lambda: 1e6)
    with pytest.raises(DataError, match=r"gSASRec needs 0\.0 GB of memory for 20 films, but only half"):
        model.fit(world)
