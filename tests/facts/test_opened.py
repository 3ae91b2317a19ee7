from sqlalchemy import Connection

from engine.facts import opened, settings
from engine.facts.opened import MOST, Opened


def test_the_last_places_are_kept_newest_first_and_each_once(conn: Connection):
    for at in range(MOST + 3):
        opened.note(conn, f"/{at}.py", at=at)
    opened.note(conn, "/5.py", at=100)

    found = opened.every(conn)

    assert (len(found), found[0], found[1]) == (MOST, Opened("/5.py", 100), Opened(f"/{MOST + 2}.py", MOST + 2))
    assert "/0.py" not in [place.path for place in found]
    opened.forget(conn, "/5.py")
    assert opened.every(conn) == found[1:]


def test_a_place_is_no_setting_of_any_runner(conn: Connection):
    opened.note(conn, "/x.py", at=1)
    settings.put(conn, ("agent_a_r", "/x.py"), {"config": {"a": 1}}, at=2)

    assert list(settings.every(conn)) == [("agent_a_r", "/x.py")]
    assert opened.every(conn) == (Opened("/x.py", 1),)
