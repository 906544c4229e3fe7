package compat

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/fairlead-io/fairlead"

// private are packages without a promise, by the beginning of their paths, in addition to
// internal ones, and packages that are generated from the schema, which has a promise of its own.
var private = []string{"/cmd/", "/sim", "/storetest", "/examples/", "/api/", "/bench"}

// goAPI lists what programs can use of the public packages, sorted.
func goAPI(t *testing.T) []string {
	t.Helper()
	exports, public := compiled(t)
	load := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	var lines []string
	for _, path := range public {
		pkg, err := load.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, packageAPI(pkg)...)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// compiled returns the files with the compiler's export data of packages, and which
// packages are public.
func compiled(t *testing.T) (exports map[string]string, public []string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Dir}}", "./...")
	list.Dir = "../.."
	var complaint bytes.Buffer
	list.Stderr = &complaint
	output, err := list.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaint.Bytes())
	}
	exports = map[string]string{}
	for line := range strings.Lines(string(output)) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		if len(words) != 3 {
			continue // package unsafe has no export data
		}
		exports[words[0]] = words[1]
		rest, ours := strings.CutPrefix(words[0], module)
		if ours && !strings.Contains(rest+"/", "/internal/") && !slices.ContainsFunc(private, func(p string) bool { return strings.HasPrefix(rest+"/", p) }) {
			public = append(public, words[0])
			remember(t, words[2])
		}
	}
	return exports, public
}

// remember reads the files of a package: go test keeps a result only while what the test
// has read is the same.
func remember(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
}

// packageAPI lists the exported names of a package.
func packageAPI(pkg *types.Package) (lines []string) {
	name := short(pkg)
	add := func(format string, args ...any) {
		lines = append(lines, "pkg "+name+", "+fmt.Sprintf(format, args...))
	}
	for _, key := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(key)
		if !object.Exported() {
			continue
		}
		switch object := object.(type) {
		case *types.Const:
			add("const %s %s = %s", key, text(object.Type()), object.Val().ExactString())
		case *types.Var:
			add("var %s %s", key, text(object.Type()))
		case *types.Func:
			add("func %s%s", key, signature(object.Signature()))
		case *types.TypeName:
			typeAPI(object, add)
		}
	}
	return lines
}

// typeAPI lists a type, its exported fields and its exported methods, including those of
// embedded types.
func typeAPI(object *types.TypeName, add func(format string, args ...any)) {
	name := object.Name()
	if object.IsAlias() {
		add("type %s = %s", name, text(types.Unalias(object.Type())))
		return
	}
	named := object.Type().(*types.Named)
	name += parameters(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Struct:
		add("type %s struct", name)
		for field := range under.Fields() {
			if field.Exported() {
				add("type %s struct, %s %s", name, field.Name(), text(field.Type()))
			}
		}
	case *types.Interface:
		add("type %s interface", name)
		for method := range under.Methods() {
			if method.Exported() {
				add("type %s interface, %s%s", name, method.Name(), signature(method.Signature()))
			}
		}
		return
	default:
		add("type %s %s", name, text(under))
	}
	values := types.NewMethodSet(named)
	for method := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		function := method.Obj().(*types.Func)
		if !function.Exported() {
			continue
		}
		receiver := "*" + name
		if values.Lookup(function.Pkg(), function.Name()) != nil {
			receiver = name
		}
		add("method (%s) %s%s", receiver, function.Name(), signature(method.Type().(*types.Signature)))
	}
}

// signature returns a function's type without the names of parameters, which callers do not
// see.
func signature(s *types.Signature) string {
	unnamed := func(tuple *types.Tuple) *types.Tuple {
		var vars []*types.Var
		for v := range tuple.Variables() {
			vars = append(vars, types.NewParam(token.NoPos, nil, "", v.Type()))
		}
		return types.NewTuple(vars...)
	}
	plain := types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())
	return parameters(s.TypeParams()) + strings.TrimPrefix(text(plain), "func")
}

func parameters(list *types.TypeParamList) string {
	var words []string
	for p := range list.TypeParams() {
		words = append(words, p.Obj().Name()+" "+text(p.Constraint()))
	}
	if words == nil {
		return ""
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func text(t types.Type) string {
	return types.TypeString(t, short)
}

// short returns the path of a package within the module.
func short(p *types.Package) string {
	if p.Path() == module {
		return p.Name()
	}
	return strings.TrimPrefix(p.Path(), module+"/")
}
