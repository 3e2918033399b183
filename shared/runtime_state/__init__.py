"""Short-lived, disposable state behind one narrow contract: `redis://` or `memory://<name>`.

Both back ends are products and answer alike. What is a fact does not belong here: all of this may vanish at
any time.
"""

from shared.runtime_state.contracts import (
    RuntimeStateArgumentError,
    RuntimeStateBatch,
    RuntimeStateBatchSpent,
    RuntimeStateCapacityExceeded,
    RuntimeStateCommands,
    RuntimeStateStats,
    RuntimeStateTypeError,
    RuntimeStateUnavailable,
    RuntimeStateUsageError,
    RuntimeStateValueError,
)
from shared.runtime_state.creation import create_runtime_state_client
from shared.runtime_state.facade import RedisRuntimeClient
from shared.runtime_state.families import RuntimeStateFamilies, RuntimeStateFamily
from shared.runtime_state.lifespan import serving_runtime_state
from shared.runtime_state.locations import RuntimeStateConfigurationError
from shared.runtime_state.memory_store import MemoryLimits
from shared.runtime_state.settings import Deployment, RuntimeStateSettings, check_deployment

__all__ = [
    "Deployment",
    "MemoryLimits",
    "RedisRuntimeClient",
    "RuntimeStateArgumentError",
    "RuntimeStateBatch",
    "RuntimeStateBatchSpent",
    "RuntimeStateCapacityExceeded",
    "RuntimeStateCommands",
    "RuntimeStateConfigurationError",
    "RuntimeStateFamilies",
    "RuntimeStateFamily",
    "RuntimeStateSettings",
    "RuntimeStateStats",
    "RuntimeStateTypeError",
    "RuntimeStateUnavailable",
    "RuntimeStateUsageError",
    "RuntimeStateValueError",
    "check_deployment",
    "create_runtime_state_client",
    "serving_runtime_state",
]
