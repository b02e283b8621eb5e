"""The app in the browser: a package for each page, `ui` for shared widgets, and `server` for HTTP."""
