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

// place is somewhere in the code, and the one way in which it is damaged there.
type place struct {
	number    int
	area      *area
	file      string // as the repository names it
	line      int
	in        string // function or statement
	kind      string // what is done to it
	text      string // what was there
	statement *active.Replacement
	node      ast.Node // in a source of Go
	reachedBy []int    // numbers of the places that are reached if this one is; its own if it has none
}

// name tells the place apart from all others of this and of later commits, unless what is
// damaged or where it stands has changed.
func (p *place) name() string {
	return fmt.Sprintf("%s %s %s: %s", p.file, p.in, p.kind, p.text)
}

func (p *place) reaches() []int {
	if p.reachedBy == nil {
		return []int{p.number}
	}
	return p.reachedBy
}

// tellApart numbers places whose names are the same.
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

// Kinds of damage that are never left to the lot in the statements that hand out, take
// back and end work.
var (
	vitalKinds      = []string{"fence", "lease", "lock"}
	vitalStatements = []string{"claim", "limited", "quota", "settle", "resolve", "operate", "gate", "batch", "keep"}
)

// vital reports whether a place is judged in any case.
func (p *place) vital() bool {
	if p.statement == nil || !slices.Contains(vitalKinds, p.kind) {
		return false
	}
	file := strings.TrimSuffix(p.file[strings.LastIndexByte(p.file, '/')+1:], ".sql")
	return slices.Contains(vitalStatements, file)
}

// draw puts places in the order in which they are judged: the vital ones if they come
// first, then the others in an order that follows from the seed.
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
