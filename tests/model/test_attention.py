import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from translator.model.attention import MultiHeadAttention, scaled_dot_product_attention


def random_qkv(batch=3, heads=2, n_query=5, n_key=7, width=8):
    torch.manual_seed(1)
    query = torch.randn(batch, heads, n_query, width)
    key, value = torch.randn(2, batch, heads, n_key, width)
    return query, key, value


def copied_from(theirs: nn.MultiheadAttention) -> MultiHeadAttention:
    """Our attention with the weights of torch's."""
    ours = MultiHeadAttention(theirs.embed_dim, theirs.num_heads)
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    with torch.no_grad():
        for linear, weight, bias in zip(
            (ours.w_q, ours.w_k, ours.w_v), weights, biases, strict=True
        ):
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
        ours.w_o.load_state_dict(theirs.out_proj.state_dict())
    return ours


def test_the_worked_example_of_the_chapter():
    rng = np.random.default_rng(0)
    query, key, value = (
        torch.from_numpy(rng.standard_normal(shape)) for shape in ((3, 4), (4, 4), (4, 4))
    )
    context, weights = scaled_dot_product_attention(query, key, value)
    assert weights.shape == (3, 4)
    assert [round(w, 4) for w in weights[0].tolist()] == [0.1720, 0.3613, 0.2267, 0.2400]
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, dtype=torch.float64))
    torch.testing.assert_close(context, weights @ value)


def test_the_formula_against_numpy():
    query, key, value = random_qkv()
    q, k, v = (x.double().numpy() for x in (query, key, value))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(8)
    expected = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    context, weights = scaled_dot_product_attention(query, key, value)
    np.testing.assert_allclose(weights.numpy(), expected, atol=1e-6)
    np.testing.assert_allclose(context.numpy(), expected @ v, atol=1e-5)


def test_the_hidden_get_no_weight_and_the_rest_still_sums_to_one():
    query, key, value = random_qkv()
    mask = torch.ones(3, 1, 1, 7, dtype=torch.bool)
    mask[1, ..., 4:] = False
    _, weights = scaled_dot_product_attention(query, key, value, mask)
    assert (weights[1, ..., 4:] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 2, 5))


@pytest.mark.fault("B37")
def test_formula_and_fused_kernel_agree_on_random_masks():
    query, key, value = random_qkv()
    for seed in range(10):
        torch.manual_seed(seed)
        mask = torch.rand(3, 1, 5, 7) < 0.6
        mask[..., 0] = True
        ours = scaled_dot_product_attention(query, key, value, mask).context
        fused = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        torch.testing.assert_close(ours, fused, atol=1e-5, rtol=0)
        flipped = scaled_dot_product_attention(query, key, value, ~mask).context
        assert not torch.allclose(ours, flipped, atol=1e-3)


