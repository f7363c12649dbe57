"""Certificates for tests, made here: an authority, and servers it vouches for."""

from __future__ import annotations

import datetime
import ssl
from collections.abc import Iterable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs certificates; ``make_client_context`` is for a client that trusts it and nobody else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test authority")])
        self.certificate = self._sign_certificate(self.name, self.key, [], days=1, authority=True)

    def make_client_context(self) -> ssl.SSLContext:
        pem = self.certificate.public_bytes(serialization.Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)

    @property
    def ca_file(self) -> Path:
        """A file with the certificate of the authority."""
        file = self.folder / "authority.pem"
        file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))
        return file

    def server(self, host: str, days: int = 1, others: Iterable[str] = ()) -> ssl.SSLContext:
        """A server that calls itself ``host`` and ``others``; ``days`` negative: its certificate has expired."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        certificate = self._sign_certificate(subject, key, [x509.DNSName(name) for name in (host, *others)], days)
        chain = self.folder / f"{host}{days}.pem"
        chain.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def _sign_certificate(
        self,
        subject: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        names: list[x509.GeneralName],
        days: int,
        authority: bool = False,
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=10))
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
            # RFC 5280 wants these three, and from Python 3.13 on so does ssl
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
            .add_extension(_uses(authority), critical=True)
        )
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self.key, hashes.SHA256())


def _uses(authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
