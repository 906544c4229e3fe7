package main

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// verdictFile stores the verdicts.
type verdictFile struct {
	file  string
	mu    sync.Mutex
	known map[string]verdict // by place
}

func openVerdictFile(file string) (*verdictFile, error) {
	l := &verdictFile{file: file, known: map[string]verdict{}}
	return l, readLines(file, func(v verdict) { l.known[v.Place] = v })
}

func (l *verdictFile) add(v verdict) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[v.Place] = v
	return appendLine(l.file, v)
}

func (l *verdictFile) find(at *place) (verdict, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.known[at.name()]
	return v, ok
}

//go:embed equivalent.txt
var equivalentText string

// readEquivalents reads the reasons for equivalent mutants, by name: each reason is on a
// separate line, followed by the mutants that it explains, indented. Lines that begin with
// # are comments.
func readEquivalents(text string) (map[string]string, error) {
	reasons, reason := map[string]string{}, ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case line[0] != '\t':
			reason = trimmed
		case reason == "":
			return nil, fmt.Errorf("line %d: the mutant has no reason above it", n)
		default:
			reasons[trimmed] = reason
		}
	}
	return reasons, nil
}
