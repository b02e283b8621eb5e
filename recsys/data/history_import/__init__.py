"""Viewing histories that users bring: files of other services, exports of NextReel, any CSV. They are not stored."""
