// The decoders of the three APIs.
#pragma once

#include <memory>
#include <string>

#include "model/decode.h"

namespace errand::model {

std::unique_ptr<Decoder> anthropic_decoder(std::string id_prefix);
std::unique_ptr<Decoder> chat_decoder(std::string id_prefix);
std::unique_ptr<Decoder> responses_decoder(std::string id_prefix);

}  // namespace errand::model
