package sqlstore_test

import (
	"context"
	"testing"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// A process obeys a bound that it sets itself immediately, even if it was just reading the
// bounds.
func TestBoundsThatWereReadBeforeAChangeAreNotKept(t *testing.T) {
	var p sqlstore.Pending
	reads := 0
	p.Read = func(context.Context) (map[string]int, error) {
		if reads++; reads == 1 {
			p.Forget() // another call changes the bound while this one reads the old one
			return map[string]int{"acme": 1}, nil
		}
		return map[string]int{"acme": 2}, nil
	}
	for range 2 {
		if _, err := p.Bounds(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if bounds, err := p.Bounds(t.Context()); err != nil || bounds["acme"] != 2 || reads != 2 {
		t.Errorf("after %d reads the bounds are %v, %v", reads, bounds, err)
	}
}
