// Package active enables mutants. It is linked only into the programs that command mutants
// builds: their sources call it at every place with a mutation.
//
// All mutants are in one program, so that it is built once. The environment determines
// which of them is active, or where to record the reached places.
package active

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// Environment variables.
const (
	// Number is the number of the mutated place.
	Number = "FAIRLEAD_MUTANT"
	// Statement is a file with the mutated statement, as a Replacement in JSON.
	Statement = "FAIRLEAD_MUTANT_SQL"
	// Trace is a file to which the numbers of reached places are appended.
	Trace = "FAIRLEAD_MUTANT_TRACE"
)

// Replacement is a mutated statement.
type Replacement struct {
	Was string `json:"was"`
	Is  string `json:"is"`
}

var (
	chosen   = number()
	replaced = replacement()
	traced   = newTrace()
)

// On reports whether a place is mutated.
func On(place int) bool {
	if traced != nil {
		traced.reach(place)
	}
	return place == chosen
}

// Pick returns the value of a place: instead if the place is mutated.
func Pick[T any](place int, was, instead T) T {
	if On(place) {
		return instead
	}
	return was
}

// Used records that a statement is used.
func Used(place int, statement string) string {
	On(place)
	return statement
}

// SQL returns a loaded statement, or its mutated version.
func SQL(text string) string {
	if replaced.Was != "" && text == replaced.Was {
		return replaced.Is
	}
	return text
}

func number() int {
	text := os.Getenv(Number)
	if text == "" {
		return -1
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", Number, err))
	}
	return n
}

func replacement() (r Replacement) {
	file := os.Getenv(Statement)
	if file == "" {
		return r
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		panic(fmt.Sprintf("%s: %v", Statement, err))
	}
	return r
}

// trace records places. Each is written when it is first reached, because programs under
// test are killed at any time.
type trace struct {
	file    *os.File
	mu      sync.RWMutex
	reached map[int]bool
}

func newTrace() *trace {
	name := os.Getenv(Trace)
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", Trace, err))
	}
	return &trace{file: file, reached: map[int]bool{}}
}

func (t *trace) reach(place int) {
	t.mu.RLock()
	known := t.reached[place]
	t.mu.RUnlock()
	if known {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.reached[place] {
		t.reached[place] = true
		fmt.Fprintln(t.file, place)
	}
}
