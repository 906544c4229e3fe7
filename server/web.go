package server

import (
	stdlog "log"
	"log/slog"
	"net/http"

	"github.com/fairlead-io/fairlead/server/internal/overload"
)

// Web returns an HTTP server for handler. The server supports HTTP/1 and HTTP/2, with and
// without TLS, and has the limits that a handler cannot set itself. On HTTP/2, it also has a
// timeout for writes to the connection, because the frame that ends a stream waits for
// earlier writes to finish.
func Web(handler http.Handler) *http.Server { return overload.Web(handler) }

// ErrorLog returns a logger for http.Server.ErrorLog that writes to a structured logger. A
// remote peer can trigger any number of lines and control parts of their text. Therefore,
// only a few lines of each kind are logged per minute, truncated and without control
// characters. The next line logged reports how many lines were dropped.
func ErrorLog(log *slog.Logger) *stdlog.Logger { return overload.ErrorLog(log) }
