package source_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/source"
	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// naiveLines returns the expected lines.
func naiveLines(content string) []string {
	if content == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

func write(t interface{ Fatal(...any) }, dir, name, content string) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openFile(t *testing.T, path string, options source.Options) *source.Lines {
	t.Helper()
	options.Roots = append(options.Roots, filepath.Dir(path))
	lines, err := source.File(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lines.Close() })
	return lines
}

func read(t *testing.T, s source.Source, from, to int64, most int) []string {
	t.Helper()
	items := make([]source.Item, most)
	n, next, err := s.Read(t.Context(), from, to, items)
	if err != nil {
		t.Fatal(err)
	}
	if n > 0 && next != items[n-1].Index+1 {
		t.Fatalf("read up to %d, the last item is %d", next, items[n-1].Index)
	}
	var lines []string
	for i, item := range items[:n] {
		if item.Index != from+int64(i) {
			t.Fatalf("item %d has index %d", i, item.Index)
		}
		lines = append(lines, string(item.Data))
	}
	return lines
}

func TestLinesAreWhatTheyAre(t *testing.T) {
	for content, want := range map[string][]string{
		"":                    nil,
		"\n":                  {""},
		"a":                   {"a"},
		"a\n":                 {"a"},
		"a\n\nb":              {"a", "", "b"},
		"a\r\nb\r\n":          {"a", "b"},
		"a\rb\n":              {"a\rb"},
		"\r\n\r\n":            {"", ""},
		"last has a CR\r":     {"last has a CR"},
		"été\nx\x00y\n\xff\n": {"été", "x\x00y", "\xff"},
	} {
		t.Run(fmt.Sprintf("%q", content), func(t *testing.T) {
			lines := openFile(t, write(t, t.TempDir(), "list", content), source.Options{})
			_, n, err := lines.Bounds(t.Context())
			if err != nil || n != int64(len(want)) {
				t.Fatalf("%d lines, want %d: %v", n, len(want), err)
			}
			if got := read(t, lines, 0, n, 100); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("they are %q, want %q", got, want)
			}
		})
	}
}

// Reads in any order, with few samples and by a run that restored the state, return the
// same lines.
func TestAnyPartOfAFileCanBeRead(t *testing.T) {
	dir := t.TempDir()
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "bc\r", "a longer line", strings.Repeat("x", 300)}), 0, 300).Draw(t, "lines")
		content := strings.Join(text, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
		want := naiveLines(content)
		path := write(t, dir, "list", content)
		options := source.Options{Roots: []string{dir}, Samples: rapid.IntRange(2, 20).Draw(t, "samples")}
		lines, err := source.File(path, options)
		if err != nil {
			t.Fatal(err)
		}
		defer lines.Close()
		_, n, err := lines.Bounds(context.Background())
		if err != nil || n != int64(len(want)) {
			t.Fatalf("%d lines, want %d: %v", n, len(want), err)
		}
		for range rapid.IntRange(1, 20).Draw(t, "reads") {
			if rapid.IntRange(0, 5).Draw(t, "restore") == 0 {
				state, err := lines.State()
				if err != nil {
					t.Fatal(err)
				}
				if err := lines.Restore(state); err != nil {
					t.Fatal(err)
				}
			}
			from := rapid.Int64Range(0, n).Draw(t, "from")
			to := rapid.Int64Range(from, n+5).Draw(t, "to")
			items := make([]source.Item, rapid.IntRange(0, 40).Draw(t, "most"))
			got, next, err := lines.Read(context.Background(), from, to, items)
			if err != nil {
				t.Fatal(err)
			}
			if expected := min(int64(len(items)), max(0, min(to, n)-from)); int64(got) != expected || next != from+expected {
				t.Fatalf("%d items up to %d, want %d", got, next, expected)
			}
			for i, item := range items[:got] {
				if item.Index != from+int64(i) || string(item.Data) != want[item.Index] {
					t.Fatalf("line %d is %q, want %q", item.Index, item.Data, want[item.Index])
				}
			}
		}
	})
}

func TestTheStateStaysSmall(t *testing.T) {
	var content bytes.Buffer
	for i := range 200_000 {
		fmt.Fprintf(&content, "user-%d@example.com\n", i*7919)
	}
	lines := openFile(t, write(t, t.TempDir(), "list", content.String()), source.Options{})
	if _, n, err := lines.Bounds(t.Context()); err != nil || n != 200_000 {
		t.Fatal(n, err)
	}
	state, err := lines.State()
	if err != nil {
		t.Fatal(err)
	}
	if len(state) > 16<<10 {
		t.Errorf("the state has %d bytes", len(state))
	}
	if got := read(t, lines, 123_456, 200_000, 1); got[0] != fmt.Sprintf("user-%d@example.com", 123_456*7919) {
		t.Errorf("line 123456 is %q", got)
	}
}

