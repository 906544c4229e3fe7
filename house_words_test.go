package fairlead_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// phrase is a regular expression for words that a native speaker would not choose, and a
// suggestion. Its number is the pattern of the dialect that it belongs to; phrases with
// the number zero are forbidden.
type phrase struct {
	number           int
	pattern, instead string
	hints            []string // one of them is in each text that matches: looking for them is fast
	found            *regexp.Regexp
}

// patterns names the patterns of the dialect, by number.
var patterns = []string{"forbidden words", "a clause where English uses a noun", "a pronoun without its noun", `"X is …" for a function`, "the actor is missing or comes last", "a chain of clauses", "a word that a native speaker would not choose", "a cryptic default"}

var phrases = compilePhrases([]phrase{
	{0, `(?:whoever|whomever)`, "name the actor: the caller, the node, the process that …", []string{"whoever", "whomever"}, nil},
	{0, `(?:nobody|somebody|everybody|anybody)`, "name the actor: no node, another program, every user, any caller", []string{"body"}, nil},
	{0, `(?:let|lets|letting) (?:\w+ )?out`, "a batch releases tasks", []string{"let"}, nil},
	{0, `(?:come|comes|came|coming) to nothing`, "fails, or was given up", []string{"nothing"}, nil},
	{0, `(?:is|are|was|were|be) at it`, "say what is in progress, or who holds the lock", []string{" at it"}, nil},
	{0, `as that could be`, "because …", []string{"as that"}, nil},
	{0, `tells whether`, "reports whether", []string{"tells"}, nil},
	{0, `(?:leave|left) (?:it|them) away`, "leave it out", []string{"away"}, nil},
	{0, `(?:were|was|is|are) told of`, "reports, gets a message, counts", []string{"told of"}, nil},
	{1, `what (?:is|was|were|are|has|it|becomes|became|makes|of it)`, `"what is called" → "target URL"; "what becomes of X" → "what happens to X"`, []string{"what "}, nil},
	{1, `(?:who may|whose \w+ (?:is|are)|how (?:old|far|long|many|much|often) (?:it|they|that|this|these) (?:is|are|may|has|have|was|were))`, `"how old they may be" → "maximum age"; "who may use it" → "API tokens"`, []string{"who may", "whose ", "how "}, nil},
	{2, `^(?:it|they|those|that of|one|as it) \w+`, `name the thing: "it makes runs" → "the schedule starts runs"`, []string{""}, nil},
	{3, `^\w+ (?:is|are|was|were) \w+`, `start with a verb: "rooms is what is left" → "rooms returns the remaining capacity"`, []string{""}, nil},
	{4, `(?:it is (?:told|known|asked|said)|is asked (?:back|again)|(?:those|he|him) who)`, `name the actor first: "it is asked back" → "the command asks for confirmation"`, []string{"it is ", "is asked", " who"}, nil},
	{5, `(?:of (?:which|whom)|so (?:long|many|much) (?:after|as|before)|or such as|such whose|such that are)`, `split the sentence or use a noun: "so long after its end" → "delay after its end"`, []string{"of wh", "so ", "or such", "such "}, nil},
	{6, `(?:no bound|living (?:node|schedule)s?|mends?|by the clock|take[sn]? the place of|still so|gets? sooner|put off|bear to|stays? so|once more)`, "unlimited; live node; fix; scheduled; replaces; ongoing; starts earlier; postponed; again", []string{"bound", "living", "mend", "clock", "place of", "still so", "sooner", "put off", "bear to", "stay", "once more"}, nil},
	{6, `(?:(?:is|are|was|has been) over|kept in|makes? runs|texts|believes?|goes on|go on|tried again|tries again|anew)`, "ended, expired; stored in; starts runs; strings; trusts; continues; retried; again", []string{" over", "kept in", "run", "texts", "believe", " on", "again", "anew"}, nil},
	{7, `(?:empty|zero|nil|none|0): [a-z]\w*`, `"empty: now" → "leave empty to start now"; "zero: no bound" → "zero = unlimited"`, []string{": "}, nil},
})

func compilePhrases(all []phrase) []phrase {
	for i, p := range all {
		all[i].found = regexp.MustCompile(`(?i)` + strings.Replace(`\b`+p.pattern+`\b`, `\b^`, `^`, 1))
	}
	return all
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
	{"internal/testdb/privilege.go", `nobody`, "the name of a user of the system"},
}

const dialectFile = "testdata/dialect.txt" // occurrences of each pattern, per package

// updateDialect is set by -update-dialect.
var updateDialect = flag.Bool("update-dialect", false, "write "+dialectFile)

