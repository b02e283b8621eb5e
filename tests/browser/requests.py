"""Requests to the running app with a chosen Host header."""

import http.client
from urllib.parse import urlsplit

HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def http_status(address, host, path="/"):
    """Return the status of a page."""
    return request(address, path, {"Host": host}).status


def websocket_status(address, host):
    """Return the status of the WebSocket handshake that a page of this host would begin; 101 is success."""
    return request(address, "/_stcore/stream", {"Host": host, "Origin": f"http://{host}", **HANDSHAKE}).status


def request(address, path, headers):
    """Return the response to a GET request."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    try:
        connection.request("GET", path, headers=headers)
        return connection.getresponse()
    finally:
        connection.close()
