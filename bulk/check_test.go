package bulk_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

func TestWhatCannotBeDoneIsRefusedByField(t *testing.T) {
	for field, wrong := range map[string]bulk.Bulk{
		"action":        {Action: "explode"},
		"queue":         {Action: bulk.Move},
		"priority":      {Action: bulk.Prioritize, Priority: fairlead.MaxPriority + 1},
		"rate":          {Action: bulk.Cancel, Rate: math.NaN()},
		"reason":        {Action: bulk.Cancel, Reason: strings.Repeat("x", 1001)},
		"filter.state":  {Action: bulk.Retry, Filter: fairlead.Filter{States: []fairlead.State{fairlead.Ready}}},
		"filter.id":     {Action: bulk.Cancel, Filter: fairlead.Filter{IDs: make([]int64, 1001)}},
		"filter.kind":   {Action: bulk.Cancel, Filter: fairlead.Filter{Kinds: []string{strings.Repeat("x", 201)}}},
		"filter.tenant": {Action: bulk.Cancel, Filter: fairlead.Filter{Tenants: []string{"a\x00b"}}},
	} {
		var refused *fairlead.InvalidError
		if err := bulk.Normalize(&wrong); !errors.As(err, &refused) || len(refused.Fields) != 1 || refused.Fields[0].Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
	for _, other := range []bulk.Bulk{{Action: bulk.Cancel, Queue: "q"}, {Action: bulk.Move, Queue: "q", Priority: 1}, {}} {
		if err := bulk.Normalize(&other); !errors.Is(err, fairlead.ErrInvalid) {
			t.Errorf("%+v: got %v", other, err)
		}
	}
}

func TestOnlyStatesInWhichItCanBeDoneAreLeft(t *testing.T) {
	b := bulk.Bulk{Action: bulk.Retry, Filter: fairlead.Filter{States: []fairlead.State{fairlead.Failed, fairlead.Ready}, Limit: 5, Below: 7}}
	if err := bulk.Normalize(&b); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Filter.States, []fairlead.State{fairlead.Failed}) || b.Filter.Limit != 0 || b.Filter.Below != 0 {
		t.Errorf("the filter is %+v", b.Filter)
	}
	all := bulk.Bulk{Action: bulk.Retry}
	if err := bulk.Normalize(&all); err != nil || !slices.Equal(all.Filter.States, bulk.Retry.States()) {
		t.Errorf("got %v, %v", all.Filter.States, err)
	}
}

func TestEveryActionHasStatesAndAMethod(t *testing.T) {
	for _, action := range bulk.Actions() {
		if len(action.States()) == 0 || action.Method() == "" {
			t.Errorf("%s: %v, %q", action, action.States(), action.Method())
		}
	}
}
