import pytest

from translator.corpus import english


@pytest.mark.parametrize(
    ("function", "pairs"),
    [
        (
            english.plural,
            "cat cats;box boxes;city cities;boy boys;bus stop bus stops;watch watches;dish dishes",
        ),
        (english.third_person, "eat eats;go goes;have has;study studies;wash washes;do does"),
        (english.past, "play played;move moved;stop stopped;study studied"),
        (english.ing, "write writing;run running;lie lying;see seeing;play playing;open opening"),
        (english.comparative, "old older;big bigger;happy happier;nice nicer;useful more useful"),
        (
            english.superlative,
            "old oldest;hot hottest;busy busiest;large largest;modern most modern",
        ),
        (english.article, "apple an;hour an;house a;university a;umbrella an;uniform a;useful a"),
        (
            english.article,
            "uranium a;utopia a;urban an;one-way a;onerous an;unidentified an;uninvited an;union a",
        ),
    ],
)
def test_by_rule(function, pairs):
    for pair in pairs.split(";"):
        given, expected = _split(pair, function)
        assert function(given) == expected


def _split(pair, function):
    words = pair.split()
    if len(words) == 2:
        return words
    if function in (english.comparative, english.superlative):
        return words[0], " ".join(words[1:])
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


def test_only_the_first_word_of_a_phrase_changes():
    assert english.past("look for") == "looked for"
    assert english.ing("put on") == "putting on"
    assert english.third_person("wash up") == "washes up"


@pytest.mark.parametrize(
    ("n", "cardinal", "ordinal"),
    [
        (1, "one", "first"),
        (12, "twelve", "twelfth"),
        (20, "twenty", "twentieth"),
        (21, "twenty-one", "twenty-first"),
        (95, "ninety-five", "ninety-fifth"),
    ],
)
def test_numerals(n, cardinal, ordinal):
    assert english.numeral(n) == cardinal
    assert english.ordinal(n) == ordinal


def test_larger_numerals():
    assert english.numeral(305) == "three hundred and five"
    assert english.numeral(5000) == "five thousand"
