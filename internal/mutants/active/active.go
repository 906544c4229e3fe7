// Package active is the switch of mutants. It is linked only into the programs that
// command mutants builds: their sources ask it at every place that can be damaged.
//
// All mutants are in one program, so that it is built once. The environment says which
// of them is active, or where to note which places are reached.
package active

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// Variables of the environment.
const (
	// Number is the place that is damaged.
	Number = "FAIRLEAD_MUTANT"
	// Statement is a file with the statement that is damaged, as a Replacement in JSON.
	Statement = "FAIRLEAD_MUTANT_SQL"
	// Trace is a file to which the numbers of the places that are reached are added.
	Trace = "FAIRLEAD_MUTANT_TRACE"
)

// Replacement is a damaged statement.
type Replacement struct {
	Was string `json:"was"`
	Is  string `json:"is"`
}

var (
	chosen   = number()
	replaced = replacement()
	traced   = newTrace()
)

// On reports whether a place is damaged.
func On(place int) bool {
	if traced != nil {
		traced.reach(place)
	}
	return place == chosen
}

// Pick is what a place yields: something else if it is damaged.
func Pick[T any](place int, was, instead T) T {
	if On(place) {
		return instead
	}
	return was
}

// Used notes that a statement is used.
func Used(place int, statement string) string {
	On(place)
	return statement
}

// SQL is a statement as it was loaded: another one if it is damaged.
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

// trace notes places. Each is written when it is first reached: programs under test are
// killed at any moment.
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
