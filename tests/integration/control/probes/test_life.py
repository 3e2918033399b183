from tests.integration.control.probes.stage import Stage


class TestMainPath:
    async def test_a_probe_streams_every_line_and_then_its_end(self, any_stage: Stage) -> None:
        async with any_stage.agent() as agent:
            probe_id = await any_stage.create("alpha")
            async with any_stage.reader(probe_id) as reader:
                assert await agent.started() == probe_id
                await agent.run(probe_id, ["one", "", "three"])
                events = await reader.rest()
        names = [event.name for event in events]
        assert names[0] == "state"
        assert names.count("done") == 1
        assert names[-1] == "done"
        lines = [event for event in events if event.name == "output"]
        assert [line.data["text"] for line in lines] == ["one", "", "three"]
        assert set(lines[0].data) == {"node", "seq", "stream", "text"}
        epoch = lines[0].id.split("-")[0]
        assert [event.id for event in events if event.id] == [f"{epoch}-{n}" for n in (1, 2, 3, 4)]
        read = await any_stage.read(probe_id)
        assert read["state"] == "done"
        assert [line["text"] for line in read["lines"]] == ["one", "", "three"]
        assert read["nodes"][0]["command"] == "ping -c 3"
        assert read["complete"] is True
