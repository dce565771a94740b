import pytest
import torch

from translator.averaging import average_weights


def test_the_mean_of_each_weight():
    parts = [
        {"a": torch.tensor([1.0, 2.0]), "b": torch.tensor(3.0)},
        {"a": torch.tensor([3.0, 6.0]), "b": torch.tensor(5.0)},
    ]
    found = average_weights(iter(parts))
    assert found["a"].tolist() == [2.0, 4.0] and found["b"].item() == 4.0
    assert found["a"].dtype == torch.float32
    assert parts[0]["a"].tolist() == [1.0, 2.0], "the parts stay as they are"


def test_small_differences_are_not_lost_in_the_sum():
    weights = [{"w": torch.tensor([1.0 + i * 2**-23])} for i in range(5)]
    assert average_weights(weights)["w"].item() == 1.0 + 2 * 2**-23


def test_one_stays_as_it_is_and_none_is_our_mistake():
    weight = torch.randn(4, 4)
    assert torch.equal(average_weights([{"w": weight}])["w"], weight)
    with pytest.raises(AssertionError):
        average_weights([])