func TestAChangedFileIsNoticed(t *testing.T) {
	const content = "one\ntwo\nthree\n"
	for name, change := range map[string]func(t *testing.T, path string){
		"longer":           func(t *testing.T, path string) { write(t, filepath.Dir(path), "list", content+"four\n") },
		"touched":          func(t *testing.T, path string) { touch(t, path, time.Now().Add(time.Hour)) },
		"with equal times": func(t *testing.T, path string) { rewriteSecretly(t, path, "ONE\ntwo\nthree\n") },
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, t.TempDir(), "list", content)
			lines := openFile(t, path, source.Options{})
			if _, _, err := lines.Bounds(t.Context()); err != nil {
				t.Fatal(err)
			}
			state, err := lines.State()
			if err != nil {
				t.Fatal(err)
			}
			change(t, path)
			later := openFile(t, path, source.Options{})
			if err := later.Restore(state); err != nil {
				t.Fatal(err)
			}
			if _, _, err := later.Read(t.Context(), 0, 1, make([]source.Item, 1)); !errors.Is(err, source.ErrChanged) {
				t.Errorf("the change was not noticed: %v", err)
			}
			if _, _, err := later.Bounds(t.Context()); !errors.Is(err, source.ErrChanged) {
				t.Errorf("the change was not noticed: %v", err)
			}
		})
	}
}

func touch(t *testing.T, path string, at time.Time) {
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func rewriteSecretly(t *testing.T, path, content string) {
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(path), filepath.Base(path), content)
	touch(t, path, info.ModTime())
}

func TestAChangeWhileReadingIsNoticed(t *testing.T) {
	content := strings.Repeat("some line\n", 100_000) // several blocks
	path := write(t, t.TempDir(), "list", content)
	lines := openFile(t, path, source.Options{})
	if _, _, err := lines.Bounds(t.Context()); err != nil {
		t.Fatal(err)
	}
	read(t, lines, 0, 10, 10)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("more\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := lines.Read(t.Context(), 10, 100_000, make([]source.Item, 99_990)); !errors.Is(err, source.ErrChanged) {
		t.Errorf("the change was not noticed: %v", err)
	}
}

func TestALineThatIsTooLongIsNamed(t *testing.T) {
	path := write(t, t.TempDir(), "list", "short\n"+strings.Repeat("x", 100)+"\r\n"+strings.Repeat("y", 101)+"\n")
	_, _, err := openFile(t, path, source.Options{MaxLine: 100}).Bounds(t.Context())
	if err == nil || !strings.Contains(err.Error(), "line 2 ") {
		t.Errorf("the error is %v", err)
	}
	if _, n, err := openFile(t, path, source.Options{MaxLine: 101}).Bounds(t.Context()); err != nil || n != 3 {
		t.Errorf("%d lines: %v", n, err)
	}
}

func TestADamagedStateIsRefused(t *testing.T) {
	path := write(t, t.TempDir(), "list", "a\nb\n")
	for _, state := range []string{`{`, `{}`, `{"identity":{},"lines":9,"every":1,"samples":""}`, `{"identity":{},"lines":1,"every":0,"samples":"AA=="}`, `{"identity":{},"lines":1,"every":1,"samples":"/w=="}`} {
		if err := openFile(t, path, source.Options{}).Restore(json.RawMessage(state)); err == nil {
			t.Errorf("%s was taken", state)
		}
	}
}

func TestOnlyFilesBelowTheRootsAreRead(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	secret := write(t, outside, "secret", "x\n")
	list := write(t, inside, "list", "x\n")
	link := func(name, target string) string {
		path := filepath.Join(inside, name)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		path  string
		roots []string
		ok    bool
	}{
		"below":              {list, []string{inside}, true},
		"link inside":        {link("again", list), []string{inside}, true},
		"link to other root": {link("out1", secret), []string{inside, outside}, true},
		"no roots":           {list, nil, false},
		"link outside":       {link("out2", secret), []string{inside}, false},
		"link to directory":  {filepath.Join(link("out3", outside), "secret"), []string{inside}, false},
		"dots":               {inside + "/../" + filepath.Base(outside) + "/secret", []string{inside}, false},
		"prefix of a name":   {list, []string{inside[:len(inside)-1]}, false},
		"directory":          {inside, []string{filepath.Dir(inside)}, false},
		"relative":           {"list", []string{inside}, false},
		"missing outside":    {outside + "/missing", []string{inside}, false},
		"missing":            {inside + "/missing", []string{inside}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := source.File(c.path, source.Options{Roots: c.roots})
			if (err == nil) != c.ok {
				t.Errorf("the answer is %v", err)
			}
			if strings.Contains(name, "outside") && !strings.Contains(fmt.Sprint(err), "not in a directory that sweeps may read") {
				t.Errorf("the answer tells what exists: %v", err)
			}
		})
	}
}

func BenchmarkReadLines(b *testing.B) {
	dir := b.TempDir()
	path := write(b, dir, "list", strings.Repeat("user-12345678@example.com\n", 1_000_000))
	lines, err := source.File(path, source.Options{Roots: []string{dir}})
	if err != nil {
		b.Fatal(err)
	}
	defer lines.Close()
	_, n, err := lines.Bounds(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	items := make([]source.Item, 64)
	at, total := int64(0), 0
	b.ReportAllocs()
	for b.Loop() {
		if at == n {
			at = 0
		}
		got, next, err := lines.Read(b.Context(), at, n, items)
		if err != nil {
			b.Fatal(err)
		}
		at, total = next, total+got
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(total), "ns/item")
}
