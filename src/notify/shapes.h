// A notification as the request that its target takes. Pure; golden texts in shapes_test.cc.
//
// Titles and texts are an agent's or a stranger's: in each shape they are text, and can mention nobody, hide no link
// and end no field.
#pragma once

#include <string>

#include "http/client.h"
#include "notify/notification.h"
#include "notify/target.h"

namespace errand::notify {

// `page_url`: where people reach the page, without a slash at its end; empty: no link. `now`: of this try.
http::Request request_for(const Target& target, const Notification& notification, std::string_view page_url, Time now);

}  // namespace errand::notify
