from registry_server.mirror import models as mirror
from registry_server.objects import models as objects
from registry_server.tables import Base
from shared.database.migrations import schema_differences
from tests.integration.registry.conftest import Registries
from tests.integration.registry.upstream import Upstream

MODELS = (mirror, objects)


async def test_the_migrations_build_what_the_models_say(registries: Registries, upstream: Upstream) -> None:
    registry = await registries.open(upstream)
    assert await schema_differences(registry.resources.database, Base.metadata) == []
