package storetest

import (
	"testing"
)

func TestEveryClauseHasANameOfItsOwn(t *testing.T) {
	seen := map[clause]bool{}
	for _, one := range read(chapters()).clauses {
		if seen[one] {
			t.Errorf("%s is there twice", one)
		}
		seen[one] = true
	}
	if len(seen) < 1000 {
		t.Errorf("the contract has only %d clauses", len(seen))
	}
}

func TestReadingTheContractTwiceListsTheSameClauses(t *testing.T) {
	again := map[clause]bool{}
	for _, one := range read(chapters()).clauses {
		again[one] = true
	}
	for _, one := range read(chapters()).clauses {
		if !again[one] {
			t.Errorf("the name of %s is drawn at random", one)
		}
	}
}

func TestEveryChunkHasChapters(t *testing.T) {
	for chunk := Enqueuing; chunk <= PlanModelling; chunk++ {
		if len(chaptersOf([]Section{chunk})) == 0 {
			t.Errorf("no chapter belongs to chunk %d", chunk)
		}
	}
	if all := chaptersOf(nil); len(all) != len(chapters()) {
		t.Errorf("without chunks, %d of %d chapters run", len(all), len(chapters()))
	}
}

func TestAClauseThatIsPassedOverIsReported(t *testing.T) {
	c := read([]titled{{"Chapter", Reading, func(c *chapter) {
		c.test("it runs", func(*fixture) {})
		c.long("it takes minutes").test("it is long", func(*fixture) {})
		c.test("it is passed over", func(*fixture) {})
	}}})
	c.meet(clause{"Chapter", "it runs"})
	c.meet(clause{"Chapter", "it is long"})
	if unmet := c.unmet(); len(unmet) != 1 || unmet[0].String() != "Chapter/it is passed over" {
		t.Errorf("reported: %v", unmet)
	}
}

func TestAHarnessDeclaresEverythingThatItLacks(t *testing.T) {
	lacking := func(needs ...Need) *Harness {
		h := &Harness{Lacks: map[Need]string{}}
		for _, need := range needs {
			h.Lacks[need] = "the test says so"
		}
		return h
	}
	if err := lacking(Transactions, LockWaits).check(); err != nil {
		t.Error(err)
	}
	for name, h := range map[string]*Harness{
		"nothing":                 lacking(),
		"transactions only":       lacking(Transactions),
		"writers, which it has":   lacking(Transactions, LockWaits, OtherWriters),
		"lock waits, no reason":   {Lacks: map[Need]string{Transactions: "none", LockWaits: ""}},
		"transactions, no reason": {Lacks: map[Need]string{Transactions: "", LockWaits: "none"}},
	} {
		if h.check() == nil {
			t.Errorf("declares to lack %s: no error", name)
		}
	}
}
