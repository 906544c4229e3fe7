package storetest

import (
	"flag"
	"strings"
	"sync"
	"testing"
)

// clause is one sentence of the contract. The sentence of a model is empty.
type clause struct{ chapter, sentence string }

func (c clause) String() string { return strings.TrimSuffix(c.chapter+"/"+c.sentence, "/") }

// contract is a list of clauses, and of those that a run has met: they ran, or they are
// long, or the harness declares that it lacks something that they require.
type contract struct {
	clauses []clause

	mu  sync.Mutex
	met map[clause]bool
}

// read lists the clauses of chapters without running them.
func read(chapters []titled) *contract {
	c := &contract{met: map[clause]bool{}}
	for _, each := range chapters {
		each.tests(&chapter{contract: c, title: each.title})
	}
	return c
}

// meet records that a clause was met.
func (c *contract) meet(one clause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.met[one] = true
}

// unmet returns the clauses that the run has skipped.
func (c *contract) unmet() (list []clause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.clauses {
		if !c.met[one] {
			list = append(list, one)
		}
	}
	return list
}

// check fails the test if the run has skipped a clause, unless the flags of go test select
// only some clauses.
func (c *contract) check(t *testing.T) {
	if t.Failed() || chosen() {
		return
	}
	for _, one := range c.unmet() {
		t.Errorf("%s did not run: it is neither long, nor does the harness lack something that it needs", one)
	}
}

// chosen reports whether flags of go test select clauses.
func chosen() bool {
	return strings.Contains(flag.Lookup("test.run").Value.String(), "/") || flag.Lookup("test.skip").Value.String() != ""
}
