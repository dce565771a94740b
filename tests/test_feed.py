"""Which batches a process gets in which step."""

import re

from conftest import PAIRS, small_config, write_tsv
from test_tokenizer import TOKENIZER

from translator.distributed import Workers
from translator.feed import Feed, epoch_note
from translator.preparation import Material, prepare
from translator.run_dir import RunDirectory
from translator.store import EncodedPair, TokenStore


def material_of(config):
    events = prepare(config, RunDirectory(config.train.run_dir), None)
    while True:
        try:
            next(events)
        except StopIteration as done:
            return done.value


def test_all_processes_together_see_what_one_alone_sees(tmp_path):
    corpus = write_tsv(tmp_path / "pairs.tsv", PAIRS)
    config = small_config(corpus, tmp_path / "run", max_tokens=48, max_steps=12)
    material = material_of(config)
    alone = [len(group.indices) for group in Feed(config, material, Workers()).after(0)]
    both = [
        list(Feed(config, material, Workers(rank=rank, world_size=2)).after(0)) for rank in (0, 1)
    ]
    for first, second in zip(*both, strict=True):
        assert first.indices == second.indices
        assert first.weight == 1.0
        n_rows = sum(len(batch.src) for batch in first.batches)
        n_rows += sum(len(batch.src) for batch in second.batches) if second.weight else 0
        assert n_rows == len(first.indices)
    assert len(both[0]) == len(alone) == 12
    assert sum(len(group.indices) for group in both[0]) > sum(alone)


def sides(batches):
    return [(batch.src.tolist(), batch.tgt_out.tolist()) for batch in batches]


def test_two_processes_compute_what_one_accumulates(tmp_path):
    """Batch for batch, and words are spelled anew in the same way."""
    corpus = write_tsv(tmp_path / "pairs.tsv", PAIRS)
    config = small_config(corpus, tmp_path / "run", max_tokens=48, max_steps=8)
    config = config.override(["data.resplit=0.5"])
    material = material_of(config)
    alone = Feed(config.override(["train.accumulate=2"]), material, Workers()).after(0)
    ranks = [Feed(config, material, Workers(rank=rank, world_size=2)).after(0) for rank in (0, 1)]
    sizes = set()
    for group, first, second in zip(alone, *ranks, strict=True):
        both = [*first.batches, *(second.batches if second.weight else ())]
        assert sides(both) == sides(group.batches)
        sizes.add(len(group.batches))
    assert max(sizes) == 2


def test_after_so_many_steps_it_goes_on_where_it_was(tmp_path):
    corpus = write_tsv(tmp_path / "pairs.tsv", PAIRS)
    config = small_config(corpus, tmp_path / "run", max_tokens=48, max_steps=9)
    feed = Feed(config, material_of(config), Workers())
    whole, rest = list(feed.after(0)), list(feed.after(4))
    assert len(whole) == 9
    assert [group.indices for group in rest] == [group.indices for group in whole[4:]]


def test_words_spelled_anew_do_not_exceed_the_budget(tmp_path):
    corpus = write_tsv(tmp_path / "pairs.tsv", PAIRS * 5)
    config = small_config(corpus, tmp_path / "run", max_tokens=64, max_steps=40)
    config = config.override(["data.resplit=0.9"])
    for group in Feed(config, material_of(config), Workers()).after(0):
        for batch in group.batches:
            assert max(batch.src.numel(), batch.tgt_in.numel()) <= 64


def test_how_long_an_epoch_is(tmp_path):
    one = write_tsv(tmp_path / "one.tsv", PAIRS)
    two = write_tsv(tmp_path / "two.tsv", [(f"{en} Yes.", ko, level) for en, ko, level in PAIRS])
    config = small_config(one, tmp_path / "run", max_tokens=48, max_steps=400)
    config = config.override([f"data.train=[{one}, {two}]", "data.weights=[2, 1]"])
    material = material_of(config)
    said = re.findall(r"about (\d+)", epoch_note(config, material, 1).text)
    steps, epochs = map(int, said)
    batches = len(list(Feed(config, material, Workers())._sampler.batches(0)))
    assert 0.4 * batches < steps <= batches, "about, and without padding"
    assert epochs == round(400 / steps)
    assert epoch_note(config, material, 1000).text.startswith("an epoch is about 1 steps, ")


def test_the_length_of_an_epoch_by_hand(tmp_path):
    """Six pairs with five tokens a side are three batches of ten."""
    pairs = [EncodedPair([4, 5, 6, 7, 3], [8, 9, 5, 6, 3])] * 6
    store = TokenStore.build(tmp_path, pairs)
    material = Material(TOKENIZER, [4, 2], store, store, (), ())

    def said(*settings, n_processes=1):
        config = small_config("unused", "unused", max_tokens=10, max_steps=30)
        note = epoch_note(config.override(settings), material, n_processes).text
        return re.findall(r"about ([\d.]+)", note)

    assert said() == ["3", "10"]
    assert said(n_processes=3) == said("train.accumulate=3") == ["1", "30"]
    assert said("data.train=[a.tsv, b.tsv]", "data.weights=[2, 1]") == ["5", "6.0"]
