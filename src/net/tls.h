// TLS for the server's sockets, on OpenSSL: a Transport like the plain one, so that the connection does not know which
// it has.
#pragma once

#include <memory>

#include "base/result.h"
#include "net/server.h"
#include "net/transport.h"

namespace errand::net {

// A certificate and its key, loaded. Connections keep what they need of it.
class TlsContext;

// Fails where a file cannot be read or the key is not the certificate's.
Result<std::shared_ptr<TlsContext>> make_tls_context(const TlsFiles& files);
// The handshake is part of the first reads and writes.
std::unique_ptr<Transport> make_tls_transport(TlsContext& context, int fd);

}  // namespace errand::net
