package interleave_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/interleave"
)

// The page of guarantees names sentences of the contract and pairs that exist.
func TestEveryGuaranteeNamesItsContractAndItsPair(t *testing.T) {
	page, err := os.ReadFile("../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	contract := contract(t)
	_, table, _ := strings.Cut(string(page), "| Guarantee | Mechanism | Contract | Pair |\n|---|---|---|---|\n")
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 4 {
			break
		}
		rows++
		sentence, pair := cells[2], strings.TrimSpace(cells[3])
		if !strings.Contains(contract, `.test("`+sentence) {
			t.Errorf("%s: no test of the contract has the sentence %q", cells[0], sentence)
		}
		if _, err := interleave.Named(pair); err != nil {
			t.Errorf("%s: %v", cells[0], err)
		}
	}
	const least = 25
	if rows < least {
		t.Errorf("the page has %d rows, want at least %d", rows, least)
	}
}

// contract returns the source of the contract's tests.
func contract(t *testing.T) string {
	files, err := filepath.Glob("../storetest/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(content)
	}
	return b.String()
}
