package storetest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/batch"
)

// testManyPages covers so many jobs that a page reads only a part of them, and that a list
// by time first looks up the IDs of that time.
func testManyPages(c *chapter) {
	c.test("pages and counts of many jobs are those that the filter chooses, whatever it chooses by", func(f *fixture) {
		hours := f.fillHours(3, f.size(10, 500, "has more jobs than a page goes through"))
		all := f.find(fairlead.Filter{Limit: 100_000})
		failed, ended := []fairlead.State{fairlead.Failed}, []fairlead.State{fairlead.Succeeded, fairlead.Failed}
		live := []fairlead.State{fairlead.Ready, fairlead.Scheduled, fairlead.Running}
		for _, filter := range []fairlead.Filter{
			{},
			{Tenants: []string{"x"}},
			{Kinds: []string{"other"}},
			{Kinds: []string{kind}},
			{Key: "shared"},
			{Key: "shared", States: live},
			{Key: "shared", From: hours[1]},
			{States: failed},
			{States: ended},
			{States: live},
			{States: failed, Tenants: []string{"y"}},
			{From: hours[1]},
			{To: hours[1]},
			{From: hours[1], To: hours[2]},
			{From: hours[3]},
			{To: hours[3]},
			{From: hours[0], To: hours[4]},
			{From: hours[4]},
			{From: hours[1], States: failed},
			{To: hours[2], States: live},
			{From: hours[2], Tenants: []string{"y"}},
			{From: hours[1], To: hours[2], Kinds: []string{"other"}},
			{FinishedFrom: hours[2]},
			{FinishedFrom: hours[2], States: failed},
			{FinishedFrom: hours[0]},
			{FinishedFrom: hours[0], States: ended},
			{FinishedFrom: hours[1], From: hours[1]},
			{FinishedFrom: hours[1], Below: all[len(all)/2].ID},
			{From: hours[1], Below: all[len(all)/2].ID},
			{Below: all[len(all)/2].ID, States: failed},
		} {
			var want []int64
			tally := map[fairlead.State]int64{}
			for _, job := range all {
				if chooses(filter, job) {
					want = append(want, job.ID)
					tally[job.State]++
				}
			}
			filter.Limit = len(all) / 3
			if len(want) <= len(all)/20 {
				filter.Limit = 5 // smaller pages scan smaller parts
			}
			if got := f.follow(filter); !slices.Equal(got, want) {
				f.Fatalf("pages of %d of %+v have %d jobs, not %d", filter.Limit, filter, len(got), len(want))
			}
			f.wantCounts(filter, tally)
		}
	})
}

// wantCounts checks that a complete tally is correct, and that one that stops early reports
// it.
func (f *fixture) wantCounts(filter fairlead.Filter, want map[fairlead.State]int64) {
	f.Helper()
	filter.Limit = 0
	total := int64(0)
	for _, n := range want {
		total += n
	}
	for _, atMost := range []int64{0, 10, 100_000} {
		count, err := f.store.TallyUpTo(f.ctx(), filter, atMost)
		f.ok(err)
		if complete := maps.Equal(count.States, want); !complete && (!count.More || count.Total() > total || atMost == 0 || atMost > 2*total+10_000) {
			f.Fatalf("up to %d of %+v are %v, more: %v, not %v", atMost, filter, count.States, count.More, want)
		}
	}
}

// chooses reports whether a filter selects a job.
func chooses(filter fairlead.Filter, job *fairlead.Job) bool {
	among := func(names []string, name string) bool { return len(names) == 0 || slices.Contains(names, name) }
	switch {
	case !among(filter.Tenants, job.Tenant), !among(filter.Kinds, job.Kind), filter.Key != "" && job.Key != filter.Key,
		len(filter.States) > 0 && !slices.Contains(filter.States, job.State),
		!filter.From.IsZero() && job.CreatedAt.Before(filter.From), !filter.To.IsZero() && !job.CreatedAt.Before(filter.To),
		filter.OnFail != "" && (job.OnFail == fairlead.RemoveFailed) != (filter.OnFail == fairlead.RemoveFailed),
		!filter.FinishedFrom.IsZero() && (!job.State.Final() || job.FinishedAt.Before(filter.FinishedFrom)),
		filter.Below > 0 && job.ID >= filter.Below:
		return false
	}
	return true
}

// fillHours creates jobs in each of some hours, most of which end in the same hour, and a
// batch whose tasks become jobs after the last hour, with IDs from the first. It returns
// the start of each hour, the end of the last one, and the current time.
func (f *fixture) fillHours(hours, jobs int) (began []time.Time) {
	f.Helper()
	_, err := f.store.Join(f.ctx(), fairlead.Node{Name: "mover", Kinds: []string{"box.move"}, Slots: 1}, 1000*time.Hour)
	f.ok(err)
	tasks := make([]batch.Change, 40)
	for i := range tasks {
		tasks[i].Target = batch.Target{ID: fmt.Sprint(i), Type: "box"}
	}
	batches, node := batch.NewClient(f.store), f.joinFor(1000*time.Hour)
	moving, err := batches.Start(f.ctx(), batch.Batch{Name: "moving", Type: "move", Canary: batch.Canary{Tasks: 1}}, tasks...)
	f.ok(err)
	for hour := range hours {
		began = append(began, f.now())
		made := slices.Concat(many(jobs, forTenant("x")), many(jobs/8+5, forTenant("y")), many(jobs/16+3, ofKind("other"), forTenant("y")),
			many(jobs/25+2, forTenant("z"), notBefore(f.now().Add(1000*time.Hour))))
		for i := range jobs/10 + 1 { // one lane each
			made = append(made, with(forTenant(fmt.Sprint("tenant ", hour, " ", i)), keyed("shared")))
		}
		f.enqueue(made...)
		f.Advance(20 * time.Minute)
		var settlements []fairlead.Settlement
		for i, job := range f.claim(node, jobs) {
			settlement := to(fairlead.Succeed, job)
			if i%10 == 0 {
				settlement.Move = fairlead.Fail
			}
			settlements = append(settlements, settlement)
		}
		f.settle(settlements...)
		f.Advance(40 * time.Minute)
	}
	began = append(began, f.now())
	_, err = batches.Approve(f.ctx(), moving.ID)
	f.ok(err)
	f.Advance(time.Minute)
	return append(began, f.now())
}
