"""A real nginx with deploy/nginx/tollgate.conf, changed in its ports alone.

    nginx_test.py SERVER_BINARY PROJECT_ROOT
"""

import pathlib
import sys
import unittest

import demo

ROOT = pathlib.Path(sys.argv[2])
NGINX = "/usr/sbin/nginx"

# What is around the snippet on any machine; all files in the test's directory.
AROUND = """
daemon off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log stderr;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxy;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  include {directory}/tollgate.conf;
}}
"""


class NginxGateway(demo.GatewayTest):
  server_binary = sys.argv[1]
  rules = ROOT / "deploy/nginx/rules.yaml"

  def setUp(self):
    super().setUp()
    self.port = demo.free_port()
    config = (ROOT / "deploy/nginx/tollgate.conf").read_text()
    for published, ours in ((8088, self.port), (8080, self.http_port),
                            (8000, self.upstream.port)):
      wanted = f"127.0.0.1:{published};"
      self.assertEqual(config.count(wanted), 1, wanted)
      config = config.replace(wanted, f"127.0.0.1:{ours};")
    (self.directory / "tollgate.conf").write_text(config)
    around = self.directory / "nginx.conf"
    around.write_text(AROUND.format(directory=self.directory))
    process = self.run_beside(
        "nginx", [NGINX, "-c", around, "-p", self.directory, "-e", "stderr"])
    self.wait_for_port("nginx", process, self.port)

  def test_lets_the_limit_through_and_then_says_429(self):
    status, headers = demo.ask(self.port, "ana")
    self.assertEqual(status, 200)
    self.assertEqual(headers["ratelimit-policy"],
                     '"per-address";q=10;w=3600, "per-key";q=5;w=3600')
    self.assertEqual(headers["ratelimit"],
                     '"per-address";r=9;t=360, "per-key";r=4;t=720')
    self.assertNotIn("retry-after", headers)
    self.assertEqual(demo.statuses(self.port, 4, "ana"), [200] * 4)
    seen = self.upstream.requests
    status, headers = demo.ask(self.port, "ana")
    self.assertEqual(status, 429)
    self.assertRegex(headers["ratelimit"], r'^"per-key";r=0;t=7\d\d$')
    wait_s = int(headers["retry-after"])
    self.assertTrue(1 <= wait_s <= 720, wait_s)
    self.assertEqual(self.upstream.requests, seen)

  def test_charges_a_refused_request_nowhere(self):
    self.assertEqual(demo.statuses(self.port, 5, "ana"), [200] * 5)
    self.assertEqual(demo.statuses(self.port, 30, "ana"), [429] * 30)
    self.assertEqual(demo.statuses(self.port, 6), [200] * 5 + [429])

  def test_lets_traffic_flow_while_tollgate_is_gone(self):
    self.assertEqual(demo.statuses(self.port, 7, "ana"), [200] * 5 + [429] * 2)
    self.kill_tollgate()
    self.assertEqual(demo.statuses(self.port, 20, "ana"), [200] * 20)
    self.start_tollgate()
    self.assertEqual(demo.statuses(self.port, 7, "ana"), [200] * 5 + [429] * 2)

  def test_does_not_let_a_client_choose_other_parameters(self):
    for key in ("x&.cost=0", "x&remote_address=1.2.3.4", "x%26", "", "x" * 65):
      status, headers = demo.ask(self.port, key)
      self.assertEqual(status, 200)
      self.assertEqual(headers["ratelimit-policy"],
                       '"per-address";q=10;w=3600')

  def test_leaves_the_upstreams_own_errors_alone(self):
    self.assertEqual(demo.ask(self.port, path="/broken")[0], 500)


if __name__ == "__main__":
  unittest.main(argv=sys.argv[:1], verbosity=2)
