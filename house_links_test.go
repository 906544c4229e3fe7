package fairlead_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	codeBlock  = regexp.MustCompile("(?ms)^```.*?^```$")
	comment    = regexp.MustCompile("(?s)<!--.*?-->")
	codeSpan   = regexp.MustCompile("`[^`\n]+`")
	linkTarget = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
)

// TestLinksOfTheDocumentationLeadSomewhere follows every link of a document to a file of
// ours, and its anchor to a heading there.
func TestLinksOfTheDocumentationLeadSomewhere(t *testing.T) {
	anchors := map[string]map[string]bool{}
	found := 0
	for _, document := range documents(t) {
		prose := read(t, document)
		for _, code := range []*regexp.Regexp{codeBlock, comment, codeSpan} {
			prose = code.ReplaceAllString(prose, "")
		}
		for _, match := range linkTarget.FindAllStringSubmatch(prose, -1) {
			target := match[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			found++
			file, anchor, _ := strings.Cut(target, "#")
			file = path.Join(path.Dir(document), file)
			if strings.HasPrefix(target, "#") {
				file = document
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which does not exist", document, target)
				continue
			}
			if anchor == "" {
				continue
			}
			if anchors[file] == nil {
				anchors[file] = anchorsOf(read(t, file))
			}
			if !anchors[file][anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", document, target, file)
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d links were found", found)
	}
}

// TestEveryPageOfTheDocumentationCanBeFound wants a link to every page of docs from its
// way in, docs/README.md, or from a page that this leads to.
func TestEveryPageOfTheDocumentationCanBeFound(t *testing.T) {
	reached := map[string]bool{}
	next := []string{"docs/README.md"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		if reached[page] || path.Ext(page) != ".md" {
			continue
		}
		reached[page] = true
		for _, match := range linkTarget.FindAllStringSubmatch(read(t, page), -1) {
			file, _, _ := strings.Cut(match[1], "#")
			target := path.Join(path.Dir(page), file)
			if info, err := os.Stat(target); err == nil && info.IsDir() {
				target = path.Join(target, "README.md")
			}
			if _, err := os.Stat(target); err == nil && strings.HasPrefix(target, "docs/") {
				next = append(next, target)
			}
		}
	}
	for _, document := range documents(t) {
		if strings.HasPrefix(document, "docs/") && !strings.HasPrefix(document, "docs/decisions/") && !reached[document] {
			t.Errorf("no link leads from docs/README.md to %s", document)
		}
	}
}

// anchorsOf are the names that GitHub gives to the headings of a page.
func anchorsOf(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		var name strings.Builder
		for _, r := range strings.ToLower(match[1]) {
			switch {
			case r == ' ':
				name.WriteRune('-')
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				name.WriteRune(r)
			}
		}
		anchors[name.String()] = true
	}
	return anchors
}

// documents lists all pages in Markdown, from the root of the repository.
func documents(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules" || file == "bin"):
			return fs.SkipDir
		case path.Ext(file) == ".md":
			files = append(files, filepath.ToSlash(file))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
