package fairlead_test

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unclear are words that hide who does something, or say it in a riddle, and what to
// write instead.
var unclear = []struct{ pattern, instead string }{
	{`(?:whoever|whomever)`, "name the actor: the caller, the node, the process that …"},
	{`(?:nobody|somebody|everybody|anybody)`, "name the actor: no node, another program, every user, any caller"},
	{`(?:let|lets|letting) (?:\w+ )?out`, "a batch releases tasks"},
	{`(?:come|comes|came|coming) to nothing`, "fails, or was given up"},
	{`(?:is|are|was|were|be) at it`, "say what is under way, or who holds the lock"},
	{`as that could be`, "because …"},
	{`tells whether`, "reports whether"},
	{`(?:leave|left) (?:it|them) away`, "leave it out"},
	{`(?:were|was|is|are) told of`, "reports, gets a message, counts"},
}

// wordless are trees and files in which these words are not looked for, and why.
var wordless = []struct{ tree, why string }{
	{"storetest", "its cases are named after sentences of the contract"},
	{"docs/decisions", "records are not rewritten"},
	{"postgres/migrations", "its files are shipped, and not rewritten"},
	{"mysql/migrations", "its files are shipped, and not rewritten"},
	{"sqlite/migrations", "its files are shipped, and not rewritten"},
	{"CHANGELOG.md", "it says what was said of earlier versions"},
	{"house_words_test.go", "it lists the words"},
}

// wordsAllowed are lines that have one of the words in another sense, by what they
// contain.
var wordsAllowed = []struct{ file, line, why string }{
	{"internal/testdb/privilege.go", `"nobody"`, "the name of a user of the system"},
}

// TestTextsSayWhoDoesWhat looks for unclear words in documents, pages, comments and texts
// of the program. Of tests only comments count: strings are often data.
func TestTextsSayWhoDoesWhat(t *testing.T) {
	patterns := make([]string, len(unclear))
	for i, u := range unclear {
		patterns[i] = u.pattern
	}
	whole := regexp.MustCompile(`(?i)\b(?:` + strings.Join(patterns, "|") + `)\b`)
	used := map[int]bool{}
	for _, file := range textFiles(t) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for number, line := range textLines(file, source) {
			word := whole.FindString(line)
			if word == "" {
				continue
			}
			allowed := slices.IndexFunc(wordsAllowed, func(may struct{ file, line, why string }) bool {
				return may.file == file && strings.Contains(line, may.line)
			})
			if allowed < 0 {
				t.Errorf("%s:%d says %q: %s", file, number, word, insteadOf(word))
			}
			used[allowed] = true
		}
	}
	for i, may := range wordsAllowed {
		if !used[i] {
			t.Errorf("no line of %s has %q and an unclear word any more: remove it from the list", may.file, may.line)
		}
	}
}

func insteadOf(word string) string {
	for _, u := range unclear {
		if regexp.MustCompile(`(?i)^(?:` + u.pattern + `)$`).MatchString(word) {
			return u.instead
		}
	}
	return ""
}

// textFiles lists the files that people read, but for those that are left out.
func textFiles(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		out := slices.ContainsFunc(wordless, func(w struct{ tree, why string }) bool { return w.tree == file })
		switch {
		case entry.IsDir() && (out || file != "." && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules" || file == "bin" || file == "dist"):
			return fs.SkipDir
		case out || entry.IsDir() || generated(file):
		case slices.Contains([]string{".go", ".md", ".html", ".json", ".css", ".js", ".mjs", ".proto", ".sql"}, path.Ext(file)) && !strings.Contains(file, ".min."):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// textLines are the lines of a file in which words count, by their numbers. Of Go those
// are the lines of comments and of strings.
func textLines(name string, source []byte) map[int]string {
	lines := map[int]string{}
	add := func(first int, text string) {
		for i, line := range strings.Split(text, "\n") {
			lines[first+i] += " " + line
		}
	}
	if path.Ext(name) != ".go" {
		add(1, string(source))
		return lines
	}
	file := token.NewFileSet().AddFile(name, -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	for {
		switch pos, tok, literal := s.Scan(); {
		case tok == token.EOF:
			return lines
		case tok == token.COMMENT, tok == token.STRING && !strings.HasSuffix(name, "_test.go"):
			add(file.Line(pos), literal)
		}
	}
}
