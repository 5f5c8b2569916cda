"""The chart of best scores and what it remembers."""

from foible.ui.history import POINTS, RUNS, History, Point
from foible.ui.live import Origin
from foible.ui.scores import points_now, scores


def origin(attempt, evaluations, best, status="going"):
    return Origin(attempt, "three", status, "searching", evaluations, best)


def test_what_was_seen_is_kept_in_order_and_stays_small():
    history = History()
    history.add("run", [(0, Point(25, 4.0))])
    assert history.add("run", [(0, Point(25, 4.0)), (1, Point(25, 3.0))]) == {0: ((25, 4.0),), 1: ((25, 3.0),)}
    for k in range(2, 500):
        seen = history.add("run", [(0, Point(25 * k, 4.0 - k / 500))])
    assert len(seen[0]) <= POINTS and seen[0][0] == (25, 4.0) and seen[0][-1] == (25 * 499, 4.0 - 499 / 500)
    assert list(seen[0]) == sorted(seen[0])
    for k in range(RUNS):
        history.add(f"other {k}", [])
    assert history.add("run", []) == {}, "the run looked at longest ago is forgotten"


def test_dots_stand_where_searches_are_and_lines_where_they_have_been():
    going, fresh = origin(3, 60, 0.0), origin(4, 100, None)
    chart = scores([going, fresh], {3: (Point(0, 2.0),)}, budget=100, goal=0.0)
    (dot,) = chart.dots
    assert (dot.x, round(dot.y, 6)) == (60, round(100 * 2.1 / 2.2, 6)) and dot.y == chart.goal
    assert dot.way == "0.00,4.55 60.00,4.55 60.00,95.45", "down from 2 to 0 in one step"
    assert chart.watched and [t.text for t in chart.ticks] == ["0", "25", "50", "75", "100"]


def test_an_objective_without_a_goal_has_no_line_to_go_below():
    chart = scores([origin(0, 10, 5.0), origin(1, 10, 3.0)], {}, budget=100)
    assert chart.goal is None
    assert [round(dot.y, 2) for dot in chart.dots] == [4.55, 95.45], "from the lowest to the highest, wherever zero is"
    alike = scores([origin(0, 10, 5.0)], {}, budget=100)
    assert 0 <= alike.dots[0].y <= 100


def test_the_chart_grows_with_the_searches():
    for evaluations, last in ((25, "250"), (251, "500"), (4000, "4,000"), (4001, "4,001")):
        assert scores([origin(0, evaluations, 1.0)], {}, budget=4000).ticks[-1].text == last


def test_a_search_that_nobody_watched_has_no_line():
    ended = origin(3, 50, -0.5, "found")
    chart = scores([ended], {3: (Point(50, -0.5),)}, budget=100)
    assert chart.dots[0].way == "" and not chart.watched
    assert scores([origin(4, 0, None)], {}, 100) is None
    assert points_now([ended, origin(4, 0, None)]) == [(3, (50, -0.5))]


def test_labels_beside_the_chart_do_not_cover_each_other():
    def labels(*best, goal=0.0):
        return [t.text for t in scores([origin(0, 10, b) for b in best], {}, budget=100, goal=goal).heights]

    assert labels(4.0, -4.0) == ["0", "4.4", "-4.4"]
    assert labels(-9.0) == ["0", "-9.5"], "the goal is at the top"
    assert labels(9.0, 5.0, goal=None) == ["9.2", "4.8"]
