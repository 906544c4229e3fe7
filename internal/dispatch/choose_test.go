package dispatch

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// world contains lanes with all their jobs. Choose knows only some of them.
type world struct {
	lanes []*Lane
	jobs  map[*Lane][]Key
	ask   Ask
}

func drawWorld(t *rapid.T) *world {
	w := &world{jobs: map[*Lane][]Key{}, ask: Ask{Max: rapid.IntRange(1, 12).Draw(t, "max")}}
	if rapid.Bool().Draw(t, "room for kind a") {
		w.ask.Rooms = map[string]int{"a": rapid.IntRange(0, 4).Draw(t, "room")}
	}
	limit := func(name string) *Limit {
		l := &Limit{Used: rapid.IntRange(0, 4).Draw(t, name+" used")}
		if rapid.Bool().Draw(t, name+" capped") {
			l.Cap = rapid.IntRange(1, 8).Draw(t, name+" cap")
		}
		if rapid.IntRange(0, 3).Draw(t, name+" rated") == 0 {
			l.Rate, l.Burst, l.Tokens = 1, 5, rapid.Float64Range(0, 5).Draw(t, name+" tokens")
		}
		return l
	}
	global := limit("global")
	var tenants []*Limit
	for range rapid.IntRange(1, 4).Draw(t, "tenants") {
		tenant := limit("tenant")
		tenant.Min = rapid.IntRange(0, 4).Draw(t, "min")
		tenants = append(tenants, tenant)
	}
	others := &Others{Idle: rapid.IntRange(0, 3).Draw(t, "idle elsewhere")}
	id := int64(0)
	for range rapid.IntRange(1, 6).Draw(t, "lanes") {
		tenant := rapid.SampledFrom(tenants).Draw(t, "tenant")
		lane := &Lane{ID: int32(len(w.lanes)), Kind: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "kind"), Tenant: tenant, Limits: []*Limit{tenant, global}, From: Front}
		if rapid.IntRange(0, 3).Draw(t, "elsewhere") == 0 {
			lane.Others = others
		}
		for range rapid.IntRange(0, 6).Draw(t, "jobs") {
			id++
			w.jobs[lane] = append(w.jobs[lane], Key{Turn: int16(rapid.IntRange(-1, 1).Draw(t, "turn")), StartBy: rapid.Int64Range(0, 5).Draw(t, "start by"), ID: id})
		}
		slices.SortFunc(w.jobs[lane], Key.Compare)
		w.lanes = append(w.lanes, lane)
	}
	return w
}

// reveal tells more of a lane.
func (w *world) reveal(lane *Lane, n int) {
	all := w.jobs[lane]
	lane.Keys = all[:min(len(all), len(lane.Keys)+n)]
	lane.All = len(lane.Keys) < len(lane.Keys)+n && len(lane.Keys) == len(all)
}

// naive looks at all jobs one by one, in order.
func (w *world) naive() (picks []Pick) {
	started, kinds, left, gone := map[*Limit]int{}, map[string]int{}, map[*Others]int{}, map[Key]bool{}
	var all []Pick
	for lane, jobs := range w.jobs {
		for _, key := range jobs {
			all = append(all, Pick{lane, key})
		}
	}
	slices.SortFunc(all, func(a, b Pick) int { return a.Compare(b.Key) })
	for _, promised := range []bool{true, false} {
		for _, job := range all {
			lane := job.Lane
			may := !gone[job.Key] && len(picks) < w.ask.Max
			if promised {
				may = may && lane.Tenant.Min > lane.Tenant.Used+started[lane.Tenant]
			}
			for _, limit := range lane.Limits {
				may = may && limit.Room() > started[limit]
			}
			if lane.Others != nil {
				may = may && lane.Others.Idle > left[lane.Others]
			} else if room, bounded := w.ask.Rooms[lane.Kind]; bounded {
				may = may && room > kinds[lane.Kind]
			}
			if !may {
				continue
			}
			gone[job.Key] = true
			for _, limit := range lane.Limits {
				started[limit]++
			}
			if lane.Others != nil {
				left[lane.Others]++
				continue
			}
			kinds[lane.Kind]++
			picks = append(picks, job)
		}
	}
	return picks
}

func TestChooseIsWhatLookingAtEveryJobFinds(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		page := rapid.IntRange(1, 4).Draw(t, "page")
		for {
			picks, toRead := Choose(w.lanes, w.ask)
			if len(toRead) == 0 {
				if want := w.naive(); !slices.Equal(picks, want) {
					t.Fatalf("chose %v, want %v", picks, want)
				}
				return
			}
			for _, lane := range toRead {
				if lane.All {
					t.Fatalf("lane %d is known and was asked for", lane.ID)
				}
				w.reveal(lane, page)
			}
		}
	})
}

func TestChooseReadingIsWhatLookingAtEveryJobFinds(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		page := rapid.IntRange(1, 4).Draw(t, "page")
		picks, err := ChooseReading(w.lanes, w.ask, func(lane *Lane) error {
			if lane.All {
				t.Fatalf("lane %d is known and was read", lane.ID)
			}
			w.reveal(lane, page)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := w.naive(); !slices.Equal(picks, want) {
			t.Fatalf("chose %v, want %v", picks, want)
		}
	})
}

func TestChooseReadsOnlyLanesThatMatter(t *testing.T) {
	full := &Limit{Cap: 1, Used: 1}
	lanes := []*Lane{
		{ID: 1, From: Key{StartBy: 1}, Limits: []*Limit{full}},
		{ID: 2, From: Key{StartBy: 2}, Keys: []Key{{StartBy: 2, ID: 1}, {StartBy: 3, ID: 2}}, All: true},
		{ID: 3, From: Key{StartBy: 9}},
	}
	if picks, toRead := Choose(lanes, Ask{Max: 2}); len(picks) != 2 || len(toRead) != 0 {
		t.Errorf("picked %v and asked for %v", picks, toRead)
	}
	if _, toRead := Choose(lanes, Ask{Max: 3}); len(toRead) != 1 || toRead[0].ID != 3 {
		t.Errorf("asked for %v", toRead)
	}
}

func TestLimit(t *testing.T) {
	l := &Limit{Rate: 10, Burst: 3}
	for _, step := range []struct {
		elapsed time.Duration
		room    int
		next    time.Duration
	}{
		{0, 0, 100 * time.Millisecond},
		{50 * time.Millisecond, 0, 50 * time.Millisecond},
		{-time.Second, 0, 50 * time.Millisecond},
		{50 * time.Millisecond, 1, 0},
		{time.Hour, 3, 0},
	} {
		l.Refill(step.elapsed)
		if l.Room() != step.room || l.NextToken() != step.next {
			t.Errorf("after %v: room %d, next token in %v, want %d and %v", step.elapsed, l.Room(), l.NextToken(), step.room, step.next)
		}
	}
	lowered := &Limit{Cap: 2, Used: 5}
	if lowered.Room() != 0 {
		t.Errorf("a cap below its use leaves %d", lowered.Room())
	}
}
