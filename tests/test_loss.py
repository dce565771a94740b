import math

import pytest
import torch
import torch.nn.functional as F

from translator.loss import CHUNK, loss_sums, projected_loss_sums


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_the_sums_against_torch(smoothing):
    torch.manual_seed(0)
    logits, labels = torch.randn(7, 11), torch.randint(0, 11, (7,))
    sums = loss_sums(logits, labels, smoothing)
    expected = F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)
    torch.testing.assert_close(sums.loss, expected)
    torch.testing.assert_close(sums.nll, F.cross_entropy(logits, labels, reduction="sum"))
    assert sums.n_tokens == 7


def test_by_hand():
    logits = torch.tensor([[math.log(3.0), 0.0]])  # probabilities 3/4 and 1/4
    sums = loss_sums(logits, torch.tensor([0]), label_smoothing=0.2)
    assert sums.nll.item() == pytest.approx(-math.log(0.75))
    expected = 0.8 * -math.log(0.75) + 0.2 * (-math.log(0.75) - math.log(0.25)) / 2
    assert sums.loss.item() == pytest.approx(expected)


@pytest.mark.fault("B47")
def test_no_real_token_at_all_is_zero_not_nan():
    logits = torch.randn(0, 5, requires_grad=True)
    sums = loss_sums(logits, torch.zeros(0, dtype=torch.int64), 0.1)
    assert sums.loss.item() == 0.0 and sums.nll.item() == 0.0 and sums.n_tokens == 0
    sums.loss.backward()
    assert logits.grad.isfinite().all()


def test_the_reported_loss_carries_no_gradient():
    logits = torch.randn(3, 5, requires_grad=True)
    sums = loss_sums(logits, torch.tensor([0, 1, 2]))
    assert sums.loss.requires_grad and not sums.nll.requires_grad


def test_nothing_is_smoothed_unless_asked_for():
    sums = loss_sums(torch.randn(3, 5), torch.tensor([0, 1, 2]))
    assert sums.loss == sums.nll


def test_bfloat16_logits_are_summed_in_float32():
    logits = torch.randn(50, 5).to(torch.bfloat16)
    assert loss_sums(logits, torch.zeros(50, dtype=torch.int64)).nll.dtype == torch.float32


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("n", [0, 1, CHUNK, CHUNK + 1, 2 * CHUNK + 3])
def test_the_chunked_loss_is_the_plain_one(n, smoothing):
    """Value and gradients, also under a factor, as when a step divides by its tokens."""
    torch.manual_seed(n)
    hidden, table = torch.randn(n, 6, requires_grad=True), torch.randn(11, 6, requires_grad=True)
    labels = torch.randint(0, 11, (n,))
    plain = loss_sums(hidden @ table.T, labels, smoothing)
    wanted = torch.autograd.grad(plain.loss / 7, (hidden, table))
    chunked = projected_loss_sums(hidden, table, labels, smoothing)
    found = torch.autograd.grad(chunked.loss / 7, (hidden, table))
    torch.testing.assert_close(chunked.loss, plain.loss)
    torch.testing.assert_close(chunked.nll, plain.nll)
    assert chunked.n_tokens == n and not chunked.nll.requires_grad
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-4)


def test_in_bfloat16_only_the_products_are_rounded():
    """Softmax and sums are float32, as in the plain loss."""
    torch.manual_seed(0)
    hidden, table = torch.randn(7, 6).bfloat16(), torch.randn(11, 6).bfloat16()
    labels = torch.randint(0, 11, (7,))
    plain = loss_sums(hidden @ table.T, labels, 0.1)
    chunked = projected_loss_sums(hidden, table, labels, 0.1)
    torch.testing.assert_close(chunked.loss, plain.loss)
    torch.testing.assert_close(chunked.nll, plain.nll)


def test_the_chunked_loss_against_numbers():
    hidden = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    table = torch.randn(7, 4, dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([0, 6, 3, 3, 1])

    def double(hidden, table):
        return projected_loss_sums(hidden, table, labels, 0.3).loss.double()

    assert torch.autograd.gradcheck(double, (hidden, table), eps=1e-3, atol=1e-2, rtol=1e-2)


def test_without_gradients_nothing_is_computed_for_them(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "exp_", None)  # only the gradient needs it
    table = torch.randn(9, 4, requires_grad=True)
    with torch.no_grad():
        sums = projected_loss_sums(torch.randn(3, 4), table, torch.tensor([1, 2, 3]))
    assert sums.loss == sums.nll and not sums.loss.requires_grad
    with pytest.raises(TypeError):
        projected_loss_sums(torch.randn(3, 4), table, torch.tensor([1, 2, 3]))


@pytest.mark.parametrize("function", [loss_sums, lambda x, y: projected_loss_sums(x, x, y)])
@pytest.mark.parametrize(
    ("rows", "labels"), [((2, 3, 5), (2, 3)), ((5, 4), (3,)), ((4,), (4,)), ((4, 5), (4, 1))]
)
def test_other_shapes_are_refused(function, rows, labels):
    """(B, T, V) with (B, T) would be summed without an error, wrongly."""
    with pytest.raises(ValueError, match=r"expected \(N, …\) and \(N,\), got"):
        function(torch.zeros(rows), torch.zeros(labels, dtype=torch.int64))


def test_the_gradient_against_differences():
    """In float64, in which the sums stay."""
    generator = torch.Generator().manual_seed(0)
    hidden, table = (
        torch.randn(n, 3, generator=generator, dtype=torch.float64, requires_grad=True)
        for n in (4, 5)
    )
    labels = torch.tensor([0, 4, 2, 2])

    def loss(a, b):
        return projected_loss_sums(a, b, labels, 0.1).loss

    assert loss(hidden, table).dtype == torch.float64
    assert torch.autograd.gradcheck(loss, (hidden, table))
    assert torch.autograd.gradcheck(lambda x: loss_sums(x, labels, 0.1).loss, (hidden @ table.T,))
