"""A real server that is attacked, and a client that behaves meanwhile."""

import os
import pathlib
import re
import resource
import select
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import h2

# Attackers come from here; the client that behaves, from 127.0.0.1.
ATTACKER = "127.0.0.2"
PATIENCE_S = 30  # only a broken server takes so long
FLOOD_S = 1

RULES = """
domain: shop
rules:
  - {name: per-user, key: [user], limit: 1000000000/second}
"""

# What an attack may cost in memory at its peak: some 10,000 open calls of each
# of three connections, at 13 KB each. Where nothing guards against floods they
# cost gigabytes in seconds.
MAX_GROWTH_MB = 512
# Calls that a flood may keep from being answered within the client's 10 s.
MAX_MISSED = 2
# The 99th percentile after an attack: so many times that before, and a little
# more since a busy machine is uneven.
MAX_SLOWDOWN = 10
SLACK_MS = 50


def wait_for(what, condition):
  deadline = time.monotonic() + PATIENCE_S
  while not condition():
    if time.monotonic() > deadline:
      raise AssertionError(f"{what} did not happen within {PATIENCE_S} s")
    time.sleep(0.02)


def allow_many_descriptors():
  """As many as the system lets this process have, for many connections."""
  _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
  resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class HonestClient:
  """See honest_client.cc."""

  def __init__(self, binary, port, ca=None):
    self.process = subprocess.Popen(
        [binary, f"127.0.0.1:{port}"] + ([ca] if ca else []),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
      assert self.read_line() == "ready"
    except BaseException:
      self.stop()
      raise

  def read_line(self):
    line = b""
    while not line.endswith(b"\n"):
      if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
        raise AssertionError("the honest client hangs")
      byte = self.process.stdout.read(1)
      if not byte:
        raise AssertionError("the honest client has ended")
      line += byte
    return line.decode().strip()

  def report(self):
    """What became of its calls since the last report."""
    self.process.stdin.write(b"\n")
    words = self.read_line().split()
    return dict(zip(words[::2], map(int, words[1::2])))

  def stop(self):
    self.process.kill()
    self.process.wait()
    self.process.stdin.close()
    self.process.stdout.close()


class Attacked(unittest.TestCase):
  """A server and an honest client for each test; SERVER and HONEST_CLIENT are
  the paths of the binaries."""

  SERVER = ""
  HONEST_CLIENT = ""
  FLAGS = ()
  CA = None  # of a server with TLS
  TLS = None  # a context for attackers, likewise

  def setUp(self):
    directory = tempfile.TemporaryDirectory()
    self.addCleanup(directory.cleanup)
    self.directory = pathlib.Path(directory.name)
    (self.directory / "rules.yaml").write_text(RULES)
    self.start_server()
    self.honest = HonestClient(self.HONEST_CLIENT, self.port, self.CA)
    self.addCleanup(self.honest.stop)
    time.sleep(0.5)  # of calls to compare with
    self.before = self.honest.report()
    self.memory_before = self.memory_mb("VmRSS")

  def start_server(self):
    ports = self.directory / "ports"
    log = open(self.directory / "log", "w+b")
    self.addCleanup(log.close)
    self.server = subprocess.Popen(
        [self.SERVER, f"--rules={self.directory / 'rules.yaml'}",
         "--listen=127.0.0.1:0", "--http-listen=127.0.0.1:0",
         f"--port-file={ports}", *self.FLAGS], stderr=log)
    self.addCleanup(self.stop_server)
    wait_for("the server listens",
             lambda: ports.exists() and "http=" in ports.read_text())
    port = dict(line.split("=") for line in ports.read_text().split())
    self.port, self.http_port = int(port["grpc"]), int(port["http"])

  def stop_server(self):
    """It drains as if nothing had been."""
    self.server.terminate()
    try:
      self.assertEqual(self.server.wait(PATIENCE_S), 0)
    finally:
      self.server.kill()
      self.server.wait()

  def memory_mb(self, field):
    """VmRSS is what it uses, VmHWM the most that it ever used."""
    status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status).group(1)) // 1024

  def metric(self, name):
    url = f"http://127.0.0.1:{self.http_port}/metrics"
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
      for line in answer.read().decode().splitlines():
        if line.startswith(name + " "):
          return float(line.split()[-1])
    raise AssertionError(f"no metric {name}")

  def killed(self):
    return self.metric('tollgate_connections_killed_total{reason="flood"}')

  def dial(self, port):
    """An attacker's socket, on which it has said nothing; the server may have
    reset it at once."""
    connection = socket.socket()
    self.addCleanup(connection.close)
    connection.settimeout(PATIENCE_S)
    connection.bind((ATTACKER, 0))
    try:
      connection.connect(("127.0.0.1", port))
    except ConnectionError:
      pass
    return connection

  def rest_of(self, connection):
    """What comes until the server ends it; fails if it never does."""
    answer = b""
    try:
      while more := connection.recv(1 << 16):
        answer += more
    except ConnectionError:
      pass
    return answer

  def say(self, connection, *parts):
    """As much of it as the server takes."""
    try:
      for part in parts:
        connection.sendall(part)
      connection.shutdown(socket.SHUT_WR)
    except OSError:
      pass

  def connect_at_last(self, ack=True):
    """An attacker's connection, once the server does not refuse it."""
    made = []

    def is_made():
      try:
        made.append(h2.Connection(self.port, ATTACKER, ack, self.TLS))
      except OSError:
        return False
      self.addCleanup(made[0].close)
      return True

    wait_for("connects", is_made)
    return made[0]

  def flood(self, make, attackers, ack=True):
    """Each attacker sends what `make` makes of its connection, again and again,
    and comes back whenever it is cut: until one was cut, and for FLOOD_S."""
    over = threading.Event()

    def attack():
      while not over.is_set():
        try:
          connection = h2.Connection(self.port, ATTACKER, ack, self.TLS)
        except OSError:
          time.sleep(0.005)
          continue
        while not over.is_set() and connection.send(make(connection)):
          pass
        connection.close()

    killed = self.killed()
    threads = [threading.Thread(target=attack) for _ in range(attackers)]
    for thread in threads:
      thread.start()
    try:
      time.sleep(FLOOD_S)
      wait_for("the guard cuts a flood", lambda: self.killed() > killed)
    finally:
      over.set()
      for thread in threads:
        thread.join()

  def assert_untouched(self):
    """After an attack, and of the calls during it."""
    during = self.honest.report()
    print(f"\n{self.id().split('.')[-1]}: before {self.before}, during {during}"
          f", peak {self.memory_mb('VmHWM')} MB", flush=True)
    self.assertIsNone(self.server.poll(), "the server is gone")
    self.assertGreater(during["calls"], 0)
    self.assertLessEqual(during["missed"], MAX_MISSED)
    self.assertLess(self.memory_mb("VmHWM") - self.memory_before, MAX_GROWTH_MB)
    self.assert_fast_again()
    self.assert_accepts()

  def assert_fast_again(self):
    most_us = MAX_SLOWDOWN * self.before["p99_us"] + SLACK_MS * 1000

    def is_fast():
      time.sleep(0.3)
      after = self.honest.report()
      self.assertEqual(after["missed"], 0)
      return after["p99_us"] <= most_us

    wait_for(f"a 99th percentile of {most_us} us", is_fast)

  def assert_accepts(self):
    """Both ports, from a process that has no connection yet."""
    other = HonestClient(self.HONEST_CLIENT, self.port, self.CA)
    self.addCleanup(other.stop)
    self.assertEqual(other.report()["missed"], 0)
    self.metric("tollgate_connections")

  def open_descriptors(self):
    return len(os.listdir(f"/proc/{self.server.pid}/fd"))