// TestTextsAreNotLessPlainThanBefore counts the patterns of the dialect in documents,
// pages, comments and strings, and fails if a package has more than the committed table
// says. Of tests only comments count: strings are often data.
func TestTextsAreNotLessPlainThanBefore(t *testing.T) {
	found, counts := map[string][]string{}, map[string]*[8]int{}
	used := map[int]bool{}
	for _, file := range textFiles(t) {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range passagesOf(file, source) {
			text.search(func(p phrase, line int, sentence string) {
				allowed := slices.IndexFunc(wordsAllowed, func(may struct{ file, line, why string }) bool {
					return may.file == file && strings.Contains(sentence, may.line)
				})
				used[allowed] = true
				if allowed >= 0 {
					return
				}
				pack := path.Dir(file)
				if counts[pack] == nil {
					counts[pack] = new([8]int)
				}
				counts[pack][p.number]++
				key := fmt.Sprint(pack, p.number)
				found[key] = append(found[key], fmt.Sprintf("%s:%d: %s\n\tsuggestion: %s", file, line, sentence, p.instead))
			})
		}
	}
	for i, may := range wordsAllowed {
		if !used[i] {
			t.Errorf("no line of %s has %q and an unclear word any more: remove it from the list", may.file, may.line)
		}
	}
	if *updateDialect {
		writeDialect(t, counts)
	}
	committed := readDialect(t)
	for _, pack := range slices.Sorted(maps.Keys(counts)) {
		for number, n := range counts[pack] {
			if before := committed[pack][number]; n > before {
				t.Errorf("%s has %d cases of pattern %d (%s), and had %d. Rewrite the new ones among these:\n%s", pack, n, number, patterns[number], before, strings.Join(found[fmt.Sprint(pack, number)], "\n"))
			}
		}
	}
	if t.Failed() {
		t.Logf("after an improvement, record it: go test . -run %s -update-dialect", t.Name())
	}
}

func TestThePatternsOfTheDialectAreFound(t *testing.T) {
	source := "package p\n\n// rooms is what is left of\n// the kinds. It makes runs.\nfunc rooms() {\n\tuse(\"it makes runs\") // zero: no bound\n}\n"
	var found []string
	for _, text := range passagesOf("p.go", []byte(source)) {
		text.search(func(p phrase, line int, sentence string) {
			found = append(found, fmt.Sprint(p.number, " ", line, " ", sentence))
		})
	}
	want := []string{"1 3 rooms is what is left of the kinds.", "3 3 rooms is what is left of the kinds.", "6 4 It makes runs.", "2 6 it makes runs", "6 6 it makes runs", "6 6 zero: no bound", "7 6 zero: no bound"}
	if !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

func writeDialect(t *testing.T, counts map[string]*[8]int) {
	t.Helper()
	var table bytes.Buffer
	table.WriteString("# package, then occurrences of patterns 0 to 7: see house_words_test.go. Numbers only go down.\n")
	for _, pack := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintln(&table, pack, strings.Trim(fmt.Sprint(*counts[pack]), "[]"))
	}
	if err := os.WriteFile(dialectFile, table.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readDialect(t *testing.T) map[string][8]int {
	t.Helper()
	table, err := os.ReadFile(dialectFile)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string][8]int{}
	for _, line := range strings.Split(string(table), "\n") {
		var pack string
		var n [8]int
		if _, err := fmt.Sscan(line, &pack, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]); err == nil {
			n[0] = 0 // forbidden words are, whatever the table says
			counts[pack] = n
		}
	}
	return counts
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

// passage is a comment, a string, or a line of another file. Lines of one comment are one
// passage, because sentences go over several lines.
type passage struct {
	first    int // number of the first line
	lines    []string
	function bool // the comment documents a function
}

// search calls found for each phrase of the text, with its line and its sentence.
func (x passage) search(found func(p phrase, line int, sentence string)) {
	all := strings.Join(x.lines, " ")
	small := strings.ToLower(all)
	for _, p := range phrases {
		if p.number == 3 && !x.function || !slices.ContainsFunc(p.hints, func(hint string) bool { return strings.Contains(small, hint) }) {
			continue
		}
		for _, at := range p.found.FindAllStringIndex(all, -1) {
			line, start, end := x.first, 0, len(all)
			for rest := at[0]; line < x.first+len(x.lines)-1 && rest > len(x.lines[line-x.first]); line++ {
				rest -= len(x.lines[line-x.first]) + 1
			}
			if i := strings.LastIndex(all[:at[0]], ". "); i >= 0 {
				start = i + 2
			}
			if i := strings.Index(all[at[1]:], ". "); i >= 0 {
				end = at[1] + i + 1
			}
			found(p, line, all[start:end])
		}
	}
}

// passagesOf returns the texts of a file. Of Go those are comments and strings.
func passagesOf(name string, source []byte) (texts []passage) {
	if path.Ext(name) != ".go" {
		for i, line := range strings.Split(string(source), "\n") {
			texts = append(texts, passage{first: i + 1, lines: []string{strings.TrimSpace(line)}})
		}
		return texts
	}
	file := token.NewFileSet().AddFile(name, -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	next := 0 // the line on which a comment goes on
	for {
		pos, tok, literal := s.Scan()
		line := file.Line(pos)
		switch {
		case tok == token.EOF:
			return texts
		case tok == token.COMMENT && line == next:
			last := &texts[len(texts)-1]
			last.lines, next = append(last.lines, strings.TrimSpace(strings.TrimPrefix(literal, "//"))), line+1
		case tok == token.COMMENT:
			lines := strings.Split(strings.TrimSpace(strings.Trim(literal, "/*")), "\n")
			texts, next = append(texts, passage{first: line, lines: lines}), line+len(lines)
		case tok == token.FUNC && line == next && len(texts) > 0:
			texts[len(texts)-1].function = true
		case tok == token.STRING && !strings.HasSuffix(name, "_test.go"):
			texts = append(texts, passage{first: line, lines: strings.Split(strings.Trim(literal, "\"`"), "\n")})
			next = 0
		}
	}
}
