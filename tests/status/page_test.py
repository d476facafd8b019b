"""The status page of a real server under traffic, in a real browser.

    page_test.py SERVER_BINARY TOLLGATE_BINARY            the test
    page_test.py SERVER_BINARY TOLLGATE_BINARY DIRECTORY  pictures to look at

Chromium runs without a window and prints the page as it stands after some
rounds. Its time is virtual: it does not wait for its timers. Traffic goes on
meanwhile, so that rates are above 0.
"""

import contextlib
import html.parser
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

SERVER, TOLLGATE = sys.argv[1:3]
PATIENCE_S = 60  # only a broken test waits so long

RULES = """
domain: shop
rules:
  - {name: per-user, key: [user], limit: 3/hour}
  - {name: 'si"te<b>', key: [], limit: 100000/second}
  - {name: trial, mode: shadow, key: [user], limit: 1/hour}
  - {name: login, match: {endpoint: [/login]}, key: [user], limit: 5/minute}
"""

IMAGE = "<img src=x onerror=document.title='owned'>"
SCRIPT = "\"><script>document.title='owned'</script>"
TURNED = "evil\u202egpj.exe\u0007"  # looks like another text
HOSTILE = [IMAGE, SCRIPT, TURNED, "'-alert(1)-'", "${7*7}{{7*7}}"]


class Page(html.parser.HTMLParser):
  """What the browser made of the page."""

  VOID = {"meta", "link", "input", "img", "br"}

  def __init__(self, dom):
    super().__init__()
    self.tags = []
    self.handlers = []  # attributes that would run
    self.cells = []     # the text of each cell of a table's rows
    self.by_id = {}
    self.title = ""
    self.stack = []
    self.feed(dom)

  def handle_starttag(self, tag, attrs):
    self.tags.append(tag)
    self.handlers += [name for name, _ in attrs if name.startswith("on")]
    if tag not in self.VOID:
      self.stack.append((tag, dict(attrs).get("id")))
    if tag in ("td", "th"):
      self.cells.append("")

  def handle_endtag(self, tag):
    if any(open_tag == tag for open_tag, _ in self.stack):
      while self.stack.pop()[0] != tag:
        pass

  def handle_data(self, data):
    tags = [tag for tag, _ in self.stack]
    if tags[-1:] == ["title"]:
      self.title += data
    if ("td" in tags or "th" in tags) and "script" not in tags:
      self.cells[-1] += data
    for _, name in self.stack:
      if name is not None:
        self.by_id[name] = self.by_id.get(name, "") + data


