from pages.evaluation import user_groups
from pages.ui import i18n


def test_genres_of_an_own_data_set_are_not_translated(monkeypatch):
    monkeypatch.setattr(i18n, "current_language", lambda: "uk")
    assert user_groups.name_buckets("shop", "genre", ["Comedy"]) == {"Comedy": "Comedy"}
    assert user_groups.name_buckets("ml-1m", "genre", ["Comedy"]) != {"Comedy": "Comedy"}
