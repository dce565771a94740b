"""The server as an ASGI application: routes, errors and headers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, JSONResponse, Response

import translator
from translator.errors import UserError
from translator.inference import Translator
from translator.levels import DEFAULT_STYLE, SPOKEN
from translator.server import messages
from translator.server.answering import Answers
from translator.server.batching import Busy
from translator.server.guard import Guard, origins_as_sent
from translator.server.keys import Keys
from translator.server.language import detect
from translator.server.limits import Limits
from translator.server.reading import Refused, check_size, read_question, unless_gone

PAGE: Final = Path(__file__).parent / "page"
LANGUAGES: Final = [
    messages.Language(code="en", name="English", targets=["ko"]),
    messages.Language(code="ko", name="Korean", targets=[]),
]


def create_app(
    model: Translator,
    limits: Limits | None = None,
    keys: Keys | None = None,
    origins: Sequence[str] = (),
    level: str = DEFAULT_STYLE,
) -> FastAPI:
    """The page at `/`, LibreTranslate's API beside it, its description at `/docs`. Needs the extra
    'serve'.

    A thread begins to wait for work here; it ends when the application shuts down.

    Args:
        model: what translates, in that thread only; attention and traces need a checkpoint
        limits: what the server takes at once
        keys: who may ask; None is everybody
        origins: web sites whose scripts may ask, for example "https://example.org"; "*" is all
        level: the speech level where a request names none
    """
    return app_of(Answers(model, limits or Limits(), level), keys or Keys(), origins)


def app_of(answers: Answers, keys: Keys, origins: Sequence[str] = ()) -> FastAPI:
    """As `create_app`, for callers that need to stop the answers; its shutdown closes them."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        answers.close()

    app = FastAPIOffline(
        title="translator",
        version=translator.__version__,
        description="English to Korean. LibreTranslate's API with two additions: `level` chooses "
        "the speech level, `attention` shows where the model looked.",
        redoc_url=None,
        lifespan=lifespan,
    )
    _add_errors(app)
    allowed = origins_as_sent(origins)
    app.add_middleware(Guard, origins=allowed)
    if allowed:
        app.add_middleware(CORSMiddleware, allow_origins=allowed, allow_methods=["*"])
    _add_questions(app, answers, keys)
    _add_facts(app, answers, keys)
    app.mount("/page", StaticFiles(directory=PAGE))
    return app


def _add_questions(app: FastAPI, answers: Answers, keys: Keys) -> None:
    """What needs a key where keys are needed."""
    described = partial(_described, answers.limits)

    async def question(request: Request, kind: type[Any]) -> Any:
        found = await read_question(request, kind, answers.limits)
        if not keys.accept(found.api_key):
            raise Refused(403, "a valid api_key is needed")
        return found

    @app.post("/translate", **described(messages.TranslateQuestion, messages.TranslateAnswer))
    async def translate(request: Request) -> Response:
        """Translates English into Korean; JSON or a form."""
        asked = await question(request, messages.TranslateQuestion)
        return JSONResponse(await unless_gone(request, answers.translate(asked)))

    @app.post("/trace", **described(messages.TraceQuestion, messages.TraceAnswer))
    async def trace(request: Request) -> Response:
        """One sentence told step by step: tokens, shapes, masks, and what greedy search chose."""
        asked = await question(request, messages.TraceQuestion)
        return JSONResponse(await unless_gone(request, answers.trace(asked)))

    @app.post("/detect", **described(messages.DetectQuestion, list[messages.Detection]))
    async def detect_language(request: Request) -> Response:
        """English or Korean, by the letters."""
        asked = await question(request, messages.DetectQuestion)
        check_size([asked.q], answers.limits)
        return JSONResponse([detect(asked.q).model_dump()])


def _add_facts(app: FastAPI, answers: Answers, keys: Keys) -> None:
    """What everybody may know."""

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def page() -> Response:
        return FileResponse(PAGE / "index.html")

    @app.get("/languages")
    async def languages() -> list[messages.Language]:
        """What can be translated into what."""
        return LANGUAGES

    @app.head("/health", include_in_schema=False)
    @app.get("/health")
    async def health() -> messages.Health:
        """Whether the server is alive."""
        return messages.Health(status="ok")

    @app.get("/frontend/settings")
    async def settings() -> messages.Settings:
        """What a page needs to know."""
        return messages.Settings(
            charLimit=answers.limits.characters,
            keyRequired=keys.required,
            attention=answers.can_look,
            levels=list(dict.fromkeys([*SPOKEN, answers.level])),  # which may be "any"
            defaultLevel=answers.level,
            version=translator.__version__,
        )


def _described(limits: Limits, question: type[Any], answer: Any) -> dict[str, Any]:
    """What OpenAPI says of a route whose body is read by hand."""
    schema = question.model_json_schema()
    kinds = ("application/json", "application/x-www-form-urlencoded")
    failures = {
        400: f"malformed, or more than {limits.alternatives} alternatives",
        403: "no valid api_key, or a web site that may not ask",
        408: f"the body did not arrive within {limits.seconds_to_send:g} seconds",
        413: f"more than {limits.characters} characters or {limits.texts} texts, or too many bytes",
        500: "a fault of the server; its log has it",
        503: "too many requests wait, or the server stops",
    }
    responses: dict[int, dict[str, Any]] = {
        status: {"model": messages.Failure, "description": why} for status, why in failures.items()
    }
    responses[200] = {"model": answer}
    return {
        "responses": responses,
        "openapi_extra": {
            "requestBody": {
                "required": True,
                "content": {kind: {"schema": schema} for kind in kinds},
            }
        },
    }


def _add_errors(app: FastAPI) -> None:
    """Every failure is JSON with one sentence; a traceback goes to the log, never to the client."""

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        # what is left of an unread body would be taken for the next request
        headers = {"Connection": "close"} if error.status in {408, 413} else None
        return JSONResponse({"error": error.message}, error.status, headers)

    async def busy(_: Request, __: Exception) -> Response:
        message = "the server is busy or stopping; try again in a moment"
        return JSONResponse({"error": message}, 503, {"Retry-After": "1"})

    async def of_the_user(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, 400)

    async def of_http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return JSONResponse({"error": error.detail}, error.status_code, error.headers)

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(Busy, busy)
    app.add_exception_handler(UserError, of_the_user)
    app.add_exception_handler(HTTPException, of_http)
