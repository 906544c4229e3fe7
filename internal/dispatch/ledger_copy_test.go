package dispatch

import "testing"

func TestACopyOfALedgerSaysTheSameAndGoesItsOwnWay(t *testing.T) {
	ledger, first, second := NewLedger(), alone("first", 1), alone("second", 1)
	ledger.Refresh(7, nil, nil)
	had := func(l *Ledger, p Party) float64 { return l.Open().Of(p).Had + l.Open().Of(p).Of.Had }
	found := []*Lane{{ID: 1, Share: ledger.Open().Of(first), Keys: []Key{{ID: 1}}}, {ID: 2, Share: ledger.Open().Of(second), Keys: []Key{{ID: 2}}}}
	ledger.Open().Close(found, map[Party]int{first: 3})
	other := ledger.Copy()
	if had(ledger, first) == 0 || had(other, first) != had(ledger, first) || had(other, second) != had(ledger, second) {
		t.Errorf("the copy says %v and %v, the ledger %v and %v", had(other, first), had(other, second), had(ledger, first), had(ledger, second))
	}
	before := had(ledger, first)
	other.Open().Charge(map[Party]int{first: 5, alone("third", 1): 1})
	if had(ledger, first) != before || had(other, first) == before || len(ledger.scopes[first.Scope].families.accounts) != 2 {
		t.Errorf("what the copy counted changed the ledger: %v", had(ledger, first))
	}
	if len(ledger.Unread()) != 1 || len(other.Unread()) != 2 {
		t.Errorf("to be written are %v by the ledger and %v by the copy", ledger.Unread(), other.Unread())
	}
}
