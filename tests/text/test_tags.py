"""Stems of words, by which themes and tags are compared."""

import pytest

from recsys.text.tags import stem


@pytest.mark.parametrize(
    ("singular", "plural"),
    [
        ("superhero", "superheroes"),
        ("potato", "potatoes"),
        ("shoe", "shoes"),
        ("horseshoe", "horseshoes"),
        ("toe", "toes"),
        ("werewolf", "werewolves"),
        ("elf", "elves"),
        ("thief", "thieves"),
        ("dwarf", "dwarves"),
        ("housewife", "housewives"),
        ("knife", "knives"),
        ("detective", "detectives"),
        ("slave", "slaves"),
        ("valve", "valves"),
        ("spy", "spies"),
        ("witch", "witches"),
    ],
)
def test_singular_and_plural_have_one_stem(singular, plural):
    assert stem(singular) == stem(plural)


def test_different_words_have_different_stems():
    words = ("toe", "to", "life", "live", "wife", "wolf", "love", "hero", "shoe", "show")
    assert len({stem(word) for word in words}) == len(words)
