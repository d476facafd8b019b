#ifndef TOLLGATE_TESTS_APP_TWO_RULES_H_
#define TOLLGATE_TESTS_APP_TWO_RULES_H_

namespace tollgate {

inline constexpr char kTwoRules[] =
    "domain: shop\n"
    "rules:\n"
    "  - name: per-user\n"
    "    key: [user]\n"
    "    limit: 2/day\n"
    "  - name: per-client\n"
    "    key: [client]\n"
    "    limit: 5/day\n";

}  // namespace tollgate

#endif  // TOLLGATE_TESTS_APP_TWO_RULES_H_
