"""ASGI middleware of the server: limits, headers, health and logs. It does not depend on the pages."""
