"""Refuse HTTP and WebSocket requests with another host name in the Host header (DNS rebinding).

Without this check, a web site can let its own name resolve to the address of this server. A browser then allows the
site to read the app. Streamlit itself applies `server.allowedHosts` only to WebSockets.
"""

import streamlit as st
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp


class Hosts(TrustedHostMiddleware):
    """Applies Streamlit's option `server.allowedHosts` to every request. An empty list allows every host."""

    def __init__(self, app: ASGIApp) -> None:
        allowed = st.get_option("server.allowedHosts") or ["*"]
        # IPv6 addresses have brackets in a Host header
        patterns = [f"[{host}]" if ":" in host else host for host in allowed]
        super().__init__(app, patterns, www_redirect=False)
