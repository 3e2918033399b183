"""SQL of routing: the tables as reports change them, their numbers, and look-ups."""

from control_server.routing.repository.lookups import LookupRepository
from control_server.routing.repository.numbers import NumbersRepository
from control_server.routing.repository.tables import TableRepository

__all__ = ["LookupRepository", "NumbersRepository", "TableRepository"]
