package console

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
)

// bulkWindow limits the number of rows that one page reads.
const bulkWindow = 500

// only rejects unknown parameters: otherwise a filter with a typing mistake would show rows
// that were not requested.
func (v *visit) only(names ...string) error {
	for name := range v.Query {
		switch {
		case slices.Contains(names, name):
		case len(names) == 0:
			return refuse(name, v.T("is not a parameter of this page; the page has no parameters"))
		default:
			return refuse(name, v.T("is not a parameter of this page; supported: %s", strings.Join(names, ", ")))
		}
	}
	return nil
}

// flag returns a parameter that is either "true" or absent.
func (v *visit) flag(name string) (bool, error) {
	switch v.Get(name) {
	case "":
		return false, nil
	case "true":
		return true, nil
	}
	return false, refuse(name, v.T("must be true or omitted"))
}

// atMost returns the parameter at_most, the number of rows after which a list ends, or
// zero.
func (v *visit) atMost() (int, error) {
	given := v.Get("at_most")
	if given == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 || n > bulkWindow {
		return 0, refuse("at_most", v.T("must be a number between 1 and %s", v.Num(bulkWindow)))
	}
	return n, nil
}

// ofPage renames a parameter in an error of the API to the name used on this page.
func ofPage(err error) error {
	var refused *connect.Error
	if errors.As(err, &refused) && refused.Code() == connect.CodeInvalidArgument && strings.Contains(refused.Message(), "page_token") {
		return connect.NewError(connect.CodeInvalidArgument, errors.New(strings.ReplaceAll(refused.Message(), "page_token", "page")))
	}
	return err
}

// further returns the data of the template "pages".
func (v *visit) further(next string) map[string]any {
	return map[string]any{"first": v.FirstPage(), "next": v.NextPage(next)}
}

// Has reports whether a parameter has a value.
func (v *visit) Has(name, value string) bool { return slices.Contains(v.All(name), value) }

// Filtered reports whether the page has a filter that the viewer can remove.
func (v *visit) Filtered() bool {
	for name := range v.Query {
		if len(v.All(name)) > 0 {
			return true
		}
	}
	return false
}
