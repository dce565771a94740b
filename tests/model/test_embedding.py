import math

import pytest
import torch

from translator.model.embedding import Embedding, sinusoidal_positions


def test_positions_follow_the_formula_of_the_paper():
    table = sinusoidal_positions(50, 8)
    assert table.shape == (50, 8)
    for position, pair in ((0, 0), (7, 1), (49, 3)):
        angle = position / 10_000 ** (2 * pair / 8)
        assert table[position, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-5)
        assert table[position, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)


def test_a_later_start_continues_the_positions():
    embedding = Embedding(vocab_size=20, d_model=8, max_len=16, dropout=0.0)
    ids = torch.randint(0, 20, (2, 6))
    torch.testing.assert_close(embedding(ids)[:, 4:], embedding(ids[:, 4:], start=4))


@pytest.mark.fault("B45")
def test_the_limit_is_a_clear_error_and_the_table_is_not_saved():
    embedding = Embedding(vocab_size=20, d_model=8, max_len=16, dropout=0.0)
    embedding(torch.zeros(1, 16, dtype=torch.int64))
    with pytest.raises(ValueError, match="17 tokens, but max_len = 16"):
        embedding(torch.zeros(1, 17, dtype=torch.int64))
    assert list(embedding.state_dict()) == ["weight"]
    longer = Embedding(vocab_size=20, d_model=8, max_len=64, dropout=0.0)
    longer.load_state_dict(embedding.state_dict())
    ids = torch.randint(0, 20, (1, 16))
    torch.testing.assert_close(longer(ids), embedding(ids))


@pytest.mark.fault("B44")
def test_the_scale_stands_on_one_side_only():
    """Embeddings go in with √D, logits are plain dot products with the same matrix."""
    embedding = Embedding(vocab_size=20, d_model=16, max_len=4, dropout=0.0)
    ids = torch.tensor([[3]])
    without_position = embedding(ids) - embedding.positions[:1]
    torch.testing.assert_close(without_position[0, 0], 4 * embedding.weight[3])
    hidden = torch.randn(2, 16)
    torch.testing.assert_close(embedding.logits(hidden), hidden @ embedding.weight.T)


def test_an_untrained_token_has_unit_variance():
    """After the √D, and whatever D is."""
    torch.manual_seed(0)
    for d_model in (16, 64):
        embedding = Embedding(vocab_size=2000, d_model=d_model, max_len=4, dropout=0.0)
        tokens = embedding(torch.arange(2000)[:, None]) - embedding.positions[:1]
        assert tokens.std().item() == pytest.approx(1, rel=0.03)


def test_dropout_falls_on_token_and_position_together():
    """At one half a number is gone or twice as large, and only in training."""
    torch.manual_seed(0)
    embedding = Embedding(vocab_size=20, d_model=8, max_len=16, dropout=0.5)
    ids = torch.randint(0, 20, (2, 16))
    dropped, whole = embedding.train()(ids), embedding.eval()(ids)
    gone = dropped == 0
    assert 0 < gone.sum() < gone.numel()
    torch.testing.assert_close(dropped[~gone], 2 * whole[~gone])


def test_an_odd_width_has_no_pairs():
    with pytest.raises(ValueError, match="d_model = 5 is odd"):
        sinusoidal_positions(3, 5)
