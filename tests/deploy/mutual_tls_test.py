"""overlays/tls as its pod runs it: with its flags, its rules and a Secret.

    mutual_tls_test.py SERVER_BINARY TOLLGATE_BINARY PROJECT_ROOT

kubectl must be in PATH: see with_kubectl.
"""

import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from kustomization import kustomizations

SERVER, TOLLGATE, ROOT = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
sys.path.insert(0, str(ROOT / "tests/gateways"))
import demo  # pylint: disable=wrong-import-position

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
       "-days", "2")


def make_certificate(name, directory, *signed_by):
  """NAME.crt and NAME.key for localhost, signed by itself or by another."""
  subprocess.run(
      ["openssl", "req", "-x509", *KEY, "-subj", f"/CN={name}", "-addext",
       "subjectAltName=DNS:localhost", "-keyout", f"{name}.key", "-out",
       f"{name}.crt", *signed_by],
      cwd=directory, check=True, capture_output=True)


class MutualTls(unittest.TestCase):

  def setUp(self):
    directory = tempfile.TemporaryDirectory()
    self.addCleanup(directory.cleanup)
    self.directory = pathlib.Path(directory.name)
    make_certificate("ca", directory.name)
    make_certificate("client", directory.name, "-CA", "ca.crt", "-CAkey",
                     "ca.key")
    self.secret = self.directory / "tls"
    self.secret.mkdir()
    self.publish("first")
    for name in "tls.crt", "tls.key", "ca.crt":
      (self.secret / name).symlink_to(f"..data/{name}")
    self.start()

  def publish(self, version):
    """A certificate, put in place in one step as the kubelet does."""
    make_certificate("tls", self.directory, "-CA", "ca.crt", "-CAkey",
                     "ca.key")
    files = self.secret / f"..{version}"
    files.mkdir()
    for name in "tls.crt", "tls.key", "ca.crt":
      (files / name).write_bytes((self.directory / name).read_bytes())
    (self.secret / "..data_tmp").symlink_to(files.name)
    os.replace(self.secret / "..data_tmp", self.secret / "..data")

  def start(self):
    """The server with the pod's flags, where those name places of a pod."""
    tls = kustomizations()["tls"]
    rules = self.directory / "rules"
    rules.mkdir()
    for name, text in tls.one("ConfigMap")["data"].items():
      (rules / name).write_text(text)
    here = {
        "--rules": str(rules),
        "--state-file": str(self.directory / "state"),
        **{f: "127.0.0.1:0" for f in tls.flags if f.endswith("listen")},
        **{f: str(self.secret / pathlib.PurePath(v).name)
           for f, v in tls.flags.items() if f.startswith("--tls-")},
        # For the test alone.
        "--port-file": str(self.directory / "ports"),
        "--drain-delay": "0s",
    }
    flags = [f"{f}={v}" for f, v in {**tls.flags, **here}.items()]
    self.log = open(self.directory / "log", "wb")
    self.addCleanup(self.log.close)
    self.server = subprocess.Popen([SERVER, *flags], stderr=self.log)
    self.addCleanup(self.stop)
    demo.wait_for("the start", self.has_started)
    self.ports = dict(
        line.split("=")
        for line in (self.directory / "ports").read_text().split())

  def has_started(self):
    if self.server.poll() is not None:
      raise AssertionError((self.directory / "log").read_text())
    return (self.directory / "ports").exists()

  def stop(self):
    self.server.kill()
    self.server.wait()

  def check(self, *flags):
    return subprocess.run(
        [TOLLGATE, "check", "user=ana", "--domain=shop", "--timeout=20s",
         f"--server=localhost:{self.ports['grpc']}", *flags],
        cwd=self.directory, capture_output=True, text=True, check=False)

  def serial(self):
    """Of the certificate that a new connection is shown."""
    context = ssl.create_default_context(cafile=self.directory / "ca.crt")
    context.load_cert_chain(self.directory / "client.crt",
                            self.directory / "client.key")
    with socket.create_connection(
        ("localhost", int(self.ports["grpc"])),
        timeout=demo.PATIENCE_S) as plain:
      with context.wrap_socket(plain, server_hostname="localhost") as shown:
        return shown.getpeercert()["serialNumber"]

  def test_asks_for_certificates_answers_probes_and_takes_new_ones(self):
    client = ("--tls-ca=ca.crt", "--tls-cert=client.crt",
              "--tls-key=client.key")
    allowed = self.check(*client)
    self.assertEqual(allowed.returncode, 0, allowed.stderr)
    self.assertIn("allowed by service", allowed.stdout)
    self.assertEqual(self.check("--tls-ca=ca.crt").returncode, 2)
    self.assertEqual(self.check().returncode, 2)

    # The kubelet's probe: no TLS, a connection of its own.
    with grpc.insecure_channel(f"127.0.0.1:{self.ports['health']}") as channel:
      said = health_pb2_grpc.HealthStub(channel).Check(
          health_pb2.HealthCheckRequest(), timeout=demo.PATIENCE_S)
    self.assertEqual(said.status, health_pb2.HealthCheckResponse.SERVING)

    first = self.serial()
    self.publish("second")
    demo.wait_for("the new certificate", lambda: self.serial() != first)
    self.assertEqual(self.check(*client).returncode, 0)


if __name__ == "__main__":
  unittest.main(argv=[sys.argv[0]], verbosity=2)
