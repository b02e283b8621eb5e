"""The app in the browser: a script and a package for each page, `ui` for shared widgets, and `server` for HTTP."""
