"""What is done with proofs, by use case."""

from auth_server.ownership.service.ground import Ground, Work
from auth_server.ownership.service.proofs import ProofService
from auth_server.ownership.service.proving import Proving
from auth_server.ownership.service.rechecking import Rechecking
from auth_server.ownership.service.verifying import Verifier

__all__ = ["Ground", "ProofService", "Proving", "Rechecking", "Verifier", "Work"]
