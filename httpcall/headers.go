package httpcall

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// connectionHeaders are those of the connection. The transport alone sets them: what
// args say of them is left out.
var connectionHeaders = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true, "Proxy-Connection": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true, "Host": true, "Expect": true,
}

// ownHeaders are those by which a target knows who calls, and that it is so. Args
// cannot set them: a job could claim to be another, or to be signed.
var ownHeaders = map[string]bool{
	"Idempotency-Key": true, "Traceparent": true, "Tracestate": true,
	"Webhook-Id": true, "Webhook-Timestamp": true, "Webhook-Signature": true,
}

// isOwn reports whether a header is one that only Fairlead sets. Many targets read an
// underscore in a name as a hyphen.
func isOwn(name string) bool {
	name = http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	return ownHeaders[name] || strings.HasPrefix(name, "Fairlead-")
}

const tokenCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

// isToken reports whether a text can name a header or a method.
func isToken(text string) bool {
	return text != "" && strings.Trim(text, tokenCharacters) == "" // Trim stops at any other character
}

// identity is the headers that tell a target which job calls.
var identity = [...]string{"Idempotency-Key", "Fairlead-Job", "Fairlead-Attempt", "Fairlead-Fence"}

// Identify adds headers that identify the calling job to the target. It overwrites existing
// headers to prevent one job from impersonating another.
func Identify(request *http.Request, job *fairlead.Job, idempotencyKey string) {
	values := []string{idempotencyKey, strconv.FormatInt(job.ID, 10), strconv.Itoa(job.Attempt), strconv.FormatInt(job.Fence, 10)}
	for i, name := range identity { // Set would spell the names anew for every call
		request.Header[name] = values[i : i+1 : i+1]
	}
	if fairlead.TraceID(job.Trace) != "" { // where the run is a span, the target gets that of the call instead
		request.Header.Set("Traceparent", job.Trace)
	}
}
