package mask

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/reserved"
)

// call is the kind of HTTP calls, including messages of alerts.
const call = "http"

// Fields returns the confidential fields of a job of the given kind: the declared fields and,
// for a call, the corresponding fields in the record of the call and the headers whose names
// suggest that they contain secrets. A job that calls a sweep's gate contains the sweep's args
// but not its kind, so its confidential fields include those of every kind of sweep.
func Fields(declared map[string][]string, kind string, args json.RawMessage) []string {
	switch kind {
	case call, reserved.Shards + call:
		return kept(slices.Concat(declared[kind], secretHeaders(args)))
	case reserved.Gate:
		var asked struct {
			Data json.RawMessage `json:"data"`
		}
		_ = json.Unmarshal(args, &asked) // unreadable args have no headers
		var fields []string
		for _, field := range slices.Concat(FieldsLike(declared, reserved.Shards, ""), secretHeaders(asked.Data)) {
			if inside, is := strings.CutPrefix(field+".", "args."); is {
				fields = append(fields, strings.TrimSuffix("args.data."+inside, "."))
			}
		}
		return fields
	}
	return declared[kind]
}

// FieldsLike returns the confidential fields of all kinds that have the given prefix and
// suffix.
func FieldsLike(declared map[string][]string, prefix, suffix string) (fields []string) {
	for kind, some := range declared {
		if strings.HasPrefix(kind, prefix) && strings.HasSuffix(kind, suffix) {
			fields = append(fields, some...)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// kept adds the fields of the record of a call: its request contains the URL, headers and
// body after substitution. The body is a single string there.
func kept(fields []string) []string {
	for _, field := range fields {
		document, member, _ := strings.Cut(field, ".")
		name, _, _ := strings.Cut(member, ".")
		switch name = strings.ToLower(name); {
		case document != "args":
		case name == "url", name == "headers", name == "body":
			fields = append(fields, "output.request."+member, "progress.request."+member)
		case name == "", name == "*":
			fields = append(fields, "output.request", "progress.request")
		}
	}
	return fields
}

// filledIn matches placeholders and references to secrets.
var filledIn = regexp.MustCompile(`\{\{|\$\{(env|file):`)

// secretHeaders returns the paths in the args of a call that lead to secrets: headers with
// names such as Authorization and X-Api-Key. It leaves out values that refer to a secret of
// the node or contain placeholders.
func secretHeaders(args json.RawMessage) (paths []string) {
	var call struct {
		Headers map[string]any `json:"headers"` // args may contain invalid headers
	}
	if json.Unmarshal(args, &call) != nil {
		return nil
	}
	for name, value := range call.Headers {
		text, isText := value.(string)
		switch {
		case !LooksSecret(name) || isText && (text == "" || filledIn.MatchString(text)):
		case strings.Contains(name, "."): // paths cannot contain such a name
			paths = append(paths, "args.headers")
		default:
			paths = append(paths, "args.headers."+name)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// secretNames lists parts of the names of headers and query parameters that contain
// secrets.
var secretNames = []string{"auth", "cookie", "token", "secret", "password", "passwd", "signature", "api-key", "apikey", "api_key", "access-key", "access_key", "credential"}

// LooksSecret reports whether a value with this name may be a secret.
func LooksSecret(name string) bool {
	name = strings.ToLower(name)
	if name == "key" || name == "sig" || name == "pwd" {
		return true
	}
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}