@pytest.mark.parametrize("need_weights", [True, False], ids=["formula", "fused"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_a_mask_of_numbers_is_refused(need_weights, dtype):
    """The fused kernel would add it to the scores, and the future would stay visible."""
    x = torch.randn(2, 3, 16)
    mask = torch.ones(3, 3).tril().to(dtype)
    with pytest.raises(TypeError, match="expected bool"):
        MultiHeadAttention(16, 4)(x, x, x, mask, need_weights)


@pytest.mark.fault("B36")
@pytest.mark.parametrize("need_weights", [True, False], ids=["formula", "fused"])
def test_a_query_that_may_look_nowhere_is_finite(need_weights):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    x = torch.randn(2, 3, 16, requires_grad=True)
    mask = torch.tensor([[True, True, False], [False, False, False]])[:, None, None]
    context, weights = attention(x, x, x, mask, need_weights)
    context.sum().backward()
    assert context.isfinite().all()
    assert x.grad is not None and x.grad.isfinite().all()
    assert all(p.grad is None or p.grad.isfinite().all() for p in attention.parameters())
    if weights is not None:
        assert (weights[1] == 0).all()


@pytest.mark.fault("B36")
def test_a_row_of_padding_does_not_disturb_the_others():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    x = torch.randn(2, 3, 16)
    mask = torch.tensor([[True, True, False], [False, False, False]])[:, None, None]
    alone = attention(x[:1], x[:1], x[:1], mask[:1]).context
    torch.testing.assert_close(attention(x, x, x, mask).context[:1], alone)


def test_weights_are_given_only_when_asked_for_and_change_nothing():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    query, memory = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    with_weights = attention(query, memory, memory, need_weights=True)
    without = attention(query, memory, memory)
    assert without.weights is None
    assert with_weights.weights.shape == (2, 4, 3, 5)
    torch.testing.assert_close(with_weights.context, without.context, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("need_weights", [True, False], ids=["formula", "fused"])
def test_parity_with_torch(need_weights):
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(16, 4, batch_first=True)
    nn.init.normal_(theirs.in_proj_bias)
    nn.init.normal_(theirs.out_proj.bias)
    ours = copied_from(theirs)
    query, key, value = torch.randn(2, 3, 16), torch.randn(2, 5, 16), torch.randn(2, 5, 16)
    padded = torch.tensor([[False] * 5, [False, False, False, True, True]])  # True = hidden, there
    expected, expected_weights = theirs(
        query, key, value, key_padding_mask=padded, average_attn_weights=False
    )
    context, weights = ours(query, key, value, ~padded[:, None, None], need_weights)
    torch.testing.assert_close(context, expected)
    if need_weights:
        torch.testing.assert_close(weights, expected_weights)


def test_projecting_once_is_the_same_as_every_time():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    query, memory = torch.randn(2, 3, 16), torch.randn(2, 5, 16)
    kv = attention.project(memory, memory)
    assert kv.key.shape == kv.value.shape == (2, 4, 5, 4)
    found = attention.attend(query, kv)
    torch.testing.assert_close(found.context, attention(query, memory, memory).context)
    assert found.weights is None, "not asked for"


def test_bfloat16_takes_the_formula_and_agrees_with_float32():
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 4)
    x = torch.randn(2, 5, 16)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = attention(x, x, x).context
    assert rounded.dtype == torch.bfloat16
    torch.testing.assert_close(rounded.float(), attention(x, x, x).context, atol=0.05, rtol=0.05)


def test_the_fused_kernel_is_used_where_it_is_fast(monkeypatch):
    """In float32, unless weights are asked for; in bfloat16 never on a CPU."""
    used, fused = [], F.scaled_dot_product_attention

    def spy(query, *others, **options):
        used.append(query.dtype)
        return fused(query, *others, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    attention, x = MultiHeadAttention(16, 4), torch.randn(2, 5, 16)
    attention(x, x, x)
    assert used == [torch.float32]
    attention(x, x, x, need_weights=True)
    with torch.autocast("cpu", torch.bfloat16):
        assert attention(x, x, x).weights is None
    assert used == [torch.float32]


def test_heads_that_do_not_divide_the_width_are_refused():
    with pytest.raises(ValueError, match="d_model = 10 cannot be split over n_heads = 4"):
        MultiHeadAttention(10, 4)


def test_no_or_fewer_heads_are_refused():
    assert MultiHeadAttention(64, 1)(*[torch.ones(1, 2, 64)] * 3).context.shape == (1, 2, 64)
    for n_heads in (0, -4):
        with pytest.raises(ValueError, match=f"n_heads = {n_heads}"):
            MultiHeadAttention(64, n_heads)


def test_a_mask_without_a_dimension_for_heads_is_refused():
    """With as many sentences as heads each head would get another sentence's mask."""
    attention = MultiHeadAttention(8, 4)
    x = torch.randn(4, 3, 8)
    mask = torch.ones(4, 3, 3, dtype=torch.bool).tril()
    with pytest.raises(ValueError, match=r"\(4, 3, 3\) has no dimension for heads"):
        attention(x, x, x, mask)
    attention(x, x, x, mask[:, None])
    attention(x, x, x, mask[0])


@pytest.mark.parametrize("need_weights", [True, False])
def test_as_many_values_as_keys(need_weights):
    """PyTorch's fused kernel would read memory that is nobody's."""
    attention = MultiHeadAttention(8, 2).eval()
    query, key, value = torch.ones(2, 3, 8), torch.ones(2, 5, 8), torch.ones(2, 4, 8)
    with pytest.raises(ValueError, match="5 keys, but 4 values"):
        attention(query, key, value, need_weights=need_weights)
