"""What the tests of real gateways share: processes, an upstream, requests."""

import http.client
import http.server
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import unittest

PATIENCE_S = 30  # only a broken test waits so long


def free_port():
  """A port that nobody listens on, now."""
  with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    return probe.getsockname()[1]


def wait_for(what, condition, patience_s=PATIENCE_S):
  deadline = time.monotonic() + patience_s
  while not condition():
    if time.monotonic() > deadline:
      raise AssertionError(f"{what} did not happen within {patience_s} s")
    time.sleep(0.02)


def listens(port):
  with socket.socket() as probe:
    return probe.connect_ex(("127.0.0.1", port)) == 0


def ask(port, api_key=None, path="/"):
  """The status and headers (lower case) of the answer to a GET."""
  connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
  try:
    connection.request("GET", path,
                       headers={"x-api-key": api_key} if api_key else {})
    answer = connection.getresponse()
    answer.read()
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}
  finally:
    connection.close()


def statuses(port, count, api_key=None):
  return [ask(port, api_key)[0] for _ in range(count)]


class Upstream:
  """Answers 200 to every GET, and counts them."""

  def __init__(self):
    outer = self
    self.requests = 0

    class Handler(http.server.BaseHTTPRequestHandler):
      protocol_version = "HTTP/1.1"

      def do_GET(self):  # pylint: disable=invalid-name
        outer.requests += 1
        code = 500 if self.path == "/broken" else 200
        self.send_response(code)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

      def log_message(self, *_):
        pass

    self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    self.server.daemon_threads = True
    self.port = self.server.server_address[1]
    threading.Thread(target=self.server.serve_forever, daemon=True).start()

  def stop(self):
    self.server.shutdown()
    self.server.server_close()


class GatewayTest(unittest.TestCase):
  """A directory, an upstream, Tollgate and one gateway, new for each test."""

  server_binary = None
  rules = None
  server_flags = ()

  def setUp(self):
    directory = tempfile.TemporaryDirectory()
    self.addCleanup(directory.cleanup)
    self.directory = pathlib.Path(directory.name)
    self.upstream = Upstream()
    self.addCleanup(self.upstream.stop)
    self.grpc_port = free_port()
    self.http_port = free_port()
    self.start_tollgate()

  def run_beside(self, name, command):
    """Starts a program that ends with the test; its output goes to a file."""
    log = open(self.directory / f"{name}.log", "ab")  # closed by the cleanup
    process = subprocess.Popen(command, stdout=log, stderr=log)

    def stop():
      process.kill()
      process.wait()
      log.close()

    self.addCleanup(stop)
    return process

  def start_tollgate(self):
    self.tollgate = self.run_beside("tollgate", [
        self.server_binary, f"--rules={self.rules}",
        f"--listen=127.0.0.1:{self.grpc_port}",
        f"--http-listen=127.0.0.1:{self.http_port}", *self.server_flags
    ])
    for port in self.http_port, self.grpc_port:
      self.wait_for_port("tollgate", self.tollgate, port)

  def kill_tollgate(self):
    self.tollgate.kill()
    self.tollgate.wait()

  def tail(self, name):
    return (self.directory / f"{name}.log").read_text(errors="replace")[-4000:]

  def wait_for_port(self, name, process, port):
    def up():
      if process.poll() is not None:
        raise AssertionError(f"{name} ended:\n{self.tail(name)}")
      return listens(port)

    wait_for(f"{name} listening", up)
