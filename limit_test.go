package fairlead_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

func TestALimitNamesTheFieldThatIsWrong(t *testing.T) {
	kind := func(do func(l *fairlead.Limit)) fairlead.Limit {
		l := fairlead.Limit{Scope: fairlead.LimitKind, Name: "k"}
		do(&l)
		return l
	}
	for field, limits := range map[string][]fairlead.Limit{
		"scope": {{Scope: "planet", Name: "k"}, {Scope: fairlead.LimitTenant, Name: "t"}},
		"name": {
			{Scope: fairlead.LimitGlobal, Name: "k"}, {Scope: fairlead.LimitKind}, {Scope: fairlead.LimitQueue, Name: strings.Repeat("q", fairlead.MaxName+1)},
		},
		"max_running": {kind(func(l *fairlead.Limit) { l.MaxRunning = -1 }), kind(func(l *fairlead.Limit) { l.MaxRunning = fairlead.MaxCap + 1 })},
		"per_key":     {kind(func(l *fairlead.Limit) { l.PerKey = -1 }), {Scope: fairlead.LimitQueue, Name: "q", PerKey: 1}},
		"rate":        {kind(func(l *fairlead.Limit) { l.Rate = -1 }), kind(func(l *fairlead.Limit) { l.Rate = math.NaN() })},
		"order":       {kind(func(l *fairlead.Limit) { l.Order = fairlead.OrderFair }), {Scope: fairlead.LimitGlobal, Order: "random"}},
		"burst":       {kind(func(l *fairlead.Limit) { l.Burst = 1 }), kind(func(l *fairlead.Limit) { l.Rate, l.Burst = 1, -1 })},
	} {
		for i, limit := range limits {
			err := fairlead.NormalizeLimit(&limit)
			var invalid *fairlead.InvalidError
			if !errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != field {
				t.Errorf("%s, case %d: got %v", field, i, err)
			}
		}
	}
	for _, limit := range []fairlead.Limit{
		{Scope: fairlead.LimitGlobal},
		kind(func(l *fairlead.Limit) {
			l.MaxRunning, l.PerKey, l.Rate = fairlead.MaxCap, fairlead.MaxCap, fairlead.MaxRate
		}),
		{Scope: fairlead.LimitQueue, Name: "q", MaxRunning: 1},
		{Scope: fairlead.LimitQueue, Name: "q", Order: fairlead.OrderDeadline},
		{Scope: fairlead.LimitGlobal, Order: fairlead.OrderFair},
	} {
		if err := fairlead.NormalizeLimit(&limit); err != nil {
			t.Errorf("%+v: %v", limit, err)
		}
	}
}

func TestARetryThatCannotBeIsRefused(t *testing.T) {
	for want, retries := range map[string][]fairlead.Retry{
		"retry.base":   {{Base: -1}},
		"retry.max":    {{Max: -1}},
		"retry.factor": {{Factor: 0.9}, {Factor: 100.1}, {Factor: -1}, {Factor: math.NaN()}},
		"":             {{}, {Base: 1, Max: 1, Factor: 1}, {Factor: 100}, {Base: time.Hour, Max: 100 * time.Hour, Factor: 1.5}},
	} {
		for _, retry := range retries {
			err := fairlead.NormalizeJobs([]*fairlead.Job{{Kind: "k", Retry: &retry}})
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: got %v, want %q", retry, err, want)
			}
		}
	}
}

func TestWhatCannotBeRememberedFailsTheJob(t *testing.T) {
	if s := fairlead.SnoozeFor(time.Second).Remember(func() {}).Settlement(); s.Move != fairlead.Fail || s.Error == "" {
		t.Errorf("it settles as %+v", s)
	}
	if s := fairlead.SnoozeFor(time.Second).Remember(7).Settlement(); s.Move != fairlead.Snooze || string(s.Memo) != "7" {
		t.Errorf("it settles as %+v", s)
	}
}
