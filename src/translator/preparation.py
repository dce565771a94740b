"""From the config's files to what a run learns from: vocabulary, encoded pairs, dev pairs.

The corpus is read anew for each purpose and never held: ten million pairs need hardly more memory
than ten thousand.
"""

import itertools
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from translator.config import Config, DataConfig
from translator.distributed import Workers
from translator.events import Note
from translator.heldout import HeldOut
from translator.levels import DEFAULT_STYLE
from translator.noise import with_noisy_copies
from translator.pairs import Pair, Report, files_of, read_pairs
from translator.placeholders import hide_pair
from translator.run_dir import RunDirectory
from translator.store import EncodedPair, TokenStore, encode_pairs
from translator.textfile import DataError
from translator.tidying import tidy
from translator.tokenizer import Tokenizer
from translator.vocabulary import MAX_SENTENCE_BYTES, train_tokenizer


@dataclass(frozen=True)
class Material:
    """The corpus as a run uses it."""

    tokenizer: Tokenizer
    sizes: Sequence[int]  # encoded pairs of each entry of data.train
    train: TokenStore
    dev: TokenStore  # may be empty
    dev_pairs: Sequence[Pair]
    samples: Sequence[Pair]  # a few sentences to be translated for the log


def prepare(
    config: Config, run_dir: RunDirectory, tokenizer: Tokenizer | None
) -> Generator[Note, None, Material]:
    """Reads the corpus and writes it, encoded, into the run directory; tells what it meets.

    Args:
        tokenizer: the vocabulary to use; None trains one

    Raises:
        UserError: before anything is written, unless it shows in the encoding itself.
    """
    corpus = _Corpus(config)
    yield from map(Note, config.without_effect())
    if tokenizer is None:
        tokenizer = train_tokenizer(corpus.texts(), config.tokenizer)
        yield _vocabulary_note(tokenizer, config, corpus)
    run_dir.prepare()
    encoder = _Encoder(config, tokenizer)
    train = TokenStore.build(run_dir.tokens / "train", encoder.train(corpus))
    yield from encoder.notes("train")
    if corpus.seen_dev:
        known = f"{len(corpus.seen_dev)} of {len(corpus.dev_sources)} English dev sentences"
        yield Note(f"dev: {known} stand in train too, so dev judges what was learned by heart")
    sizes = encoder.sizes
    _check_weights(config.data, sizes)
    encoder = _Encoder(config, tokenizer)
    dev = TokenStore.build(run_dir.tokens / "dev", encoder.dev(corpus))
    yield from encoder.notes("dev")
    return Material(tokenizer, sizes, train, dev, corpus.dev, _samples(corpus, tokenizer, config))


def prepare_together(
    config: Config, run_dir: RunDirectory, tokenizer: Tokenizer | None, workers: Workers
) -> Generator[Note, None, Material]:
    """`prepare` by the first process; the others read what it wrote."""
    material: Material | None = None
    if workers.first:
        material = yield from prepare(config, run_dir, tokenizer)
    found = workers.from_first(
        None if material is None else (material.tokenizer.model, list(material.sizes))
    )
    if material is not None:
        return material
    assert found is not None
    model, sizes = found
    train, dev = (TokenStore(run_dir.tokens / name) for name in ("train", "dev"))
    return Material(Tokenizer(model), sizes, train, dev, (), ())


class _Corpus:
    """The pairs that the config names, with dev held out of train."""

    def __init__(self, config: Config) -> None:
        self._data = config.data
        self.too_long_to_learn = 0
        self._held_out = HeldOut(config.data.dev_size, config.train.seed)
        if not self._data.train:
            raise DataError("data.train: name at least one corpus file")
        for entry in (*self._data.train, *self._data.dev):
            for path in map(Path, files_of(entry)):
                if path.exists() and not path.is_file() and not path.is_dir():
                    raise DataError(f"{path}: a pipe can be read only once; save it as a file")
        self.dev: Sequence[Pair] = self._choose_dev()
        self.dev_sources = {pair.src for pair in self.dev}
        self.seen_dev: set[str] = set()  # dev sentences that were met in train

    def train(self, entry: str, report: Report) -> Iterator[Pair]:
        """The training pairs of one entry of data.train."""
        for pair in read_pairs([entry], report, self._data.encoding):
            if pair.src not in self._held_out:
                if pair.src in self.dev_sources:
                    self.seen_dev.add(pair.src)
                yield pair

    def texts(self) -> Iterator[str]:
        """Both sides of all training pairs; what is too long to learn a vocabulary from is
        counted.  Raises DataError when there are none.
        """
        report = Report()
        for entry in self._data.train:
            for pair in map(hide_pair, self.train(entry, report)):
                for text in (tidy(pair.src), pair.tgt):
                    self.too_long_to_learn += len(text.encode()) > MAX_SENTENCE_BYTES
                    yield text
        self.check_some(report)

    def check_some(self, report: Report) -> None:
        """Raises DataError when reading gave nothing."""
        if not report.kept:
            reasons = "; ".join(report.lines()) or "nothing in it"
            raise DataError(f"{', '.join(self._data.train)}: no usable pair; {reasons}")

    def _choose_dev(self) -> list[Pair]:
        data, report = self._data, Report()
        if data.dev:
            dev = list(read_pairs(data.dev, report, data.encoding))
            if not dev:
                raise DataError(f"{', '.join(data.dev)}: no usable pair to judge by")
            return dev
        if not data.dev_size:
            return []
        for pair in read_pairs(data.train, report, data.encoding):
            self._held_out.offer(pair)
        self.check_some(report)
        if not self._held_out.left_over:
            raise DataError(
                f"data.dev_size: {data.dev_size} holds out every sentence; make it smaller, or "
                "restore missing files of the corpus"
            )
        return self._held_out.pairs()


