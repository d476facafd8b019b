"""What is in deploy/ and can be judged without running it.

    files_test.py SERVER_BINARY PROJECT_ROOT
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

SERVER, ROOT = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
DEPLOY = ROOT / "deploy"


def run(*command):
  done = subprocess.run(command, capture_output=True, text=True)
  return done.returncode, done.stdout + done.stderr


def anchors(page):
  """Those of a page's headings, as GitHub makes them."""
  headings = re.findall(r"^#+ (.*)$", page, re.M)
  return [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-")
          for h in headings]


class Alerts(unittest.TestCase):

  groups = yaml.safe_load(
      (DEPLOY / "prometheus/tollgate.rules.yaml").read_text())["groups"]
  alerts = [r for group in groups for r in group["rules"] if "alert" in r]

  def test_each_has_a_runbook(self):
    for alert in self.alerts:
      with self.subTest(alert["alert"]):
        page, anchor = alert["annotations"]["runbook_url"].split("#")
        self.assertEqual(anchor, alert["alert"].lower())
        self.assertIn(anchor, anchors((ROOT / page).read_text()))

  def test_each_is_tested_to_fire_and_not_to(self):
    fires, silent = set(), set()
    for name in "alerts_test.yaml", "alert_edges_test.yaml":
      tests = yaml.safe_load((ROOT / "tests/deploy" / name).read_text())
      for test in tests["tests"]:
        for case in test.get("alert_rule_test", []):
          (fires if case["exp_alerts"] else silent).add(case["alertname"])
        for case in test.get("promql_expr_test", []):
          # Others that stay below do not fire with those that are wanted.
          silent.update(re.findall(r'ALERTS{alertname="(\w+)"', case["expr"]))
    wanted = {alert["alert"] for alert in self.alerts}
    self.assertLessEqual(wanted, fires)
    self.assertLessEqual(wanted, silent)

  def test_each_says_what_is_wrong_and_how_bad_it_is(self):
    for alert in self.alerts:
      with self.subTest(alert["alert"]):
        self.assertEqual(set(alert["annotations"]),
                         {"summary", "description", "runbook_url"})
        self.assertIn(alert["labels"]["severity"], ("critical", "warning"))

  def test_each_runbook_has_an_alert(self):
    page = (DEPLOY / "operations.md").read_text()
    wanted = {alert["alert"].lower() for alert in self.alerts}
    self.assertEqual({a for a in anchors(page) if a.startswith("tollgate")},
                     wanted)


class Pages(unittest.TestCase):

  def test_links_lead_somewhere(self):
    pages = [*DEPLOY.rglob("*.md"), *(ROOT / "client").rglob("*.md")]
    for page in sorted([*pages, *ROOT.glob("*.md")]):
      # In C++ a lambda looks like one.
      text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
      for link in re.findall(r"\]\(([^)]+)\)", text):
        with self.subTest(f"{page.relative_to(ROOT)}: {link}"):
          if re.match(r"https?://", link):
            continue
          path, _, anchor = link.partition("#")
          target = page.parent / path if path else page
          self.assertTrue(target.exists())
          if anchor:
            self.assertIn(anchor, anchors(target.read_text()))


class Image(unittest.TestCase):

  dockerfile = (DEPLOY / "Dockerfile").read_text()

  def test_runs_as_a_user_with_a_number_and_has_no_healthcheck(self):
    (user,) = re.findall(r"^USER (.*)$", self.dockerfile, re.M)
    self.assertRegex(user, r"^[1-9]\d*:[1-9]\d*$")
    self.assertNotRegex(self.dockerfile, r"(?m)^HEALTHCHECK")

  def test_has_the_user_and_the_version_of_the_manifests(self):
    (user,) = re.findall(r"^USER (\d+):", self.dockerfile, re.M)
    pod = yaml.safe_load(
        (DEPLOY / "kubernetes/base/stateful-set.yaml").read_text())
    spec = pod["spec"]["template"]["spec"]
    self.assertEqual(spec["securityContext"]["runAsUser"], int(user))
    (version,) = re.findall(r"^ARG VERSION=(.*)$", self.dockerfile, re.M)
    self.assertEqual(spec["containers"][0]["image"], f"tollgate:{version}")
    self.assertIn(version, run(SERVER, "--version")[1])

  def test_needs_the_packages_of_the_libraries_that_are_linked(self):
    code, packages = run(DEPLOY / "image/runtime-packages", SERVER)
    self.assertEqual(code, 0, packages)
    packages = packages.split()
    self.assertIn("libgrpc++1.51", packages)
    self.assertFalse([p for p in packages if p.endswith("-dev")])


class Systemd(unittest.TestCase):

  unit = DEPLOY / "systemd/tollgate.service"

  def test_the_unit_is_understood(self):
    text = self.unit.read_text()
    self.assertEqual(text.count("/usr/local/bin/tollgate-server"), 1)
    with tempfile.TemporaryDirectory() as directory:
      ours = pathlib.Path(directory) / "tollgate.service"
      ours.write_text(
          text.replace("/usr/local/bin/tollgate-server", str(SERVER)))
      code, said = run("systemd-analyze", "verify", "--man=no",
                       "--recursive-errors=no", ours)
    self.assertEqual((code, said), (0, ""))

  def test_the_service_can_do_little_harm(self):
    code, said = run("systemd-analyze", "security", "--offline=yes",
                     "--threshold=20", self.unit)
    self.assertEqual(code, 0, said)

  def test_the_server_has_the_flags(self):
    text = self.unit.read_text()
    known = run(SERVER, "--help")[1]
    flags = re.findall(r"(?<=[ ])--[a-z-]+(?==)", text)
    self.assertEqual(flags, ["--rules", "--state-file"])
    for flag in flags + ["--drain-delay", "--drain-grace"]:
      self.assertIn(f"{flag} ", known)
    for name in re.findall(r"^    (TOLLGATE_\w+)=",
                           (DEPLOY / "systemd/README.md").read_text(), re.M):
      self.assertIn(f"(Env:{name})", known)


if __name__ == "__main__":
  unittest.main(argv=[sys.argv[0]], verbosity=2)
