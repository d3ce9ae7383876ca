"""Who sees what: laws of the lists."""

from __future__ import annotations

from collections import Counter

import pytest

from felicity.errors import OptionError
from felicity.study import load_choice_study, load_rating_study
from felicity.survey.lists import choice_lists, rating_lists

from surveying import choice_study, rating_study


@pytest.mark.parametrize("per_level", [None, 1, 2, 5, 7, 25, 1000])
def test_over_all_lists_each_item_occurs_once_and_in_a_list_no_dialogue_twice(per_level):
    study = load_choice_study("gricean-maxims")
    lists = choice_lists(study, per_level)
    shown = Counter(item.item_id for each in lists for item in each)
    assert shown == Counter(item.item_id for item in study.items)
    for each in lists:
        assert max(Counter(item.unit for item in each).values()) == 1
        levels = Counter(item.factors["maxim"] for item in each)
        assert max(levels.values()) <= min(per_level or 25, 25)


def test_a_list_of_five_a_level_has_each_template_once_and_all_wordings():
    for each in choice_lists(load_choice_study("gricean-maxims"), 5)[:20]:
        assert len({item.factors["template_id"] for item in each}) == 25 == len(each)
        wordings = Counter(item.factors["wording"] for item in each)
        assert min(wordings.values()) >= 7


def test_neighbouring_lists_have_other_dialogues():
    lists = choice_lists(load_choice_study("gricean-maxims"), 5)
    seen = {item.unit for each in lists[:5] for item in each}
    assert len(seen) == 125


def test_a_study_that_no_code_knows(tmp_path):
    lists = choice_lists(choice_study(tmp_path / "s"))
    assert [len(each) for each in lists] == [4, 4]
    assert {item.factors["asker"] for item in lists[0]} == {"Ann", "Bo"}


@pytest.mark.parametrize("per_level", [0, -3])
def test_no_dialogue_is_no_list(per_level):
    with pytest.raises(OptionError, match=r"--per-level: got -?\d; expected a whole number from 1"):
        choice_lists(load_choice_study("gricean-maxims"), per_level)


def test_between_is_a_latin_square(tmp_path):
    for study in (load_rating_study("social-meaning"), rating_study(tmp_path / "r")):
        lists = rating_lists(study)
        scenes = Counter(scene[0].scene_id for each in lists for scene in each)
        assert set(scenes) == {item.scene_id for item in study.items}
        assert set(scenes.values()) == {1}
        for each in lists:
            assert [scene[0].factors["scenario"] for scene in each] == list(
                study.factors["scenario"]
            )
            cells = Counter(tuple(scene[0].factors.values())[1:-1] for scene in each)
            assert max(cells.values()) - min((cells.total() // 4, *cells.values())) <= 1
        assert all(len(scene) == len(study.attributes) for each in lists for scene in each)


def test_within_is_one_list_of_everything():
    study = load_rating_study("social-meaning")
    (only,) = rating_lists(study, "within")
    assert len({scene[0].scene_id for scene in only}) == 24 == len(only)
