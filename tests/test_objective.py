import pytest
import torch
from conftest import small_config

from translator.batches import collate
from translator.loss import loss_sums, projected_loss_sums
from translator.model.transformer import Transformer
from translator.objective import Objective
from translator.store import EncodedPair

PAIRS = [EncodedPair([5, 6, 3], [7, 8, 9, 10, 3]), EncodedPair([5, 3], [11, 3])]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_objective_is_the_loss_of_the_models_logits(precision):
    """The fast path against the readable one, gradients included."""
    torch.manual_seed(0)
    model = Transformer(small_config("x", "y").model, vocab_size=30).train()
    batch = collate(PAIRS)
    found = []
    for fast in (True, False):
        model.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            if fast:
                sums = Objective(model)(batch, 0.1)
            else:
                logits = model(batch.src, batch.tgt_in)
                sums = loss_sums(logits[batch.real], batch.tgt_out[batch.real], 0.1)
        sums.loss.backward()
        found.append((sums.loss.detach(), [p.grad for p in model.parameters()]))
    tolerance = {"atol": 1e-5, "rtol": 1e-4} if precision == "fp32" else {"atol": 0.1, "rtol": 0.1}
    torch.testing.assert_close(found[0][0], found[1][0], **tolerance)
    for ours, theirs in zip(found[0][1], found[1][1], strict=True):
        torch.testing.assert_close(ours, theirs, **tolerance)


def test_padding_has_no_part_in_it():
    model = Transformer(small_config("x", "y").model, vocab_size=30).eval()
    together = Objective(model)(collate(PAIRS), 0.1)
    alone = [Objective(model)(collate([pair]), 0.1) for pair in PAIRS]
    assert together.n_tokens == sum(sums.n_tokens for sums in alone) == 7
    torch.testing.assert_close(together.loss, alone[0].loss + alone[1].loss)


def test_in_mixed_precision_the_vocabulary_is_compared_in_bfloat16(monkeypatch):
    """States and table both, and the loss is float32 all the same."""
    model, seen = Transformer(small_config("x", "y").model, vocab_size=30).eval(), []

    def spy(hidden, table, labels, smoothing):
        seen.append((hidden.dtype, table.dtype))
        return projected_loss_sums(hidden, table, labels, smoothing)

    monkeypatch.setattr("translator.objective.projected_loss_sums", spy)
    for mixed in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            assert Objective(model)(collate(PAIRS), 0.1).loss.dtype == torch.float32
    assert seen == [(torch.float32, torch.float32), (torch.bfloat16, torch.bfloat16)]


def test_a_compiler_is_given_the_readable_path(monkeypatch):
    model = Transformer(small_config("x", "y").model, vocab_size=30).eval()
    expected = Objective(model)(collate(PAIRS), 0.1)
    monkeypatch.setattr("translator.objective.projected_loss_sums", None)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    found = Objective(model)(collate(PAIRS), 0.1)
    torch.testing.assert_close(found.loss, expected.loss, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found.nll, expected.nll, atol=1e-5, rtol=1e-5)
