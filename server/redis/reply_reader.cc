#include "server/redis/reply_reader.h"

#include <hiredis/hiredis.h>
#include <hiredis/read.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tollgate::redis {

// What hiredis calls while it reads: puts each value where it belongs in the
// answer. Arrays grow as their elements come, whatever length they claim. A
// null pointer ends the reading with an error.
struct ReplyBuilder {
  static Reply* Place(const redisReadTask* task) {
    auto& reader = *static_cast<ReplyReader*>(task->privdata);
    if (task->parent == nullptr) return &reader.answer_.reply;
    if (++reader.elements_ > ReplyReader::kMaxElements) return nullptr;
    // Elements come depth first, so none is being built while another is added.
    return &static_cast<Reply*>(task->parent->obj)->elements.emplace_back();
  }

  static void* Text(const redisReadTask* task, char* text, size_t size) {
    Reply* const reply = Place(task);
    if (reply == nullptr) return nullptr;
    reply->kind = Reply::Kind::kText;
    reply->text.assign(text, size);
    Answer& answer = static_cast<ReplyReader*>(task->privdata)->answer_;
    if (task->type == REDIS_REPLY_ERROR && !answer.is_error) {
      answer.is_error = true;
      // Where an error is inside of an array, its text replaces the whole in
      // the end; until then it stays at the front of the root.
      if (reply != &answer.reply) answer.reply.text = reply->text;
    }
    return reply;
  }

  static void* Integer(const redisReadTask* task,
                       long long value) {  // NOLINT(google-runtime-int)
    Reply* const reply = Place(task);
    if (reply == nullptr) return nullptr;
    reply->kind = Reply::Kind::kInteger;
    reply->integer = value;
    return reply;
  }

  static void* Array(const redisReadTask* task) {
    Reply* const reply = Place(task);
    if (reply != nullptr) reply->kind = Reply::Kind::kArray;
    return reply;
  }

  static void* Nil(const redisReadTask* task) { return Place(task); }

  // hiredis keeps pointers to it while it reads, and does not write to it.
  static redisReplyObjectFunctions* Functions() {
    static redisReplyObjectFunctions functions = [] {
      redisReplyObjectFunctions made{};
      made.createString = &Text;
      // The type of the length differs between releases of hiredis.
      made.createArray = [](const redisReadTask* task, auto) {
        return Array(task);
      };
      made.createInteger = &Integer;
      made.createNil = &Nil;
      made.freeObject = [](void*) {};  // the reader owns what it builds
      return made;
    }();
    return &functions;
  }
};

void ReplyReader::Free::operator()(redisReader* reader) const {
  redisReaderFree(reader);
}

ReplyReader::ReplyReader()
    : reader_(redisReaderCreateWithFunctions(ReplyBuilder::Functions())) {
  if (reader_ != nullptr) reader_->privdata = this;
}

ReplyReader::~ReplyReader() = default;

absl::Status ReplyReader::Feed(absl::string_view bytes) {
  if (reader_ == nullptr ||
      redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK) {
    return absl::ResourceExhaustedError("no memory to read a reply");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Answer>> ReplyReader::Next() {
  void* whole = nullptr;
  if (reader_ == nullptr ||
      redisReaderGetReply(reader_.get(), &whole) != REDIS_OK) {
    return absl::DataLossError(absl::StrCat(
        "not a reply of Redis: ",
        elements_ > kMaxElements ? "too many elements"
        : reader_ == nullptr     ? "no memory"
                                 : static_cast<const char*>(reader_->errstr)));
  }
  if (whole == nullptr) {
    if (reader_->len - reader_->pos > kMaxBytes) {
      return absl::DataLossError(absl::StrCat(
          "not a reply of Redis: longer than ", kMaxBytes, " bytes"));
    }
    return std::nullopt;
  }
  elements_ = 0;
  Answer answer = std::exchange(answer_, Answer{});
  if (answer.is_error) {
    answer.reply.kind = Reply::Kind::kText;
    answer.reply.elements.clear();
  }
  return answer;
}

}  // namespace tollgate::redis
