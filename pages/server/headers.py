"""HTTP security headers of the app, and a check of the Host header. nginx in `deploy/` sends the same headers."""

import re

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Streamlit's page needs 'unsafe-inline'. Plotly and components need 'unsafe-eval' and blob: URLs.
CONTENT_SECURITY_POLICY = {  # directive → sources
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline' blob:",
    "img-src": "'self' data: blob: https:",  # posters of TMDB, and pictures of visitors' data sets
    "font-src": "'self' data:",
    "connect-src": "'self' data: blob: ws: wss:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
HEADERS = {
    "Content-Security-Policy": "; ".join(map(" ".join, CONTENT_SECURITY_POLICY.items())),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class SecurityHeaders:
    """ASGI middleware that adds HEADERS to every response, and makes redirects relative."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if "location" in headers:
                    headers["location"] = _relative_url(headers["location"])
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


def _relative_url(url: str) -> str:
    """Return a URL without scheme and host. Starlette copies the host from the request, which is not trusted."""
    return re.sub(r"^https?://[^/?#]*/*", "/", url)  # several slashes become one, because "//name" is a host


class AllowedHosts(TrustedHostMiddleware):
    """ASGI middleware that only accepts Host headers in Streamlit's option `server.allowedHosts`.

    An empty list allows every host. Without this check, a web site can let its own name resolve to the address of this
    server (DNS rebinding). A browser then allows the site to read the app. Streamlit itself applies the option only to
    WebSockets.
    """

    def __init__(self, app: ASGIApp) -> None:
        hosts = st.get_option("server.allowedHosts") or ["*"]
        patterns = [f"[{host}]" if ":" in host else host for host in hosts]  # IPv6 addresses have brackets in a header
        super().__init__(app, patterns, www_redirect=False)
