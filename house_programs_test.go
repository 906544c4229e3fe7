package fairlead_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheProgramsForThoseWhoMigrateCompile hands every whole program of docs/migrating to
// go vet. What is marked as a sketch is code for another scheduler.
func TestTheProgramsForThoseWhoMigrateCompile(t *testing.T) {
	pages, err := filepath.Glob("docs/migrating/*.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^(<!-- sketch: [^\n]+ -->\n)?```go\n(.*?)^```$")
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			programs := 0
			for _, match := range block.FindAllStringSubmatch(read(t, page), -1) {
				if match[1] != "" {
					continue
				}
				programs++
				if !strings.HasPrefix(match[2], "package main\n") {
					t.Fatalf("%s has code that is no program: complete it, or mark it as a sketch\n%s", page, match[2])
				}
				file := filepath.Join(t.TempDir(), "main.go")
				if err := os.WriteFile(file, []byte(match[2]), 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.CommandContext(t.Context(), "go", "vet", file).CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", page, err, out)
				}
			}
			if programs == 0 {
				t.Errorf("%s has no program", page)
			}
		})
	}
	if len(pages) < 5 {
		t.Errorf("only %d pages were found", len(pages))
	}
}
