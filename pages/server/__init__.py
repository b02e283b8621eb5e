"""The server below the pages: ASGI middleware, the route /ready, logs and metrics."""
