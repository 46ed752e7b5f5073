"""An authority, and certificates of it with each possible fault."""

import glob
import os
import ssl
import subprocess

#: Names of the farm whose handshakes go wrong, by their first word.
FAULTS = ("expired", "othername", "selfsigned", "oldprotocol")
#: What is sent to clients that expect TLS.
NO_TLS = {"notls": b"220 mail.example ESMTP\r\n", "tlscloses": b""}


class Authority:
    """Issues the certificates of the farm; programs trust only this authority."""

    def __init__(self, folder, names=()):
        """The good certificate is for `*.farm.example` and for more names."""
        self.folder = folder
        self.certificate = folder / "authority.pem"
        self.issue("authority", "/CN=farm", ["-x509", "-days", "3650"])
        good = self.context("good", ["*.farm.example", *names])
        self.contexts = {
            "good": good,
            "expired": self.context("expired", ["*.farm.example"], faketime="2001-01-01 00:00:00"),
            "othername": self.context("othername", ["other.example"]),
            "selfsigned": self.context("selfsigned", ["*.farm.example"], is_signed=False),
            "oldprotocol": self.context("good"),
        }
        old = self.contexts["oldprotocol"]
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")

    def of(self, host):
        """Returns the TLS context of a host, or the bytes that it sends instead."""
        word = host.split("-")[0].split(".")[0]
        return NO_TLS[word] if word in NO_TLS else self.contexts.get(word, self.contexts["good"])

    def issue(self, name, subject, arguments, faketime=None):
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl("req", *key, "-subj", subject, "-keyout", self.folder / f"{name}.key",
                "-out", self.folder / f"{name}.pem", *arguments, faketime=faketime)

    def context(self, name, names=(), is_signed=True, faketime=None):
        path = self.folder / f"{name}.pem"
        if not path.exists():
            alternatives = "subjectAltName=" + ",".join(f"DNS:{it}" for it in names)
            if is_signed:
                signed = ["-CA", self.certificate, "-CAkey", self.folder / "authority.key"]
            else:
                signed = []
            self.issue(name, f"/CN={name}", ["-x509", "-days", "100", "-addext", alternatives, *signed,
                                             "-addext", "basicConstraints=critical,CA:FALSE"], faketime)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path, self.folder / f"{name}.key")
        return context


def openssl(*arguments, faketime=None):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, env=at(faketime))


def at(faketime):
    """Returns the environment in which a program sees another time, such as `+3d`, which still advances."""
    if faketime is None:
        return dict(os.environ)
    [library] = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    # Timeouts of programs use the monotonic clock.
    return {**os.environ, "LD_PRELOAD": library, "FAKETIME": faketime, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
