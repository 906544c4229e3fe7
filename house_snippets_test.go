package fairlead_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Go code in documents is compiled. A block is a whole file, declarations, or statements. What
// it uses and does not declare is in a comment above it, which readers of the page do not see:
//
//	<!-- go: given
//	var changes []batch.Change
//	-->
//
// A block that is no program, and cannot become one, says so and why:
//
//	<!-- go: sketch, because … -->

// given is what every block may use without saying so, unless it declares the name itself.
const given = `
var ctx context.Context
var store *postgres.Store
var tx pgx.Tx
var client *fairlead.Client
var mux *fairlead.Mux
var job *fairlead.Job
var handler fairlead.Handler

type Invoice struct{ ID int }

func send(ctx context.Context, args ...any) error { return nil }
`

// borrowed are packages of others that blocks use.
var borrowed = []string{
	"bytes", "context", "crypto/hmac", "crypto/sha256", "database/sql", "encoding/hex", "encoding/json", "errors", "fmt", "io", "log", "log/slog", "net/http",
	"os", "os/signal", "strconv", "strings", "sync", "syscall", "testing", "time", "go.opentelemetry.io/otel/trace", "github.com/jackc/pgx/v5",
	"github.com/jackc/pgx/v5/pgxpool",
}

// snippet is a block of Go in a document.
type snippet struct {
	document string
	line     int // of its first line
	code     string
	given    string // what is declared for it
	sketch   bool   // it is not meant to compile
}

func (s snippet) String() string { return fmt.Sprintf("%s:%d", s.document, s.line) }

func TestTheGoCodeOfDocumentsCompiles(t *testing.T) {
	checker := newSnippetChecker(t)
	found := 0
	for _, document := range documents(t) {
		var whole []snippet // the files of the program that the document shows
		for _, s := range snippetsOf(document, read(t, document)) {
			found++
			if !s.sketch && packageClause.MatchString(s.code) {
				whole = append(whole, s)
				continue
			}
			switch errs := checker.check(s); {
			case s.sketch && len(errs) == 0:
				t.Errorf("%v compiles: it is no sketch", s)
			case !s.sketch:
				reportSnippet(t, errs)
			}
		}
		reportSnippet(t, checker.checkFiles(whole))
	}
	if found < 20 {
		t.Errorf("only %d blocks were found", found)
	}
}

func reportSnippet(t *testing.T, errs []error) {
	t.Helper()
	for _, err := range errs {
		t.Errorf("%v (what a block uses is declared above it in <!-- go: given … -->)", err)
	}
}

func TestAnErrorInTheCodeOfADocumentIsFoundInItsLine(t *testing.T) {
	checker := newSnippetChecker(t)
	for code, want := range map[string]string{
		"unused := 7\n":                                  "",
		"err := client.Enqueue(ctx, job)\n":              "",
		"err := client.Enqueue(ctx, job)\nerr.Shout()\n": "page.md:11",
		"func f() error { return send(ctx) }\n":          "",
		"func f() error { return missing(ctx) }\n":       "page.md:10",
		"for {\n": "page.md:1",
		"package main\n\nfunc main() { batch.Handle() }\n": "page.md:12",
	} {
		s := snippet{document: "page.md", line: 10, code: code}
		errs := checker.check(s)
		if packageClause.MatchString(code) {
			errs = checker.checkFiles([]snippet{s})
		}
		if want == "" && len(errs) != 0 || want != "" && (len(errs) == 0 || !strings.HasPrefix(errs[0].Error(), want)) {
			t.Errorf("of %q was found %v, not %q", code, errs, want)
		}
	}
	page := "<!-- go: given\nvar x int\n-->\n```go\nx++\n```\n\n<!-- go: sketch, because it has … -->\n```go\nx := …\n```\n"
	found := snippetsOf("page.md", page)
	if len(found) != 2 || found[0].given != "var x int\n" || found[0].line != 5 || found[0].sketch || !found[1].sketch || found[1].code != "x := …\n" {
		t.Errorf("the blocks of the page are %+v", found)
	}
}

var (
	packageClause = regexp.MustCompile(`(?m)^package \w+$`)
	goBlock       = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	goComment     = regexp.MustCompile(`(?s)<!-- go: (given\n|sketch, because )((?:[^-]|-[^-])*?)-->\n+$`)
)

