from hypothesis import given
from hypothesis import strategies as st

from translator.server.markup import Markup


def test_text_between_tags():
    markup = Markup("<p>I &lt;3 you.<br>Yes &amp; no </p>\n<code>a < b</code><?x?><!DOCTYPE html>")
    assert markup.texts == ["I <3 you.", "Yes & no"]
    assert markup.with_texts(["가 <나>", "다&"]) == (
        "<p>가 &lt;나&gt;<br>다&amp; </p>\n<code>a &lt; b</code><?x?><!DOCTYPE html>"
    )


def test_what_is_no_html_is_text():
    assert Markup("a < b and c").texts == ["a < b and c"]
    assert Markup("").with_texts([]) == ""


@given(st.text(alphabet="<>/ab &;!-?\"'=[]", max_size=40))
def test_anything_can_be_read_and_given_back(text):
    markup = Markup(text)
    first = markup.with_texts(markup.texts)
    again = Markup(first)
    assert again.texts == markup.texts
    assert again.with_texts(again.texts) == first
