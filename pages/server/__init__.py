"""The web server of the app: ASGI middleware, the route /ready, logs and metrics."""
