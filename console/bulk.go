package console

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"
)

// bulkWindow is how many rows one page looks through at most.
const bulkWindow = 500

// only refuses parameters that the page does not know: a filter with a slip of the pen
// would otherwise show rows that were not asked for.
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

// flag is a parameter that is either true or not given.
func (v *visit) flag(name string) (bool, error) {
	switch v.Get(name) {
	case "":
		return false, nil
	case "true":
		return true, nil
	}
	return false, refuse(name, v.T("must be true or omitted"))
}

// atMost is after how many rows a list ends by the parameter at_most; zero: it does not.
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

// ofPage names the parameter of this page in a refusal of the API, which knows it by
// another name.
func ofPage(err error) error {
	var refused *connect.Error
	if errors.As(err, &refused) && refused.Code() == connect.CodeInvalidArgument && strings.Contains(refused.Message(), "page_token") {
		return connect.NewError(connect.CodeInvalidArgument, errors.New(strings.ReplaceAll(refused.Message(), "page_token", "page")))
	}
	return err
}

// further is the way to the next rows, for the template "pages".
func (v *visit) further(next string) map[string]any {
	return map[string]any{"first": v.FirstPage(), "next": v.NextPage(next)}
}

// Has reports whether a parameter is given with a value.
func (v *visit) Has(name, value string) bool { return slices.Contains(v.All(name), value) }

// Filtered reports whether the page shows only some rows, for a reason that the viewer can
// take away.
func (v *visit) Filtered() bool {
	for name := range v.Query {
		if len(v.All(name)) > 0 {
			return true
		}
	}
	return false
}
