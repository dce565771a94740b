"""Korean numerals: native ones before a counter, Sino-Korean ones for the rest."""

from typing import Final

_NATIVE_TENS: Final = ["", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"]
_NATIVE_UNITS: Final = ["", "하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉"]
_BEFORE_COUNTER: Final = {"하나": "한", "둘": "두", "셋": "세", "넷": "네", "스물": "스무"}
_SINO_DIGITS: Final = " 일이삼사오육칠팔구"


def native_numeral(n: int) -> str:
    """1-99 as it stands before a counter: 3 -> 세, 20 -> 스무, 21 -> 스물한."""
    if not 1 <= n <= 99:
        raise ValueError(f"native numerals are used from 1 to 99, not for {n}")
    tens, units = _NATIVE_TENS[n // 10], _NATIVE_UNITS[n % 10]
    if units:
        return tens + _BEFORE_COUNTER.get(units, units)
    return _BEFORE_COUNTER.get(tens, tens)


def sino_numeral(n: int) -> str:
    """0 to 10¹² - 1 in Sino-Korean, in one word below ten thousand: 12 -> 십이, 305 -> 삼백오."""
    if not 0 <= n < 10**12:
        raise ValueError(f"Sino-Korean numerals are made from 0 to 10^12 - 1, not for {n}")
    if n == 0:
        return "영"
    groups = []
    for unit in ("", "만", "억"):
        n, group = divmod(n, 10_000)
        if group:
            read = _below_ten_thousand(group)
            groups.append(unit if unit == "만" and read == "일" and not n else read + unit)
    return " ".join(reversed(groups))


def _below_ten_thousand(n: int) -> str:
    out = ""
    for power, unit in ((1000, "천"), (100, "백"), (10, "십"), (1, "")):
        digit = n // power % 10
        if digit:
            out += ("" if digit == 1 and unit else _SINO_DIGITS[digit]) + unit
    return out
