package fairlead_test

import (
	"cmp"
	"fmt"
	"go/scanner"
	"go/token"
	"hash/maphash"
	"os"
	"slices"
	"strings"
	"testing"
)

// mostSharedLines is how many lines in a row two places may have in common.
const mostSharedLines = 15

// sharedCode lists pairs of trees or files that may share more lines than that, and why.
var sharedCode = []struct{ one, other, why string }{
	{"mysql", "postgres", "the heap of candidates moves to what the stores share"},
}

// TestNoCodeIsWrittenTwice compares the code of all files that people write, but for
// tests: what is the same in two places is changed in one of them and forgotten in the
// other.
//
// A line counts if it says something: comments, imports, package clauses and lines of
// punctuation alone are passed over. Names and literals count as they are, so code that
// only looks alike is not the same.
func TestNoCodeIsWrittenTwice(t *testing.T) {
	var code []codeLine
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") || generated(file) {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, codeLines(file, source)...)
	}
	used := map[int]bool{}
	for _, pair := range repetitions(code, mostSharedLines) {
		allowed := slices.IndexFunc(sharedCode, func(may struct{ one, other, why string }) bool { return pair.between(may.one, may.other) })
		if allowed < 0 {
			t.Errorf("%s: write it once", pair)
		}
		used[allowed] = true
	}
	for i, may := range sharedCode {
		if !used[i] {
			t.Errorf("%s and %s share no such code any more: remove them from the list", may.one, may.other)
		}
	}
}

func TestRepeatedCodeIsFound(t *testing.T) {
	function := func(name string, lines int) string {
		text := "func " + name + "() {\n"
		for i := range lines {
			text += fmt.Sprintf("\tcall(%d) // in %s\n\n", i, name)
		}
		return text + "}\n"
	}
	one, other := function("one", mostSharedLines), function("other", mostSharedLines)
	longer := function("longer", mostSharedLines+1)
	longest := function("longest", mostSharedLines+9)
	for _, c := range []struct {
		what, file, other string
		want              []string
	}{
		{"as many lines as may be", one, other, nil},
		{"one more", longer, "\n\n" + longest, []string{"a.go:2-32 and b.go:4-34 share 16 lines"}},
		{"all of a longer run, once", longest, longest, []string{"a.go:1-48 and b.go:1-48 share 25 lines"}},
		{"two places of one file", longer + longest, "", []string{"a.go:2-32 and a.go:36-66 share 16 lines"}},
		{"imports", "import (\n" + strings.Repeat("\t\"a\"\n", 2*mostSharedLines) + ")\n", "import (\n" + strings.Repeat("\t\"a\"\n", 2*mostSharedLines) + ")\n", nil},
	} {
		code := append(codeLines("a.go", []byte(c.file)), codeLines("b.go", []byte(c.other))...)
		var got []string
		for _, pair := range repetitions(code, mostSharedLines) {
			got = append(got, pair.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.what, got, c.want)
		}
	}
}

// codeLine is a line of code without what does not count.
type codeLine struct {
	file string
	line int
	text string // its tokens
}

// codeLines are the lines of a file that count, in order.
func codeLines(name string, source []byte) (lines []codeLine) {
	files := token.NewFileSet()
	file := files.AddFile(name, -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	current, says, imports, depth := codeLine{file: name}, false, false, 0
	end := func() {
		if says {
			lines = append(lines, current)
		}
		current, says = codeLine{file: name}, false
	}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			end()
			return lines
		}
		if tok == token.SEMICOLON && literal == "\n" {
			if depth == 0 {
				imports = false
			}
			continue // one that the scanner adds
		}
		if line := file.Line(pos); line != current.line {
			end()
			current.line = line
		}
		switch tok {
		case token.IMPORT, token.PACKAGE:
			imports, depth = true, 0
		case token.LPAREN:
			depth++
		case token.RPAREN:
			depth--
		}
		if imports {
			continue
		}
		if literal == "" {
			literal = tok.String()
		}
		current.text += " " + literal
		says = says || tok.IsLiteral() || tok.IsKeyword() && tok != token.ELSE
	}
}

// repetition is a run of lines that stands in two places.
type repetition struct {
	one, other             codeLine // the first lines
	oneEnd, otherEnd, many int      // the last lines, and how many lines count
}

func (r repetition) String() string {
	return fmt.Sprintf("%s:%d-%d and %s:%d-%d share %d lines", r.one.file, r.one.line, r.oneEnd, r.other.file, r.other.line, r.otherEnd, r.many)
}

// between reports whether the two places are in two trees, or files.
func (r repetition) between(one, other string) bool {
	within := func(line codeLine, tree string) bool {
		return line.file == tree || strings.HasPrefix(line.file, tree+"/")
	}
	return within(r.one, one) && within(r.other, other) || within(r.one, other) && within(r.other, one)
}

// repetitions are the runs of more than most lines that stand in two places, the longest
// first. A run that stands in three places is found as a pair of each two that follow
// each other.
func repetitions(code []codeLine, most int) (found []repetition) {
	size := most + 1
	seed := maphash.MakeSeed()
	hashes := make([]uint64, len(code))
	for i, line := range code {
		hashes[i] = maphash.String(seed, line.text)
	}
	same := func(i, j int) bool { return hashes[i] == hashes[j] && code[i].text == code[j].text }
	inFile := func(first, last int) bool { return last < len(code) && code[first].file == code[last].file }
	const base = 1_000_003
	var out uint64 = 1 // base to the power of size
	for range size {
		out *= base
	}
	before := map[uint64]int{} // the last place where a run begins, by its hash
	var rolled uint64
	for next := range code {
		rolled = rolled*base + hashes[next]
		first := next - size + 1
		if first < 0 {
			continue
		}
		if first > 0 {
			rolled -= hashes[first-1] * out
		}
		if !inFile(first, next) {
			continue
		}
		earlier, known := before[rolled]
		if known && earlier+size > first && code[earlier].file == code[first].file {
			continue // it overlaps with itself
		}
		before[rolled] = first
		if !known || earlier > 0 && first > 0 && inFile(earlier-1, earlier) && inFile(first-1, first) && same(earlier-1, first-1) {
			continue // it is the rest of a run that was found
		}
		n := 0
		for inFile(earlier, earlier+n) && inFile(first, first+n) && same(earlier+n, first+n) {
			n++
		}
		if n >= size {
			found = append(found, repetition{code[earlier], code[first], code[earlier+n-1].line, code[first+n-1].line, n})
		}
	}
	slices.SortStableFunc(found, func(a, b repetition) int { return cmp.Compare(b.many, a.many) })
	return found
}
