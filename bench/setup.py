"""What a run of the benchmarks stands on: the local stack, a folder for logs, and whether this is only a smoke test."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local.stack import Stack


@dataclass(frozen=True)
class Setup:
    """quick: tiny counts, and no time is judged."""

    stack: Stack
    folder: Path
    quick: bool

    @property
    def aws(self) -> str:
        return self.stack.aws_endpoint_url

    @property
    def settings(self) -> Mapping[str, str]:
        """As the template gives them to a function."""
        return {
            "MRTR_KEYRING": f"secretsmanager:{self.stack.key_ring}",
            "MRTR_CLAIM_TABLE": self.stack.tables["MRTR_CLAIM_TABLE"],
            "MRTR_AUDIENCE": "bench",
            "MRTR_ALLOWED_ORIGINS": "",
            "NOTES_TABLE": self.stack.tables["NOTES_TABLE"],
        }

    @property
    def judges_times(self) -> bool:
        return not self.quick

    def times(self, *, full: int, quick: int) -> int:
        return quick if self.quick else full
