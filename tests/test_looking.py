from dataclasses import replace

import pytest
import torch
from conftest import PAIRS

from translator.looking import KINDS, Looking, NoSuchMap
from translator.tokenizer import BOS_ID, EOS_ID

TEXT = PAIRS[0][0]


@pytest.fixture(params=[1, 4], ids=["greedy", "beam"])
def looking(request, translator):
    options = replace(translator.config.decoding, beam_size=request.param, n_best=1)
    translation = translator.translate([PAIRS[9][0], TEXT, PAIRS[7][0]], options=options)[1]
    return Looking(translator, TEXT, translation, "formal"), translation


@pytest.mark.fault("B46")
def test_rows_sum_to_one_and_carry_the_right_names(looking):
    found, translation = looking
    assert found.source.pieces[0] == "<formal>" and found.source.pieces[-1] == "</s>"
    assert found.read.pieces == ("<s>", *translation.pieces)
    assert found.written.pieces == (*translation.pieces, "</s>")
    for kind in KINDS:
        rows, columns = found.axes(kind)
        for layer, head in ((None, None), (1, None), (2, 4), (None, 2)):
            for words in (False, True):
                heatmap = found.heatmap(kind, layer, head, words=words)
                weights = torch.tensor(heatmap.weights)
                assert weights.shape == (len(heatmap.rows), len(heatmap.columns))
                torch.testing.assert_close(weights.sum(dim=1), torch.ones(len(weights)))
                assert words or (heatmap.rows, heatmap.columns) == (rows.pieces, columns.pieces)
    assert torch.tensor(found.heatmap("decoder").weights).triu(1).max() == 0  # no future


@pytest.mark.fault("B46")
def test_the_weights_belong_to_what_was_written(looking, translator):
    """Beam or greedy, in a batch with padding: the same as the model alone with the ids."""
    found, translation = looking
    src = torch.tensor([translator.tokenizer.encode_source(TEXT, "formal")])
    maps = translator.model.attention_maps(src, torch.tensor([[BOS_ID, *translation.ids]]))
    for kind, weights in zip(KINDS, maps, strict=True):
        torch.testing.assert_close(found.weights(kind), weights[:, 0])
    torch.testing.assert_close(
        torch.tensor(found.heatmap("cross", 2, 3).weights), maps.cross[1, 0, 2]
    )
    torch.testing.assert_close(
        torch.tensor(found.heatmap("cross").weights), maps.cross[:, 0].mean(dim=(0, 1))
    )


@pytest.mark.fault("B46")
def test_looking_changes_no_translation(translator):
    for beam_size in (1, 4):
        options = replace(translator.config.decoding, beam_size=beam_size)
        before = translator.translate([TEXT], options=options)
        Looking(translator, TEXT, before[0], "formal")
        assert translator.translate([TEXT], options=options) == before


def test_pieces_of_a_word_are_joined(translator):
    [translation] = translator.translate([TEXT])
    odd = "Quixotic 🙂ab"  # spelled in single letters and bytes
    found = Looking(translator, odd, translation, "formal")
    assert [word.text for word in found.source.words] == ["<formal>", "Quixotic", "🙂ab", "</s>"]
    assert [word.special for word in found.source.words] == [True, False, False, True]
    places = [place for word in found.source.words for place in word.places]
    assert places == list(range(len(found.source.pieces)))
    assert len(found.source.pieces) > 10
    # columns are added, rows averaged
    raw = found.weights("cross").mean(dim=(0, 1))
    by_word = torch.tensor(found.heatmap("cross", words=True).weights)
    quixotic = list(found.source.words[1].places)
    first = list(found.written.words[0].places)
    torch.testing.assert_close(by_word[0, 1], raw[first][:, quixotic].sum(dim=1).mean())


def test_a_layer_or_head_that_is_not_there(looking):
    found, _ = looking
    with pytest.raises(NoSuchMap, match="layer 3: the model has layers 1 to 2"):
        found.heatmap("cross", 3)
    with pytest.raises(NoSuchMap, match="head 5: the model has heads 1 to 4"):
        found.heatmap("cross", 1, 5)


def test_a_translation_that_was_cut_off_says_so(translator):
    options = replace(translator.config.decoding, length_factor=0.0, length_margin=2)
    [translation] = translator.translate([TEXT], options=options)
    assert not translation.finished
    found = Looking(translator, TEXT, translation, "formal")
    assert found.written.pieces[-1] == "…" and found.written.words[-1].text == "…"
    assert len(found.written.pieces) == found.weights("cross").size(2)


@pytest.mark.fault("B45")
def test_a_source_above_the_limit_is_looked_at_as_far_as_it_was_read(translator):
    long = "I am a student. " * 30
    options = replace(translator.config.decoding, too_long="cut")
    [translation] = translator.translate([long], options=options)
    found = Looking(translator, long, translation, "formal")
    assert len(found.source.pieces) == translator.config.model.max_len
    assert found.source.pieces[-1] == translator.tokenizer.pieces([EOS_ID])[0]
    assert found.weights("encoder").shape[-2:] == (48, 48)
