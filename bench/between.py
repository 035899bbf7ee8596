"""An address between a function and its AWS: counts the requests, and speaks TLS as AWS does where that is asked for."""

import http.client
import ipaddress
import ssl
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import botocore
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from local.aws import LOOPBACK

PASSED_ON = {"host", "connection", "content-length", "transfer-encoding"}


class Between(ThreadingHTTPServer):
    """Passes every request on to `endpoint`, and notes its action."""

    daemon_threads = True

    def __init__(self, endpoint: str) -> None:
        super().__init__((LOOPBACK, 0), Passing)
        self.endpoint = urllib.parse.urlsplit(endpoint).netloc
        self.actions: list[str] = []

    @property
    def url(self) -> str:
        scheme = "https" if isinstance(self.socket, ssl.SSLSocket) else "http"
        return f"{scheme}://{LOOPBACK}:{self.server_port}"


class Passing(BaseHTTPRequestHandler):
    server: Between
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the answer's body waits 40 ms for its head to be acknowledged

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.actions.append(self.headers.get("X-Amz-Target", "?").rpartition(".")[2])
        connection = http.client.HTTPConnection(self.server.endpoint)
        # Host is passed on as it came: it is part of what was signed
        connection.request("POST", self.path, body, dict(self.headers.items()))
        answer = connection.getresponse()
        content = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in PASSED_ON:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def between(endpoint: str) -> Iterator[Between]:
    server = Between(endpoint)
    with _serving(server):
        yield server


@dataclass(frozen=True)
class Secure:
    """url: https. authorities: a file with this machine's certificate authorities and the one that vouches for the url."""

    url: str
    authorities: Path


@contextmanager
def secure(endpoint: str, folder: Path) -> Iterator[Secure]:
    """The endpoint behind TLS: a function that calls it reads as many authorities and shakes hands as it does with AWS."""
    certificate = folder / "certificate.pem"
    own = _certificate()
    certificate.write_bytes(own)
    authorities = folder / "authorities.pem"
    authorities.write_bytes(_known() + own)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = Between(endpoint)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with _serving(server):
        yield Secure(server.url, authorities)


@contextmanager
def _serving(server: Between) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _known() -> bytes:
    """The authorities that this machine knows; the bundle that botocore brings where the machine has none."""
    found = ssl.get_default_verify_paths().cafile
    bundle = Path(found) if found else Path(botocore.__file__).with_name("cacert.pem")
    return bundle.read_bytes().rstrip() + b"\n"


def _certificate() -> bytes:
    """A key and a certificate for the loopback address, good for a day."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bench")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(LOOPBACK))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + certificate.public_bytes(serialization.Encoding.PEM)