class _Encoder:
    """Encodes one part of the corpus and counts what happens to it."""

    def __init__(self, config: Config, tokenizer: Tokenizer) -> None:
        self._config = config
        self._tokenizer = tokenizer
        self._read, self._encoded = Report(), Report()
        self._levels: Counter[str] = Counter()  # of what is kept
        self._originals = 0  # of what is kept, without copies with noise
        self._original: Pair | None = None  # the newest
        self.sizes: list[int] = []

    def train(self, corpus: _Corpus) -> Iterator[EncodedPair]:
        """The training pairs with their noisy copies, entry by entry."""
        noise, seed = self._config.data.noise, self._config.train.seed
        for number, entry in enumerate(self._config.data.train):
            before = self._encoded.kept
            pairs = self._remembered(self._hidden(corpus.train(entry, self._read)))
            yield from self._encode(with_noisy_copies(pairs, noise, f"{seed}/{number}"))
            self.sizes.append(self._encoded.kept - before)
        corpus.check_some(self._read)

    def dev(self, corpus: _Corpus) -> Iterator[EncodedPair]:
        """The dev pairs, as they are."""
        return self._encode(self._remembered(self._hidden(corpus.dev)))

    def notes(self, name: str) -> Iterator[Note]:
        """What was dropped and kept.  Raises DataError when nothing was short enough."""
        dropped = [*self._read.lines(), *self._encoded.lines()]
        if self._encoded.dropped and not self._encoded.kept:
            raise DataError(f"data.{name}: no pair is short enough; {'; '.join(dropped)}")
        yield from (Note(f"{name}: {line}") for line in dropped)
        shown = ", ".join(f"{level} {count}" for level, count in self._levels.most_common())
        n_copies = self._levels.total() - self._originals
        copies = f", {n_copies} copies with noise among them" if n_copies else ""
        levels = f" ({shown})" if shown else ""
        yield Note(f"{name}: {self._encoded.kept} pairs{copies}{levels}")
        total = self._levels.total()
        if name == "train" and 20 * self._levels[DEFAULT_STYLE] < total:
            [(most, _)] = self._levels.most_common(1)
            yield Note(
                f"train: hardly any pair is {DEFAULT_STYLE}, which is asked for by default; "
                f"translate with --style {most}"
            )

    def _encode(self, pairs: Iterable[Pair]) -> Iterator[EncodedPair]:
        max_len, max_tokens = self._config.model.max_len, self._config.train.max_tokens
        taken: list[Pair] = []  # the newest that was asked for

        def one_by_one() -> Iterator[Pair]:
            for pair in pairs:
                taken[:] = [pair]
                yield pair

        kept = encode_pairs(one_by_one(), self._tokenizer, max_len, max_tokens, self._encoded)
        for encoded in kept:
            [pair] = taken
            self._levels[pair.level] += 1
            self._originals += pair is self._original
            yield encoded

    def _hidden(self, pairs: Iterable[Pair]) -> Iterable[Pair]:
        """Before any noise, which must not change what has to be copied."""
        return map(hide_pair, pairs) if self._tokenizer.has_placeholders else pairs

    def _remembered(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """What is no copy with noise."""
        for self._original in pairs:
            yield self._original


def _samples(corpus: _Corpus, tokenizer: Tokenizer, config: Config) -> Sequence[Pair]:
    """The first sentences of dev, else of train, that the model can take."""
    first = config.data.train[0]
    fitting = (
        pair
        for pair in corpus.dev or corpus.train(first, Report())
        if len(tokenizer.encode_source(pair.src, pair.level)) <= config.model.max_len
    )
    return list(itertools.islice(fitting, config.train.n_samples))


def _check_weights(data: DataConfig, sizes: Sequence[int]) -> None:
    """Raises DataError: an epoch would see no pair of one of the entries."""
    for entry, size, weight in zip(data.train, sizes, data.weights, strict=False):
        if not round(weight * size):
            raise DataError(
                f"data.weights: {weight} times the {size} pairs of {entry} is not one pair an "
                "epoch; raise it"
            )


def _vocabulary_note(tokenizer: Tokenizer, config: Config, corpus: _Corpus) -> Note:
    text = f"vocabulary: {tokenizer.vocab_size} pieces"
    if tokenizer.vocab_size < config.tokenizer.vocab_size:
        text += f" (all that the corpus gives; the ceiling is {config.tokenizer.vocab_size})"
    if corpus.dev:
        share = tokenizer.share_in_bytes(pair.tgt for pair in corpus.dev)
        text += f"; {share:.2%} of the Korean dev pieces are spelled in bytes"
    if corpus.too_long_to_learn:
        text += (
            f"; learned without {corpus.too_long_to_learn} texts above {MAX_SENTENCE_BYTES} bytes"
        )
    return Note(text)
