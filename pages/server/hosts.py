"""Refuse requests whose Host header names another site, over HTTP and WebSockets.

Without this check the web site of somebody else can point its own name at this machine (DNS rebinding), and a browser
then lets that site read the app. Streamlit applies `server.allowedHosts` to WebSockets only.
"""

import streamlit as st
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp


class Hosts(TrustedHostMiddleware):
    """Apply Streamlit's option `server.allowedHosts` to every request; an empty list allows every host."""

    def __init__(self, app: ASGIApp) -> None:
        allowed = st.get_option("server.allowedHosts") or ["*"]
        in_brackets = [f"[{host}]" if ":" in host else host for host in allowed]  # IPv6 addresses, as in a Host header
        super().__init__(app, in_brackets, www_redirect=False)
