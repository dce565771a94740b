"""What the API accepts is what the translator knows."""

from typing import get_args

import pytest

pytest.importorskip("pydantic", reason="the extra 'serve' is not installed")

from pydantic import ValidationError

from translator.levels import LEVELS
from translator.server.messages import Level, TraceQuestion, TranslateQuestion


def test_the_levels_are_those_of_the_translator():
    assert get_args(Level) == LEVELS
    assert TranslateQuestion(q="a").level is TraceQuestion(q="a").level is None  # the server's


def test_an_empty_field_is_one_that_was_not_given():
    names = set(TranslateQuestion.model_fields) - {"q"}
    assert {"api_key", "source", "level", "attention"} <= names
    found = TranslateQuestion.model_validate({"q": ""} | dict.fromkeys(names, ""))
    assert found == TranslateQuestion(q="")


def test_without_a_text_there_is_no_question():
    for fields in ({}, {"q": None}, {"level": "formal"}):
        with pytest.raises(ValidationError):
            TranslateQuestion.model_validate(fields)
