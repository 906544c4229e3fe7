package httpcall

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// Kind is the kind of job that this package handles.
const Kind = "http"

// Call holds the arguments of a job of kind "http".
type Call struct {
	Method  string            `json:"method,omitempty"`  // default POST
	URL     string            `json:"url"`               // target URL, with placeholders; required
	Headers map[string]string `json:"headers,omitempty"` // headers, with placeholders
	Body    json.RawMessage   `json:"body,omitempty"`    // a JSON string is sent as text, any other value as JSON
	Vars    json.RawMessage   `json:"vars,omitempty"`    // an object whose values replace placeholders such as {{args.x.y}}

	TimeoutSeconds float64  `json:"timeout_seconds,omitempty"` // timeout of the call; default the job's timeout, or the handler's if the job has none
	Success        *Success `json:"success,omitempty"`         // condition for success; default any 2xx status

	// Async means that the target answers later: a success of the call means that the target
	// accepted the work, and the job then waits for the target's callback.
	Async                  bool    `json:"async,omitempty"`
	CallbackTimeoutSeconds float64 `json:"callback_timeout_seconds,omitempty"` // maximum time to wait for the callback; default an hour
	CallbackMethod         string  `json:"callback_method,omitempty"`          // HTTP method of the callback, POST or PUT; default POST

	SigningSecret string `json:"signing_secret,omitempty"` // reference to the secret that signs the call, as defined by Standard Webhooks
	TLS           *TLS   `json:"tls,omitempty"`            // default the system's CAs and no client certificate
}

// Success is the condition under which a call succeeds. The response's status must be
// listed, and the expression, if any, must be true.
type Success struct {
	Status     []string `json:"status,omitempty"`     // such as "2xx", "304", "200-204"; default 2xx
	Expression string   `json:"expression,omitempty"` // condition on the answer; default true
}

// TLS configures how a call verifies its target and identifies itself to it.
type TLS struct {
	CA                string `json:"ca,omitempty"`                 // PEM, or a reference to it; default the system's CAs
	ClientCertificate string `json:"client_certificate,omitempty"` // reference to PEM
	ClientKey         string `json:"client_key,omitempty"`         // reference to PEM
}

// decodeCall reads args. A field that is not known is refused: a typing mistake
// must not go unnoticed.
func decodeCall(args json.RawMessage) (Call, error) {
	var call Call
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&call)
	if err == nil {
		return call, nil
	}
	field, message := "args", "is not an HTTP call; give an object with at least a url"
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		field, message = "args."+wrong.Field, "is of type "+wrong.Value+"; it must be "+jsonName(wrong.Type.Kind().String())
	} else if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		field, message = "args."+strings.Trim(name, `"`), "is not a known field; check the spelling"
	}
	return call, &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: field, Message: message}}}
}

// jsonName is what a kind of Go is called in JSON.
func jsonName(kind string) string {
	switch kind {
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	case "float64":
		return "a number"
	case "slice":
		return "a list"
	default:
		return "an object"
	}
}
