package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
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
