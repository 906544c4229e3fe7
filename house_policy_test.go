package fairlead_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A store keeps and finds; it does not decide. What counts as deciding:
//
//   - to compare a state, an outcome, a reason, a move or a rule of a feature with one of
//     its values, or the name of a job's state as text;
//   - to choose one: to name such a value anywhere else;
//   - to word what a user reads: an error that wraps one of the errors of the contract, a
//     refused field, or the text of a job's end.
//
// That belongs to internal/verdict, to the feature, or to internal/sqlstore. What is left in
// a store is in house_policy_allowed_test.go, each with its reason: mostly which table holds
// jobs of which state.

// deciding says which types of a package are decided about. Scopes of limits and pauses
// are not among them: they are part of a row's key.
var deciding = map[string][]string{
	".": {"State", "Reason", "Move", "Settled", "OnDuplicate", "KeyScope", "OnCrash", "ObstacleCode", "Order"},
	"schedule": {
		"Overlap", "AfterFailure", "Concurrency", "CatchUp", "Trigger", "SkipReason", "AlertEvent",
	},
	"batch":             {"State", "TaskState", "PassKind"},
	"sweep":             {"State", "OnExhausted"},
	"internal/sqlstore": {"Outcome"},
}

// contractErrors are what users compare errors with.
var contractErrors = []string{"ErrInvalid", "ErrConflict", "ErrNotFound", "ErrExpired", "ErrLeaseLost"}

// policy is a place where a store decides.
type policy struct {
	store, file, function string
	what                  string // compares, chooses or words
	of                    string
	line                  int
}

func (p policy) String() string {
	return fmt.Sprintf("%s/%s:%d: %s %s %s", p.store, p.file, p.line, p.function, p.what, p.of)
}

