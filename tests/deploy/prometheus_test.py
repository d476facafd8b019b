"""A real Prometheus scrapes two real servers under traffic, one with its buckets
in Redis. Every query of the
dashboard and every alert is asked through its API.

    prometheus_test.py SERVER_BINARY TOLLGATE_BINARY PROJECT_ROOT
"""

import json
import pathlib
import re
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

import yaml

SERVER, TOLLGATE, ROOT = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
sys.path.insert(0, str(ROOT / "tests/gateways"))
import demo  # pylint: disable=wrong-import-position

RULES = """
domain: shop
rules:
  - {name: per-user, key: [user], limit: 1/hour, on_outage: refuse}
  - {name: trial, mode: shadow, key: [user], limit: 1/day}
"""
# Fewer than there are keys, so that overflow is in use.
FLAGS = ("--max-buckets=1500", "--state-interval=1s")
KEYS = 1000

DASHBOARD = json.loads((ROOT / "deploy/grafana/tollgate.json").read_text())
ALERTS = yaml.safe_load(
    (ROOT / "deploy/prometheus/tollgate.rules.yaml").read_text())["groups"]

# What Grafana would put in place of its variables.
VARIABLES = {"$job": "tollgate", "$domain": ".*", "$rule": ".*",
             "$__rate_interval": "15s", "$__range": "1h"}


def recorded():
  return {r["record"] for group in ALERTS for r in group["rules"]
          if "record" in r}


def alerts():
  return [r for group in ALERTS for r in group["rules"] if "alert" in r]


def dashboard_queries():
  """Title, reference and expression of each."""
  for panel in DASHBOARD["panels"]:
    for target in panel.get("targets", []):
      expression = target["expr"]
      for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
      yield panel["title"], target["refId"], expression


def selectors(expression):
  """The vector selectors, such as up{job="tollgate"}, without their ranges."""
  # No label of ours looks like these names.
  return re.findall(r"\b(?:tollgate_\w+|process_\w+|up\b|\w+:tollgate_\w+:\w+)"
                    r"(?:\{[^}]*\})?", expression)


def get(port, path, **query):
  url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}"
  with urllib.request.urlopen(url, timeout=demo.PATIENCE_S) as answer:
    return answer.read().decode()


