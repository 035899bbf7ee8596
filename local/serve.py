"""`make serve`: the local stack in the foreground, until Ctrl-C or SIGTERM.

python -m local.serve [--port 3000]
"""

import argparse
import signal
import sys
import threading
from types import FrameType

from local import aws, build, deploy, stack
from local.environment import say


def ending() -> threading.Event:
    """Set by Ctrl-C or SIGTERM, also while the stack is still starting: what is started is then ended first."""
    event = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        if not event.is_set():
            event.set()
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)
    return event


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.serve", description="Serve the local stack.")
    parser.add_argument("--port", type=int, default=3000, help="where on 127.0.0.1 (default: 3000; 0: any free one)")
    port = parser.parse_args(arguments).port
    event = ending()
    try:
        with stack.running(port) as askback:
            say(f"ready: {askback.endpoint} (logs in {askback.folder / 'logs'}; Ctrl-C ends it)")
            event.wait()
    except KeyboardInterrupt:
        say("ended")
    except OSError as problem:
        say(f"cannot serve at 127.0.0.1:{port}: {problem.strerror}. Choose another port: make serve PORT=3001")
        return 1
    except (aws.AwsError, build.BuildError, deploy.DeployError) as problem:
        say(str(problem))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
