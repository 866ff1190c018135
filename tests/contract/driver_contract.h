// The contract of driver.h as tests, for every driver. A driver joins by naming its world:
//
//   INSTANTIATE_TEST_SUITE_P(Demo, DriverContract, testing::Values(DriverCase{"demo", [] { return ...; }}), case_name);
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "tests/contract/driver_host.h"

namespace errand::test {

struct DriverCase {
  std::string name;
  std::function<std::unique_ptr<DriverWorld>()> world;
  friend void PrintTo(const DriverCase& c, std::ostream* out) { *out << c.name; }
};

inline std::string case_name(const testing::TestParamInfo<DriverCase>& info) { return info.param.name; }

class DriverContract : public testing::TestWithParam<DriverCase> {
 protected:
  std::unique_ptr<DriverWorld> world = GetParam().world();
};

}  // namespace errand::test
