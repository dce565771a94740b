import json
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from translator.config import (
    Config,
    ConfigError,
    DataConfig,
    DecodingConfig,
    ModelConfig,
    TokenizerConfig,
    TrainConfig,
)


def parse(tmp_path: Path, text: str, *overrides: str) -> Config:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return Config.from_yaml(path, overrides)


def error(tmp_path: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse(tmp_path, text, *overrides)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.fault("B01")
@pytest.mark.parametrize("text", ["1e-4", "1E-4", ".0001", "1.0e-4", '"1e-4"', "0.0001"])
def test_a_number_is_a_number_however_it_is_written(tmp_path, text):
    assert parse(tmp_path, f"train:\n  lr: {text}\n").train.lr == 1e-4
    assert parse(tmp_path, "", f"train.lr={text}").train.lr == 1e-4


@pytest.mark.fault("B01")
def test_whole_numbers_and_a_second_load(tmp_path):
    config = parse(tmp_path, "train: {max_steps: 1e4, lr: 3e+2}")
    assert config.train.max_steps == 10_000 and isinstance(config.train.max_steps, int)
    assert config.train.lr == 300.0
    assert Config.from_dict(config.to_dict()) == config


@pytest.mark.fault("B01")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train: {lr: abc}", "train.lr: expected a number, got 'abc'"),
        ("train: {lr: true}", "train.lr: expected a number, got True"),
        ("train: {lr: .nan}", "train.lr: expected a number, got nan"),
        ("train: {lr: .inf}", "train.lr: expected a number, got inf"),
        ("train: {lr: }", "train.lr: expected a number, got nothing"),
        ("train: {lr: [1]}", "train.lr: expected a number, got [1]"),
        ("train: {max_steps: 1.5}", "train.max_steps: expected a whole number, got 1.5"),
        ("train: {max_steps: yes}", "train.max_steps: expected a whole number, got True"),
        ("model: {norm_first: 1}", "model.norm_first: expected true or false, got 1"),
        ("data: {encoding: no}", "data.encoding: expected text, got False; quote it"),
        ("data: {train: 5}", "data.train, entry 1: expected text, got 5"),
        ("data: {train: yes}", "data.train: expected a list, got True"),
        ("train: {max_steps: 2020-13-45}", "a value cannot be read"),
        ('train: {seed: !!int "abc"}', "a value cannot be read"),
        ("train: {max_steps: 1" + "0" * 400 + "}", "train.max_steps: expected a whole number"),
        ("tokenizer: {vocab_size: 1e11}", "tokenizer.vocab_size: expected a number between"),
        (
            "train: {precision: fp8}",
            "train.precision: expected one of auto, fp32, bf16, fp16, got 'fp8'",
        ),
        ("train: 5", "train: expected keys and values, got 5"),
        ("- a\n- b", "the file: expected keys and values"),
        ("? [a, b]\n: 1", "line 1: not valid YAML: found unhashable key"),
        ("train:\n  seed: 1\n   lr: 2", "not allowed here; is it indented as the lines above?"),
        ('train: {run_dir: "\x07"}', "not valid YAML: unacceptable character"),
    ],
)
def test_a_wrong_type_names_file_key_and_what_was_expected(tmp_path, text, message):
    found = error(tmp_path, text)
    assert found.startswith(str(tmp_path / "config.yaml"))
    assert message in found


@pytest.mark.fault("B02")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train: {seed: 1, seed: 2}", "key 'seed' is given twice, in lines 1 and 1"),
        ("train:\n  seed: 1\n  lr: 1\n  seed: 2\n", "key 'seed' is given twice, in lines 2 and 4"),
        (
            "train: {seed: 1}\nmodel: {}\ntrain: {}\n",
            "key 'train' is given twice, in lines 1 and 3",
        ),
        ("train: {<<: {lr: 1.0}, seed: 1, seed: 2}", "key 'seed' is given twice"),
    ],
)
def test_a_key_given_twice_is_refused(tmp_path, text, message):
    assert message in error(tmp_path, text)


