"""Where things are on this machine, and the environment that AWS tools run in: made-up credentials, no real account."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".local"
AWS_PYTHON = ROOT / ".venv-aws" / "bin" / "python"
SAM = ROOT / ".venv-sam" / "bin" / "sam"
REGION = "us-east-1"

# What a developer's own shell may carry, and what must not decide anything here.
FOREIGN = (
    *("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    # Everything here is on loopback and without TLS; with one of these a function would choose its AWS client by it.
    *("AWS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"),
)


def say(text: str) -> None:
    """One line of progress, on standard error so that output stays output."""
    print(text, file=sys.stderr, flush=True)


def aws_environment(endpoint_url: str) -> dict[str, str]:
    """This process's environment with AWS at `endpoint_url` and nowhere else."""
    kept = {
        name: value for name, value in os.environ.items() if name not in FOREIGN and not name.startswith("AWS_ENDPOINT")
    }
    return kept | {
        "AWS_ENDPOINT_URL": endpoint_url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def sam_environment(endpoint_url: str = "http://127.0.0.1:9") -> dict[str, str]:
    """As above, for the SAM CLI. The default address refuses connections: building and validating need no AWS."""
    return aws_environment(endpoint_url) | {
        "PYTHON_RUNTIME": f"python{python_version()}",
        "ARCHITECTURE": architecture(),
        "SAM_CLI_TELEMETRY": "0",
        "SAM_CLI_POLL_DELAY": "0.2",  # seconds between looks at a deploy's progress; its default spares a real account
        "__SAM_CLI_APP_DIR": str(WORK / "sam"),
        # `sam build` wants an interpreter of the functions' own version
        "PATH": f"{AWS_PYTHON.parent}{os.pathsep}{os.environ['PATH']}",
    }


def python_version() -> str:
    """Such as 3.13: of the interpreter that runs the functions here, and for which their layer is built."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([AWS_PYTHON, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def architecture() -> str:
    """This machine's processor, in Lambda's words."""
    return "arm64" if os.uname().machine in ("arm64", "aarch64") else "x86_64"


def parameter_overrides() -> list[str]:
    """The template's parameters that fit this machine."""
    return [f"PythonRuntime=python{python_version()}", f"Architecture={architecture()}"]
