"""The Transcript tab of a session with several threads and bots."""

from tests.support.console.browser_data import parrot
from tests.support.console.inspector_app import InspectorApp
from tests.support.engines import Engines, message, run_event


async def test_transcript_tab_shows_all_threads_and_bots_and_one_after_the_other(open_engine: Engines):
    engine = await open_engine(parrot)
    for text, place in (("main", {}), ("aside", {"thread_id": "t1"}), ("other", {"bot_id": "b1"})):
        run = await run_event(engine, message(text, **place))
    alone = await run_event(engine, message("alone", session="alone"))
    app = InspectorApp(engine)

    def lines() -> list[str]:
        return [text for text in ("main", "aside", "other") if f"You said: {text}" in app.all_text()]

    async with app.run_test(size=(80, 60)) as pilot:
        await app.look(pilot, run.run_id, None, "transcript")
        shown = app.all_text()
        assert lines() == ["main", "aside", "other"]
        assert "All threads and botst bot b1" in shown, "what is shown, and what the key shows next"
        assert "user  thread t1" in shown
        assert "user  bot b1" in shown

        seen: list[tuple[str, list[str]]] = []
        for _ in range(4):
            await pilot.press("t")
            await app.settled(pilot)
            seen.append((app.rows()[0].split("  ")[0].strip(), lines()))
        assert [found for _, found in seen] == [["other"], ["aside"], ["main"], ["main", "aside", "other"]]
        assert "bot b1" in seen[0][0]
        assert "thread t1" in seen[1][0]
        assert "no thread and no bot" in seen[2][0]

        await pilot.press("t")
        await app.settled(pilot)
        await app.look(pilot, alone.run_id, None)
        assert "You said: alone" in app.all_text(), "a thread that the session does not have is not kept"
        assert "All threads" not in app.all_text()
        assert app.inspector.why_not("thread") == "All lines are of one thread and bot."
        await app.look(pilot, run.run_id, None, "calls")
        assert app.inspector.why_not("thread") == "Only the Transcript tab has threads. Press 3 to open it."
