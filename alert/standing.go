package alert

import (
	"cmp"
	"slices"
	"time"
)

const (
	// overlap is how far a check reaches back into the period of the previous check: an event
	// may become visible this long after its timestamp.
	overlap = time.Minute
	// mostGroups limits the number of groups in a message or slice. The largest groups are
	// kept.
	mostGroups = 20
)

// Standing is a rule's state between checks.
type Standing struct {
	Failed  Tally `json:"failed,omitzero"`
	Missed  Tally `json:"missed,omitzero"`
	Backlog Wait  `json:"backlog,omitzero"`
}

// A Tally counts the occurrences of one type of event.
type Tally struct {
	Seen    []Slice   `json:"seen,omitempty"`    // already counted events of the last overlap
	Pending int64     `json:"pending,omitempty"` // counted, but not yet in a message
	Groups  []Group   `json:"groups,omitempty"`  // largest groups of the pending events
	From    time.Time `json:"from,omitzero"`     // bucket of the earliest pending event
	FoundAt time.Time `json:"found_at,omitzero"` // time when the first pending event was found
	SentAt  time.Time `json:"sent_at,omitzero"`  // time of the last message
}

// A Slice holds the number of events counted in one bucket.
type Slice struct {
	At     time.Time `json:"at"`
	Total  int64     `json:"total"`
	Groups []Group   `json:"groups,omitempty"`
}

// A Group counts the jobs that share a kind, queue, tenant and reason.
type Group struct {
	Kind   string `json:"kind"`
	Queue  string `json:"queue"`
	Tenant string `json:"tenant"`
	Reason string `json:"reason,omitempty"`
	Count  int64  `json:"count"`
}

// Wait is the state of a rule's backlog.
type Wait struct {
	Open   bool      `json:"open,omitempty"` // whether a message reported the backlog and none has reported its end
	SentAt time.Time `json:"sent_at,omitzero"`
}

// add adds the counts of some buckets as of now. It remembers slices from keep on, because
// more events may appear in them.
func (t *Tally) add(slices []Slice, now, keep time.Time) {
	var seen []Slice
	for _, slice := range slices {
		before := t.seen(slice.At)
		if grown := slice.Total - before.Total; grown > 0 {
			if t.Pending == 0 {
				t.FoundAt, t.From = now, slice.At
			}
			if slice.At.Before(t.From) {
				t.From = slice.At
			}
			t.Pending += grown
			t.Groups = largest(append(t.Groups, grownGroups(slice.Groups, before.Groups)...))
		}
		if !slice.At.Before(keep) {
			slice.Groups = largest(slice.Groups)
			seen = append(seen, slice)
		}
	}
	t.Seen = seen
}

// seen returns the events of a bucket that are already counted.
func (t *Tally) seen(at time.Time) Slice {
	for _, slice := range t.Seen {
		if slice.At.Equal(at) {
			return slice
		}
	}
	return Slice{}
}

// due reports whether the pending events are to be sent now.
func (t *Tally) due(rule *Rule, now time.Time) bool {
	return t.Pending > 0 && passed(t.FoundAt, rule.Gather, now) && passed(t.SentAt, rule.Quiet, now)
}

// sent records that the pending events were sent.
func (t *Tally) sent(now time.Time) { *t = Tally{Seen: t.Seen, SentAt: now} }

// passed reports whether the pause since a moment is over, or the moment is zero. A clock
// that moves backwards does not delay a message.
func passed(since time.Time, pause time.Duration, now time.Time) bool {
	return since.IsZero() || now.Before(since) || now.Sub(since) >= pause
}

// grownGroups returns the groups without the jobs that were counted before.
func grownGroups(groups, before []Group) []Group {
	var grown []Group
	for _, group := range groups {
		for _, old := range before {
			if old.alike(group) {
				group.Count -= old.Count
			}
		}
		if group.Count > 0 {
			grown = append(grown, group)
		}
	}
	return grown
}

func (g Group) alike(other Group) bool {
	g.Count, other.Count = 0, 0
	return g == other
}

// largest merges equal groups and returns those with the most jobs.
func largest(groups []Group) []Group {
	var sums []Group
	at := map[Group]int{}
	for _, group := range groups {
		key := group
		key.Count = 0
		i, known := at[key]
		if !known {
			i = len(sums)
			at[key], sums = i, append(sums, key)
		}
		sums[i].Count += group.Count
	}
	slices.SortStableFunc(sums, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Reason, b.Reason))
	})
	return sums[:min(len(sums), mostGroups)]
}

// slicesOf returns the counts of one event that belong to a rule, by bucket. Events before
// the creation of the rule do not count.
func slicesOf(rule *Rule, event Event, counts []Count) []Slice {
	byBucket := map[time.Time]*Slice{}
	for _, count := range counts {
		if count.Event != event || !rule.Scope.has(count.Queue, count.Tenant, count.Kind) || !count.At.Add(Bucket).After(rule.CreatedAt) {
			continue
		}
		slice := byBucket[count.At]
		if slice == nil {
			slice = &Slice{At: count.At}
			byBucket[count.At] = slice
		}
		slice.Total += count.Jobs
		slice.Groups = append(slice.Groups, Group{Kind: count.Kind, Queue: count.Queue, Tenant: count.Tenant, Reason: string(count.Reason), Count: count.Jobs})
	}
	var found []Slice
	for _, slice := range byBucket {
		found = append(found, *slice)
	}
	slices.SortFunc(found, func(a, b Slice) int { return a.At.Compare(b.At) })
	return found
}
