"""What goes over the wire, checked by pydantic; the same classes describe the API in OpenAPI."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Level = Literal["formal", "polite", "casual", "plain", "any"]
_LEVEL: Final = "speech level of the Korean; without it defaultLevel of /frontend/settings"


def _whole(text: str) -> str:
    """Half a character, which only a JSON escape can make, becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


Text = Annotated[str, AfterValidator(_whole)]


class Question(BaseModel):
    """What every question may carry."""

    model_config = ConfigDict(extra="ignore")  # clients of other servers send more

    api_key: str | None = Field(None, description="needed when the server was started with keys")

    @model_validator(mode="before")
    @classmethod
    def _empty_is_not_given(cls, fields: Any) -> Any:
        """A form sends `""` for a field that was left empty; only the text itself may be empty."""
        if not isinstance(fields, dict):
            return fields
        return {name: value for name, value in fields.items() if name == "q" or value != ""}


class TranslateQuestion(Question):
    """LibreTranslate's fields, and `level` and `attention`."""

    q: Text | list[Text] = Field(description="English text, or a list of texts")
    source: Literal["en", "auto"] = Field("en", description="auto: see /detect")
    target: Literal["ko"] = Field("ko")
    format: Literal["text", "html"] = Field(
        "text", description="html: tags stay, the text between them is translated"
    )
    alternatives: int = Field(0, ge=0, description="number of further translations of each text")
    level: Level | None = Field(None, description=_LEVEL)
    attention: bool = Field(
        False, description="also where each layer and head looked; not with format html"
    )


class TraceQuestion(Question):
    """One sentence to be told step by step."""

    q: Text
    level: Level | None = Field(None, description=_LEVEL)


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


class Axes(BaseModel):
    """What stands along the maps of one sentence: what the encoder read, what the decoder read and
    what it wrote, each as pieces and as words.
    """

    source: list[str]
    read: list[str]
    written: list[str]
    source_words: list[Word]
    read_words: list[Word]
    written_words: list[Word]


class Attention(Axes):
    """Where the translation of one sentence looked. Rows of `cross` are `written`, its columns
    `source`; rows and columns of `encoder` are `source`, of `decoder` `read`. Weights are [layer]
    [head][row][column], and a row sums to 1.
    """

    text: str
    translation: str
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


class Shapes(BaseModel):
    """What one module was given and what it returned: the shapes of the tensors."""

    module: str
    kind: str = Field(alias="class")
    inputs: list[list[int]]
    outputs: list[list[int]]


class Candidate(BaseModel):
    """A token that could have come next."""

    piece: str
    probability: float


class Step(BaseModel):
    """One turn of greedy search. `looked` has a weight for each piece of the source."""

    read: list[str]
    candidates: list[Candidate]
    chosen: str
    looked: list[float]
    text: str


class TraceAnswer(Axes):
    """One sentence step by step. Masks are [row][column], true where a query may look at a key;
    rows and columns are those of the attention maps.
    """

    text: str
    level: str
    translation: str
    shapes: list[Shapes]
    masks: dict[str, list[list[bool]]]
    weights: dict[str, list[int]]
    logits: list[int]
    steps: list[Step]


class Language(BaseModel):
    """A language and what it can be translated to."""

    code: str
    name: str
    targets: list[str]


class Settings(BaseModel):
    """What a page needs to know."""

    charLimit: int
    keyRequired: bool
    attention: bool = Field(description="false for an exported model, which shows none")
    levels: list[str]
    defaultLevel: str
    version: str


class Health(BaseModel):
    """The server answers."""

    status: Literal["ok"]


class Failure(BaseModel):
    """What is wrong, in one sentence."""

    error: str
