package httpcall

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// filledIn finds placeholders and references to secrets.
var filledIn = regexp.MustCompile(`\{\{|\$\{(env|file):`)

// Confidential returns the paths to secrets in the args of a call: headers whose names
// suggest a secret, such as Authorization and X-Api-Key. It omits values that refer to
// a secret of the node or that are filled in from a placeholder. The paths have the
// form of fairlead.Confidential.
func Confidential(args json.RawMessage) (paths []string) {
	var call struct {
		Headers map[string]any `json:"headers"` // args of programs may have what no call takes
	}
	if json.Unmarshal(args, &call) != nil {
		return nil
	}
	for name, value := range call.Headers {
		text, isText := value.(string)
		switch {
		case !looksSecret(name) || isText && (text == "" || filledIn.MatchString(text)):
		case strings.Contains(name, "."): // no path leads to such a name
			paths = append(paths, "args.headers")
		default:
			paths = append(paths, "args.headers."+name)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
