#include "server/limiter/refusals.h"

#include <string>

#include "server/limiter/key_text.h"

namespace tollgate {
namespace {

const Charge& ChargeOf(const Charge& charge) { return charge; }
const Charge& ChargeOf(const DescriptorCharge& charge) { return charge.charge; }

template <typename Charges>
void Count(const Request& request, Charges charges, const Decision& decision,
           RefusedKeys& refused_keys) {
  const Charge* last = nullptr;  // that was counted
  for (size_t i = 0; i < charges.size(); ++i) {
    const RuleStatus& status = decision.statuses[i];
    if (status.outcome != Outcome::kRefused ||
        status.action != BucketAction::kTake) {
      continue;
    }
    const Charge& charge = ChargeOf(charges[i]);
    // The buckets of one key, for its several limits, lie side by side.
    if (last != nullptr && last->rule == charge.rule &&
        last->fingerprint.hi == charge.fingerprint.hi) {
      continue;
    }
    last = &charge;
    // As the key's first bucket has it, whichever of them refuses.
    const Fingerprint id{charge.fingerprint.hi,
                         charge.fingerprint.lo - charge.slot};
    refused_keys.Add(*charge.rule->id, id, decision.decided_at_ns,
                     charge.shadow, [&](std::string& text) {
                       text = KeyText(charge.rule->rule,
                                      request.descriptors[charge.descriptor],
                                      kMaxRefusedKeyBytes);
                     });
  }
}

}  // namespace

void CountRefusals(const Request& request, absl::Span<const Charge> charges,
                   const Decision& decision, RefusedKeys& refused_keys) {
  Count(request, charges, decision, refused_keys);
}

void CountRefusals(const Request& request,
                   absl::Span<const DescriptorCharge> charges,
                   const Decision& decision, RefusedKeys& refused_keys) {
  Count(request, charges, decision, refused_keys);
}

}  // namespace tollgate
