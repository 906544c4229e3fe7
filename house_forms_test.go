package fairlead_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// readsBodies are the methods of a request by which net/http reads a body that no caller has
// bounded, even that of a GET, or puts its files on disk.
var readsBodies = []string{"FormValue", "PostFormValue", "FormFile", "ParseForm", "ParseMultipartForm", "MultipartReader"}

// mayReadForms is the only file that reads forms.
const mayReadForms = "console/posted.go"

func TestFormsAreReadInOnePlace(t *testing.T) {
	for _, file := range goFiles(t) {
		if file == mayReadForms || strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			call, is := node.(*ast.CallExpr)
			if !is {
				return true
			}
			if method, is := call.Fun.(*ast.SelectorExpr); is && slices.Contains(readsBodies, method.Sel.Name) {
				t.Errorf("%s calls %s: use readPosted of %s, or r.URL.Query() of a GET", file, method.Sel.Name, mayReadForms)
			}
			return true
		})
	}
}
