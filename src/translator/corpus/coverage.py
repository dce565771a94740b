"""What a corpus covers: words of a list, grammar, sentence lengths."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from translator.textfile import read_lines

_IRREGULAR: Final = """
be am is are was were been being; have has had having; do does did done doing; go goes went
gone; get got gotten; make made; take took taken; come came; see saw seen; know knew known; give
gave given; find found; think thought; tell told; become became; leave left; feel felt; bring
brought; begin began begun; keep kept; hold held; write wrote written; stand stood; hear heard;
mean meant; meet met; run ran; pay paid; sit sat; speak spoke spoken; lie lay lain lying; lead
led; grow grew grown; lose lost; fall fell fallen; send sent; build built; understand
understood; draw drew drawn; break broke broken; spend spent; rise rose risen; drive drove
driven; buy bought; wear wore worn; choose chose chosen; eat ate eaten; sleep slept; win won;
teach taught; catch caught; sell sold; fight fought; throw threw thrown; fly flew flown; forget
forgot forgotten; sing sang sung; swim swam swum; drink drank drunk; ride rode ridden; hide hid
hidden; steal stole stolen; shake shook shaken; wake woke woken; shoot shot; bite bit bitten;
blow blew blown; feed fed; hang hung; ring rang rung; lend lent; bend bent; burn burnt; dig dug;
freeze froze frozen; stick stuck; strike struck; sweep swept; swing swung; tear tore torn; bear
bore born; beat beaten; deal dealt; sink sank sunk; shine shone; slide slid; spin spun; swear
swore sworn; die died dying; lay laid; seek sought; forgive forgave forgiven; dream dreamt;
learn learnt; smell smelt; light lit; prove proven; show shown; withdraw withdrew; man men;
woman women; child children; foot feet; tooth teeth; mouse mice; goose geese; person people;
good better best; bad worse worst; little less least; far further farther; I me my mine; he him
his; she her hers; it its; we us our ours; they them their theirs; you your yours; this these;
that those; a an; will won't; can can't cannot
"""
_LEMMAS: Final[Mapping[str, str]] = {
    form.lower(): group.split()[0].lower()
    for group in _IRREGULAR.split(";")
    for form in group.split()
}
_SUFFIXES: Final = (
    ("'s", ("",)), ("s", ("",)), ("es", ("",)), ("ies", ("y",)), ("ves", ("f", "fe")),
    ("ed", ("", "e")), ("d", ("",)), ("ied", ("y",)), ("ing", ("", "e")), ("ly", ("",)),
    ("er", ("", "e")), ("est", ("", "e")), ("ier", ("y",)), ("iest", ("y",)),
)  # fmt: skip
_CONTRACTED: Final = {
    "n't": "not",
    "'m": "be",
    "'re": "be",
    "'ll": "will",
    "'ve": "have",
    "'d": "would",
}

_BE: Final = r"(am|is|are|was|were|be|been|being|'m|'re|'s)"
_PARTICIPLE: Final = (
    r"(\w+ed|done|made|given|taken|seen|built|held|born|sold|written|stolen|broken|lost)"
)
GRAMMAR: Final[Mapping[str, str]] = {
    "progressive": rf"\b{_BE}( not)? \w+ing\b",
    "past": r"\b(did|was|were|went|had|said|came|saw|took|made|got|\w{3,}ed)\b",
    "present perfect": rf"(\b(have|has|haven't|hasn't)|'ve)( \w+)? {_PARTICIPLE}\b",
    "past perfect": rf"(\b(had|hadn't)|'d)( \w+)? {_PARTICIPLE}\b",
    "future with will": r"\b(will|won't)\b|'ll\b",
    "be going to": rf"\b{_BE}( not)? going to\b",
    "used to": r"\bused to\b",
    "passive": rf"\b{_BE}( \w+ly)? {_PARTICIPLE}\b",
    "negation": r"\b(not|never|no|nobody|nothing|none|cannot)\b|n't\b",
    "yes-no question": r"^(?i:do|does|did|is|are|was|were|have|has|can|could|will|would|may)\b.*\?",
    "wh-question": r"^(?i:who|whose|what|which|when|where|why|how)\b.*\?",
    "tag question": r", (is|are|was|were|do|does|did|have|has|can|will|won't|\w+n't) \w+\?",
    "modal": r"\b(can|could|may|might|must|should|would|ought)\b|n't\b|'d (better|like|rather)",
    "have to": r"\b(have|has|had|'ve got) to\b",
    "imperative": r"^(?i:please|don't|never|take|give|put|come|go|be|try|keep|turn|open|close)\b",
    "let's": r"\b(?i:let's|let us)\b",
    "there is": r"\b(?i:there) (is|are|was|were|will|has|used)\b|\b(?i:there's)\b",
    "it is … to": r"\b(?i:it)('s| is| was| takes| took)\b.* to\b",
    "cleft": r"^(?i:it)('s| is| was) .* (who|that)\b|^(?i:what) .* (is|was)\b",
    "comparative": r"\b(\w+er|more \w+|less \w+|better|worse) than\b",
    "superlative": r"\b(?i:the) (\w+est|most|best|worst)\b",
    "as … as": r"\bas \w+ as\b",
    "relative clause": r"\b(who|whose|which|that|where)\b \w+ ",
    "real conditional": r"\b(?i:if|unless)\b",
    "unreal conditional": r"\b(?i:if)\b.*\b(would|could)\b|\b(would|could)\b.*\bif\b|\bwish\b",
    "because": r"\b(?i:because|since)\b",
    "although": r"\b(?i:although|though|even if|despite)\b",
    "when, while": r"\b(?i:when|while|as soon as)\b.* \w+",
    "before, until": r"\b(?i:before|after|until|till)\b",
    "so that": r"\b(so that|in order to|so \w+ that|too \w+ to|enough to)\b",
    "reported speech": r"\b(said|told|asked|heard|promised)\b.* (that|to|if|whether|she|he|they)\b",
    "want someone to": r"\b(want|ask|tell|told|allow|expect|advise)\w* (my )?\w+ (not )?to\b",
    "make, let, help": r"\b(make|made|let|help|helped|have|had) (me|him|her|us|them|\w+) \w+",
    "gerund": r"\b(enjoy|stop|finish|mind|without|by|before|after|keep|avoid)\w* \w+ing\b",
    "phrasal verb": r"\b\w+ (up|off|out|down|away|back)\b",
    "exclamation": r"^(?i:what a|how) .*!",
    "contraction": r"\w'(m|s|re|ve|ll|d|t)\b",
}  # fmt: skip
"""Grammar by rules of thumb on the English surface: good for counting, not for parsing."""


def lemmas(word: str) -> set[str]:
    """Every dictionary form that a word may be a form of, by rule and by list."""
    found = {word, _LEMMAS.get(word, word)}
    for suffix, replacements in _SUFFIXES:
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) > 1:
            found |= {stem + replacement for replacement in replacements}
            if len(stem) > 2 and stem[-1] == stem[-2]:
                found.add(stem[:-1])
    for ending, full in _CONTRACTED.items():
        if word.endswith(ending):
            found |= {word.removesuffix(ending), full}
    return found


def read_word_list(path: str | Path) -> list[str]:
    """One word a line; lines that begin with # are comments."""
    return [line.strip() for line in read_lines(path) if line.strip() and line[0] != "#"]


def count_words(sentences: Iterable[str], words: Sequence[str]) -> Counter[str]:
    """In how many sentences each word of the list occurs, in any of its forms."""
    wanted = {word.lower(): word for word in words}
    counts: Counter[str] = Counter(dict.fromkeys(words, 0))
    for sentence in sentences:
        tokens = re.findall(r"[a-z]+(?:'[a-z]+)?", sentence.lower().replace("’", "'"))
        present = {wanted[lemma] for token in tokens for lemma in lemmas(token) if lemma in wanted}
        counts.update(present)
    return counts


def count_grammar(sentences: Iterable[str]) -> Counter[str]:
    """How many sentences show each point of GRAMMAR."""
    patterns = {name: re.compile(pattern) for name, pattern in GRAMMAR.items()}
    counts: Counter[str] = Counter(dict.fromkeys(patterns, 0))
    for sentence in sentences:
        counts.update(name for name, pattern in patterns.items() if pattern.search(sentence))
    return counts


def length_class(sentence: str) -> str:
    """1-4, 5-7, 8-15 or 16+ words."""
    n = len(sentence.split())
    return "1-4" if n <= 4 else "5-7" if n <= 7 else "8-15" if n <= 15 else "16+"
