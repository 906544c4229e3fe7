package alert

import (
	"cmp"
	"slices"
	"time"
)

const (
	// overlap is how far a look reaches behind the one before: an event may become visible
	// so long after the moment it is dated.
	overlap = time.Minute
	// mostGroups is how many groups a message and a slice name, the largest first.
	mostGroups = 20
)

// Standing is what a rule remembers between looks.
type Standing struct {
	Failed  Tally `json:"failed,omitzero"`
	Missed  Tally `json:"missed,omitzero"`
	Backlog Wait  `json:"backlog,omitzero"`
}

// Tally is what is counted of one event.
type Tally struct {
	Seen    []Slice   `json:"seen,omitempty"`    // what of the last overlap is counted already
	Pending int64     `json:"pending,omitempty"` // counted, and in no message yet
	Groups  []Group   `json:"groups,omitempty"`  // the largest parts of them
	From    time.Time `json:"from,omitzero"`     // the bucket of the earliest of them
	FoundAt time.Time `json:"found_at,omitzero"` // when the first of them was found
	SentAt  time.Time `json:"sent_at,omitzero"`  // of the last message
}

// Slice is how many events of one bucket are counted.
type Slice struct {
	At     time.Time `json:"at"`
	Total  int64     `json:"total"`
	Groups []Group   `json:"groups,omitempty"`
}

// Group is how many of the jobs are alike.
type Group struct {
	Kind   string `json:"kind"`
	Queue  string `json:"queue"`
	Tenant string `json:"tenant"`
	Reason string `json:"reason,omitempty"`
	Count  int64  `json:"count"`
}

// Wait is what is known of a backlog.
type Wait struct {
	Open   bool      `json:"open,omitempty"` // a message said that it is there, and none that it is over
	SentAt time.Time `json:"sent_at,omitzero"`
}

// add takes in what was counted of some buckets, now. Slices from keep on are remembered,
// because more may be found in them.
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

// seen is what was counted of a bucket before.
func (t *Tally) seen(at time.Time) Slice {
	for _, slice := range t.Seen {
		if slice.At.Equal(at) {
			return slice
		}
	}
	return Slice{}
}

// due reports whether what is pending is to be sent now.
func (t *Tally) due(rule *Rule, now time.Time) bool {
	return t.Pending > 0 && passed(t.FoundAt, rule.Gather, now) && passed(t.SentAt, rule.Quiet, now)
}

// sent notes that what was pending is sent.
func (t *Tally) sent(now time.Time) { *t = Tally{Seen: t.Seen, SentAt: now} }

// passed reports whether some time has passed since a moment, if there was one. A clock
// that was set back keeps no message waiting.
func passed(since time.Time, pause time.Duration, now time.Time) bool {
	return since.IsZero() || now.Before(since) || now.Sub(since) >= pause
}

// grownGroups are groups without what was counted of them before.
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

// largest adds up groups that are alike and returns those with the most jobs.
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

// slicesOf are the counts of one event that belong to a rule, by bucket. What happened
// before the rule was there does not count.
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
