"""What goes over the wire, checked by pydantic; the same classes describe the API in OpenAPI."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

Level = Literal["formal", "polite", "casual", "plain", "any"]


def _empty_is_zero(value: Any) -> Any:
    """A form sends `""` for a field that was left empty."""
    return 0 if value == "" else value


def _whole(text: str) -> str:
    """Half a character, which only a JSON escape can make, becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


Text = Annotated[str, AfterValidator(_whole)]


class Question(BaseModel):
    """What every question may carry."""

    model_config = ConfigDict(extra="ignore")  # clients of other servers send more

    api_key: str | None = Field(None, description="needed when the server was started with keys")


class TranslateQuestion(Question):
    """LibreTranslate's fields, and `level` and `attention`."""

    q: Text | list[Text] = Field(description="English text, or a list of texts")
    source: Literal["en", "auto"] = Field("en", description="auto: see /detect")
    target: Literal["ko"] = Field("ko")
    format: Literal["text", "html"] = Field(
        "text", description="html: tags stay, the text between them is translated"
    )
    alternatives: Annotated[int, BeforeValidator(_empty_is_zero)] = Field(
        0, ge=0, description="so many further translations of each text, from beam search"
    )
    level: Level = Field("formal", description="speech level of the Korean")
    attention: bool = Field(
        False, description="also where each layer and head looked; not with format html"
    )


class TraceQuestion(Question):
    """One sentence to be told step by step."""

    q: Text
    level: Level = "formal"


class DetectQuestion(Question):
    """A text in an unknown language."""

    q: Text


class Detection(BaseModel):
    """A language and how sure that is, 0 to 100."""

    language: str
    confidence: float


class Word(BaseModel):
    """Pieces that together are a word or a special token."""

    text: str
    special: bool
    pieces: list[int]


class Attention(BaseModel):
    """Where the translation of one sentence looked. Rows of `cross` are `written`, its columns
    `source`; rows and columns of `encoder` are `source`, of `decoder` `read`. Weights are [layer]
    [head][row][column], and a row sums to 1.
    """

    text: str
    translation: str
    source: list[str]
    read: list[str]
    written: list[str]
    source_words: list[Word]
    read_words: list[Word]
    written_words: list[Word]
    encoder: list[list[list[list[float]]]]
    decoder: list[list[list[list[float]]]]
    cross: list[list[list[list[float]]]]


class TranslateAnswer(BaseModel):
    """Lists where `q` was one. Warnings tell what looks wrong: a number that is lost, a phrase that
    repeats itself.
    """

    translatedText: str | list[str]
    alternatives: list[str] | list[list[str]] | None = None
    detectedLanguage: Detection | list[Detection] | None = None
    warnings: list[str] | list[list[str]]
    attention: list[Attention] | list[list[Attention]] | None = None


class Language(BaseModel):
    """A language and what it can be translated to."""

    code: str
    name: str
    targets: list[str]


class Settings(BaseModel):
    """What a page needs to know."""

    charLimit: int
    keyRequired: bool
    levels: list[str]
    defaultLevel: str
    version: str


class Health(BaseModel):
    """The server answers."""

    status: Literal["ok"]


class Failure(BaseModel):
    """What is wrong, in one sentence."""

    error: str
