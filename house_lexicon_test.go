package fairlead_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stores are the packages that keep jobs in a database. A reader who knows one of
// them should find the same things under the same names in the others.
var stores = []string{"postgres", "mysql", "sqlite"}

const (
	lexiconFile = "testdata/lexicon.txt" // names that not all stores have, and why
	storesPage  = "docs/stores.md"
	waitsTitle  = "\n## Waiting for a caller's transaction\n" // the rest of the page, which is written by hand
)

// lexicon is a kind of names: which stores have each, and why some do not.
type lexicon struct {
	kind    string
	having  map[string][]string // name → stores
	reasons map[string]string   // name → why not all stores have it
}

func TestStoresUseTheSameNames(t *testing.T) {
	for _, names := range lexicons(t) {
		for _, name := range slices.Sorted(maps.Keys(names.having)) {
			having, reason := names.having[name], names.reasons[name]
			switch {
			case len(having) < len(stores) && reason == "":
				t.Errorf("%s %s is only in %s: name it as the other stores do, or give a reason in %s", names.kind, name, strings.Join(having, " and "), lexiconFile)
			case len(having) == len(stores) && reason != "":
				t.Errorf("%s %s is in all stores: take it out of %s", names.kind, name, lexiconFile)
			}
		}
		for name := range names.reasons {
			if names.having[name] == nil {
				t.Errorf("%s %s is in no store: take it out of %s", names.kind, name, lexiconFile)
			}
		}
	}
}

// updateStores is set by -update-stores.
var updateStores = flag.Bool("update-stores", false, "write "+storesPage)

func TestThePageOfStoresShowsTheirFiles(t *testing.T) {
	written, err := os.ReadFile(storesPage)
	if err != nil {
		t.Fatal(err)
	}
	_, byHand, found := strings.Cut(string(written), waitsTitle)
	if !found {
		t.Fatalf("%s has no section %q", storesPage, strings.TrimSpace(waitsTitle))
	}
	page := pageOfStores(lexicons(t)) + waitsTitle + byHand
	if *updateStores {
		if err := os.WriteFile(storesPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(written) != page {
		t.Errorf("%s is not what the stores are: run go test . -run %s -update-stores", storesPage, t.Name())
	}
}

func pageOfStores(all []lexicon) string {
	var page strings.Builder
	page.WriteString("# The three stores, side by side\n\n" +
		"Each store is a package of its own; code that they share is in `internal/sqlstore`. Files, types and\n" +
		"statements with the same purpose have the same name in all stores. Exceptions are listed here with the\n" +
		"reason. `go test .` checks this page.\n")
	for _, names := range all {
		shared := 0
		for _, having := range names.having {
			if len(having) == len(stores) {
				shared++
			}
		}
		fmt.Fprintf(&page, "\n## %s: %d shared, %d with a reason\n\n", names.kind, shared, len(names.having)-shared)
		if names.kind == "file" {
			writeFileTable(&page, names)
			continue
		}
		writeReasons(&page, names)
	}
	return page.String()
}

func writeFileTable(page *strings.Builder, names lexicon) {
	fmt.Fprintf(page, "| File | %s | Why not in all |\n|---|---|---|---|---|\n", strings.Join(stores, " | "))
	for _, name := range slices.Sorted(maps.Keys(names.having)) {
		fmt.Fprintf(page, "| %s |", name)
		for _, store := range stores {
			if slices.Contains(names.having[name], store) {
				page.WriteString(" ✓ |")
			} else {
				page.WriteString("  |")
			}
		}
		fmt.Fprintf(page, " %s |\n", names.reasons[name])
	}
}

func writeReasons(page *strings.Builder, names lexicon) {
	byReason := map[string][]string{}
	for name, reason := range names.reasons {
		byReason[reason] = append(byReason[reason], name)
	}
	for _, reason := range slices.Sorted(maps.Keys(byReason)) {
		fmt.Fprintf(page, "- %s `%s`\n", reason, strings.Join(slices.Sorted(slices.Values(byReason[reason])), "` `"))
	}
}

func lexicons(t *testing.T) []lexicon {
	t.Helper()
	reasons := readReasons(t)
	var all []lexicon
	for _, kind := range []struct {
		name string
		find func(t *testing.T, store string) []string
	}{{"file", filesOf}, {"type", typesOf}, {"statement", statementsOf}} {
		having := map[string][]string{}
		for _, store := range stores {
			for _, name := range kind.find(t, store) {
				having[name] = append(having[name], store)
			}
		}
		all = append(all, lexicon{kind.name, having, reasons[kind.name]})
	}
	return all
}

func filesOf(t *testing.T, store string) []string {
	t.Helper()
	files, err := filepath.Glob(store + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			names = append(names, filepath.Base(file))
		}
	}
	return names
}

func typesOf(t *testing.T, store string) (names []string) {
	t.Helper()
	for _, file := range filesOf(t, store) {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(store, file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range parsed.Decls {
			if group, ok := declared.(*ast.GenDecl); ok && group.Tok == token.TYPE {
				for _, spec := range group.Specs {
					names = append(names, spec.(*ast.TypeSpec).Name.Name)
				}
			}
		}
	}
	return names
}

var statementName = regexp.MustCompile(`(?m)^-- name: *(\w+)$`)

func statementsOf(t *testing.T, store string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(store + "/sql/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range statementName.FindAllStringSubmatch(string(text), -1) {
			names = append(names, found[1])
		}
	}
	return names
}

// readReasons reads lexiconFile: a reason on a line of its own, and indented below it
// the names that it is for, each line of one kind.
func readReasons(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile(lexiconFile)
	if err != nil {
		t.Fatal(err)
	}
	reasons, reason := map[string]map[string]string{"file": {}, "type": {}, "statement": {}}, ""
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, "\t"):
			reason = line
		case reasons[words[0]] == nil || reason == "":
			t.Fatalf("%s:%d: %q is neither a reason nor names of files, types or statements below one", lexiconFile, i+1, line)
		default:
			for _, name := range words[1:] {
				if reasons[words[0]][name] != "" {
					t.Errorf("%s:%d: %s %s stands twice", lexiconFile, i+1, words[0], name)
				}
				reasons[words[0]][name] = reason
			}
		}
	}
	return reasons
}
