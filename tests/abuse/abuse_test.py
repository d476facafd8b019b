"""A real server is attacked while a client that behaves goes on asking.

    abuse_test.py SERVER_BINARY HONEST_CLIENT_BINARY

Whatever is sent to it, the server lives, accepts, answers that client and keeps
its memory small. What it takes to defend each is told in server/net and
deploy/threat-model.md.
"""

import pathlib
import random
import resource
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import attacked
import h2
from attacked import wait_for


class Floods(attacked.Attacked):

  def test_rapid_reset(self):
    for attackers in 1, 2, 3:
      self.flood(h2.rapid_reset, attackers)
    self.assert_untouched()

  def test_rapid_reset_without_confirming_settings(self):
    self.flood(h2.rapid_reset, 2, ack=False)
    self.assert_untouched()

  def test_headers_without_end(self):
    for attackers in 1, 2, 3:
      self.flood(h2.endless_headers, attackers)
    self.assert_untouched()

  def test_headers_without_end_or_confirming_settings(self):
    self.flood(h2.endless_headers, 2, ack=False)
    self.assert_untouched()

  def test_calls_whose_message_never_comes(self):
    self.flood(h2.open_streams, 2, ack=False)
    self.assert_untouched()


class TooMuch(attacked.Attacked):

  def test_messages_of_100_mb(self):
    size = 100 << 20
    for _ in range(3):
      connection = self.connect_at_last()
      connection.send(h2.message_start(connection, size))
      sent = 0
      while sent < size and connection.send(h2.message_part(connection)):
        sent += h2.MAX_FRAME
      self.assertLess(sent, size, "took all of it")
    with self.dial(self.http_port) as connection:
      self.say(
          connection, b"POST /json HTTP/1.1\r\nHost: x\r\n"
          b"Content-Length: %d\r\n\r\n" % size, b"x" * size)
      answer = self.rest_of(connection)
    self.assertNotIn(b" 200 ", answer)
    self.assert_untouched()

  def test_metadata_of_1_mb(self):
    for ack in True, False:
      for _ in range(5):
        connection = self.connect_at_last(ack=ack)
        connection.send(h2.huge_metadata(connection, 1 << 20))
        self.rest_of(connection.socket)
    with self.dial(self.http_port) as connection:
      self.say(connection, b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Huge: ",
               b"h" * (1 << 20), b"\r\n\r\n")
      answer = self.rest_of(connection)
    self.assertNotIn(b" 200 ", answer)
    self.assert_untouched()

  def test_garbage_on_both_ports(self):
    bytes_of = random.Random(8)
    for port in self.port, self.http_port:
      for size in 1, 100, 10_000, 100_000:
        for start in b"", h2.PREFACE, b"GET / HTTP/1.1\r\n":
          with self.dial(port) as connection:
            self.say(connection, start, bytes_of.randbytes(size))
    self.assert_untouched()


class TooMany(attacked.Attacked):

  def test_a_thousand_connections_that_ask(self):
    body = self.directory / "body"
    entry = b"\x0a\x04user\x12\x03bob"
    descriptor = b"\x0a" + bytes([len(entry)]) + entry
    message = (b"\x0a\x04shop\x12" + bytes([len(descriptor)]) + descriptor)
    body.write_bytes(b"\0" + struct.pack(">I", len(message)) + message)
    load = subprocess.run(
        ["h2load", "-c", "1000", "-n", "20000", "-t", "1", "-d", str(body),
         "-H", "content-type: application/grpc", "-H", "te: trailers",
         f"http://127.0.0.1:{self.port}" + h2.SHOULD_ALLOW.decode()],
        stdout=subprocess.PIPE, text=True, check=True)
    self.assertRegex(load.stdout, r"20000 done, 20000 succeeded, 0 failed")
    self.assertEqual(self.killed(), 0)
    self.assert_untouched()

  def test_slow_peers(self):
    """They say a part of this, and then a byte now and then."""
    call = (h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0) +
            h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.FIRST_HEADERS))
    get = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
    slow = []
    for port, whole, said in ((self.port, call, 0), (self.port, call, 11),
                              (self.port, call, len(h2.PREFACE) - 5),
                              (self.port, call, len(call) - 20),
                              (self.http_port, get, 8)):
      for _ in range(100):
        slow.append((self.dial(port), whole, said))
        slow[-1][0].sendall(whole[:said])
    for i in range(3):
      time.sleep(0.5)
      for connection, whole, said in slow:
        connection.sendall(whole[said + i:said + i + 1])
    self.assert_untouched()
    # Who has not greeted in ten seconds is cut off.
    for connection, _, _ in slow[:300:50]:
      self.rest_of(connection)

  def test_more_connections_than_descriptors(self):
    pid = self.server.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    open_before = self.open_descriptors()
    resource.prlimit(pid, resource.RLIMIT_NOFILE,
                     (open_before + 20, limits[1]))
    connections = [
        self.dial(port) for port in (self.port, self.http_port) * 50]
    refused = 'tollgate_connections_refused_total{reason="descriptors"}'
    time.sleep(0.5)
    for connection in connections:
      connection.close()
    wait_for("descriptors are free",
             lambda: self.open_descriptors() <= open_before)
    self.assertGreater(self.metric(refused), 0)
    self.assert_untouched()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


def make_certificate(directory):
  """The paths of a certificate for 127.0.0.1, which signs itself, and its
  key."""
  cert, key = directory / "cert.pem", directory / "key.pem"
  subprocess.run(
      ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
       "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
       "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
       str(key), "-out", str(cert)],
      check=True, stderr=subprocess.DEVNULL)
  return cert, key


class FloodsOverTls(attacked.Attacked):

  @classmethod
  def setUpClass(cls):
    directory = tempfile.TemporaryDirectory()
    cls.addClassCleanup(directory.cleanup)
    cert, key = make_certificate(pathlib.Path(directory.name))
    cls.FLAGS = (f"--tls-cert={cert}", f"--tls-key={key}")
    cls.CA = str(cert)
    cls.TLS = ssl.create_default_context(cafile=str(cert))
    cls.TLS.check_hostname = False
    cls.TLS.set_alpn_protocols(["h2"])

  def test_rapid_reset(self):
    self.flood(h2.rapid_reset, 2)
    self.assert_untouched()

  def test_headers_without_end(self):
    self.flood(h2.endless_headers, 2)
    self.assert_untouched()

  def test_garbage_instead_of_a_handshake(self):
    bytes_of = random.Random(8)
    for _ in range(50):
      with self.dial(self.port) as connection:
        self.say(connection, bytes_of.randbytes(1000))
    self.assert_untouched()


if __name__ == "__main__":
  attacked.allow_many_descriptors()
  attacked.Attacked.SERVER, attacked.Attacked.HONEST_CLIENT = sys.argv[1:3]
  # The ssl module leaves sockets open whose handshake fails.
  unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2,
                warnings="ignore")
