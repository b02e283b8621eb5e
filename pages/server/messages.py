"""What a browser may send over the connection of its page: what a page of ours sends, and nothing else.

Streamlit takes more from anybody who knows how to say it: to clear what is kept for all visitors, to look into the
repository. How much may be sent is said in `.streamlit/config.toml`.
"""

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from recsys import monitoring

TAKEN = ("rerun_script", "stop_script", "app_heartbeat", "file_urls_request", "backend_operation_request")
UNREADABLE = "unreadable"
NOT_OURS = 1002  # closes a connection over which something else is spoken, as RFC 6455 has it


class Messages:
    """Drops messages that no page of ours sends, and closes a connection over which something else is spoken."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, as ASGI has it."""

        async def receive_taken() -> Message:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                kind = _kind(message)
                if kind in TAKEN:
                    return message
                monitoring.count("messages_refused", kind)
                if kind == UNREADABLE:
                    await send({"type": "websocket.close", "code": NOT_OURS})
                    return {"type": "websocket.disconnect", "code": NOT_OURS}

        await self.app(scope, receive_taken if scope["type"] == "websocket" else receive, send)


def _kind(message: Message) -> str:
    """What a message wants."""
    try:
        return BackMsg.FromString(message.get("bytes") or b"").WhichOneof("type") or "unknown"
    except DecodeError:
        return UNREADABLE
