package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

const sample = `package sample

type Move int

const (
	Up Move = iota
	Down
)

func decide(n, limit int, open bool) (Move, int) {
	if n > limit && open {
		n++
		release(n)
		return Up, n + 1
	}
	switch {
	case err != nil:
	case open:
		return Down, n
	}
	return Down, n
}
`

func readSample(t *testing.T) *source {
	t.Helper()
	s, err := readSource("sample.go", sample)
	if err != nil {
		t.Fatal(err)
	}
	numbers := 0
	s.number = func() int { numbers++; return numbers }
	s.own, s.swaps = true, outcomes{}
	s.swaps.collect(s.parsed)
	s.find()
	return s
}

func TestPlacesOfASourceAreFound(t *testing.T) {
	var got []string
	for _, p := range readSample(t).places {
		got = append(got, p.kind+": "+p.text)
	}
	slices.Sort(got)
	want := []string{
		"bound: n > limit", "branch: n > limit && open", "branch: open", "call: release(n)", "count: n + 1", "count: n++",
		"operand: n > limit", "operand: open", "outcome: Down", "outcome: Down", "outcome: Up",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestARewrittenSourceHasItsLinesWhereTheyWere(t *testing.T) {
	s := readSample(t)
	text := s.rewritten()
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, "sample.go", text, 0)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if was, is := strings.Count(sample, "\n"), strings.Count(text, "\n"); was != is {
		t.Errorf("%d lines, want %d:\n%s", is, was, text)
	}
	asked := 0
	ast.Inspect(parsed, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && (call.Sel.Name == "On" || call.Sel.Name == "Pick") {
			asked++
		}
		return true
	})
	if want := len(s.places) + 1; asked != want { // a bound asks twice
		t.Errorf("it asks %d times, want %d:\n%s", asked, want, text)
	}
}