class Service:
  """A server, and callers that ask it until it is stopped."""

  def __init__(self, directory, *flags):
    self.directory = pathlib.Path(directory)
    self.rules = self.directory / "rules.yaml"
    self.rules.write_text(RULES)
    ports = self.directory / "ports"
    self.log = open(self.directory / "server.log", "wb")
    self.process = subprocess.Popen(
        [SERVER, f"--rules={self.rules}", "--listen=127.0.0.1:0",
         "--http-listen=127.0.0.1:0", f"--port-file={ports}", *flags],
        stdout=self.log, stderr=self.log)
    deadline = time.monotonic() + PATIENCE_S
    while not ports.exists():
      if self.process.poll() is not None or time.monotonic() > deadline:
        raise AssertionError((self.directory / "server.log").read_text())
      time.sleep(0.02)
    port = dict(line.split("=") for line in ports.read_text().split())
    self.grpc = f"127.0.0.1:{port['grpc']}"
    self.url = f"http://127.0.0.1:{port['http']}"
    self.stopping = threading.Event()
    self.caller = threading.Thread(target=self.call)
    self.caller.start()

  def call(self):
    i = 0
    while not self.stopping.is_set():
      for user in [*HOSTILE, "ana", f"user-{i}"]:
        self.check(user, "/login" if i % 2 else "/")
      i += 1

  def check(self, user, endpoint):
    query = urllib.parse.urlencode(
        {".domain": "shop", "user": user, "endpoint": endpoint})
    try:
      urllib.request.urlopen(f"{self.url}/check?{query}",
                             timeout=PATIENCE_S).read()
    except urllib.error.HTTPError as error:
      error.close()  # refused

  def status(self):
    with urllib.request.urlopen(f"{self.url}/status.json",
                                timeout=PATIENCE_S) as answer:
      return json.load(answer)

  def wait_until(self, condition):
    """Until the status is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition(self.status()):
      if time.monotonic() > deadline:
        raise AssertionError(self.status())
      time.sleep(0.02)

  def connect(self):
    host, port = self.grpc.split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE_S)

  def check_by_grpc(self, user):
    return subprocess.run(
        [TOLLGATE, "check", f"user={user}", "--domain=shop",
         f"--server={self.grpc}", "--timeout=20s"],
        stdout=subprocess.DEVNULL, check=False).returncode

  def stop(self):
    self.stopping.set()
    self.caller.join()
    self.process.terminate()
    self.process.wait(timeout=PATIENCE_S)
    self.log.close()


def browse(directory, url, *flags):
  """What Chromium prints."""
  command = [
      # It opens our page alone, and a sandbox is not to be had everywhere.
      "chromium", "--no-sandbox", "--headless=new", "--disable-gpu",
      "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--disable-sync",
      "--disable-component-update", "--disable-extensions",
      f"--user-data-dir={directory}/chromium", "--virtual-time-budget=21000",
      *flags, url
  ]
  done = subprocess.run(command, capture_output=True, text=True,
                        timeout=3 * PATIENCE_S, check=False)
  if done.returncode != 0:
    raise AssertionError(f"chromium: {done.returncode}\n{done.stderr[-4000:]}")
  return done.stdout


class StatusPage(unittest.TestCase):

  def test_shows_hostile_keys_as_text_and_rates(self):
    with tempfile.TemporaryDirectory() as directory:
      service = Service(directory)
      self.addCleanup(service.stop)
      for _ in range(5):
        refused = service.check_by_grpc(IMAGE)
      self.assertEqual(refused, 1)
      # On a busy machine no caller may come between two rounds of the page, or
      # before the last of them.
      for _ in range(10):
        page = Page(browse(directory, service.url + "/", "--dump-dom"))
        peaks = [cell for cell in page.cells if cell.startswith("peak ")]
        if len(peaks) >= 3 and "in shadow" in page.by_id["rules"]:
          break

    self.assertEqual(page.title, "Tollgate status")
    self.assertNotIn("img", page.tags)
    self.assertEqual(page.tags.count("script"), 1)
    self.assertEqual(page.handlers, [])
    for key in IMAGE, SCRIPT:
      self.assertIn(f"user={key}", page.cells)
    self.assertIn("user=evil\\u{202e}gpj.exe\\u{7}", page.cells)
    self.assertIn('si"te<b>domain shop', page.cells)

    self.assertEqual(page.by_id["state"], "READY")
    self.assertIn("version", page.by_id["about"])
    self.assertIn("4 of 4 rules", page.by_id["rules-note"])
    self.assertIn("3/hour", page.by_id["rules"])
    self.assertIn("per-user refuses", page.by_id["attention"])
    self.assertIn("in shadow", page.by_id["rules"])
    self.assertGreaterEqual(len(peaks), 3, page.by_id["rules"])
    self.assertIn("went well", page.by_id["parts"])
    self.assertIn("memory", page.by_id["parts"])
    self.assertIn("Buckets", page.by_id["numbers"])
    self.assert_every_value_is_there(page)

  def assert_every_value_is_there(self, page):
    for text in page.by_id.values():
      self.assertNotIn("undefined", text)
      self.assertNotIn("NaN", text)

  def test_shows_what_is_wrong_with_connections_the_store_and_the_rules(self):
    with tempfile.TemporaryDirectory() as directory:
      # Nobody listens on port 1.
      service = Service(directory, "--max-connections-per-address=2",
                        "--store=redis://127.0.0.1:1",
                        "--start-without-store=true")
      self.addCleanup(service.stop)

      def is_refused(status):
        with contextlib.suppress(ConnectionResetError):  # at once
          self.enterContext(service.connect())
        return status["connections"]["refused"] > 0

      service.wait_until(is_refused)
      service.rules.write_text("rules: [")
      service.wait_until(lambda s: not s["load"]["ok"])
      service.wait_until(lambda s: s["store"]["outage"] > 0)
      page = Page(browse(directory, service.url + "/", "--dump-dom"))

    numbers, parts = page.by_id["numbers"], page.by_id["parts"]
    self.assertRegex(numbers, r"Connections\d of 10,000")
    self.assertRegex(numbers, r"[1-9]\d* refused, 0 cut since the start")
    self.assertIn("UNREACHABLE: redis://127.0.0.1:1", parts)
    self.assertRegex(parts, r"outage policies decide [^;]+ since the start")
    self.assertIn("FAILED", parts)
    self.assertIn("Store: redis://127.0.0.1:1", page.by_id["attention"])
    self.assertIn("The last reload failed", page.by_id["attention"])
    self.assert_every_value_is_there(page)


def take_pictures(directory):
  for name, size, *more in (
      ("wide", "1280,1100"), ("narrow", "500,2400"),
      ("dark", "1280,1100", "--blink-settings=preferredColorScheme=0")):
    with tempfile.TemporaryDirectory() as work:
      service = Service(work)
      try:
        browse(work, service.url + "/", f"--window-size={size}",
               f"--screenshot={directory}/{name}.png", *more)
      finally:
        service.stop()


if __name__ == "__main__":
  if len(sys.argv) > 3:
    take_pictures(sys.argv[3])
  else:
    unittest.main(argv=sys.argv[:1], verbosity=2)
