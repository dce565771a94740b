"""From the bytes of a request to a checked question: JSON or a form, and never too much of it."""

import asyncio
import json
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qs

from pydantic import ValidationError
from starlette.requests import ClientDisconnect, Request

from translator.server.limits import Limits
from translator.server.messages import Question

AnyQuestion = TypeVar("AnyQuestion", bound=Question)
Result = TypeVar("Result")


class Refused(Exception):
    """A request that is not answered.

    Args:
        status: of HTTP: 400 malformed, 403 no valid key, 408 too slow, 413 too much, 503 busy
        message: one sentence
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


async def read_question(request: Request, kind: type[AnyQuestion], limits: Limits) -> AnyQuestion:
    """The question in a request's body.  Raises Refused."""
    try:
        body = await asyncio.wait_for(_body(request, limits.body_bytes), limits.seconds_to_send)
    except TimeoutError:
        raise Refused(408, "the request did not arrive in time") from None
    except ClientDisconnect:
        raise Refused(400, "the connection was closed before the request was complete") from None
    fields = _fields(body, request.headers.get("content-type", ""))
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise Refused(400, _explain(error)) from None


def check_size(texts: Sequence[str], limits: Limits) -> None:
    """Raises Refused: too many texts or characters."""
    if len(texts) > limits.texts:
        raise Refused(413, f"{len(texts)} texts; at most {limits.texts} in one request")
    characters = sum(map(len, texts))
    if characters > limits.characters:
        raise Refused(413, f"{characters} characters; at most {limits.characters} in one request")


async def unless_gone(request: Request, work: Awaitable[Result]) -> Result:
    """The result of `work`, which is cancelled when the client disconnects.  Raises Refused.

    To be called after the body has been read: all that can come then is the end of the connection.
    """
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise Refused(400, "the connection was closed before the answer was ready")
        return await task
    finally:
        task.cancel()
        gone.cancel()


async def _body(request: Request, most: int) -> bytes:
    """Raises Refused as soon as it is more than `most` bytes."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise Refused(413, f"the request is larger than {most} bytes")
    return bytes(body)


def _fields(body: bytes, content_type: str) -> dict[str, Any]:
    """JSON, or a form when it is called one and does not look like JSON (as with `curl -d`)."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(400, "the body is not UTF-8") from None
    form = "application/x-www-form-urlencoded" in content_type.lower()
    if form and not text.lstrip().startswith("{"):
        return _form(text)
    if "multipart/" in content_type.lower():
        raise Refused(400, "send JSON, or a form as application/x-www-form-urlencoded")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is neither JSON nor a form") from None
    if not isinstance(found, dict):
        raise Refused(400, "the body must be a JSON object")
    return found


def _form(text: str) -> dict[str, Any]:
    """Fields as text; one that is given several times is a list."""
    try:
        found = parse_qs(text, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        raise Refused(400, "the form cannot be read") from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _explain(error: ValidationError) -> str:
    """The first thing that is wrong, without repeating what was sent."""
    first = error.errors(include_input=False, include_url=False)[0]
    place, *inside = first["loc"] or ("body",)
    if place == "q" and inside:  # pydantic names only one of the two kinds that it may be
        return "q: expected a text or a list of texts"
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}"
