import pytest
import torch

from translator.picking import largest


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("shape", [(32, 6000), (5, 6000), (1, 6000), (9, 6001), (4, 30), (700, 48)])
def test_equals_topk(shape, k):
    """Large and small, divisible and not, with equal numbers and with all but one ruled out."""
    torch.manual_seed(k)
    several = torch.randn(shape)
    bunched = several.clone()
    bunched[:, 1 :: shape[1] // 16] += 9  # the largest share a column
    ruled_out = torch.full(shape, -torch.inf)
    ruled_out[:, 7:20] = several[:, 7:20]
    for x in (several, several.round(), bunched, ruled_out):
        found = largest(x, k)
        expected = x.topk(k, dim=1).values
        torch.testing.assert_close(found.values.sort(descending=True).values, expected)
        torch.testing.assert_close(x.gather(1, found.indices), found.values, atol=0, rtol=0)
        assert all(len(set(row)) == k for row in found.indices.tolist())
