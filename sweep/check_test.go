package sweep_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

const (
	year     = 366 * 24 * time.Hour
	farthest = int64(1_000_000_000_000_000_000) // index
)

// onlyField reports whether an error is about one field and no other.
func onlyField(err error, field string) bool {
	var invalid *fairlead.InvalidError
	return errors.As(err, &invalid) && len(invalid.Fields) == 1 && invalid.Fields[0].Field == field
}

func TestASweepNamesTheFieldThatIsWrong(t *testing.T) {
	long := strings.Repeat("x", fairlead.MaxName+1)
	table := func(do func(t *sweep.Table)) func(s *sweep.Sweep) {
		return func(s *sweep.Sweep) {
			s.Source.Table = &sweep.Table{Database: "d", Name: "n", Key: "k"}
			do(s.Source.Table)
		}
	}
	for field, changes := range map[string][]func(s *sweep.Sweep){
		"name":     {func(s *sweep.Sweep) { s.Name = "" }, func(s *sweep.Sweep) { s.Name = long }},
		"kind":     {func(s *sweep.Sweep) { s.Kind = "" }, func(s *sweep.Sweep) { s.Kind = long[len(sweep.KindOf("")):] }},
		"queue":    {func(s *sweep.Sweep) { s.Queue = long }},
		"tenant":   {func(s *sweep.Sweep) { s.Tenant = "\xff" }},
		"args":     {func(s *sweep.Sweep) { s.Data = []byte("{") }},
		"priority": {func(s *sweep.Sweep) { s.Priority = fairlead.MaxPriority + 1 }, func(s *sweep.Sweep) { s.Priority = -fairlead.MaxPriority - 1 }},

		"source": {
			func(s *sweep.Sweep) { s.Source = sweep.ItemSource{File: "f", URL: "http://there"} },
			func(s *sweep.Sweep) { s.Source.File = "f"; table(func(*sweep.Table) {})(s) },
		},
		"source.file":           {func(s *sweep.Sweep) { s.Source.File = "\x00" }},
		"source.url":            {func(s *sweep.Sweep) { s.Source.URL = "there" }},
		"source.table.database": {table(func(t *sweep.Table) { t.Database = "" })},
		"source.table.name":     {table(func(t *sweep.Table) { t.Name = "" })},
		"source.table.key":      {table(func(t *sweep.Table) { t.Key = "" })},
		"from":                  {func(s *sweep.Sweep) { s.From = -1 }, func(s *sweep.Sweep) { s.From = farthest + 1 }},
		"to": {
			func(s *sweep.Sweep) { s.To = 0 }, func(s *sweep.Sweep) { s.To = -1 }, func(s *sweep.Sweep) { s.To = farthest + 1 },
			func(s *sweep.Sweep) { s.From, s.To = 5, 5 }, func(s *sweep.Sweep) { s.From, s.To = 5, 4 },
		},

		"in_flight": {func(s *sweep.Sweep) { s.InFlight = 10_001 }},
		"rate": {
			func(s *sweep.Sweep) { s.Rate = math.NaN() }, func(s *sweep.Sweep) { s.Rate = -0.1 },
			func(s *sweep.Sweep) { s.Rate = math.Nextafter(fairlead.MaxRate, math.Inf(1)) },
		},
		"adaptive": {func(s *sweep.Sweep) { s.Adaptive = true }},
		"shards": {
			func(s *sweep.Sweep) { s.Shards = -1 }, func(s *sweep.Sweep) { s.Shards, s.InFlight = sweep.MaxShards+1, 10_000 },
			func(s *sweep.Sweep) { s.Shards, s.InFlight = 5, 4 }, func(s *sweep.Sweep) { s.Serial, s.Shards = true, 2 },
		},
		"per_call": {func(s *sweep.Sweep) { s.PerCall = -1 }, func(s *sweep.Sweep) { s.PerCall = 1001 }},
		"window":   {func(s *sweep.Sweep) { s.InFlight, s.Window = 10, 9 }, func(s *sweep.Sweep) { s.Window = 16_385 }},

		"attempts":                {func(s *sweep.Sweep) { s.Attempts = -1 }, func(s *sweep.Sweep) { s.Attempts = 1001 }},
		"backoff":                 {func(s *sweep.Sweep) { s.Backoff = time.Millisecond - 1 }, func(s *sweep.Sweep) { s.Backoff = year + 1 }},
		"timeout":                 {func(s *sweep.Sweep) { s.Timeout = -1 }, func(s *sweep.Sweep) { s.Timeout = year + 1 }},
		"error_budget.items":      {func(s *sweep.Sweep) { s.Budget.Items = -1 }},
		"error_budget.per_minute": {func(s *sweep.Sweep) { s.Budget.PerMinute = -1 }},
		"error_budget.percent": {
			func(s *sweep.Sweep) { s.Budget.Percent = math.NaN() }, func(s *sweep.Sweep) { s.Budget.Percent = -1 },
			func(s *sweep.Sweep) { s.Budget.Percent = 100.1 },
		},
		"on_exhausted": {func(s *sweep.Sweep) { s.OnExhausted = "despair" }},

		"gate.before_create": {func(s *sweep.Sweep) { s.Gate.BeforeCreate = "there" }},
		"gate.before_run":    {func(s *sweep.Sweep) { s.Gate.BeforeRun = "there" }},
		"gate.timeout":       {func(s *sweep.Sweep) { s.Gate.Timeout = time.Second - 1 }, func(s *sweep.Sweep) { s.Gate.Timeout = year + 1 }},
	} {
		for i, change := range changes {
			s := sweep.Sweep{Name: "s", Kind: "k", To: 10}
			change(&s)
			if err := sweep.Normalize(&s); !onlyField(err, field) {
				t.Errorf("%s, case %d: got %v", field, i, err)
			}
		}
	}
}

