"""Slots that are made rather than looked up: numbers, times, dates, prices, names never seen."""

import random
from collections.abc import Callable
from typing import Final, NamedTuple

from translator.corpus.english import article, numeral, ordinal
from translator.corpus.numerals import native_numeral, sino_numeral
from translator.romanization import romanized

_MONTHS: Final = (
    "January February March April May June July August September October November December"
).split()
_PLACE_SYLLABLES: Final = (
    "가 강 고 공 관 구 금 기 남 내 노 다 당 대 도 동 마 만 명 문 미 반 방 배 보 봉 부 사 "
    "산 상 서 선 성 세 소 송 수 신 안 암 양 여 연 영 오 온 용 우 운 원 은 이 인 자 잠 장 "
    "전 정 제 종 주 중 지 진 창 천 청 초 충 탄 태 판 평 풍 하 한 항 해 현 호 홍 화 황 효"
).split()
_NAME_SYLLABLES: Final = (
    "가 건 경 기 나 다 대 도 동 미 민 범 보 빈 상 서 선 성 세 소 수 시 아 연 영 예 용 우 "
    "원 유 윤 은 이 인 재 정 종 주 준 지 진 찬 채 태 하 한 해 현 형 혜 호 환 훈 희"
).split()
"""Syllables between which no sound changes, so that the Latin letters follow each by itself."""
_MINUTES: Final = (5, 10, 15, 20, 25, 30, 40, 45, 50)


class Made(NamedTuple):
    """The two sides of a made filler."""

    en: str
    ko: str

    def english(self, form: str) -> str:
        """The text itself; with an article for the form "a"."""
        return f"{article(self.en)} {self.en}" if form == "a" else self.en

    def korean(self, _: str) -> str:
        """The same at every level."""
        return self.ko


def _age(rng: random.Random) -> Made:
    n = rng.randint(2, 90)
    return Made(numeral(n), native_numeral(n))


def _digits(low: int, high: int) -> Callable[[random.Random], Made]:
    def kind(rng: random.Random) -> Made:
        n = rng.randint(low, high)
        return Made(str(n), str(n))

    return kind


def _hour(rng: random.Random) -> Made:
    n = rng.randint(1, 12)
    return Made(numeral(n), native_numeral(n))


def _clock(rng: random.Random) -> Made:
    hour, minute = rng.randint(1, 12), rng.choice((5, 10, 15, 20, 25, 30, 35, 40, 45, 50))
    h_en, h_ko = numeral(hour), native_numeral(hour)
    past = rng.choice((5, 10, 20, 25))
    return rng.choice(
        (
            Made(f"{hour}:{minute:02}", f"{hour}시 {minute}분"),
            Made(f"half past {h_en}", f"{h_ko} 시 반"),
            Made(f"{h_en} o'clock", f"{h_ko} 시"),
            Made(f"{h_en} thirty", f"{h_ko} 시 삼십 분"),
            Made(f"{numeral(past)} past {h_en}", f"{h_ko} 시 {sino_numeral(past)} 분"),
            Made(f"a quarter past {h_en}", f"{h_ko} 시 십오 분"),
        )
    )


def _minutes(rng: random.Random) -> Made:
    n = rng.choice(_MINUTES)
    return Made(numeral(n), sino_numeral(n))


def _minutes_digits(rng: random.Random) -> Made:
    n = rng.choice(_MINUTES)
    return Made(str(n), str(n))


def _count(rng: random.Random) -> Made:
    n = rng.randint(2, 10)
    return Made(numeral(n), native_numeral(n))


def _date(rng: random.Random) -> Made:
    month, day = rng.randint(1, 12), rng.randint(1, 28)
    name = _MONTHS[month - 1]
    english = rng.choice(
        (f"{name} {day}", f"{name} {ordinal(day)}", f"the {ordinal(day)} of {name}")
    )
    return Made(english, f"{month}월 {day}일")


def _price(rng: random.Random) -> Made:
    n = rng.randint(1, 60) * rng.choice((500, 1000))
    return Made(f"{n:,} won", f"{n:,}원")


def _price_words(rng: random.Random) -> Made:
    n = rng.randint(1, 9) * rng.choice((100, 1000))
    return Made(f"{numeral(n)} won", f"{sino_numeral(n)} 원")