class Watched(unittest.TestCase):
  """One Prometheus, two servers and a load on each for all tests."""

  @classmethod
  def setUpClass(cls):
    directory = tempfile.TemporaryDirectory()
    cls.addClassCleanup(directory.cleanup)
    cls.directory = pathlib.Path(directory.name)
    cls.start_servers()
    cls.start_prometheus()

  @classmethod
  def run_beside(cls, name, *command):
    log = open(cls.directory / f"{name}.log", "wb")
    process = demo.subprocess.Popen(command, stdout=log, stderr=log)

    def stop():
      process.kill()
      process.wait()
      log.close()

    cls.addClassCleanup(stop)
    return process

  @classmethod
  def wait_for(cls, what, process, condition):
    def met():
      if process.poll() is not None:
        log = "\n".join(p.read_text(errors="replace")[-2000:]
                        for p in cls.directory.glob("*.log"))
        raise AssertionError(f"ended before: {what}\n{log}")
      return condition()

    demo.wait_for(what, met)

  @classmethod
  def start_servers(cls):
    cls.rules = cls.directory / "rules.yaml"
    cls.rules.write_text(RULES)
    cls.http_port = cls.start_server(
        "server", f"--state-file={cls.directory / 'state'}", *FLAGS)
    redis_port = cls.start_redis()
    cls.redis_http_port = cls.start_server(
        "server-on-redis", f"--store=redis://127.0.0.1:{redis_port}")

  @classmethod
  def start_redis(cls):
    port = demo.free_port()
    redis = cls.run_beside(
        "redis", "redis-server", "--port", str(port), "--bind", "127.0.0.1",
        "--dir", str(cls.directory), "--save", "", "--appendonly", "no")
    log = cls.directory / "redis.log"
    cls.wait_for("Redis is ready", redis,
                 lambda: "Ready to accept" in log.read_text())
    return port

  @classmethod
  def start_server(cls, name, *flags):
    """A server and its load; its HTTP port."""
    ports = cls.directory / f"{name}.ports"
    server = cls.run_beside(
        name, SERVER, f"--rules={cls.rules}", "--listen=127.0.0.1:0",
        "--http-listen=127.0.0.1:0", f"--port-file={ports}", *flags)
    cls.wait_for(f"{name} is ready", server,
                 lambda: ports.exists() and "http=" in ports.read_text())
    told = dict(line.split("=") for line in ports.read_text().split())
    cls.run_beside(f"{name}-bench", TOLLGATE, "bench", "--domain=shop",
                   f"--server=127.0.0.1:{told['grpc']}", f"--keys={KEYS}",
                   "--connections=1", "--in-flight=2", "--duration=10m")
    return told["http"]

  @classmethod
  def start_prometheus(cls):
    """With the configuration of deploy/, every second."""
    config = (ROOT / "deploy/prometheus/prometheus.yaml").read_text()
    targets = f"127.0.0.1:{cls.http_port}, 127.0.0.1:{cls.redis_http_port}"
    for ours, theirs in (("127.0.0.1:8080", targets),
                         ("scrape_interval: 15s", "scrape_interval: 1s"),
                         ("evaluation_interval: 15s",
                          "evaluation_interval: 1s")):
      if config.count(ours) != 1:
        raise AssertionError(f"prometheus.yaml: want one {ours}")
      config = config.replace(ours, theirs)
    (cls.directory / "prometheus.yaml").write_text(config)
    rules = (ROOT / "deploy/prometheus/tollgate.rules.yaml").read_text()
    (cls.directory / "tollgate.rules.yaml").write_text(
        re.sub(r"^ *interval: .*\n", "", rules, flags=re.M))
    cls.port = demo.free_port()
    prometheus = cls.run_beside(
        "prometheus", "prometheus",
        f"--config.file={cls.directory / 'prometheus.yaml'}",
        f"--storage.tsdb.path={cls.directory / 'data'}",
        f"--web.listen-address=127.0.0.1:{cls.port}")
    cls.wait_for("Prometheus is ready", prometheus, cls.is_ready)
    # A rate takes two scrapes, and what is recorded of it one evaluation more.
    cls.wait_for("rates are recorded", prometheus, lambda: all(
        cls.ask(name) for name in recorded()))

  @classmethod
  def is_ready(cls):
    try:
      return bool(get(cls.port, "/-/ready"))
    except (urllib.error.URLError, ConnectionError):
      return False

  @classmethod
  def ask(cls, expression):
    """The samples of an expression now; an error names the expression."""
    try:
      answer = json.loads(get(cls.port, "/api/v1/query", query=expression))
    except urllib.error.HTTPError as error:
      raise AssertionError(f"{expression}: {error.read()}") from error
    return answer["data"]["result"]

  def want_samples(self, expression):
    # After a scrape that took too long there are none until the next.
    demo.wait_for(f"samples of {expression}", lambda: self.ask(expression),
                  patience_s=10)

  def scraped_names(self):
    text = "".join(get(port, "/metrics")
                   for port in (self.http_port, self.redis_http_port))
    return set(re.findall(r"^# TYPE (\w+) ", text, re.M))

  def test_every_query_of_the_dashboard_has_data(self):
    for title, reference, expression in dashboard_queries():
      with self.subTest(f"{title} {reference}"):
        self.assertNotIn("$", expression)
        self.want_samples(expression)

  def test_every_alert_can_be_evaluated(self):
    for alert in alerts():
      with self.subTest(alert["alert"]):
        self.ask(alert["expr"])

  def test_whatever_is_selected_is_there(self):
    names = self.scraped_names() | recorded() | {"up"}
    expressions = [e for _, _, e in dashboard_queries()]
    expressions += [r["expr"] for group in ALERTS for r in group["rules"]]
    for expression in expressions:
      found = selectors(expression)
      self.assertTrue(found, expression)
      for selector in found:
        with self.subTest(selector):
          name = selector.split("{")[0]
          base = re.sub(r"_(bucket|count|sum)$", "", name)
          self.assertTrue({name, base} & names, name)
          self.want_samples(selector)

  def test_prometheus_took_every_rule(self):
    groups = json.loads(get(self.port, "/api/v1/rules"))["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    self.assertEqual(len(rules), sum(len(g["rules"]) for g in ALERTS))
    for rule in rules:
      self.assertIn(rule["health"], ("ok", "unknown"), rule.get("lastError"))

  def test_what_is_wrong_is_pending_and_nothing_else(self):
    good = self.rules.read_text()
    self.rules.write_text("rules: [")
    self.addCleanup(self.rules.write_text, good)
    wanted = {"TollgateRuleRefusesNearlyAll", "TollgateOverflowInUse",
              "TollgateBucketsNearlyFull", "TollgateReloadFailing"}
    # A laden machine may make answers slow, and calls and scrapes late.
    may_be = wanted | {"TollgateSlow", "TollgateAnswersTooLate",
                       "TollgateRefusalsJumped", "TollgateDown",
                       "TollgateOutagePolicyInUse", "TollgateStoreErrors"}

    def active():
      told = json.loads(get(self.port, "/api/v1/alerts"))["data"]["alerts"]
      return {alert["labels"]["alertname"] for alert in told}

    demo.wait_for("all that is wrong", lambda: wanted <= active())
    self.assertLessEqual(active(), may_be)


class Dashboard(unittest.TestCase):

  def test_can_be_imported_anywhere(self):
    self.assertEqual((DASHBOARD["uid"], DASHBOARD["id"]), ("tollgate", None))
    self.assertNotIn("__inputs", DASHBOARD)
    kinds = {v["name"]: v["type"] for v in DASHBOARD["templating"]["list"]}
    self.assertEqual(kinds["datasource"], "datasource")
    sources = []

    def collect(node):
      if isinstance(node, dict):
        if isinstance(node.get("datasource"), dict):
          sources.append(node["datasource"])
        for child in node.values():
          collect(child)
      elif isinstance(node, list):
        for child in node:
          collect(child)

    collect(DASHBOARD)
    self.assertTrue(sources)
    for source in sources:
      self.assertEqual(source, {"type": "prometheus", "uid": "${datasource}"})

  def test_panels_are_whole(self):
    known = {f"${v['name']}" for v in DASHBOARD["templating"]["list"]}
    known |= {"$__rate_interval", "$__range"}
    for panel in DASHBOARD["panels"]:
      with self.subTest(panel["title"]):
        # What Grafana 9 and later draw without a plugin or a migration.
        self.assertIn(panel["type"], ("row", "stat", "timeseries"))
        if panel["type"] == "row":
          continue
        self.assertTrue(panel["description"])
        self.assertIn("unit", panel["fieldConfig"]["defaults"])
        references = [t["refId"] for t in panel["targets"]]
        self.assertTrue(references)
        self.assertEqual(len(references), len(set(references)))
        for target in panel["targets"]:
          self.assertLessEqual(set(re.findall(r"\$\w+", target["expr"])), known)
          if panel["type"] == "timeseries":
            self.assertTrue(target["legendFormat"])

  def test_panels_are_in_their_places(self):
    taken, identities = set(), set()
    for panel in DASHBOARD["panels"]:
      self.assertNotIn(panel["id"], identities)
      identities.add(panel["id"])
      place = panel["gridPos"]
      self.assertLessEqual(place["x"] + place["w"], 24)
      for x in range(place["x"], place["x"] + place["w"]):
        for y in range(place["y"], place["y"] + place["h"]):
          self.assertNotIn((x, y), taken, panel["title"])
          taken.add((x, y))


if __name__ == "__main__":
  unittest.main(argv=[sys.argv[0]], verbosity=2)