@pytest.mark.fault("B02")
def test_merge_keys_stay_allowed(tmp_path):
    merged = "train: &base {seed: 1}\n"
    config = parse(tmp_path, merged.replace("&base {", "{<<: {seed: 3, lr: 1.0}, "))
    assert (config.train.seed, config.train.lr) == (1, 1.0)
    config = parse(tmp_path, "train: {<<: {seed: 3}, <<: {lr: 1.0}}")
    assert (config.train.seed, config.train.lr) == (3, 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trian: {}", "unknown key trian; did you mean train?"),
        ("train: {warmup: 5}", "unknown key train.warmup; did you mean train.warmup_steps?"),
        ("model: {zzz: 5}", "unknown key model.zzz; known keys: d_ff, d_model"),
        ("1: {}", "unknown key 1; known keys: data, decoding, model, tokenizer, train"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(tmp_path, text, message):
    assert message in error(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train: {max_steps: 0}", "train.max_steps: expected a number at least 1, got 0"),
        ("model: {dropout: 1.5}", "model.dropout: expected a number between 0.0 and 0.9, got 1.5"),
        ("model: {d_model: 10}", "model.d_model: 10 cannot be split over n_heads = 4"),
        ("model: {d_model: 9, n_heads: 3}", "model.d_model: expected an even number"),
        ("data: {dev: a.tsv, dev_size: 5}", "data.dev_size: has no effect beside dev"),
    ],
)
def test_a_value_out_of_range_is_refused(tmp_path, text, message):
    assert message in error(tmp_path, text)


def test_ranges_hold_in_python_too():
    with pytest.raises(ConfigError, match="dropout: expected a number between"):
        ModelConfig(dropout=2.0)
    with pytest.raises(ConfigError, match="warmup_steps"):
        TrainConfig(warmup_steps=-1)


COUNTS = {
    ModelConfig: ("n_heads", "n_encoder_layers", "n_decoder_layers", "d_ff"),
    TokenizerConfig: ("vocab_size", "max_sentences"),
    TrainConfig: ("max_steps", "accumulate", "log_every", "validate_every"),
    DecodingConfig: ("beam_size", "n_best", "length_margin", "batch_size"),
}
"""Without one of these there is nothing to do."""
AMOUNTS = {
    ModelConfig: ("dropout",),
    DataConfig: ("dev_size", "noise", "resplit"),
    TrainConfig: (
        *("seed", "lr", "warmup_steps", "weight_decay", "label_smoothing", "clip_norm"),
        *("save_every", "patience", "average", "n_samples"),
    ),
    DecodingConfig: (
        *("length_penalty", "no_repeat_ngram", "min_tokens", "length_factor", "split_above"),
    ),
}
"""Of these there may be nothing; often 0 is what switches them off."""


@pytest.mark.parametrize(("least", "keys"), [(1, COUNTS), (0, AMOUNTS)], ids=["counts", "amounts"])
def test_counts_begin_at_one_and_amounts_at_nothing(least, keys):
    for section, names in keys.items():
        for name in names:
            assert getattr(section(**{name: least}), name) == least
            with pytest.raises(ConfigError, match=f"^{name}: expected a number"):
                section(**{name: least - 1})


@pytest.mark.parametrize(
    ("section", "name", "most", "too_much"),
    [
        (ModelConfig, "dropout", 0.9, 1.0),
        (TrainConfig, "label_smoothing", 0.9, 1.0),
        (DataConfig, "resplit", 0.9, 1.0),
        (DataConfig, "noise", 1.0, 1.1),
        (TokenizerConfig, "character_coverage", 1.0, 1.1),
    ],
)
def test_no_share_is_above_all_and_some_leave_a_rest_to_learn_from(section, name, most, too_much):
    assert getattr(section(**{name: most}), name) == most
    with pytest.raises(ConfigError, match=f"^{name}: expected a number between"):
        section(**{name: too_much})


def test_the_smallest_model_has_a_sine_and_a_cosine():
    assert ModelConfig(d_model=2, n_heads=1).d_model == 2
    with pytest.raises(ConfigError, match="d_model: expected a number between"):
        ModelConfig(d_model=0, n_heads=1)


def test_a_config_is_written_by_name_and_does_not_change():
    config = Config()
    for part in (config, *vars(config).values()):
        key = fields(part)[0].name
        value = getattr(part, key)
        with pytest.raises(FrozenInstanceError):
            setattr(part, key, value)
        with pytest.raises(TypeError, match="positional"):
            type(part)(value)


def test_what_is_extra_is_off_until_it_is_asked_for():
    model, _, data, train, decoding = vars(Config()).values()
    assert not any((data.train, data.weights, data.dev, data.dev_size, data.noise, data.resplit))
    assert not any((train.init_from, train.save_every, train.patience, train.average))
    assert not any((train.compile, train.tensorboard))
    assert not any((decoding.min_tokens, decoding.no_repeat_ngram, decoding.split_above))
    assert train.accumulate == decoding.beam_size == decoding.n_best == 1
    assert model.norm_first, "as the README says"


@pytest.mark.parametrize(
    ("key", "value"), [("d_model", "64"), ("d_model", 64.0), ("norm_first", "no"), ("d_ff", True)]
)
def test_types_hold_in_python_too(key, value):
    with pytest.raises(ConfigError, match=f"{key}: expected"):
        ModelConfig(**{key: value})
    assert ModelConfig(dropout=0).dropout == 0


def test_what_does_nothing_is_named():
    config = Config.from_dict({"train": {"patience": 3, "warmup_steps": 9, "max_steps": 9}})
    patience, warmup = config.without_effect()
    assert patience == "train.patience has no effect without data.dev or data.dev_size"
    assert warmup == (
        "train.warmup_steps: 9 of 9 steps, so the rate never falls from its peak train.lr"
    )
    [warmup] = Config.from_dict({"train": {"warmup_steps": 9, "max_steps": 8}}).without_effect()
    assert warmup.endswith("9 of 8 steps, so the rate never reaches its peak train.lr")
    config = Config.from_dict({"data": {"dev": "d.tsv"}, "train": {"average_of": "best"}})
    assert config.without_effect() == ["train.average_of has no effect without train.average"]
    assert Config().without_effect() == []
    assert Config.from_dict({"data": {"dev": "d.tsv"}}).without_effect() == []
    [penalty] = Config.from_dict({"decoding": {"length_penalty": 2.0}}).without_effect()
    assert penalty == "decoding.length_penalty has no effect in greedy search; raise beam_size"
    assert DecodingConfig(beam_size=4, length_penalty=2.0).without_effect() == []
    with pytest.raises(ConfigError, match="run_dir: name a folder"):
        TrainConfig(run_dir=" ")


def test_types_of_choices_and_lists_hold_in_python_too():
    with pytest.raises(ConfigError, match=r"precision: expected one of auto, .*, got 'fp8'"):
        TrainConfig(precision="fp8")
    with pytest.raises(ConfigError, match=r"train: expected a list, got 'my\.tsv'"):
        DataConfig(train="my.tsv")


def test_overrides_are_checked_together(tmp_path):
    """In either order, and only as a whole."""
    text = "data: {train: a.tsv, dev_size: 200}\n"
    for order in (1, -1):
        overrides = ["data.dev=d.tsv", "data.dev_size=0"][::order]
        assert parse(tmp_path, text, *overrides).data.dev == ("d.tsv",)
    assert parse(tmp_path, "", "model.d_model=90", "model.n_heads=3").model.n_heads == 3
    found = error(tmp_path, text, "data.dev=d.tsv", "data.dev_size=5")
    assert found.startswith("--set data.dev=d.tsv --set data.dev_size=5: data.dev_size: has no")


def test_overrides(tmp_path):
    text = "train: {lr: 1e-3}\ndata: {train: a.tsv}\n"
    config = parse(tmp_path, text, "train.lr=2e-3", "data.train=[b.tsv, c.tsv]", "model.d_model=64")
    assert config.train.lr == 2e-3
    assert config.data.train == ("b.tsv", "c.tsv")
    assert config.model.d_model == 64
    assert parse(tmp_path, text, " train.lr = 2e-3 ").train.lr == 2e-3


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("train.lr", "--set train.lr: write it as section.key=value"),
        ("lr=5", "--set lr=5: write it as section.key=value"),
        ("train.lr=abc", "--set train.lr=abc: train.lr: expected a number, got 'abc'"),
        ("train.learning_rate=1", "unknown key train.learning_rate"),
        ("training.lr=1", "unknown key training; did you mean train?"),
        ("train.lr=[1", "--set train.lr=[1: the value cannot be read"),
        ("train.seed=2020-13-45", "the value cannot be read"),
    ],
)
def test_a_wrong_override_says_so(tmp_path, override, message):
    assert message in error(tmp_path, "", override)


