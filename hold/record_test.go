package hold

import (
	"fmt"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

func queueFull(name string) Seen {
	return Seen{Cause: Cause{Code: fairlead.AtCap, Scope: fairlead.LimitQueue, Queue: name}}
}

// glance performs one look of a record. A hold ends after three looks without it.
func glance(r *record, at int, whole bool, seen ...Seen) Found {
	found := Found{Now: after(at)}
	r.compare(&found, Sight{Now: after(at), Seen: seen, Whole: whole}, 3*time.Second)
	return found
}

func TestAHoldBeginsAfterTheLookThatDidNotSeeIt(t *testing.T) {
	r := newRecord(nil, after(0))
	found := glance(r, 1, true, queueFull("q"))
	if len(found.Begun) != 1 || !found.Begun[0].From.Equal(after(0)) {
		t.Errorf("got %+v", found.Begun)
	}
}

func TestAHoldBeginsWhenItIsKnownToHaveBegun(t *testing.T) {
	for name, c := range map[string]struct{ since, want time.Time }{
		"between the looks": {noon.Add(300 * time.Millisecond), noon.Add(300 * time.Millisecond)},
		"long ago":          {noon.Add(-time.Hour), noon},
		"in the future":     {noon.Add(time.Hour), noon},
	} {
		seen := queueFull("q")
		seen.Since = c.since
		if found := glance(newRecord(nil, noon), 1, true, seen); !found.Begun[0].From.Equal(c.want) {
			t.Errorf("%s: it begins at %v, want %v", name, found.Begun[0].From, c.want)
		}
	}
}

func TestTheFirstLookKnowsNothingOfWhatWasBefore(t *testing.T) {
	if found := glance(newRecord(nil, time.Time{}), 5, true, queueFull("q")); !found.Begun[0].From.Equal(after(5)) {
		t.Errorf("got %+v", found.Begun)
	}
}

func TestAHoldEndsWhenItWasLastSeenAfterAFewLooksWithoutIt(t *testing.T) {
	r := newRecord(nil, after(0))
	glance(r, 1, true, queueFull("q"))
	glance(r, 2, true, queueFull("q"))
	for at := 3; at <= 5; at++ {
		if found := glance(r, at, true); len(found.Ended) > 0 {
			t.Fatalf("at %d it has ended", at)
		}
	}
	found := glance(r, 6, true)
	if len(found.Ended) != 1 || !found.Ended[0].Until.Equal(after(2)) || !r.empty() {
		t.Errorf("got %+v", found.Ended)
	}
}

func TestAHoldOutlastsLooksThatAreNotTheWholeRound(t *testing.T) {
	r := newRecord(nil, after(0))
	glance(r, 1, false, queueFull("q"))
	for at := 2; at < 20; at++ {
		if found := glance(r, at, false); len(found.Ended) > 0 {
			t.Fatalf("at %d it has ended", at)
		}
	}
	if found := glance(r, 20, true); len(found.Ended) > 0 {
		t.Error("it has ended in the round that saw it")
	}
	glance(r, 21, false)
	if found := glance(r, 22, true); len(found.Ended) != 1 || !found.Ended[0].Until.Equal(after(1)) {
		t.Errorf("after a round without it: %+v", found.Ended)
	}
}

func TestAHoldEndsWhenItsLimitIsChangedAndAnotherBegins(t *testing.T) {
	full := queueFull("q")
	full.Cap = 3
	r := newRecord(nil, after(0))
	glance(r, 1, true, full)
	full.Cap = 10
	found := glance(r, 2, true, full)
	if len(found.Ended) != 1 || found.Ended[0].Cap != 3 || !found.Ended[0].Until.Equal(after(2)) {
		t.Errorf("the old hold ends as %+v", found.Ended)
	}
	if len(found.Begun) != 1 || found.Begun[0].Cap != 10 || !found.Begun[0].From.Equal(after(2)) {
		t.Errorf("the new hold begins as %+v", found.Begun)
	}
	if found := glance(r, 3, true, full); len(found.Begun)+len(found.Ended) > 0 {
		t.Errorf("without a change: %+v", found)
	}
}

func TestOfTooManyCausesTheBroadestAreKept(t *testing.T) {
	var seen []Seen
	for i := range MaxOpen {
		seen = append(seen, Seen{Cause: Cause{Code: fairlead.AtGate, Scope: fairlead.LimitKind, Tenant: "t", Kind: "k", Gate: fmt.Sprint(i)}})
	}
	seen = append(seen, queueFull("q"))
	r := newRecord(nil, after(0))
	if found := glance(r, 1, true, seen...); len(found.Begun) != MaxOpen || found.Begun[0].Queue != "q" {
		t.Errorf("%d begin, the first is %+v", len(found.Begun), found.Begun[0])
	}
}

func TestAClockThatIsSetBackEndsHoldsAllTheSame(t *testing.T) {
	r := newRecord(nil, after(1000))
	glance(r, 1001, true, queueFull("q"))
	if found := glance(r, 1, true, queueFull("q"), queueFull("new")); len(found.Begun) != 1 || !found.Begun[0].From.Equal(after(1)) {
		t.Errorf("got %+v", found.Begun)
	}
	glance(r, 2, true)
	found := glance(r, 6, true)
	for _, h := range found.Ended {
		if h.Until.Before(h.From) {
			t.Errorf("it ends before it begins: %+v", h)
		}
	}
	if len(found.Ended) != 2 {
		t.Errorf("got %+v", found.Ended)
	}
}

func TestWhatLastedBeforeAGapIsNotKnownToLastThroughIt(t *testing.T) {
	r := newRecord(nil, after(0))
	glance(r, 1, true, queueFull("q"))
	found := Found{Now: after(100), last: 1}
	r.miss(&found, after(1), []fairlead.Node{{JoinedAt: after(-10), Until: after(20)}, {JoinedAt: after(90), Until: after(200)}})
	r.compare(&found, Sight{Now: after(100), Seen: []Seen{queueFull("q")}, Whole: true}, 3*time.Second)
	if len(found.Ended) != 1 || !found.Ended[0].Until.Equal(after(1)) {
		t.Errorf("it ends as %+v", found.Ended)
	}
	got := ""
	for _, h := range found.Begun {
		got += fmt.Sprintf("%d %s %v;", h.ID, h.Code, h.From.Sub(noon).Seconds())
	}
	if want := "2 unrecorded 1;3 no_node 20;4 unrecorded 90;5 at_cap 100;"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAGapIsWhatNodesWereThen(t *testing.T) {
	node := func(joined, until int) fairlead.Node {
		return fairlead.Node{JoinedAt: after(joined), Until: after(until)}
	}
	for name, c := range map[string]struct {
		nodes []fairlead.Node
		want  string
	}{
		"none":                         {nil, "no_node 0-100;"},
		"one all the time":             {[]fairlead.Node{node(-5, 200)}, "unrecorded 0-100;"},
		"one before and one after":     {[]fairlead.Node{node(150, 200), node(-50, -5)}, "no_node 0-100;"},
		"two that overlap":             {[]fairlead.Node{node(50, 120), node(-5, 60)}, "unrecorded 0-100;"},
		"two, with a time between":     {[]fairlead.Node{node(-5, 10), node(40, 50)}, "unrecorded 0-10;no_node 10-40;unrecorded 40-50;no_node 50-100;"},
		"one within the time of other": {[]fairlead.Node{node(0, 90), node(20, 30)}, "unrecorded 0-90;no_node 90-100;"},
	} {
		got := ""
		for _, h := range Gaps(after(0), after(100), c.nodes) {
			got += fmt.Sprintf("%s %v-%v;", h.Code, h.From.Sub(noon).Seconds(), h.Until.Sub(noon).Seconds())
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
