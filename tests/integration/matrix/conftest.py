from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.integration.matrix.doors import Doors, open_doors


@pytest_asyncio.fixture(scope="package", loop_scope="package")
async def doors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Doors]:
    async with open_doors(tmp_path_factory.mktemp("doors")) as opened:
        yield opened
