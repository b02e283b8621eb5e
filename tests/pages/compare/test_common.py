from streamlit.testing.v1 import AppTest


def ranks_of_three():
    from pages.compare import common
    from recsys.serving.recommend import RankPosition

    common.show_rank_table(
        {
            "Ninth": RankPosition(9, 100, None),
            "Excluded": RankPosition(None, 100, None),
            "Best": RankPosition(1, 100, 0.5),
        },
        "Alien (1979)",
        "ranks",
    )


def test_the_ranks_of_a_film_are_listed_best_first():
    app = AppTest.from_function(ranks_of_three).run()
    assert not app.exception
    assert list(app.table[0].value.index) == ["Best", "Ninth", "Excluded"]
