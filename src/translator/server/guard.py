"""Around every answer: headers for browsers, and no failure without an answer in JSON."""

import asyncio
import logging
import re
from collections.abc import Iterable, Sequence
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from translator.errors import UserError

ONLY_OURS: Final = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
WITH_INLINE: Final = (  # Swagger UI's page has a script and images in its text
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'"
)


_ORIGIN: Final = re.compile(r"\*|null|(https?|[a-z-]+-extension)://[^/\s]+")


def origins_as_sent(given: Iterable[str]) -> list[str]:
    """Origins as browsers send them: small letters, without a slash at the end.  Raises UserError:
    one is none.
    """
    origins = [origin.rstrip("/").lower() for origin in given]
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise UserError(
                f"--allow-origin {origin}: expected a web site such as https://example.org; null "
                "is a page opened as a file, and * all"
            )
    return origins


class Guard:
    """Lets browsers run no scripts but our own, and no other site show the page in a frame. An
    unexpected failure is logged, and answered as JSON without its traceback.

    Args:
        app: what is guarded
        origins: web sites whose scripts may ask, as browsers send them; of others a browser is
            refused at once, for it would only keep their scripts from reading the answer
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str] = ()) -> None:
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI hands it over."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                policy = WITH_INLINE if scope["path"] == "/docs" else ONLY_OURS
                headers["Content-Security-Policy"] = policy
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
            await send(message)

        async def tell(status: int, error: str) -> None:
            if not started:
                await JSONResponse({"error": error}, status)(scope, receive, send_with_headers)

        if scope["method"] == "POST" and self._is_strange(Headers(scope=scope)):
            await tell(403, "this web site may not ask; see --allow-origin")
            return
        try:
            await self._app(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the server ends and has waited long enough
            await tell(503, "the server is being stopped")
        except Exception:
            log = logging.getLogger("translator.server")
            log.exception("%s %r", scope["method"], scope["path"])
            await tell(500, "an internal error; the server's log has it")

    def _is_strange(self, headers: Headers) -> bool:
        """Whether a browser asks for a page of a site that may not. It says so where the server's
        address is secure or this computer's, and else only from where the page is.
        """
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if {"*", origin} & self._origins:
            return False
        if site is not None:
            return site not in {"same-origin", "none"}
        return origin is not None and origin.partition("://")[2] != headers.get("host")
