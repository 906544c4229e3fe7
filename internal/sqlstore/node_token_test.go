package sqlstore

import "testing"

func TestANodeWhoseIDIsInUseHereIsNotKept(t *testing.T) {
	var tokens NodeTokens
	first := NewNodeToken()
	if !tokens.Keep(7, first) || tokens.Keep(7, NewNodeToken()) || tokens.Of(7) != first {
		t.Error("the id was given to two nodes")
	}
	tokens.Drop(7)
	if tokens.Of(7) != "" || !tokens.Keep(7, NewNodeToken()) {
		t.Error("a node that left still has the id")
	}
}
