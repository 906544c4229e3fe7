package storetest

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// ornate returns a job with every field set.
func ornate(now time.Time) *fairlead.Job {
	return &fairlead.Job{
		Kind:        "invoice.send",
		Args:        json.RawMessage(`{"id": 7}`),
		Queue:       "europe",
		Tenant:      "acme",
		Priority:    fairlead.High,
		NotBefore:   now.Add(time.Minute),
		StartBy:     now.Add(time.Hour),
		Timeout:     90 * time.Second,
		MaxAttempts: 4,
		Retry:       &fairlead.Retry{Base: time.Second, Factor: 1.5, Max: time.Minute, Precise: true},
		OnCrash:     fairlead.CancelOnCrash,
		OnFail:      fairlead.RemoveFailed,
		Key:         "invoice-7",
		KeyScope:    fairlead.KeyForever,
		Trace:       "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
}

func testEnqueue(c *chapter) {
	c.test("it stores all fields of a job", func(f *fixture) {
		job := f.enqueue(ornate(f.now()))
		want := *job
		want.State, want.CreatedAt = fairlead.Scheduled, f.now()
		f.equal("the job", f.get(job), &want)
	})
	c.test("it stores what NormalizeJobs fills in", func(f *fixture) {
		job := f.enqueue(plain())
		want := fairlead.Job{ID: job.ID, Kind: kind, Queue: fairlead.DefaultQueue, Tenant: fairlead.DefaultTenant, StartBy: f.now()}
		want.State, want.CreatedAt = fairlead.Ready, f.now()
		f.equal("the job", f.get(job), &want)
	})
	c.test("it sets the IDs, distinct and ascending within the call", func(f *fixture) {
		jobs := many(50)
		f.enqueue(jobs...)
		if jobs[0].ID <= 0 || !slices.IsSorted(ids(jobs)) || len(slices.Compact(ids(jobs))) != len(jobs) {
			f.Fatalf("the IDs are %v", ids(jobs))
		}
	})
	c.test("it gives every job an ID of its own, whichever process asks", func(f *fixture) {
		var all []int64
		for _, g := range []*fixture{f, f.elsewhere(), f, f.elsewhere()} {
			jobs := many(20)
			g.enqueue(jobs...)
			all = append(all, ids(jobs)...)
		}
		if distinct := slices.Compact(sorted(all)); len(distinct) != len(all) {
			f.Fatalf("%d IDs for %d jobs", len(distinct), len(all))
		}
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{fairlead.Ready: 80})
	})
	c.test("it stores none of the jobs if one cannot be stored", func(f *fixture) {
		holder := f.enqueue(with(keyed("k")))
		jobs := []*fairlead.Job{plain(), with(notBefore(f.now().Add(time.Hour))), with(keyed("fresh")), with(keyed("k")), plain()}
		f.wantErr(f.tryEnqueue(jobs...), fairlead.ErrConflict)
		f.equal("the jobs in the store", ids(f.find(fairlead.Filter{})), []int64{holder.ID})
		for _, job := range jobs {
			if job.ID != 0 {
				f.Fatalf("a job that was not stored got the ID %d", job.ID)
			}
		}
		f.enqueue(with(keyed("fresh"))) // its key is not in use either
	})
	c.test("it stores nothing if there are no jobs", func(f *fixture) {
		f.ok(f.store.Enqueue(f.ctx(), nil))
		f.equal("the tally", f.tally(fairlead.Filter{}), map[fairlead.State]int64{})
	})
	c.test("a job that is due goes to ready", func(f *fixture) {
		now := f.now()
		f.wantState(f.enqueue(plain()), fairlead.Ready)
		f.wantState(f.enqueue(with(notBefore(now))), fairlead.Ready)
		f.wantState(f.enqueue(with(notBefore(now.Add(-time.Hour)))), fairlead.Ready)
	})
	c.test("any other goes to scheduled", func(f *fixture) {
		now := f.now()
		f.wantState(f.enqueue(with(notBefore(now.Add(time.Microsecond)))), fairlead.Scheduled)
		f.wantState(f.enqueue(with(notBefore(now.Add(time.Hour)))), fairlead.Scheduled)
	})
	c.test("due is judged by the database's clock", func(f *fixture) {
		f.Advance(1000 * 24 * time.Hour)
		at := f.now().Add(-time.Hour)
		f.wantState(f.enqueue(with(notBefore(at))), fairlead.Ready)
	})
	c.test("one call can hold jobs for both", func(f *fixture) {
		jobs := []*fairlead.Job{plain(), with(notBefore(f.now().Add(time.Hour))), plain()}
		f.enqueue(jobs...)
		f.wantState(jobs[0], fairlead.Ready)
		f.wantState(jobs[1], fairlead.Scheduled)
		f.wantState(jobs[2], fairlead.Ready)
	})
	c.test("a zero StartBy becomes the due time", func(f *fixture) {
		now := f.now()
		f.equal("StartBy of a job that is due now", f.get(f.enqueue(plain())).StartBy, now)
		for _, due := range []time.Time{now.Add(-time.Hour), now.Add(time.Hour)} {
			f.equal("StartBy of a job with a due time", f.get(f.enqueue(with(notBefore(due)))).StartBy, due)
		}
	})
	c.test("a StartBy that was given stays", func(f *fixture) {
		now := f.now()
		for _, at := range []time.Time{now.Add(-time.Hour), now.Add(2 * time.Hour)} {
			f.equal("StartBy of a job that is due", f.get(f.enqueue(with(startBy(at)))).StartBy, at)
		}
		at := now.Add(2 * time.Hour)
		scheduled := f.enqueue(with(notBefore(now.Add(time.Hour)), startBy(at)))
		f.equal("StartBy of a scheduled job", f.get(scheduled).StartBy, at)
	})
	c.test("it ignores the status it was given", func(f *fixture) {
		job := plain()
		job.ID = 4711
		job.Status = fairlead.Status{
			State: fairlead.Failed, Attempt: 3, Failures: 2, Crashes: 1, Fence: 9, Node: 8, Solo: true,
			CreatedAt: f.now().Add(-time.Hour), StartedAt: f.now(), FinishedAt: f.now(), Deadline: f.now(), CancelWish: true,
			Output: json.RawMessage(`1`), Reason: fairlead.ReasonPanic, Error: "old", Progress: json.RawMessage(`2`), Memo: json.RawMessage(`3`),
		}
		f.enqueue(job)
		f.equal("the status", f.get(job).Status, fairlead.Status{State: fairlead.Ready, CreatedAt: f.now()})
	})
	c.test("the store does not keep what it was given, nor care for what it gave", func(f *fixture) {
		job := with(func(j *fairlead.Job) { j.Args = json.RawMessage(`"mine"`); j.Retry = fairlead.Fixed(time.Second) })
		f.enqueue(job)
		for _, j := range []*fairlead.Job{job, f.get(job)} {
			copy(j.Args, `"yours"`)
			j.Retry.Base, j.Priority = time.Hour, 5
		}
		found := f.get(job)
		f.equal("args", string(found.Args), `"mine"`)
		f.equal("retry", found.Retry, fairlead.Fixed(time.Second))
	})
}
