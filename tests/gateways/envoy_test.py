"""A real Envoy with deploy/envoy/envoy.yaml, changed in its ports alone.

    envoy_test.py SERVER_BINARY PROJECT_ROOT
"""

import pathlib
import re
import sys
import unittest

import demo
import envoy

ROOT = pathlib.Path(sys.argv[2])
ENVOY = pathlib.Path(envoy.__file__).parent / "_bin" / "envoy"


class EnvoyGateway(demo.GatewayTest):
  server_binary = sys.argv[1]
  rules = ROOT / "deploy/envoy/rules.yaml"
  server_flags = ("--rate-limit-headers=draft10",)

  def setUp(self):
    super().setUp()
    self.port = demo.free_port()
    config = (ROOT / "deploy/envoy/envoy.yaml").read_text()
    for published, ours in ((10000, self.port), (8081, self.grpc_port),
                            (8000, self.upstream.port),
                            (9901, demo.free_port())):
      wanted = f"port_value: {published}}}"
      self.assertEqual(config.count(wanted), 1, wanted)
      config = config.replace(wanted, f"port_value: {ours}}}")
    path = self.directory / "envoy.yaml"
    path.write_text(config)
    process = self.run_beside("envoy", [
        ENVOY, "-c", path, "--concurrency", "1", "--disable-hot-restart",
        "--log-level", "warning"
    ])
    self.wait_for_port("envoy", process, self.port)
    self.left = self.wait_for_limits()

  def wait_for_limits(self):
    """Asks until Tollgate decides; what is left of the address's 10 then."""
    left = []

    def decided():
      policy = self.ask_headers().get("ratelimit", "")
      found = re.search(r'"remote_address";r=(\d+)', policy)
      left[:] = [int(found.group(1))] if found else []
      return bool(left)

    demo.wait_for("Envoy asking Tollgate", decided)
    return left[0]

  def ask_headers(self):
    return demo.ask(self.port)[1]

  def test_lets_the_limit_through_and_then_says_429(self):
    status, headers = demo.ask(self.port, "ana")
    self.assertEqual(status, 200)
    self.assertEqual(headers["ratelimit-policy"],
                     '"remote_address";q=10;w=3600, "api_key";q=5;w=3600')
    self.assertRegex(headers["ratelimit"], r'"api_key";r=4;t=720$')
    self.assertNotIn("retry-after", headers)
    self.assertEqual(demo.statuses(self.port, 4, "ana"), [200] * 4)
    seen = self.upstream.requests
    status, headers = demo.ask(self.port, "ana")
    self.assertEqual(status, 429)
    self.assertRegex(headers["ratelimit"], r'^"api_key";r=0;t=7\d\d$')
    wait_s = int(headers["retry-after"])
    self.assertTrue(1 <= wait_s <= 720, wait_s)
    self.assertEqual(self.upstream.requests, seen)

  def test_charges_a_refused_request_nowhere(self):
    self.assertEqual(demo.statuses(self.port, 5, "ana"), [200] * 5)
    # Two descriptors in one request: the key refuses, so the address is not
    # charged, however often.
    self.assertEqual(demo.statuses(self.port, 30, "ana"), [429] * 30)
    left = self.left - 5
    self.assertEqual(demo.statuses(self.port, left, "bob"), [200] * left)
    # Now the address refuses, and no key is charged.
    self.assertEqual(demo.statuses(self.port, 10, "eve"), [429] * 10)

  def test_lets_traffic_flow_while_tollgate_is_gone(self):
    self.assertEqual(demo.statuses(self.port, 7, "ana"), [200] * 5 + [429] * 2)
    self.kill_tollgate()
    self.assertEqual(demo.statuses(self.port, 20, "ana"), [200] * 20)
    self.start_tollgate()
    self.wait_for_limits()
    self.assertEqual(demo.statuses(self.port, 7, "ana"), [200] * 5 + [429] * 2)


if __name__ == "__main__":
  unittest.main(argv=sys.argv[:1], verbosity=2)
