# SPDX-License-Identifier: BSL-1.0
#
# The certificates of the TLS judge: one that is right, and one for each way to be wrong.
"""certificates.py DIR: writes ca.pem, crl.pem, and for each server NAME.pem (its certificate and those
above), NAME.chain (only those above) and NAME.key. Some of them are about time, so they are made anew after a
day.
"""

import datetime
import sys
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
USES = ("digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only")


def key_usage(*granted):
    return x509.KeyUsage(**{use: use in granted for use in USES})


class Issuer:
    """A certificate with its key, and the chain above it."""

    def __init__(self, title, above=None, authority=False, hosts=("localhost",), begins=NOW - DAY,
                 ends=NOW + 80 * DAY, purpose=ExtendedKeyUsageOID.SERVER_AUTH):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title)])
        signer = above or self
        builder = (x509.CertificateBuilder().subject_name(self.name).issuer_name(signer.name)
                   .public_key(self.key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(begins).not_valid_after(ends)
                   .add_extension(x509.BasicConstraints(authority, None), critical=True)
                   .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.key.public_key()), False)
                   .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key()),
                                  False))
        if authority:
            builder = builder.add_extension(key_usage("key_cert_sign", "crl_sign"), critical=True)
        else:
            builder = (builder.add_extension(key_usage("digital_signature"), critical=True)
                       .add_extension(x509.ExtendedKeyUsage([purpose]), False)
                       .add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in hosts]),
                                      False))
        self.certificate = builder.sign(signer.key, hashes.SHA256())
        self.chain = [self.certificate] + (above.chain if above else [])

    def write(self, folder, name):
        # A root is not sent.
        sent = self.chain[:-1] if len(self.chain) > 1 else self.chain
        (folder / f"{name}.pem").write_bytes(
            b"".join(each.public_bytes(serialization.Encoding.PEM) for each in sent))
        (folder / f"{name}.chain").write_bytes(
            b"".join(each.public_bytes(serialization.Encoding.PEM) for each in sent[1:]))
        (folder / f"{name}.key").write_bytes(self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))


def revocations(issuer, revoked):
    builder = (x509.CertificateRevocationListBuilder().issuer_name(issuer.name)
               .last_update(NOW - DAY).next_update(NOW + 30 * DAY))
    for each in revoked:
        builder = builder.add_revoked_certificate(
            x509.RevokedCertificateBuilder().serial_number(each.certificate.serial_number)
            .revocation_date(NOW - DAY).build())
    return builder.sign(issuer.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def main(folder):
    root = Issuer("judges' root", authority=True)
    middle = Issuer("judges' intermediate", root, authority=True)
    withdrawn = Issuer("judges' revoked intermediate", root, authority=True)
    stranger = Issuer("a root that nobody trusts", authority=True)
    folder.mkdir(parents=True, exist_ok=True)
    leaves = {
        "right": Issuer("localhost", middle),
        "wrong_host": Issuer("elsewhere", middle, hosts=("elsewhere.test",)),
        "expired": Issuer("localhost", middle, begins=NOW - 30 * DAY, ends=NOW - DAY),
        "not_yet": Issuer("localhost", middle, begins=NOW + DAY),
        "self_signed": Issuer("localhost"),
        "unknown_root": Issuer("localhost", stranger),
        "revoked": Issuer("localhost", withdrawn),
        "wrong_purpose": Issuer("localhost", middle, purpose=ExtendedKeyUsageOID.CLIENT_AUTH),
    }
    for name, leaf in leaves.items():
        leaf.write(folder, name)
    (folder / "ca.pem").write_bytes(root.certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "crl.pem").write_bytes(revocations(root, [withdrawn]) + revocations(middle, [])
                                     + revocations(withdrawn, []))


main(Path(sys.argv[1]))
