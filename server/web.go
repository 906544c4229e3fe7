package server

import (
	"net/http"

	"github.com/fairlead-io/fairlead/server/internal/overload"
)

// Web returns an HTTP server for handler. The server supports HTTP/1 and HTTP/2, with and
// without TLS, and has the limits that a handler cannot set itself. On HTTP/2, it also has a
// timeout for writes to the connection, because the frame that ends a stream waits for
// earlier writes to finish.
func Web(handler http.Handler) *http.Server { return overload.Web(handler) }