func TestNoStoreDecides(t *testing.T) {
	values, names := policyValues(t)
	used := map[string]bool{}
	places := map[string]int{} // by reason
	for _, store := range []string{"postgres", "mysql", "sqlite"} {
		for _, p := range policiesOf(t, store, values, names) {
			key := p.store + " " + p.function + " " + p.what
			if _, allowed := mayDecide[key]; !allowed {
				t.Errorf("%v: move it to internal/verdict, to the feature or to internal/sqlstore", p)
			}
			used[key] = true
			places[mayDecide[key]]++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(mayDecide)) {
		if !used[key] {
			t.Errorf("%q is allowed to decide and does not: take it off the list", key)
		}
		if mayDecide[key] == "" {
			t.Errorf("%q is allowed to decide without a reason", key)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(places)) {
		t.Logf("%d places: %s", places[why], why)
	}
}

// policyValues are the values of the types that are decided about, by package and name,
// and the names of the states of jobs.
func policyValues(t *testing.T) (values map[string]map[string]bool, names map[string]bool) {
	t.Helper()
	values, names = map[string]map[string]bool{}, map[string]bool{}
	for dir, types := range deciding {
		pkg := path.Base(dir)
		if dir == "." {
			pkg = "fairlead"
		}
		values[pkg] = map[string]bool{}
		for _, file := range parseDir(t, dir) {
			for _, decl := range file.Decls {
				if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.CONST {
					addValues(pkg, group, types, values[pkg], names)
				}
			}
		}
		if len(values[pkg]) == 0 {
			t.Fatalf("package %s has no values of %v", dir, types)
		}
	}
	return values, names
}

// addValues adds the constants of a group that are of one of the types, or that are named
// after one and have no type.
func addValues(pkg string, group *ast.GenDecl, types []string, values, names map[string]bool) {
	typed := ""
	for _, spec := range group.Specs {
		s := spec.(*ast.ValueSpec)
		if named, ok := s.Type.(*ast.Ident); ok {
			typed = named.Name
		} else if len(s.Values) > 0 {
			typed = ""
		}
		states := pkg == "fairlead" && typed == "State"
		for i, name := range s.Names {
			after := slices.ContainsFunc(types, func(of string) bool { return typed == "" && strings.HasPrefix(name.Name, of) })
			if !after && !slices.Contains(types, typed) || !name.IsExported() {
				continue
			}
			values[name.Name] = true
			if text, ok := valueAt(s.Values, i); ok && states {
				names[text] = true
			}
		}
	}
}

// valueAt is the text of the value that a constant is given, if it is one.
func valueAt(values []ast.Expr, i int) (string, bool) {
	if i >= len(values) {
		return "", false
	}
	return textOf(values[i])
}

func textOf(e ast.Expr) (string, bool) {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// parseDir parses the sources of a package, without its tests.
func parseDir(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(positions, path.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	return files
}

var positions = token.NewFileSet()

// policiesOf finds where a store decides.
func policiesOf(t *testing.T, store string, values map[string]map[string]bool, names map[string]bool) []policy {
	t.Helper()
	var all []policy
	files := parseDir(t, store)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, decl := range files[name].Decls {
			s := policyScanner{values: values, names: names, at: policy{store: store, file: name, function: nameOf(decl)}}
			ast.Inspect(decl, s.visit)
			all = append(all, s.found...)
		}
	}
	return all
}

// nameOf names a declaration: a function with the type that has it.
func nameOf(decl ast.Decl) string {
	function, ok := decl.(*ast.FuncDecl)
	if !ok {
		return "(declaration)"
	}
	if function.Recv == nil {
		return function.Name.Name
	}
	of := function.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	return of.(*ast.Ident).Name + "." + function.Name.Name
}

// policyScanner looks at one declaration.
type policyScanner struct {
	values   map[string]map[string]bool
	names    map[string]bool
	at       policy
	found    []policy
	compared map[ast.Node]bool // values that were found in comparisons
}

func (s *policyScanner) add(node ast.Node, what, of string) {
	p := s.at
	p.what, p.of, p.line = what, of, positions.Position(node.Pos()).Line
	s.found = append(s.found, p)
}

func (s *policyScanner) visit(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			s.compare(n.X, n.Y)
		}
	case *ast.CaseClause:
		s.compare(n.List...)
	case *ast.SelectorExpr:
		if of, is := s.value(n); is && !s.compared[n] {
			s.add(n, "chooses", of)
		}
	case *ast.CallExpr:
		s.call(n)
	case *ast.CompositeLit:
		if selected, ok := n.Type.(*ast.SelectorExpr); ok && (selected.Sel.Name == "InvalidError" || selected.Sel.Name == "FieldError") {
			s.add(n, "words", selected.Sel.Name)
		}
	case *ast.KeyValueExpr:
		key, named := n.Key.(*ast.Ident)
		if text, ok := textOf(n.Value); ok && named && slices.Contains([]string{"err", "Error", "Message"}, key.Name) && strings.Contains(text, " ") {
			s.add(n, "words", strconv.Quote(text))
		}
	}
	return true
}

// value reports whether an expression is a value that is decided about.
func (s *policyScanner) value(e ast.Expr) (of string, is bool) {
	selected, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	pkg, ok := selected.X.(*ast.Ident)
	if !ok || !s.values[pkg.Name][selected.Sel.Name] {
		return "", false
	}
	return pkg.Name + "." + selected.Sel.Name, true
}

func (s *policyScanner) compare(sides ...ast.Expr) {
	if s.compared == nil {
		s.compared = map[ast.Node]bool{}
	}
	for _, side := range sides {
		if of, is := s.value(side); is {
			s.add(side, "compares", of)
			s.compared[side] = true
		}
		if text, ok := textOf(side); ok && s.names[text] {
			s.add(side, "compares", strconv.Quote(text))
		}
	}
}

// call looks at a call: of Final, which compares a state, and of what makes an error.
func (s *policyScanner) call(call *ast.CallExpr) {
	selected, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	if selected.Sel.Name == "Final" && len(call.Args) == 0 {
		s.add(call, "compares", "Final")
	}
	if pkg, ok := selected.X.(*ast.Ident); !ok || pkg.Name != "fmt" || selected.Sel.Name != "Errorf" {
		return
	}
	for _, arg := range call.Args {
		if wrapped, ok := arg.(*ast.SelectorExpr); ok && slices.Contains(contractErrors, wrapped.Sel.Name) {
			s.add(call, "words", wrapped.Sel.Name)
		}
	}
}

func TestWhatCountsAsDecidingIsFound(t *testing.T) {
	values, names := policyValues(t)
	for code, want := range map[string]string{
		`p.state == fairlead.Running`:                                 "compares fairlead.Running",
		`"waiting" != p.state`:                                        `compares "waiting"`,
		`p.state.Final()`:                                             "compares Final",
		`b.State == batch.Running`:                                    "compares batch.Running",
		`end{reason: fairlead.ReasonCrash}`:                           "chooses fairlead.ReasonCrash",
		`end{outcome: sqlstore.OutcomeFailed}`:                        "chooses sqlstore.OutcomeFailed",
		`end{err: "its node died"}`:                                   `words "its node died"`,
		`fmt.Errorf("job %d has ended: %w", 1, fairlead.ErrConflict)`: "words ErrConflict",
		`fmt.Errorf("read: %w", err)`:                                 "",
		`func() { switch s { case fairlead.Fail: } }`:                 "compares fairlead.Fail",
		`sweep.Running`:                                               "chooses sweep.Running",
		`fairlead.LimitQueue`:                                         "",
	} {
		expr, err := parser.ParseExpr(code)
		if err != nil {
			t.Fatal(err)
		}
		s := policyScanner{values: values, names: names}
		ast.Inspect(expr, s.visit)
		got := ""
		for _, p := range s.found {
			got += p.what + " " + p.of
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", code, got, want)
		}
	}
}
