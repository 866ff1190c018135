// The OpenAPI 3.1 document: src/api/openapi.json, put into the binary when it is built. A test holds it to the routes.
#pragma once

#include <string_view>

namespace errand::api {

std::string_view openapi_document();

}  // namespace errand::api
