package dispatch

import "testing"

func TestACopyOfALedgerSaysTheSameAndGoesItsOwnWay(t *testing.T) {
	pastStarts, first, second := NewPastStarts(), alone("first", 1), alone("second", 1)
	pastStarts.Refresh(7, nil, nil)
	had := func(l *PastStarts, p Party) float64 { return l.Open().Of(p).Had + l.Open().Of(p).Of.Had }
	found := []*Lane{{ID: 1, Share: pastStarts.Open().Of(first), Keys: []Key{{ID: 1}}}, {ID: 2, Share: pastStarts.Open().Of(second), Keys: []Key{{ID: 2}}}}
	pastStarts.Open().Close(found, map[Party]int{first: 3})
	other := pastStarts.Copy()
	if had(pastStarts, first) == 0 || had(other, first) != had(pastStarts, first) || had(other, second) != had(pastStarts, second) {
		t.Errorf("the copy says %v and %v, the original %v and %v", had(other, first), had(other, second), had(pastStarts, first), had(pastStarts, second))
	}
	before := had(pastStarts, first)
	other.Open().Charge(map[Party]int{first: 5, alone("third", 1): 1})
	if had(pastStarts, first) != before || had(other, first) == before || len(pastStarts.scopes[first.Scope].families.accounts) != 2 {
		t.Errorf("what the copy counted changed the original: %v", had(pastStarts, first))
	}
	if len(pastStarts.Unread()) != 1 || len(other.Unread()) != 2 {
		t.Errorf("to be written are %v by the original and %v by the copy", pastStarts.Unread(), other.Unread())
	}
}
