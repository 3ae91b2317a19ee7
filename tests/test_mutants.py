from tests.mutants.catalog import find_problems, select_cases


def test_every_mutant_changes_a_line_that_exists_and_names_a_test_that_exists():
    assert find_problems(select_cases([])) == []
