package sqlstore

import (
	"errors"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

func TestANodeWhoseIDIsInUseHereIsNotKept(t *testing.T) {
	var tokens NodeTokens
	ctx := t.Context()
	first := NewNodeToken(ctx)
	if !tokens.Keep(ctx, 7, first) || tokens.Keep(ctx, 7, NewNodeToken(ctx)) {
		t.Error("the id was given to two nodes")
	}
	if token, err := tokens.Of(ctx, 7); token != first || err != nil {
		t.Errorf("the node has the token %q, %v", token, err)
	}
	tokens.Drop(7)
	if token, err := tokens.Of(ctx, 7); token != "" || !errors.Is(err, fairlead.ErrLeaseLost) {
		t.Errorf("a node that left has the token %q, %v", token, err)
	}
}

func TestTheContextNamesTheTokenOfANodeThatJoinedElsewhere(t *testing.T) {
	var tokens NodeTokens
	ctx := driver.AsNode(t.Context(), "secret")
	if made := NewNodeToken(ctx); made != "secret" || !tokens.Keep(ctx, 7, made) || !tokens.Keep(ctx, 7, made) {
		t.Error("its keeper's token was not used")
	}
	if token, err := tokens.Of(ctx, 7); token != "secret" || err != nil {
		t.Errorf("got %q, %v", token, err)
	}
	if _, err := tokens.Of(t.Context(), 7); !errors.Is(err, fairlead.ErrLeaseLost) {
		t.Errorf("without the context: %v", err)
	}
}

func TestTokensOfNodesThatAreLongGoneAreForgotten(t *testing.T) {
	var tokens NodeTokens
	ctx := t.Context()
	for id := range fairlead.NodeID(mostNodeTokens + 2) {
		tokens.Keep(ctx, id, "token")
	}
	for id, known := range map[fairlead.NodeID]bool{0: false, 1: false, 2: true, mostNodeTokens + 1: true} {
		if _, err := tokens.Of(ctx, id); (err == nil) != known {
			t.Errorf("of the node that joined as number %d: %v", id, err)
		}
	}
}
