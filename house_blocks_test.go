package fairlead_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// blockChecks are what is done with a block of code in a document, by its language. Go is
// compiled by TestTheGoCodeOfDocumentsCompiles, and examples are run by tests of cmd/fairlead.
var blockChecks = map[string]func(t *testing.T, code string) error{
	"go":      nil,
	"console": nil,
	"mermaid": nil, // readers of the page see whether it is drawn
	"promql":  nil, // names of metrics are looked up in all texts
	"java":    nil, // of other schedulers, on the pages for those who come from them
	"python":  nil, // run by a test of cmd/fairlead
	"text":    nil, // what a program prints, or a crontab
	"sql":     nil, // run by the tests of the stores' rights
	"json":    func(_ *testing.T, code string) error { return json.Unmarshal([]byte(withoutEllipsis(code)), new(any)) },
	"yaml":    func(_ *testing.T, code string) error { return yaml.Unmarshal([]byte(code), new(any)) },
	"sh":      checkShell,
}

// TestBlocksOfDocumentsAreWhatTheySay reads every block of code: that of a language which is
// not in blockChecks has no test yet.
func TestBlocksOfDocumentsAreWhatTheySay(t *testing.T) {
	block := regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	found := 0
	for _, document := range documents(t) {
		for _, match := range block.FindAllStringSubmatch(read(t, document), -1) {
			check, known := blockChecks[match[1]]
			if !known {
				t.Errorf("%s has a block in the language %q, which no test looks at", document, match[1])
				continue
			}
			found++
			if check == nil {
				continue
			}
			if err := check(t, match[2]); err != nil {
				t.Errorf("%s: %v\n%s", document, err, match[2])
			}
		}
	}
	if found < 150 {
		t.Errorf("only %d blocks were found", found)
	}
}

// TestExamplesOfDocumentsAreRun looks for the test that runs the examples of each document.
func TestExamplesOfDocumentsAreRun(t *testing.T) {
	files, err := filepath.Glob("cmd/fairlead/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, file := range files {
		tests.WriteString(read(t, file))
	}
	for _, document := range documents(t) {
		name := strings.TrimPrefix(document, "docs/")
		if strings.Contains(read(t, document), "```console\n") && !strings.Contains(tests.String(), name+`"`) {
			t.Errorf("no test of cmd/fairlead runs the examples of %s", document)
		}
	}
}

// withoutEllipsis makes JSON of which parts are left out whole.
func withoutEllipsis(code string) string {
	return regexp.MustCompile(`,?\s*…`).ReplaceAllString(code, "")
}

// checkShell has a shell read the code and not run it.
func checkShell(t *testing.T, code string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "block.sh")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		return err
	}
	return exec.CommandContext(t.Context(), "sh", "-n", file).Run()
}

// TestTheReadmesShowTheSameCode compares the README in Chinese with the other.
func TestTheReadmesShowTheSameCode(t *testing.T) {
	english, chinese := codeBlock.FindAllString(read(t, "README.md"), -1), codeBlock.FindAllString(read(t, "README.zh.md"), -1)
	if len(english) < 10 || !slices.Equal(english, chinese) {
		t.Errorf("README.md has %d blocks of code, and README.zh.md other ones", len(english))
	}
}