def test_a_missing_or_broken_file(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: no such config file"):
        Config.from_yaml(tmp_path / "nowhere.yaml")
    assert "line 2: not valid YAML" in error(tmp_path, "train:\n\tlr: 1\n")
    (tmp_path / "cp949.yaml").write_bytes("# 한글".encode("cp949"))
    with pytest.raises(ConfigError, match="not UTF-8 at byte 2"):
        Config.from_yaml(tmp_path / "cp949.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.from_yaml(tmp_path)


def test_an_empty_file_gives_the_defaults(tmp_path):
    assert parse(tmp_path, "") == Config()
    assert parse(tmp_path, "train:\n") == Config()


def test_every_key_of_every_section_can_be_set_and_survives_a_round_trip(tmp_path):
    tree = Config().to_dict()
    assert Config.from_dict(tree) == Config()
    assert tree["data"]["train"] == [], "a list, which YAML and checkpoints can hold"
    for section, values in tree.items():
        for key, value in values.items():
            shown = json.dumps(value)  # which is YAML too
            assert parse(tmp_path, f"{section}: {{{key}: {shown}}}") == Config()


def test_weights_are_one_number_for_each_corpus(tmp_path):
    text = "data: {train: [a.tsv, b.tsv], weights: [1, 5e-1]}"
    assert parse(tmp_path, text).data.weights == (1.0, 0.5)
    assert parse(tmp_path, "data: {train: a.tsv, weights: 2}").data.weights == (2.0,)
    for weights, message in (
        ("[1]", "data.weights: 1 for 2 entries of data.train"),
        ("[1, 0]", "data.weights: expected numbers above 0 and up to 1000, got 1.0, 0.0"),
        ("[1, heavy]", "data.weights, entry 2: expected a number, got 'heavy'"),
        ("{a: 1}", "data.weights: expected a list"),
    ):
        found = error(tmp_path, f"data: {{train: [a.tsv, b.tsv], weights: {weights}}}")
        assert message in found


def test_a_weight_goes_up_to_a_thousand():
    assert DataConfig(train=("a.tsv",), weights=(1000.0,)).weights == (1000.0,)
    with pytest.raises(ConfigError, match=r"above 0 and up to 1000, got 1000\.5"):
        DataConfig(train=("a.tsv",), weights=(1000.5,))


def test_of_a_long_value_the_beginning_is_shown(tmp_path):
    """Sixty characters with the quotes, or 57 and three dots."""
    assert error(tmp_path, f"train: {{lr: {'a' * 58}}}").endswith(f"got '{'a' * 58}'")
    assert error(tmp_path, f"train: {{lr: {'a' * 59}}}").endswith(f"got '{'a' * 56}...")


def test_a_value_that_is_far_larger_than_it_is_written(tmp_path):
    """Each alias doubles the list; written out, the value would have 2²⁵ entries."""
    lists = "\n".join(f"- &{chr(97 + n)} [*{chr(96 + n)}, *{chr(96 + n)}]" for n in range(1, 26))
    assert "got [[" in error(
        tmp_path, f"train:\n  lr:\n  - &a [1]\n{lists}".replace("\n-", "\n  -")
    )
    assert error(tmp_path, f"train: {{seed: 0x{'f' * 5000}}}").endswith("thousands of digits")
    assert "quote it" in error(tmp_path, 'train: {seed: !!int ""}')


def test_so_many_translations_need_so_wide_a_beam(tmp_path):
    found = error(tmp_path, "decoding: {n_best: 3}")
    assert "decoding.n_best: 3 translations need a beam_size of as many, not 1" in found
    assert parse(tmp_path, "decoding: {n_best: 3, beam_size: 3}").decoding.n_best == 3


def test_no_name_has_a_nul(tmp_path):
    for text in (
        'data: {train: ["a\\0b"]}',
        'train: {run_dir: "a\\0b"}',
        'train: {run_dir: "\\ud800"}',
    ):
        assert "a NUL or half a character stands in it" in error(tmp_path, text)


def within(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False)


ANY_MODEL = st.tuples(st.integers(1, 8), st.integers(1, 32)).flatmap(
    lambda sizes: st.builds(
        ModelConfig,
        n_heads=st.just(sizes[0]),
        d_model=st.just(2 * sizes[0] * sizes[1]),
        d_ff=st.integers(1, 65_536),
        dropout=within(0, 0.9),
        norm_first=st.booleans(),
    )
)
NAME = st.text(min_size=1, max_size=9).filter(
    # PyYAML writes U+0085 as it is, and reads it as the end of a line
    lambda name: name.strip() and name.splitlines() == [name] and "\0" not in name
)
ANY_CONFIG = st.builds(
    Config,
    model=ANY_MODEL,
    data=st.builds(DataConfig, train=st.lists(NAME, max_size=3).map(tuple)),
    train=st.builds(TrainConfig, lr=within(1e-9, 1), seed=st.integers(0, 2**31 - 1), run_dir=NAME),
    decoding=st.builds(DecodingConfig, length_penalty=within(0, 2), min_tokens=st.integers(0, 9)),
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
ANY_TREE = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3)
)
KEYS = [
    (section, item.name)
    for section, kind in (("model", ModelConfig), ("train", TrainConfig), ("data", DataConfig))
    for item in fields(kind)
]


@settings(max_examples=50)
@given(config=ANY_CONFIG)
def test_any_config_comes_back_from_its_own_yaml(config, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(yaml.safe_dump(config.to_dict(), allow_unicode=True), encoding="utf-8")
    assert Config.from_yaml(path) == config == Config.from_dict(config.to_dict(), source="x")


@given(key=st.sampled_from(KEYS), value=ANY_TREE)
def test_any_value_is_taken_or_refused_in_one_line(key, value):
    section, name = key
    try:
        config = Config.from_dict({section: {name: value}}, source="x")
    except ConfigError as error:
        assert str(error).startswith("x: ") and "\n" not in str(error)
    else:
        assert config == Config.from_dict(config.to_dict(), source="x")


@given(tree=ANY_TREE)
def test_any_tree_is_a_config_or_refused(tree):
    try:
        Config.from_dict(tree, source="x")
    except ConfigError as error:
        assert str(error).startswith("x: ")
