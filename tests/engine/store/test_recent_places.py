from sqlalchemy import Connection

from engine.store import kept_settings, recent_places
from engine.store.recent_places import MAX_RECENT_PLACES, RecentPlace


def test_recent_places_are_listed_newest_first_without_duplicates(conn: Connection):
    for at in range(MAX_RECENT_PLACES + 3):
        recent_places.note(conn, f"/{at}.py", at=at)
    recent_places.note(conn, "/5.py", at=100)

    found = recent_places.every(conn)

    assert (len(found), found[0], found[1]) == (
        MAX_RECENT_PLACES,
        RecentPlace("/5.py", 100),
        RecentPlace(f"/{MAX_RECENT_PLACES + 2}.py", MAX_RECENT_PLACES + 2),
    )
    assert "/0.py" not in [place.path for place in found]
    recent_places.forget(conn, "/5.py")
    assert recent_places.every(conn) == found[1:]


def test_recent_place_is_not_listed_as_settings_of_a_runner(conn: Connection):
    recent_places.note(conn, "/x.py", at=1)
    kept_settings.put(conn, ("agent_a_r", "/x.py"), {"config": {"a": 1}}, at=2)

    assert list(kept_settings.every(conn)) == [("agent_a_r", "/x.py")]
    assert recent_places.every(conn) == (RecentPlace("/x.py", 1),)
