import pytest
from hypothesis import given
from hypothesis import strategies as st

from translator.server.markup import Markup


def test_text_between_tags():
    markup = Markup("<p>I &lt;3 you.<br>Yes &amp; no </p>\n<code>a < b</code><?x?><!DOCTYPE html>")
    assert markup.texts == ["I <3 you.", "Yes & no"]
    assert markup.with_texts(["가 <나>", "다&"]) == (
        "<p>가 &lt;나&gt;<br>다&amp; </p>\n<code>a < b</code><?x?><!DOCTYPE html>"
    )


@pytest.mark.parametrize(
    "kept",
    [
        "<![CDATA[Hello]]>",
        "<![foo[bar]]>",
        "<!ELEMENT a>",
        "</P >",
        "</p\n>",
        "<a title=\"a > b\" href='x'>",
        "<!-- I am here. -->",
        "<!-- never closed. I am here.",
        "<SCRIPT src=x>if (a < b) { 'I am' }</script >",
        "<style>p { color: red }",
        "&nbsp; \n",
    ],
)
def test_what_is_no_text_stays_to_the_letter(kept):
    markup = Markup(f"I am.{kept}")
    assert markup.texts == ["I am."]
    assert markup.with_texts(["나."]) == f"나.{kept}".replace("나.&nbsp; \n", "나.\xa0 \n")


def test_what_is_no_html_is_text():
    assert Markup("a < b and c").texts == ["a < b and c"]
    assert Markup("I <3 you, don't <").texts == ["I <3 you, don't <"]
    assert Markup("").with_texts([]) == ""


@pytest.mark.parametrize("odd", ["<a ", '<a "', "<!--", "<code>", "<a '\"", "&", "<", '"<'])
def test_reading_stays_linear(odd):
    """With anything quadratic, this would not end."""
    markup = Markup(odd * 200_000)
    assert len(markup.with_texts(markup.texts)) >= len(odd) * 200_000


@given(st.text(alphabet="<>/ab &;!-?\"'=[]", max_size=40))
def test_anything_can_be_read_and_given_back(text):
    markup = Markup(text)
    first = markup.with_texts(markup.texts)
    again = Markup(first)
    assert again.texts == markup.texts
    assert again.with_texts(again.texts) == first