// A number that is too small may be the reason why others are refused as well.
func TestASweepNamesHowManyInFlightAreTooFew(t *testing.T) {
	s := sweep.Sweep{Name: "s", Kind: "k", To: 10, InFlight: -1}
	if err := sweep.Normalize(&s); err == nil || !strings.Contains(err.Error(), "in_flight: is -1") {
		t.Errorf("got %v", err)
	}
}

func TestTheBoundsOfASweepAreAccepted(t *testing.T) {
	most := strings.Repeat("x", fairlead.MaxName)
	for name, s := range map[string]sweep.Sweep{
		"the least": {
			Name: "s", Kind: "k", To: 1, InFlight: 1, Window: 1, Shards: 1, PerCall: 1, Attempts: 1, Backoff: time.Millisecond, Timeout: 1,
			Priority: -fairlead.MaxPriority, Budget: sweep.Budget{Percent: 1}, Gate: sweep.Gate{Timeout: time.Second},
		},
		"the most": {
			Name: most, Kind: most[len(sweep.KindOf("")):], Queue: most, Tenant: most, Priority: fairlead.MaxPriority,
			From: farthest - 1, To: farthest, InFlight: 10_000, Window: 16_384, Shards: sweep.MaxShards, PerCall: 1000,
			Rate: fairlead.MaxRate, Adaptive: true, Attempts: 1000, Backoff: year, Timeout: year,
			Budget: sweep.Budget{Percent: 100, PerMinute: 1}, OnExhausted: sweep.ExhaustedStop, Gate: sweep.Gate{Timeout: year},
		},
		"a source without an end":        {Name: "s", Kind: "k", Source: sweep.ItemSource{File: "f"}, From: farthest},
		"as many shards as in flight":    {Name: "s", Kind: "k", To: 1, Shards: 4, InFlight: 4},
		"a serial sweep":                 {Name: "s", Kind: "k", To: 1, Serial: true},
		"a table with all that it needs": {Name: "s", Kind: "k", Source: sweep.ItemSource{Table: &sweep.Table{Database: "d", Name: "n", Key: "k"}}},
	} {
		if err := sweep.Normalize(&s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatASweepDoesNotSayHasADefault(t *testing.T) {
	for name, c := range map[string]struct {
		given, want sweep.Sweep
	}{
		"nothing": {
			sweep.Sweep{},
			sweep.Sweep{InFlight: 16, Window: 1024},
		},
		"many in flight":     {sweep.Sweep{InFlight: 1000}, sweep.Sweep{InFlight: 1000, Window: 2000}},
		"the most in flight": {sweep.Sweep{InFlight: 10_000}, sweep.Sweep{InFlight: 10_000, Window: 16_384}},
		"one by one":         {sweep.Sweep{Serial: true, InFlight: 7}, sweep.Sweep{Serial: true, InFlight: 1, Window: 1024}},
	} {
		s := c.given
		s.Name, s.Kind, s.To = "s", "k", 10
		if err := sweep.Normalize(&s); err != nil {
			t.Fatal(err)
		}
		if s.InFlight != c.want.InFlight || s.Window != c.want.Window {
			t.Errorf("%s: %d in flight, a window of %d", name, s.InFlight, s.Window)
		}
		if s.Queue != fairlead.DefaultQueue || s.Tenant != fairlead.DefaultTenant || s.Shards != 1 || s.PerCall != 1 || s.Attempts != 5 ||
			s.Backoff != 3*time.Second || s.Budget != (sweep.Budget{Items: 100}) || s.OnExhausted != sweep.ExhaustedAbandon || s.Gate.Timeout != 30*time.Minute {
			t.Errorf("%s: got %+v", name, s)
		}
	}
}
