package metrics_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestAllMetricsAreDocumentedAndNoOthers(t *testing.T) {
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		names, _, _ := strings.Cut(line[1:], "|")
		for _, match := range regexp.MustCompile("`(fairlead_[a-z_]+)").FindAllStringSubmatch(names, -1) {
			documented[match[1]] = true
		}
	}
	made := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`"(fairlead_[a-z_]+)"`).FindAllStringSubmatch(string(source), -1) {
			made[match[1]] = true
		}
	}
	if !maps.Equal(documented, made) || len(made) < 20 {
		t.Errorf("made are\n%s\ndocumented are\n%s", slices.Sorted(maps.Keys(made)), slices.Sorted(maps.Keys(documented)))
	}
}
