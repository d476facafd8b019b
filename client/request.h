#ifndef TOLLGATE_CLIENT_REQUEST_H_
#define TOLLGATE_CLIENT_REQUEST_H_

#include <cstdint>
#include <string>
#include <vector>

namespace tollgate::client {

// One fact about a request, such as user = ana.
struct Entry {
  std::string key;    // 1 to 256 bytes of UTF-8
  std::string value;  // 0 to 4096 bytes of UTF-8
};

// The entries (1 to 32) that describe one request: who, from where, to what.
// Where a key occurs twice, rules see the first.
using Descriptor = std::vector<Entry>;

// What is asked: may this go ahead now? A plain value.
struct Request {
  // The namespace of rules, such as "shop". 1 to 256 bytes of UTF-8.
  std::string domain;
  // 1 to 64.
  std::vector<Descriptor> descriptors;
  // Tokens, before a rule's own factor. 0 is a peek: it takes nothing and says
  // what a cost of 1 would get.
  uint32_t cost = 1;
};

}  // namespace tollgate::client

#endif  // TOLLGATE_CLIENT_REQUEST_H_
