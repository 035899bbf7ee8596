"""The function behind /mcp: answers discovery and lists from the catalog, hands calls to the tool's own function."""

from pathlib import Path

from mrtr import FrontDoor

door = FrontDoor(Path(__file__).with_name("catalog.json"))

handler = door.lambda_handler
