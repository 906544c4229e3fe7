package cli

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// laughs returns a file of a few hundred bytes that expands to 10^depth elements.
func laughs(depth int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 lol\n")
	for i := 1; i <= depth; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

func TestFilesThatStandForTooMuchAreRefused(t *testing.T) {
	const most = 256 << 20 // maximum bytes that reading a rejected file may allocate
	for name, file := range map[string]string{
		"aliases of aliases":  laughs(9),
		"aliases of a text":   "a: &a " + strings.Repeat("x", 10_000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "*a]\n",
		"merged aliases":      "a: &a {x: " + strings.Repeat("x", 10_000) + "}\n" + strings.Repeat("b:\n  <<: *a\n", 200),
		"lists in lists":      strings.Repeat("[", 200_000),
		"objects in objects":  strings.Repeat("{a: ", 100_000),
		"entries in entries":  strings.Repeat("- ", 100_000) + "a",
		"keys of keys":        strings.Repeat("? ", 100_000) + "a",
		"tags of tags":        strings.Repeat("!a ", 100_000) + "a",
		"anchors of anchors":  strings.Repeat("&a ", 100_000) + "a",
		"a file without end":  strings.Repeat("a", maxYAMLBytes+1),
		"deeper line by line": deeper(2000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var into any
			err := DecodeYAML("some.yaml", []byte(file), &into)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), "some.yaml") {
				t.Fatalf("it is read: %v", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > most {
				t.Errorf("refusing it allocates %d bytes: %v", used, err)
			}
		})
	}
}

// deeper returns a mapping nested to a number of levels, one line each.
func deeper(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestOrdinaryAliasesAreRead(t *testing.T) {
	var into map[string]any
	err := DecodeYAML("some.yaml", []byte("base: &base {a: 1}\nother:\n  <<: *base\n  b: 2\nlist: [*base, *base]\n"), &into)
	if err != nil || len(into["list"].([]any)) != 2 || len(into["other"].(map[string]any)) != 2 {
		t.Errorf("it is read as %v: %v", into, err)
	}
}

func TestSchedulesOfAliasesAreBounded(t *testing.T) {
	if _, err := readManifest("-", strings.NewReader(laughs(9))); err == nil || !strings.Contains(err.Error(), "aliases") {
		t.Errorf("it is read: %v", err)
	}
}
