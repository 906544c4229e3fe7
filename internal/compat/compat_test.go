package compat

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const records = "../../testdata/compat"

var release = flag.String("release", "", "record the current API and schema as those of this version, such as v0.2.0")

// allowedHeader begins the file of a release that nothing was changed since.
const allowedHeader = `# What was removed or changed since the last release: the line that the test prints, and
# above it a comment with the reason. "go test ./internal/compat" fails for others.
`

func TestMain(m *testing.M) {
	flag.Parse()
	if *release != "" {
		if err := os.WriteFile(filepath.Join(records, "allowed.txt"), []byte(allowedHeader), 0o644); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func TestTheGoAPIKeepsWhatTheLastReleaseHad(t *testing.T) {
	now := goAPI(t)
	record(t, ".txt", []byte(strings.Join(now, "\n")+"\n"))
	before := strings.Split(strings.TrimSuffix(string(lastRelease(t, ".txt")), "\n"), "\n")
	if len(before) < 1000 {
		t.Fatalf("only %d names were released", len(before))
	}
	judge(t, "go: ", lost(before, now))
}

// lost returns the lines that no longer exist.
func lost(before, now []string) (gone []string) {
	for _, line := range before {
		if !slices.Contains(now, line) {
			gone = append(gone, line)
		}
	}
	return gone
}

func TestTheSchemaKeepsWhatTheLastReleaseHad(t *testing.T) {
	now, err := os.ReadFile("../../api/schema.binpb")
	if err != nil {
		t.Fatal(err)
	}
	record(t, ".binpb", now)
	judge(t, "schema: ", schemaChanges(parseSchema(t, lastRelease(t, ".binpb")), parseSchema(t, now)))
}

// record stores the current state if this is a release.
func record(t *testing.T, ending string, content []byte) {
	t.Helper()
	if *release == "" {
		return
	}
	if _, ok := versionOf(*release + ending); !ok {
		t.Fatalf("-release %s: a version is v1.2.3", *release)
	}
	if err := os.WriteFile(filepath.Join(records, *release+ending), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// lastRelease reads what the highest version recorded.
func lastRelease(t *testing.T, ending string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(records, "v*"+ending))
	if err != nil || len(files) == 0 {
		t.Fatalf("no release was recorded: %v", err)
	}
	last := slices.MaxFunc(files, func(a, b string) int {
		left, _ := versionOf(filepath.Base(a))
		right, _ := versionOf(filepath.Base(b))
		return slices.Compare(left, right)
	})
	content, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// versionOf reads the numbers of v1.2.3 in a file's name.
func versionOf(file string) (numbers []int, ok bool) {
	words := strings.Split(strings.TrimPrefix(strings.TrimSuffix(file, filepath.Ext(file)), "v"), ".")
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, len(numbers) == 3
}

// judge fails for changes that are not allowed, and for allowed changes that did not
// happen.
func judge(t *testing.T, kind string, changes []string) {
	t.Helper()
	allowed := allowances(t)
	for i, change := range changes {
		changes[i] = kind + change
		if !slices.Contains(allowed, changes[i]) {
			t.Errorf("the last release promised otherwise; keep it, or add this line with a reason to testdata/compat/allowed.txt:\n%s", changes[i])
		}
	}
	for _, line := range allowed {
		if strings.HasPrefix(line, kind) && !slices.Contains(changes, line) {
			t.Errorf("testdata/compat/allowed.txt allows what has not changed:\n%s", line)
		}
	}
}

// allowances returns the lines of allowed.txt. Each one follows a reason.
func allowances(t *testing.T) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(records, "allowed.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	reason := false
	for _, line := range strings.Split(strings.TrimPrefix(string(text), allowedHeader), "\n") {
		switch line = strings.TrimSpace(line); {
		case line == "":
			reason = false
		case strings.HasPrefix(line, "#"):
			reason = true
		default:
			if !reason {
				t.Errorf("testdata/compat/allowed.txt has no reason above %q", line)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestVersionsAreComparedByNumber(t *testing.T) {
	older, ok := versionOf("v0.9.3.txt")
	newer, fine := versionOf("v0.10.0.binpb")
	if !ok || !fine || slices.Compare(older, newer) >= 0 {
		t.Errorf("%v, %v", older, newer)
	}
	if _, ok := versionOf("next.txt"); ok {
		t.Error("next.txt has no version")
	}
}
