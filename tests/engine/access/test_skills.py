"""Bodies of skills: read by `get_file`, which needs the permission for files and a grant of the skill."""

from typing import Any

from engine.protocol import AgentAPIException
from tests.support.engines import Engines, declares, done, run_event

ABLE = {"skill_authoring": True}


def reader(seen: list[Any], *keys: str, capabilities: dict[str, bool], permissions: dict[str, list[str]]) -> Any:
    """Make a runner that reads these keys."""

    @declares(capabilities=capabilities, permissions=permissions)
    async def reads(ctx: Any):
        for key in keys:
            try:
                seen.append(await ctx.api.get_file(key))
            except AgentAPIException as refusal:
                seen.append((refusal.error.code, refusal.error.message))
        yield done("read")

    return reads


async def open_with_skills(open_engine: Engines, runner: Any, **agent: Any) -> Any:
    for name in ("packing", "cooking"):
        folder = open_engine.folder / "skills" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(f"---\ndescription: About {name}.\n---\n# {name}\n")
    return await open_engine(runner, skills=["./skills"], agents=[{"id": "me", "runner": "reads"} | agent])


async def test_body_of_a_granted_skill_is_read_and_others_are_refused(open_engine: Engines):
    seen: list[Any] = []
    keys = ("skill:packing", "skill:cooking", "skill:nobody", "skill:", "packing/SKILL.md")
    runner = reader(seen, *keys, capabilities=ABLE, permissions={"files": ["config"]})
    engine = await open_with_skills(open_engine, runner, resources={"allowed_skill_names": ["packing"]})

    run = await run_event(engine)

    skills = run.context["resources"]["skills"]
    assert skills == [{"skill_name": "packing", "display_name": "packing", "description": "About packing."}]
    assert seen == [
        b"# packing\n",
        ("unauthorized", "skill 'cooking' was not granted to this run"),
        ("unauthorized", "skill 'nobody' was not granted to this run"),
        ("unauthorized", "skill '' was not granted to this run"),
        ("unauthorized", "file 'packing/SKILL.md' was not granted to this run"),
    ]
    first = run.all("call.decided")[0].data
    assert (first["resource"], first["clause"]) == ("skill:packing", "resource_policy.allowed_skill_names")


async def test_skills_need_the_capability_and_their_bodies_the_permission(open_engine: Engines):
    seen: list[Any] = []
    runner = reader(seen, "skill:packing", capabilities=ABLE, permissions={})
    engine = await open_with_skills(open_engine, runner)
    await run_event(engine)
    await open_engine.close(engine)
    runner = reader(seen, "skill:packing", capabilities={}, permissions={"files": ["config"]})
    run = await run_event(await open_with_skills(open_engine, runner))

    assert run.context["resources"]["skills"] == []
    assert seen == [
        ("unauthorized", "files.config is not in the manifest's permissions"),
        ("unauthorized", "skill 'packing' was not granted to this run"),
    ]


async def test_a_body_that_is_gone_is_not_found_and_names_no_path(open_engine: Engines):
    seen: list[Any] = []
    runner = reader(seen, "skill:packing", capabilities=ABLE, permissions={"files": ["config"]})
    engine = await open_with_skills(open_engine, runner)
    (open_engine.folder / "skills/packing/SKILL.md").unlink()

    await run_event(engine)

    assert seen == [("not_found", "SKILL.md of skill 'packing' can no longer be read")]
