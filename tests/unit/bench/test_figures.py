"""How the benchmarks judge: medians of pairs, budgets, and the table."""

from __future__ import annotations

from bench.figures import TIMES, Row, Section, by_turns, compared, markdown, ratios, spread


def test_samples_are_taken_by_turns_and_the_first_turn_is_thrown_away() -> None:
    order: list[str] = []

    def measure(name: str) -> float:
        order.append(name)
        return float(len(order))

    taken = by_turns(2, {"ours": lambda: measure("ours"), "theirs": lambda: measure("theirs")})

    assert order == ["ours", "theirs"] * 3
    assert taken == {"ours": [3.0, 5.0], "theirs": [4.0, 6.0]}


def test_a_spread_is_the_median_and_its_quartiles() -> None:
    assert (spread([1.0, 2.0, 3.0, 4.0, 100.0]).low, spread([1.0, 2.0, 3.0, 4.0, 100.0]).middle) == (2.0, 3.0)
    assert spread([7.0]).show(" ms") == "7 ms"
    assert spread([0.0011, 0.0012, 0.0013]).show(" ms", 1e3) == "1.20 ms (1.15 to 1.25)"


def test_a_ratio_is_of_pairs_so_that_what_slows_the_machine_slows_both() -> None:
    ours, theirs = [1.0, 10.0, 1.0], [4.0, 40.0, 4.0]
    assert ratios(ours, theirs).middle == 0.25


def test_a_budget_is_judged_at_its_edge_and_only_when_it_is_to_be() -> None:
    assert compared("leg", [1.0], [4.0], 0.25).holds is True
    assert compared("leg", [1.1], [4.0], 0.25).holds is False
    assert compared("leg", [1.1], [4.0], 0.25, judged=False).holds is None
    assert compared("leg", [1.1], [4.0]).holds is None


def test_the_table_shows_what_missed_its_budget() -> None:
    rows = (compared("leg one", [0.002], [0.004], 0.25), Row("the state", "142", "351", holds=True))
    lines = markdown([Section("Warm", rows)]).splitlines()
    assert lines[0] == "| Warm | askback | official SDK | ratio | budget | |"
    assert lines[2] == f"| leg one | 2 ms | 4 ms | 0.50{TIMES} | ≤ 0.25{TIMES} | **missed** |"
    assert lines[3].endswith("| holds |")
