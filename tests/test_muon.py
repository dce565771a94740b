import copy

import pytest
import torch
from torch import nn

from translator.config import TrainConfig
from translator.model.attention import MultiHeadAttention
from translator.muon import Matrix, Muon, orthogonalize
from translator.optim import make_optimizers


def gradient(shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(3, 16, 64), (3, 64, 16), (1, 32, 32), (2, 1, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_directions_stay_and_their_lengths_become_alike(shape, dtype):
    matrices = gradient(shape)
    matrices = matrices * torch.logspace(0, -1, shape[-1])  # from strong to weak
    found = orthogonalize(matrices, dtype)
    assert found.shape == matrices.shape and found.dtype == torch.float32
    lengths = torch.linalg.svdvals(found)
    assert lengths.min() > 0.6 and lengths.max() < 1.25
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    crossed = u.mT @ found @ v.mT  # nothing but its diagonal
    rest = crossed - torch.diag_embed(crossed.diagonal(dim1=-2, dim2=-1))
    assert rest.abs().max() < (1e-4 if dtype == torch.float32 else 0.1)
    assert (crossed.diagonal(dim1=-2, dim2=-1) > 0.5).all(), "none is turned round"


def test_gradients_without_any_direction_stay_nothing():
    assert orthogonalize(torch.zeros(2, 3, 4)).tolist() == torch.zeros(2, 3, 4).tolist()
    assert torch.linalg.svdvals(orthogonalize(1e-30 * gradient((1, 4, 8)))).max() < 1.25
    one = torch.zeros(1, 3, 4)
    one[0, 1, 2] = -7.0
    found = orthogonalize(one)
    assert 0.65 < -found[0, 1, 2] < 1.2
    assert (found != 0).sum() == 1


@pytest.mark.parametrize("matrix_of", [lambda w: Matrix(w, 4), lambda w: Matrix(w, 4, True)])
def test_heads_are_cut_out_and_put_back(matrix_of):
    weight = torch.arange(8.0 * 12).view(8, 12)
    matrix = matrix_of(weight)
    parts = matrix.split(weight)
    assert torch.equal(matrix.join(parts), weight)
    if matrix.side_by_side:
        assert parts.shape == (4, 3, 8)
        assert torch.equal(parts[1], weight[:, 3:6].T)
    else:
        assert parts.shape == (4, 2, 12)
        assert torch.equal(parts[1], weight[2:4])


def test_the_same_steps_as_in_pytorch():
    """Without heads it is torch.optim.Muon with the length of AdamW's steps."""
    weights = [nn.Parameter(gradient(shape, 1)) for shape in [(16, 8), (8, 16), (8, 16)]]
    theirs = [nn.Parameter(weight.detach().clone()) for weight in weights]
    ours = Muon([Matrix(w) for w in weights], lr=0.1, weight_decay=0.2)
    reference = torch.optim.Muon(theirs, lr=0.1, weight_decay=0.2, adjust_lr_fn="match_rms_adamw")
    for step in range(3):
        for n, (a, b) in enumerate(zip(weights, theirs, strict=True)):
            a.grad = gradient(a.shape, 10 * step + n)
            b.grad = a.grad.clone()
        ours.step()
        reference.step()
    for a, b in zip(weights, theirs, strict=True):  # PyTorch computes in bfloat16
        torch.testing.assert_close(a, b, rtol=0, atol=4e-3)


def test_each_head_gets_a_step_of_its_own_size():
    """One head with a gradient a thousand times smaller learns as fast as the others."""
    attention = MultiHeadAttention(d_model=16, n_heads=4)
    muon, _ = make_optimizers(attention, TrainConfig(optimizer="muon", lr=1.0, weight_decay=0.0))
    before = {name: p.detach().clone() for name, p in attention.named_parameters()}
    for parameter in attention.parameters():
        parameter.grad = gradient(parameter.shape)
    attention.w_q.weight.grad[:4] *= 1e-3
    attention.w_o.weight.grad[:, :4] *= 1e-3
    muon.step()
    for name in ("w_q.weight", "w_o.weight"):
        moved = attention.get_parameter(name).detach() - before[name]
        heads = moved.view(4, 4, 16) if name == "w_q.weight" else moved.T.reshape(4, 4, 16)
        sizes = heads.square().mean(dim=(1, 2)).sqrt()
        assert (sizes > 0.12).all() and (sizes < 0.25).all()  # 0.2, as AdamW


def test_a_weight_without_gradient_stays():
    weight = nn.Parameter(torch.ones(2, 3))
    muon = Muon([Matrix(weight)], lr=1.0, weight_decay=0.5)
    muon.step()
    assert weight.detach().tolist() == torch.ones(2, 3).tolist()
    assert not muon.state


def test_what_is_not_for_it_is_refused():
    with pytest.raises(ValueError, match=r"not for shape \(3,\)"):
        Muon([Matrix(nn.Parameter(torch.ones(3)))], lr=1.0, weight_decay=0.0)
    muon = Muon([Matrix(nn.Parameter(torch.ones(3, 2)))], lr=1.0, weight_decay=0.0)
    with pytest.raises(ValueError, match="closure"):
        muon.step(lambda: 0.0)


def test_a_copy_goes_on_as_the_original():
    muon = Muon([Matrix(nn.Parameter(gradient((4, 6))), 2)], lr=0.1, weight_decay=0.0)
    with pytest.raises(ValueError, match="at the start"):
        muon.add_param_group({"params": [nn.Parameter(torch.ones(2, 2))]})
    ends = []
    for one in (muon, copy.deepcopy(muon)):
        [weight] = one.param_groups[0]["params"]
        weight.grad = gradient((4, 6), 1)
        one.step()
        ends.append(weight.detach())
    assert torch.equal(*ends)


def test_the_products_have_the_format_of_the_training(monkeypatch):
    asked = []
    monkeypatch.setattr("translator.muon.orthogonalize", lambda x, dtype: asked.append(dtype) or x)
    attention = MultiHeadAttention(d_model=8, n_heads=2)
    for parameter in attention.parameters():
        parameter.grad = torch.ones_like(parameter)
    config = TrainConfig(optimizer="muon")
    make_optimizers(attention, config, dtype=torch.bfloat16)[0].step()
    assert set(asked) == {torch.bfloat16}
