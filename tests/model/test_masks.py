import pytest
import torch

from translator.model.masks import causal_mask, padding_mask


def test_padding_is_hidden_and_everything_else_is_not():
    mask = padding_mask(torch.tensor([[5, 6, 3], [7, 3, 0]]), pad_id=0)
    assert mask.shape == (2, 1, 1, 3)
    assert mask.dtype == torch.bool
    assert mask[:, 0, 0].tolist() == [[True, True, True], [True, True, False]]


def test_position_t_sees_itself_and_the_past():
    mask = causal_mask(3)
    assert mask.shape == (1, 1, 3, 3)
    assert mask.dtype == torch.bool
    assert mask[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]


@pytest.mark.fault("B37")
def test_both_masks_speak_the_same_language():
    """True = may attend in both, so they combine with `&`."""
    ids = torch.tensor([[5, 6, 0]])
    both = causal_mask(3) & padding_mask(ids, pad_id=0)
    assert both.shape == (1, 1, 3, 3)
    assert both[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]


def test_masks_are_made_where_they_are_used():
    """On a GPU nothing has to travel; the meta device stands in for one."""
    ids = torch.ones(2, 3, dtype=torch.int64, device="meta")
    assert causal_mask(3, ids.device).device.type == "meta"
    assert padding_mask(ids, pad_id=0).device.type == "meta"


def test_ids_come_in_batches():
    for shape in ((3,), (1, 2, 3)):
        with pytest.raises(ValueError, match=r"ids: expected \(B, S\), got "):
            padding_mask(torch.ones(shape, dtype=torch.int64), pad_id=0)
