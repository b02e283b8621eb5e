"""A server's requests without a network: what an ASGI app sends back."""

from tests import loops


def request(app, path="/", method="GET", kind="http", **headers):
    """The messages that an app sends for one request."""
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request" if kind == "http" else "websocket.connect"}

    named = [(name.replace("_", "-").encode(), str(value).encode()) for name, value in headers.items()]
    loops.run(app({"type": kind, "path": path, "method": method, "headers": named}, receive, send))
    return sent


def status(*given, **headers):
    """The status of the answer."""
    return request(*given, **headers)[0]["status"]


async def hello(scope, receive, send):
    """An app that says hello."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})
