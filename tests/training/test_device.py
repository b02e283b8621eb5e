import pytest
import torch

from recsys.errors import RecsysError
from recsys.models import registry
from recsys.training import device

GPU = torch.device("cuda", 1)


@pytest.fixture
def gpus(monkeypatch):
    """Two pretended GPUs; the calls that would open a context on one of them, in order."""
    calls = []
    options = torch.backends.cuda.cudnn_sdp_enabled(), torch.backends.cudnn.allow_tf32
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_device", lambda where: calls.append(("set_device", where)))
    monkeypatch.setattr(torch, "empty", lambda size, device: calls.append(("empty", device)))
    for name in ("LOCAL_RANK", device.DEVICE_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    yield calls
    torch.backends.cuda.enable_cudnn_sdp(options[0])
    torch.backends.cudnn.allow_tf32 = options[1]


def test_a_device_that_is_not_there_is_named():
    with pytest.raises(RecsysError, match="use --device cpu"):
        device.choose("cuda:7")


@pytest.mark.parametrize("name", ["mps", "xpu", "meta"])
def test_a_device_without_kernels_of_ours_is_refused(name):
    with pytest.raises(RecsysError, match=f"{name} is not supported"):
        device.choose(name)


def test_auto_is_the_gpu_unless_a_block_says_otherwise(gpus):
    assert device.choose("auto").type == "cuda"
    with device.default_device("cpu"):
        assert device.choose("auto").type == "cpu"
    assert device.choose("auto").type == "cuda"


def test_auto_is_the_device_of_the_environment_unless_a_block_says_otherwise(gpus, monkeypatch):
    monkeypatch.setenv("RECSYS_DEVICE", "cpu")
    assert device.choose("auto").type == "cpu"
    assert device.choose("cuda").type == "cuda"
    with device.default_device("cuda:1"):
        assert device.choose("auto") == GPU


def test_a_model_is_loaded_to_the_device_of_the_environment(monkeypatch):
    model = registry.get("fpmc").model()
    state = {name: weights.numpy() for name, weights in model.build(8).state_dict().items()}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setenv("RECSYS_DEVICE", "cpu")
    model.load_state(state, 8)
    assert model.device == "cpu"


def test_each_process_binds_its_own_gpu_before_it_touches_any(gpus, monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert device.choose("auto") == GPU
    assert gpus == [("set_device", GPU), ("empty", GPU)]


def test_a_gpu_uses_neither_cudnn_attention_nor_tf32(gpus):
    torch.backends.cuda.enable_cudnn_sdp(True)
    torch.backends.cudnn.allow_tf32 = True
    device.choose("cuda")
    assert not torch.backends.cuda.cudnn_sdp_enabled()
    assert not torch.backends.cudnn.allow_tf32


def test_a_training_on_a_gpu_refuses_operations_whose_order_changes():
    with device.deterministic(torch.device("cuda")):
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.is_deterministic_algorithms_warn_only_enabled()
    assert not torch.are_deterministic_algorithms_enabled()
