package ensure_test

import (
	"testing"

	"github.com/fairlead-io/fairlead/internal/ensure"
)

type declared struct {
	List []string
	Map  map[string]string
	Text string
}

type difference struct{ Field, Was, Is string }

func TestAnEmptyListOrMapIsNotDeclared(t *testing.T) {
	if owned := ensure.Owned(declared{List: []string{}, Map: map[string]string{}, Text: "a"}); len(owned) != 1 || owned[0] != "Text" {
		t.Errorf("it owns %v", owned)
	}
}

func TestAnEmptyListOrMapIsAsGoodAsNone(t *testing.T) {
	found := ensure.Differences[difference](&declared{}, &declared{List: []string{}, Map: map[string]string{}}, []string{"List", "Map", "Text"})
	if len(found) > 0 {
		t.Errorf("they differ in %v", found)
	}
}
