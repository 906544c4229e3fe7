package fairlead_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheDocumentationNamesWhatExists looks up every name of a package of ours that the
// documents use, such as items.Options or sweep.Client.Retry. Decisions and the
// changelog speak of names as they were.
func TestTheDocumentationNamesWhatExists(t *testing.T) {
	names := exportedNames(t)
	named := regexp.MustCompile(`(?:^|[^\w.-])([a-z]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	found := 0
	for _, document := range documents(t) {
		if pastTense(document) {
			continue
		}
		for _, match := range named.FindAllStringSubmatch(read(t, document), -1) {
			pkg, name, member := match[1], match[2], match[3]
			if names[pkg] == nil {
				continue // a variable, or a package of others
			}
			found++
			members, exists := names[pkg][name]
			switch {
			case !exists:
				t.Errorf("%s speaks of %s.%s, which does not exist", document, pkg, name)
			case member != "" && !slices.Contains(members, member):
				t.Errorf("%s speaks of %s.%s.%s, which does not exist", document, pkg, name, member)
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d names were found", found)
	}
}

// TestTheMapListsEveryPackage compares the list of CONTRIBUTING.md with the packages.
func TestTheMapListsEveryPackage(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)/` \\| [^|]+ \\|$").FindAllStringSubmatch(string(text), -1) {
		listed[match[1]]++
	}
	packages := map[string]bool{}
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file, "_test.go") && !generated(file) {
			packages[path.Dir(file)] = true
		}
	}
	for pkg := range packages {
		if listed[pkg] != 1 {
			t.Errorf("CONTRIBUTING.md has %d lines for the package %s, not one", listed[pkg], pkg)
		}
	}
	for pkg := range listed {
		if !packages[pkg] {
			t.Errorf("CONTRIBUTING.md lists %s, which is no package", pkg)
		}
	}
}

// exportedNames lists what packages export: by the package's name, then by the name of
// what is exported, with its fields and methods.
func exportedNames(t *testing.T) map[string]map[string][]string {
	t.Helper()
	names := map[string]map[string][]string{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") || isUndrawn(path.Dir(file)) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		own := names[parsed.Name.Name]
		if own == nil {
			own = map[string][]string{}
			names[parsed.Name.Name] = own
		}
		for _, decl := range parsed.Decls {
			addExported(own, decl)
		}
	}
	return names
}

func addExported(names map[string][]string, decl ast.Decl) {
	if function, ok := decl.(*ast.FuncDecl); ok {
		owner, member := function.Name.Name, []string(nil)
		if function.Recv != nil {
			owner, member = receiver(function.Recv.List[0].Type), []string{function.Name.Name}
		}
		names[owner] = append(names[owner], member...)
		return
	}
	for _, spec := range decl.(*ast.GenDecl).Specs {
		switch s := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range s.Names {
				names[name.Name] = nil
			}
		case *ast.TypeSpec:
			names[s.Name.Name] = append(names[s.Name.Name], membersOf(s.Type)...)
		}
	}
}

func receiver(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func membersOf(expr ast.Expr) (members []string) {
	var fields *ast.FieldList
	switch e := expr.(type) {
	case *ast.StructType:
		fields = e.Fields
	case *ast.InterfaceType:
		fields = e.Methods
	default:
		return nil
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			members = append(members, name.Name)
		}
	}
	return members
}
