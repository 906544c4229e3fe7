package hold

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A record is a witness's view of the ongoing holds.
type record struct {
	open  map[Cause]*watched
	at    time.Time // time of the last look
	place Place     // position where the next look continues
	round time.Time // start of the current round of looks; zero = the next look starts a round
}

// watched is an ongoing hold and the time its cause was last seen.
type watched struct {
	Hold
	seen time.Time
}

// newRecord starts with the holds that another witness has stored, as of its last look.
func newRecord(open []Hold, at time.Time) *record {
	r := &record{open: make(map[Cause]*watched, len(open)), at: at}
	for _, h := range open {
		r.open[h.Cause] = &watched{h, at}
	}
	return r
}

func (r *record) empty() bool { return len(r.open) == 0 }

// miss adds the gaps of a period in which no node looked. It ends the holds that were
// ongoing before the period, because they may not have lasted through it.
func (r *record) miss(found *Found, from time.Time, nodes []fairlead.Node) {
	for _, h := range r.open {
		found.end(h.Hold, from)
	}
	for _, gap := range Gaps(from, found.Now, nodes) {
		found.begin(gap)
	}
	*r = *newRecord(nil, found.Now)
}

// compare adds the holds that have begun and ended since the last look. A new hold began
// after that look, unless its start is known; a vanished one ended when it was last seen.
func (r *record) compare(found *Found, sight Sight, lost time.Duration) {
	if r.round.IsZero() {
		r.round = sight.Now
	}
	before := r.at
	if before.IsZero() || before.After(sight.Now) {
		before = sight.Now
	}
	for _, h := range r.open {
		if h.seen.After(sight.Now) { // the clock was set back
			h.seen = sight.Now
		}
	}
	slices.SortStableFunc(sight.Seen, func(a, b Seen) int { return cmp.Compare(breadth(a.Cause), breadth(b.Cause)) })
	for _, seen := range sight.Seen {
		from := before
		if known := r.open[seen.Cause]; known != nil {
			if known.Cap == seen.Cap {
				known.seen = sight.Now
				continue
			}
			// The limit was changed. Each hold has a single value.
			found.end(known.Hold, sight.Now)
			delete(r.open, seen.Cause)
			from = sight.Now
		}
		if len(r.open) == MaxOpen {
			continue
		}
		if seen.Since.After(from) && !seen.Since.After(sight.Now) {
			from = seen.Since
		}
		r.open[seen.Cause] = &watched{found.begin(Hold{Cause: seen.Cause, From: from, Used: seen.Used, Cap: seen.Cap}), sight.Now}
	}
	if r.at, r.place = sight.Now, sight.Next; sight.Whole {
		r.close(found, lost)
		r.place, r.round = Place{}, time.Time{}
	}
}

// close ends the holds whose causes were not seen for a whole round and for several looks.
func (r *record) close(found *Found, lost time.Duration) {
	for cause, h := range r.open {
		if h.seen.Before(r.round) && found.Now.Sub(h.seen) > lost {
			until := h.seen
			if until.Before(h.From) { // the clock was set back
				until = h.From
			}
			found.end(h.Hold, until)
			delete(r.open, cause)
		}
	}
}

// breadth returns the rank of a cause for sorting: causes that affect more lanes come
// first.
func breadth(c Cause) int {
	switch {
	case c.Gate != "":
		return 3
	case c.Tenant != "":
		return 2
	case c.Queue != "" || c.Kind != "":
		return 1
	}
	return 0
}
