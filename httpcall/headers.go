package httpcall

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// reservedHeaders are those of the connection, and those that tell a target who
// calls. Nobody sets them but the caller itself.
var reservedHeaders = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true, "Proxy-Connection": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true, "Host": true,
	"Idempotency-Key": true, "Traceparent": true, "Tracestate": true,
}

// reserved reports whether a header, by its canonical name, is not for args to
// set.
func reserved(name string) bool {
	return reservedHeaders[name] || strings.HasPrefix(name, "Fairlead-")
}

const tokenCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

// isToken reports whether a text can name a header or a method.
func isToken(text string) bool {
	return text != "" && strings.Trim(text, tokenCharacters) == "" // Trim stops at any other character
}

// identity is the headers that tell a target which job calls.
var identity = [...]string{"Idempotency-Key", "Fairlead-Job", "Fairlead-Attempt", "Fairlead-Fence"}

// Identify tells a target which job calls, whatever headers are there already:
// a job cannot claim to be another.
func Identify(request *http.Request, job *fairlead.Job, idempotencyKey string) {
	values := []string{idempotencyKey, strconv.FormatInt(job.ID, 10), strconv.Itoa(job.Attempt), strconv.FormatInt(job.Fence, 10)}
	for i, name := range identity { // Set would spell the names anew for every call
		request.Header[name] = values[i : i+1 : i+1]
	}
	if fairlead.TraceID(job.Trace) != "" { // where the run is a span, the target gets that of the call instead
		request.Header.Set("Traceparent", job.Trace)
	}
}
