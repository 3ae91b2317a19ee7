import pytest

from engine.runners.errors import RunnerNotFound
from engine.runners.ids import RunnerId


def test_a_runner_id_is_plugin_author_plugin_runner():
    runner_id = RunnerId.parse("plugin:acme/demo/main")

    assert runner_id == RunnerId("acme", "demo", "main")
    assert str(runner_id) == "plugin:acme/demo/main"
    assert runner_id.plugin_id == "acme/demo"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plugin:",
        "acme/demo/main",
        "plugin:acme/demo",
        "plugin:acme/demo/",
        "plugin:/demo/main",
        "plugin:acme//main",
        "plugin:acme/demo/main/more",
        "Plugin:acme/demo/main",
        " plugin:acme/demo/main",
        "plugin:acme/demo/main\n",
        "plugin:acme/ /main",
        "plugin:acme/de\x1bmo/main",
    ],
)
def test_any_other_form_of_id_is_not_found(text: str):
    with pytest.raises(RunnerNotFound) as caught:
        RunnerId.parse(text)

    assert str(caught.value) == f"{text!r} is not a runner id. Runner ids look like plugin:AUTHOR/PLUGIN/RUNNER."