func snippetsOf(document, text string) (found []snippet) {
	for _, at := range goBlock.FindAllStringSubmatchIndex(text, -1) {
		s := snippet{document: document, line: strings.Count(text[:at[2]], "\n") + 1, code: text[at[2]:at[3]]}
		if comment := goComment.FindStringSubmatch(text[:at[0]]); comment != nil {
			s.sketch = strings.HasPrefix(comment[1], "sketch")
			if !s.sketch {
				s.given = comment[2]
			}
		}
		found = append(found, s)
	}
	return found
}

// snippetChecker checks the types of blocks.
type snippetChecker struct {
	fset    *token.FileSet
	imports types.Importer
	known   map[string]string // name of a package → its path
}

// newSnippetChecker has the packages compiled that blocks may use.
func newSnippetChecker(t *testing.T) *snippetChecker {
	t.Helper()
	c := &snippetChecker{fset: token.NewFileSet(), known: map[string]string{}}
	for _, borrowed := range borrowed {
		c.known[path.Base(borrowed)] = borrowed
	}
	c.known["pgx"] = "github.com/jackc/pgx/v5"
	for _, layer := range layers {
		for _, pkg := range layer.packages {
			c.known[path.Base(pkg)] = path.Join(module, pkg)
		}
	}
	delete(c.known, ".")
	c.known["fairlead"], c.known["fairleadtest"] = module, module+"/fairleadtest"
	for _, pkg := range []string{"pgtest", "mysqltest"} {
		c.known[pkg] = path.Join(module, "fairleadtest", pkg)
	}
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, slices.Sorted(maps.Values(c.known))...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		imported, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		exports[imported] = file
	}
	c.imports = importer.ForCompiler(c.fset, "gc", func(imported string) (io.ReadCloser, error) {
		if exports[imported] == "" {
			return nil, fmt.Errorf("blocks do not import %s: add it to borrowed", imported)
		}
		return os.Open(exports[imported])
	})
	return c
}

// check checks a block that is no whole file: declarations if it can be read as such, else
// statements.
func (c *snippetChecker) check(s snippet) []error {
	var head strings.Builder
	head.WriteString("package snippet\n")
	for name, imported := range c.known {
		fmt.Fprintf(&head, "import %s %q\n", name, imported)
	}
	file, err := parser.ParseFile(c.fset, "", fmt.Sprintf("%s//line %v\n%s", head.String(), s, s.code), 0)
	if err != nil {
		file, err = parser.ParseFile(c.fset, "", fmt.Sprintf("%sfunc _() {\n//line %v\n%s\n}\n", head.String(), s, s.code), 0)
	}
	if err != nil {
		return []error{err}
	}
	files, declared := []*ast.File{file}, declaredIn(file)
	for _, source := range []string{s.given, given} {
		prelude, err := parser.ParseFile(c.fset, s.String()+" (given)", head.String()+source, 0)
		if err != nil {
			return []error{err}
		}
		own := declaredIn(prelude)
		prelude.Decls = slices.DeleteFunc(prelude.Decls, func(decl ast.Decl) bool {
			for name := range declaredIn(&ast.File{Decls: []ast.Decl{decl}}) {
				if declared[name] {
					return true
				}
			}
			return false
		})
		maps.Copy(declared, own)
		files = append(files, prelude)
	}
	return c.types(files)
}

// checkFiles checks blocks that are the files of one program.
func (c *snippetChecker) checkFiles(whole []snippet) []error {
	var files []*ast.File
	for _, s := range whole {
		file, err := parser.ParseFile(c.fset, "", fmt.Sprintf("//line %v\n%s", s, s.code), 0)
		if err != nil {
			return []error{err}
		}
		files = append(files, file)
	}
	return c.types(files)
}

// types checks the types of files. What a compiler calls unused may be used in the next block.
func (c *snippetChecker) types(files []*ast.File) (errs []error) {
	config := types.Config{Importer: c.imports, Error: func(err error) {
		if e, ok := err.(types.Error); !ok || !e.Soft { //nolint:errorlint // it is given as it is
			errs = append(errs, err)
		}
	}}
	_, _ = config.Check("snippet", c.fset, files, nil) // errors have been collected
	return errs
}

// declaredIn is the names that a file declares.
func declaredIn(file *ast.File) map[string]bool {
	names, declared := map[string][]string{}, map[string]bool{}
	for _, decl := range file.Decls {
		addExported(names, decl)
	}
	for name := range names {
		declared[name] = name != "_"
	}
	return declared
}
