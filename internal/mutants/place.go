package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead/internal/mutants/active"
)

// place is a place in the code with one mutation.
type place struct {
	number    int
	area      *area
	file      string // path in the repository
	line      int
	in        string // function or statement
	kind      string // kind of mutation
	text      string // original text
	statement *active.Replacement
	node      ast.Node // in Go sources
	reachedBy []int    // numbers of the places that are reached if this one is; only its own if it has none
}

// name identifies the place in this and later commits, unless the mutated code or its
// location has changed.
func (p *place) name() string {
	return fmt.Sprintf("%s %s %s: %s", p.file, p.in, p.kind, p.text)
}

func (p *place) reaches() []int {
	if p.reachedBy == nil {
		return []int{p.number}
	}
	return p.reachedBy
}

// tellApart numbers places with the same name.
func tellApart(places []*place) {
	met := map[string]int{}
	for _, p := range places {
		name := p.name()
		met[name]++
		if n := met[name]; n > 1 {
			p.text += fmt.Sprintf(" (%d)", n)
		}
	}
}

// Kinds of mutations that are always selected in the statements that claim, take back and
// end jobs.
var (
	vitalKinds      = []string{"fence", "lease", "lock"}
	vitalStatements = []string{"claim", "claim_limits", "settle", "resolve", "operate", "gate", "batch", "keep"}
)

// vital reports whether a place is always judged.
func (p *place) vital() bool {
	if p.statement == nil || !slices.Contains(vitalKinds, p.kind) {
		return false
	}
	file := strings.TrimSuffix(p.file[strings.LastIndexByte(p.file, '/')+1:], ".sql")
	return slices.Contains(vitalStatements, file)
}

// draw sorts places in the order in which they are judged: vital ones first if requested,
// then the others in an order that depends on the seed.
func draw(places []*place, seed string, vitalFirst bool) {
	lot := map[*place]string{}
	for _, p := range places {
		lot[p] = fmt.Sprintf("%x", sha256.Sum256([]byte(seed+"\n"+p.name())))
	}
	slices.SortFunc(places, func(a, b *place) int {
		if vitalFirst && a.vital() != b.vital() {
			if a.vital() {
				return -1
			}
			return 1
		}
		return cmp.Compare(lot[a], lot[b])
	})
}
