package fairlead_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheDocumentationListsEveryTable compares the table of docs/reference/tables.md with the
// schemas: a new table comes with the word who cleans it.
func TestTheDocumentationListsEveryTable(t *testing.T) {
	letters := map[string]string{"postgres": "P", "mysql": "M", "sqlite": "S"}
	stores := map[string]string{"migration": "PMS"} // every store makes it by itself
	create := regexp.MustCompile(`(?m)^create table (?:if not exists )?\{\{(\w+)\}\}`)
	for _, store := range []string{"postgres", "mysql", "sqlite"} {
		files, err := filepath.Glob(filepath.Join(store, "migrations", "*.sql"))
		if err != nil || len(files) == 0 {
			t.Fatalf("the migrations of %s: %v, %v", store, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range create.FindAllStringSubmatch(string(text), -1) {
				stores[match[1]] += letters[store]
			}
		}
	}
	text, err := os.ReadFile("docs/reference/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([PMS]+) \\| (.*) \\|$").FindAllStringSubmatch(string(text), -1) {
		table, of, rest := match[1], match[2], match[3]
		switch {
		case listed[table]:
			t.Errorf("docs/reference/tables.md lists %s twice", table)
		case stores[table] != of:
			t.Errorf("docs/reference/tables.md says that %q have the table %s; their migrations say %q", of, table, stores[table])
		case slices.Contains(strings.Split(rest, " | "), "") || strings.Count(rest, " | ") != 2:
			t.Errorf("docs/reference/tables.md does not say what is in %s, who inserts and who deletes", table)
		}
		listed[table] = true
	}
	var missing []string
	for table := range stores {
		if !listed[table] {
			missing = append(missing, fmt.Sprintf("%s (%s)", table, stores[table]))
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("docs/reference/tables.md does not list %s", strings.Join(missing, ", "))
	}
}
