#include "cli/service.h"

#include <gtest/gtest.h>

namespace errand::cli {
namespace {

const Service usual{.unit = "errand.service", .user = true};

TEST(Service, TheInnermostUnitOfTheUsersSystemdIsTheLikeliest) {
  EXPECT_EQ(services_in("0::/user.slice/user-1000.slice/user@1000.service/app.slice/errand.service/server\n"),
            std::vector{usual});
  EXPECT_EQ(services_in("0::/user.slice/user-1000.slice/user@1000.service/app.slice/work.service\n"),
            (std::vector<Service>{{.unit = "work.service", .user = true}, usual}));
}

TEST(Service, AUnitOfTheMachineIsOne) {
  EXPECT_EQ(services_in("12:pids:/system.slice/errand.service\n1:name=systemd:/system.slice/errand.service\n"),
            (std::vector<Service>{{.unit = "errand.service", .user = false}, usual}));
}

TEST(Service, ATerminalIsNoUnit) {
  EXPECT_EQ(services_in("0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope\n"),
            std::vector{usual});
  EXPECT_EQ(services_in("0::/\n"), std::vector{usual});
  EXPECT_EQ(services_in("not a line of it"), std::vector{usual});
  EXPECT_EQ(services_in(""), std::vector{usual});
}

}  // namespace
}  // namespace errand::cli
