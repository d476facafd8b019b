#include "server/redis/command.h"

#include "absl/strings/str_cat.h"

namespace tollgate::redis {
namespace {

void AppendWord(absl::string_view word, std::string& out) {
  absl::StrAppend(&out, "$", word.size(), "\r\n", word, "\r\n");
}

}  // namespace

void AppendCommand(absl::Span<const absl::string_view> words,
                   std::string& out) {
  absl::StrAppend(&out, "*", words.size(), "\r\n");
  for (const absl::string_view word : words) AppendWord(word, out);
}

void AppendScript(absl::string_view verb, absl::string_view script,
                  absl::Span<const std::string> keys,
                  absl::Span<const std::string> args, std::string& out) {
  absl::StrAppend(&out, "*", 3 + keys.size() + args.size(), "\r\n");
  AppendWord(verb, out);
  AppendWord(script, out);
  AppendWord(absl::AlphaNum(keys.size()).Piece(), out);
  for (const std::string& key : keys) AppendWord(key, out);
  for (const std::string& arg : args) AppendWord(arg, out);
}

}  // namespace tollgate::redis
