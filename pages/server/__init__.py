"""What stands between the network and the pages: ASGI middleware of the app's server, without Streamlit."""
