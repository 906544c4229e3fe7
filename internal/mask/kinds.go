package mask

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/reserved"
)

// call is the kind of HTTP calls, and of messages of alerts.
const call = "http"

// Fields returns the confidential fields of a job of a kind: those that were declared, what they
// are called in what is kept of a call, and headers of calls that hold secrets by their names. A
// job that asks the gate of a sweep has the args of the sweep, whose kind it does not say: what is
// confidential of one is so of all.
func Fields(declared map[string][]string, kind string, args json.RawMessage) []string {
	switch kind {
	case call, reserved.Shards + call:
		return kept(slices.Concat(declared[kind], secretHeaders(args)))
	case reserved.Gate:
		var asked struct {
			Data json.RawMessage `json:"data"`
		}
		_ = json.Unmarshal(args, &asked) // what cannot be read has no headers
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

// FieldsLike returns the confidential fields of all kinds with a prefix and a suffix.
func FieldsLike(declared map[string][]string, prefix, suffix string) (fields []string) {
	for kind, some := range declared {
		if strings.HasPrefix(kind, prefix) && strings.HasSuffix(kind, suffix) {
			fields = append(fields, some...)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// kept adds the fields of what is kept of a call: its request has the URL, the headers and the body
// filled in. The body is one text there.
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

// filledIn finds placeholders and references to secrets.
var filledIn = regexp.MustCompile(`\{\{|\$\{(env|file):`)

// secretHeaders returns the paths into the args of a call that lead to secrets: headers whose
// names say so, as Authorization and X-Api-Key do. A value that refers to a secret of the node,
// or that is filled in, is none.
func secretHeaders(args json.RawMessage) (paths []string) {
	var call struct {
		Headers map[string]any `json:"headers"` // args of programs may have what no call takes
	}
	if json.Unmarshal(args, &call) != nil {
		return nil
	}
	for name, value := range call.Headers {
		text, isText := value.(string)
		switch {
		case !LooksSecret(name) || isText && (text == "" || filledIn.MatchString(text)):
		case strings.Contains(name, "."): // no path leads to such a name
			paths = append(paths, "args.headers")
		default:
			paths = append(paths, "args.headers."+name)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// secretNames are parts of the names of headers and of parts of a query that hold secrets.
var secretNames = []string{"auth", "cookie", "token", "secret", "password", "passwd", "signature", "api-key", "apikey", "api_key", "access-key", "access_key", "credential"}

// LooksSecret reports whether what has this name may be a secret.
func LooksSecret(name string) bool {
	name = strings.ToLower(name)
	if name == "key" || name == "sig" || name == "pwd" {
		return true
	}
	return slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(name, part) })
}
