package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestEveryBugCanBePlanted(t *testing.T) {
	t.Chdir("../..")
	const least = 25
	if n := len(bugs()); n < least {
		t.Errorf("the catalogue has %d bugs, want at least %d", n, least)
	}
	titles := map[string]bool{}
	for _, b := range bugs() {
		if titles[b.title()] {
			t.Errorf("two bugs are called %q", b.title())
		}
		titles[b.title()] = true
		content, err := b.planted()
		if err != nil {
			t.Errorf("%s: %v", b.title(), err)
			continue
		}
		if original, err := os.ReadFile(b.File); err != nil || content == string(original) {
			t.Errorf("%s: the replacement changes nothing (%v)", b.title(), err)
		}
		if filepath.Ext(b.File) == ".go" {
			if _, err := parser.ParseFile(token.NewFileSet(), b.File, content, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", b.title(), err)
			}
		}
	}
}

// The pairs find three of the bugs: in statements of two stores, and in Go.
func TestPairsFindPlantedBugs(t *testing.T) {
	tier.Long(t, "it builds the program three times and plays pairs with each")
	t.Chdir("../..")
	for _, title := range []string{
		"PostgreSQL: A retry reads the ended job without a lock",
		"PostgreSQL: A job is deleted by its ID after its state was compared",
		"MariaDB: A scheduled job is read without a lock",
	} {
		i := slices.IndexFunc(bugs(), func(b bug) bool { return b.title() == title })
		if i < 0 {
			t.Errorf("the catalogue lacks %q", title)
			continue
		}
		b := bugs()[i]
		found, err := b.tryWith(t.Context(), t.TempDir(), methods()[0], "")
		if err != nil {
			t.Errorf("%s: %v", title, err)
		} else if found == "" {
			t.Errorf("%s: no pair has found it", title)
		}
	}
}