def _phone(rng: random.Random) -> Made:
    text = f"010-{rng.randint(0, 9999):04}-{rng.randint(0, 9999):04}"
    return Made(text, text)


def _floor(rng: random.Random) -> Made:
    n = rng.randint(1, 15)
    return Made(ordinal(n), sino_numeral(n))


def _percent(rng: random.Random) -> Made:
    n = rng.choice((5, 10, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 100))
    return rng.choice((Made(f"{n} percent", f"{n}퍼센트"), Made(f"{n}%", f"{n}%")))


def _times(rng: random.Random) -> Made:
    n = rng.randint(1, 10)
    once = {1: "once", 2: "twice"}
    return Made(once.get(n, f"{numeral(n)} times"), f"{native_numeral(n)} 번")


def _ordinal(rng: random.Random) -> Made:
    n = rng.randint(1, 10)
    return Made(ordinal(n), "첫 번째" if n == 1 else f"{native_numeral(n)} 번째")


def _new_name(rng: random.Random) -> Made:
    """A pronounceable word that hardly any lexicon has."""
    syllables = "".join(
        rng.choice("bcdfghjklmnprstvwyz")
        + rng.choice("aeiou")
        + rng.choice(["", "", "l", "n", "r", "x"])
        for _ in range(rng.randint(2, 3))
    )
    return Made(syllables.capitalize(), syllables.capitalize())


def _korean_name(rng: random.Random) -> Made:
    """A given name that may or may not exist: Jihun, Ji-hun."""
    first, second = rng.sample(_NAME_SYLLABLES, 2)
    joint = rng.choice(("", "-"))
    return Made(romanized(first).capitalize() + joint + romanized(second), first + second)


def _district(rng: random.Random) -> Made:
    """A city district that may or may not exist: Cheongdam-dong."""
    name = "".join(rng.sample(_PLACE_SYLLABLES, 2))
    return Made(f"{romanized(name).capitalize()}-dong", f"{name}동")


def _product(rng: random.Random) -> Made:
    name = _new_name(rng).en
    text = rng.choice(
        (f"{name} {rng.randint(2, 99)}", f"{name} {rng.choice('SXTZ')}{rng.randint(1, 9)}", name)
    )
    return Made(text, text)


def _code(rng: random.Random) -> Made:
    letters = "".join(rng.choices("ABCDEFGHJKLMNPRSTUVWXYZ", k=rng.randint(1, 3)))
    text = f"{letters}{rng.choice(['', '-'])}{rng.randint(10, 9999)}"
    return Made(text, text)


def _host(rng: random.Random) -> str:
    return f"{_new_name(rng).en.lower()}.{rng.choice(['com', 'net', 'org', 'kr', 'co.kr', 'io'])}"


def _email(rng: random.Random) -> Made:
    user = _new_name(rng).en.lower() + rng.choice(
        ["", str(rng.randint(1, 99)), f".{rng.choice('abcdk')}"]
    )
    text = f"{user}@{_host(rng)}"
    return Made(text, text)


def _url(rng: random.Random) -> Made:
    text = rng.choice(["www.", "https://", "https://www.", ""]) + _host(rng)
    text += rng.choice(["", "", f"/{_new_name(rng).en.lower()}", f"/{rng.randint(1, 99)}"])
    return Made(text, text)


KINDS: Final[dict[str, Callable[[random.Random], Made]]] = {
    "#age": _age,
    "#agedigits": _digits(2, 90),
    "#hour": _hour,
    "#clock": _clock,
    "#minutes": _minutes,
    "#minutesdigits": _minutes_digits,
    "#count": _count,
    "#countdigits": _digits(2, 20),
    "#date": _date,
    "#year": _digits(1950, 2024),
    "#price": _price,
    "#pricewords": _price_words,
    "#phone": _phone,
    "#floor": _floor,
    "#room": _digits(101, 1250),
    "#number": _digits(2, 9999),
    "#percent": _percent,
    "#times": _times,
    "#ordinal": _ordinal,
    "#newname": _new_name,
    "#koreanname": _korean_name,
    "#district": _district,
    "#product": _product,
    "#code": _code,
    "#email": _email,
    "#url": _url,
}
"""Kind -> how one filler of it is made."""
