package rest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
)

func TestAnErrorIsSaidWithoutNamesOfOperations(t *testing.T) {
	conflict := fmt.Errorf(`tenant "a" already exists: %w`, fairlead.ErrConflict)
	for want, err := range map[string]error{
		`tenant "a" already exists`:         fmt.Errorf("put tenant: %w", conflict),
		`line 5: tenant "a" already exists`: fmt.Errorf("line 5: %w", conflict),
		`job 7: not found`:                  fmt.Errorf("cancel: %w", fmt.Errorf("job 7: %w", fairlead.ErrNotFound)),
		`run: conflict`:                     fmt.Errorf("run: %w", fairlead.ErrConflict),
		`conflict`:                          fairlead.ErrConflict,
		"a\nb":                              errors.Join(errors.New("a"), errors.New("b")),
	} {
		got := Said(err)
		if got.Error() != want {
			t.Errorf("%q is said as %q, want %q", err, got, want)
		}
		if errors.Is(err, fairlead.ErrConflict) != errors.Is(got, fairlead.ErrConflict) {
			t.Errorf("%q is not known as what it is", got)
		}
	}
}
