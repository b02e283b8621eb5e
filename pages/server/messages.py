"""Drop WebSocket messages that the pages never send.

Streamlit also accepts messages that clear the caches of all visitors or read the git repository. The size limits of
messages are in `.streamlit/config.toml`.
"""

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from recsys import monitoring

ACCEPTED_TYPES = ("rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request")
UNREADABLE = "unreadable"  # type of a message that cannot be parsed
PROTOCOL_ERROR = 1002  # close code of RFC 6455


class MessageFilter:
    """ASGI middleware that drops messages unless their type is in ACCEPTED_TYPES.

    It closes the connection after an unreadable message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""

        async def receive_accepted() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                message_type = _message_type(message)
                if message_type in ACCEPTED_TYPES:
                    return message
                monitoring.count("messages_refused", message_type)
                if message_type == UNREADABLE:
                    await send({"type": "websocket.close", "code": PROTOCOL_ERROR})
                    return {"type": "websocket.disconnect", "code": PROTOCOL_ERROR}

        await self.app(scope, receive_accepted if scope["type"] == "websocket" else receive, send)


def _message_type(message: Message) -> str:
    """Return the type of a message: a field name of BackMsg, "unknown" or UNREADABLE."""
    try:
        return BackMsg.FromString(message.get("bytes") or b"").WhichOneof("type") or "unknown"
    except DecodeError:
        return UNREADABLE
