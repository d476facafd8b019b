"""A client that is not ours: Python's own gRPC library and the .proto file.

    python_client_test.py SERVER_BINARY PROTO_ROOT

Generates the stubs from the .proto file with grpcio-tools, starts the server on
a free port, and checks its answers.
"""

import importlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

import grpc
import grpc_tools
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_tools import protoc

SERVER = sys.argv[1]
PROTO_ROOT = sys.argv[2]

RULES = """
domain: shop
rules:
  - {name: per-user, key: [user], limit: 2/day}
  - {name: site, key: [], limit: 100/day}
"""

PROTO = "tollgate/v1/rate_limiter.proto"


def generate(directory):
    well_known = pathlib.Path(grpc_tools.__file__).parent / "_proto"
    status = protoc.main([
        "protoc", f"--proto_path={PROTO_ROOT}", f"--proto_path={well_known}",
        f"--python_out={directory}", f"--grpc_python_out={directory}", PROTO
    ])
    assert status == 0, "protoc failed"
    sys.path.insert(0, directory)
    return (importlib.import_module("tollgate.v1.rate_limiter_pb2"),
            importlib.import_module("tollgate.v1.rate_limiter_pb2_grpc"))


class PythonClient(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.files = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.files.cleanup)
        cls.pb, cls.pb_grpc = generate(cls.files.name)

    def setUp(self):
        files = pathlib.Path(self.files.name)
        ports = files / "ports"
        ports.unlink(missing_ok=True)
        (files / "rules.yaml").write_text(RULES)
        self.server = subprocess.Popen([
            SERVER, f"--rules={files / 'rules.yaml'}", "--listen=127.0.0.1:0",
            "--http-listen=off", f"--port-file={ports}"
        ], stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop)
        # The line that says it is ready comes after the port file.
        for line in self.server.stderr:
            if "ready" in line:
                break
        port = dict(
            line.split("=") for line in ports.read_text().split())["grpc"]
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.addCleanup(self.channel.close)
        self.stub = self.pb_grpc.RateLimiterStub(self.channel)

    def stop(self):
        self.server.terminate()
        self.server.stderr.close()
        self.assertEqual(self.server.wait(timeout=30), 0)

    def request(self, user, **fields):
        entry = self.pb.Entry(key="user", value=user)
        return self.pb.ShouldAllowRequest(
            domain="shop",
            descriptors=[self.pb.Descriptor(entries=[entry])],
            **fields)

    def ask(self, *args, **fields):
        return self.stub.ShouldAllow(self.request(*args, **fields), timeout=10)

    def test_allows_up_to_the_limit_and_says_who_refuses(self):
        for remaining in (1, 0):
            answer = self.ask("ana")
            self.assertEqual(answer.outcome, self.pb.ALLOWED)
            self.assertEqual([s.rule for s in answer.statuses],
                             ["per-user", "site"])
            self.assertEqual(answer.statuses[0].remaining, remaining)
        answer = self.ask("ana")
        self.assertEqual(answer.outcome, self.pb.REFUSED)
        refusing = [
            s.rule for s in answer.statuses if s.outcome == self.pb.REFUSED
        ]
        self.assertEqual(refusing, ["per-user"])
        wait = answer.retry_after.ToTimedelta().total_seconds()
        self.assertGreater(wait, 0)
        self.assertLessEqual(wait, 12 * 3600)
        # What `site` gave was given back.
        self.assertEqual(answer.statuses[1].remaining, 98)

    def test_says_that_a_cost_above_the_burst_is_impossible(self):
        self.assertEqual(self.ask("bob", cost=3).outcome, self.pb.IMPOSSIBLE)
        self.assertEqual(self.ask("bob", cost=2).outcome, self.pb.ALLOWED)

    def test_a_cost_of_zero_is_a_peek(self):
        for _ in range(5):
            answer = self.ask("eve", cost=0)
            self.assertEqual(answer.outcome, self.pb.ALLOWED)
            self.assertEqual(answer.statuses[0].remaining, 2)

    def test_answers_a_batch_in_order_and_a_bad_request_alone(self):
        batch = self.pb.ShouldAllowBatchRequest(requests=[
            self.request("kim"),
            self.pb.ShouldAllowRequest(domain="shop"),
            self.request("kim", cost=5),
        ])
        answers = self.stub.ShouldAllowBatch(batch, timeout=10).answers
        self.assertEqual(answers[0].decision.outcome, self.pb.ALLOWED)
        self.assertEqual(answers[1].error.code,
                         grpc.StatusCode.INVALID_ARGUMENT.value[0])
        self.assertIn("descriptors", answers[1].error.message)
        self.assertEqual(answers[2].decision.outcome, self.pb.IMPOSSIBLE)

    def test_a_bad_request_is_an_invalid_argument_that_names_the_field(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.stub.ShouldAllow(self.pb.ShouldAllowRequest(), timeout=10)
        self.assertEqual(caught.exception.code(),
                         grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("domain", caught.exception.details())

    def test_health_is_serving_by_both_names(self):
        stub = health_pb2_grpc.HealthStub(self.channel)
        for name in ("", "tollgate.v1.RateLimiter"):
            answer = stub.Check(
                health_pb2.HealthCheckRequest(service=name), timeout=10)
            self.assertEqual(answer.status,
                             health_pb2.HealthCheckResponse.SERVING)

    def test_reflection_lists_the_service(self):
        stub = reflection_pb2_grpc.ServerReflectionStub(self.channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        answers = stub.ServerReflectionInfo(iter([request]), timeout=10)
        names = [
            s.name for s in next(answers).list_services_response.service
        ]
        self.assertIn("tollgate.v1.RateLimiter", names)

    def test_the_answer_is_proper_json(self):
        text = json_format.MessageToDict(self.ask("json"))
        self.assertEqual(text["outcome"], "ALLOWED")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
