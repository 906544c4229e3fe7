package main

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/mutants/active"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// project is the repository with all its places.
type project struct {
	root    string
	sources map[string]*source // modified sources by name
	places  []*place
	swaps   outcomes
	numbers int
	names   map[int]string // names of places in the code and of uses of statements
	refuse  map[int]bool
}

// survey finds the places of areas. It leaves out excluded ones, and all others retain
// their numbers.
func survey(root string, refuse map[int]bool) (*project, error) {
	p := &project{root: root, sources: map[string]*source{}, swaps: outcomes{}, names: map[int]string{}, refuse: refuse}
	if err := p.collectOutcomes(); err != nil {
		return nil, err
	}
	for i := range areas {
		a := &areas[i]
		if a.statements != "" {
			if err := p.surveyStatements(a); err != nil {
				return nil, err
			}
		}
	}
	for i := range areas {
		if err := p.surveySources(&areas[i]); err != nil {
			return nil, err
		}
	}
	tellApart(p.places)
	for _, at := range p.places {
		p.names[at.number] = at.name()
	}
	return p, p.switchLoader()
}

func (p *project) next() int {
	p.numbers++
	return p.numbers
}

func (p *project) collectOutcomes() error {
	files, err := filepath.Glob(filepath.Join(p.root, "*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		s, err := p.source(filepath.Base(file))
		if err != nil {
			return err
		}
		if !strings.HasSuffix(file, "_test.go") {
			p.swaps.collect(s.parsed)
		}
	}
	return nil
}

// source returns a parsed file of the repository.
func (p *project) source(name string) (*source, error) {
	if s, ok := p.sources[name]; ok {
		return s, nil
	}
	text, err := read(p.root, name)
	if err != nil {
		return nil, err
	}
	s, err := readSource(name, text)
	if err != nil {
		return nil, err
	}
	s.number, s.swaps, s.refuse, s.own = p.next, p.swaps, p.refuse, !strings.Contains(name, "/")
	p.sources[name] = s
	return s, nil
}

func (p *project) surveySources(a *area) error {
	files, err := a.goFiles(p.root)
	if err != nil {
		return err
	}
	for _, name := range files {
		s, err := p.source(name)
		if err != nil {
			return err
		}
		s.area, s.kinds = a, a.kinds
		s.find()
		p.places = append(p.places, s.places...)
	}
	return nil
}

// surveyStatements finds the mutations of a store's statements, and the places in its code
// where the statements are used.
func (p *project) surveyStatements(a *area) error {
	files, err := statementFiles(os.DirFS(p.root), a.statements)
	if err != nil {
		return err
	}
	used, err := p.surveyUses(a.statements)
	if err != nil {
		return err
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		for _, name := range slices.Sorted(maps.Keys(files[file])) {
			text := files[file][name]
			for _, d := range damages(text) {
				p.places = append(p.places, &place{
					number: p.next(), area: a, file: file, in: name, kind: d.kind, text: shortened(d.text),
					statement: &active.Replacement{Was: text, Is: d.is}, reachedBy: usedBy(name, files, used),
				})
			}
		}
	}
	return nil
}

// statementFiles reads the statements of each file of a store, and the common ones.
func statementFiles(root fs.FS, store string) (map[string]map[string]string, error) {
	files := map[string]map[string]string{}
	for _, directory := range []string{store, "internal/sqlstore"} {
		names, err := fs.Glob(root, directory+"/sql/*.sql")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if files[name], err = sqlstore.ReadStatements(root, name); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// usedBy returns the places that use a statement: through its own field, as a part of
// others, or together with one of several choices in the same file.
func usedBy(name string, files map[string]map[string]string, used map[string][]int) []int {
	numbers := slices.Clone(used[name])
	for _, statements := range files {
		_, sameFile := statements[name]
		choice := sameFile && (strings.Contains(statements[name], "{{choice}}") || len(used[name]) == 0)
		for other, text := range statements {
			if choice || strings.Contains(text, "{{"+name+"}}") {
				numbers = append(numbers, used[other]...)
			}
		}
	}
	slices.Sort(numbers)
	return append([]int{}, slices.Compact(numbers)...)
}

var field = regexp.MustCompile("(?m)^\t(\\w+) +string `sql:\"(\\w+)\"`")

// surveyUses adds tracing to every use of a statement, and returns where each is used.
func (p *project) surveyUses(store string) (map[string][]int, error) {
	names, err := fs.Glob(os.DirFS(p.root), store+"/*.go")
	if err != nil {
		return nil, err
	}
	text, err := read(p.root, store+"/statements.go")
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for _, match := range field.FindAllStringSubmatch(text, -1) {
		fields[match[1]] = match[2]
	}
	used := map[string][]int{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		s, err := p.source(name)
		if err != nil {
			return nil, err
		}
		s.uses(fields, used)
	}
	for statement, numbers := range used {
		for _, number := range numbers {
			p.names[number] = store + " uses " + statement
		}
	}
	return used, nil
}

// uses adds tracing to the uses of statements, and adds their numbers.
func (s *source) uses(fields map[string]string, used map[string][]int) {
	addressed := map[ast.Node]bool{} // or assigned, so it is not used as a value
	ast.Inspect(s.parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			addressed[n.X] = true
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				addressed[left] = true
			}
		case *ast.SelectorExpr:
			if statement, ok := fields[n.Sel.Name]; ok && s.holdsStatements(n.X) && !addressed[n] {
				number := s.number()
				used[statement] = append(used[statement], number)
				s.wraps = append(s.wraps, wrap{s.span(n), fmt.Sprintf("active.Used(%d, ", number), ")", number})
			}
		}
		return true
	})
}

// holdsStatements reports whether an expression is the field or the variable "sql".
func (s *source) holdsStatements(n ast.Expr) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		return n.Sel.Name == "sql"
	case *ast.Ident:
		return n.Name == "sql" && !strings.Contains(s.text, `"database/sql"`)
	}
	return false
}

// loader is the line that ends the reading of a statement.
const loader = `found[name] = strings.TrimSuffix(strings.TrimSpace(text), ";")`

// switchLoader makes the stores load a mutated statement.
func (p *project) switchLoader() error {
	const name = "internal/sqlstore/statements.go"
	s, err := p.source(name)
	if err != nil {
		return err
	}
	at := strings.Index(s.text, loader)
	if at < 0 {
		return fmt.Errorf("%s: no line %q", name, loader)
	}
	from := at + len("found[name] = ")
	s.wraps = append(s.wraps, wrap{span{from, at + len(loader)}, "active.SQL(", ")", 0})
	return nil
}
