"""The key ring of an emulated account: the secret that the template makes, or with MRTR_TEST_KEYRING=kms its KMS key.

Every test of a whole call must pass with either.
"""

from __future__ import annotations

import json
import os
from typing import Any

import boto3

KEY = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZab"

WITH_KMS = os.environ.get("MRTR_TEST_KEYRING") == "kms"


def make_secret(endpoint_url: str | None = None, name: str = "keyring") -> str:
    """MRTR_KEYRING for a new secret, as GenerateSecretString fills it."""
    client: Any = boto3.client("secretsmanager", endpoint_url=endpoint_url)
    secret = client.create_secret(Name=name, SecretString=json.dumps({"kid": "k1", "key": KEY}))
    return f"secretsmanager:{secret['ARN']}"


def make_kms_key(endpoint_url: str | None = None) -> str:
    """MRTR_KEYRING for a new KMS key."""
    client: Any = boto3.client("kms", endpoint_url=endpoint_url)
    key = client.create_key(KeySpec="HMAC_256", KeyUsage="GENERATE_VERIFY_MAC")
    return f"kms:{key['KeyMetadata']['Arn']}"


def make_keyring(endpoint_url: str | None = None) -> str:
    return make_kms_key(endpoint_url) if WITH_KMS else make_secret(endpoint_url)
