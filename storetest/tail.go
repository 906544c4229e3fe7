package storetest

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// Behind is a database whose rows a test changes directly, bypassing its stores, like a
// failover to a server that lacks the last commits. Tables have the prefix fairlead_; the
// SQL must work in all databases.
type Behind struct {
	*Harness
	Exec  func(t testing.TB, sql string)
	Count func(t testing.TB, sql string) int64 // returns the number that a query selects

	LimitsVersion, SetLimitsVersion string // SQL that reads the version of the limits, and SQL that sets it to %d
}

// RunTail checks that nothing that a store has cached outlives the data in the database:
// see docs/decisions/0018. Each sentence uses its own kinds of jobs on one database.
func RunTail(t *testing.T, behind *Behind) {
	t.Helper()
	tail := &tail{Behind: behind}
	tail.testStored(t)
	tail.testMoved(t)
	tail.testClaimed(t)
	tail.testNodes(t)
	tail.testCounters(t)
	tail.testTasks(t)
}

// tail contains the tests of a database that loses its last commits.
type tail struct {
	*Behind
	fixture *fixture
	reason  string // reason for marking the sentence as long, if any
}

// test checks one sentence with a new store.
func (b *tail) test(t *testing.T, sentence string, check func(f *fixture, b *tail)) {
	t.Helper()
	t.Run(sentence, func(t *testing.T) {
		if b.reason != "" {
			tier.Long(t, b.reason)
		}
		f := &fixture{TB: t, Harness: b.Harness, outer: t, store: b.Open(t), own: true}
		check(f, &tail{Behind: b.Behind, fixture: f})
		f.ok(f.forgetSchedules()) // the schedules would fire in the next test
	})
}

func (b *tail) exec(format string, args ...any) {
	b.fixture.Helper()
	b.Exec(b.fixture.outer, fmt.Sprintf(format, args...))
}

func (b *tail) count(format string, args ...any) int64 {
	b.fixture.Helper()
	return b.Count(b.fixture.outer, fmt.Sprintf(format, args...))
}

// testStored covers all ways of storing jobs into a lane that differs from the store's
// cached version.
func (b *tail) testStored(t *testing.T) {
	spoilers := []struct{ sentence, name, sql string }{
		{"a job for a lane that was given up is stored in a living lane: ", "retired", "update fairlead_lane set retired_at = 1 where kind = '%[1]s'"},
		{"a job for a lane that is gone is stored in a new one: ", "gone", "delete from fairlead_lane where kind = '%[1]s'"},
		{"a job for a lane that has another id by now is stored in that: ", "renumbered", "update fairlead_lane set id = id + 1000 where kind = '%[1]s'"},
		{"a job for a lane whose id has another kind is stored under its own: ", "renamed", "update fairlead_lane set kind = '%[1]s-other' where kind = '%[1]s'"},
		{"a job for a lane whose id has another queue is stored under its own: ", "requeued", "update fairlead_lane set queue = '%[1]s-other' where kind = '%[1]s'"},
		{"a job for a lane whose id has another tenant is stored under its own: ", "moved", "update fairlead_lane set tenant = '%[1]s-other' where kind = '%[1]s'"},
	}
	for i, way := range storingWays {
		for k, spoiler := range spoilers {
			each := *b
			if (i+k)%3 != 0 {
				each.reason = "tries every way with every lane"
			}
			each.test(t, spoiler.sentence+way.name, func(f *fixture, b *tail) {
				kind := fmt.Sprint(spoiler.name, i)
				again := way.prepare(f, kind)
				before := b.count("select coalesce(max(id), 0) from fairlead_job")
				b.exec(spoiler.sql, kind)
				again()
				stored := b.count("select count(*) from fairlead_job where id > %d", before)
				right := b.count("select count(*) from fairlead_job j join fairlead_lane l on l.id = j.lane where j.id > %d and l.kind = '%[2]s' and l.queue <> '%[2]s-other' and l.tenant <> '%[2]s-other' and l.retired_at = 0", before, kind)
				if stored == 0 || right != stored {
					f.Fatalf("of %d jobs %d are in the right lane", stored, right)
				}
				if got := f.find(fairlead.Filter{Kinds: []string{kind}}); int64(len(got)) < stored {
					f.Fatalf("of %d jobs %d are found by their kind", stored, len(got))
				}
			})
		}
	}
}

// testClaimed covers jobs in lanes that have been renamed in the database.
func (b *tail) testClaimed(t *testing.T) {
	b.test(t, "a job is never claimed under names that its lane no longer has", func(f *fixture, b *tail) {
		node, jobs := f.join(), many(3, ofKind("was"))
		f.enqueue(jobs...)
		b.warm(node)
		b.exec("update fairlead_lane set kind = 'is' where kind = 'was'")
		f.equal("claimed under the old name", ids(f.claimAs(driver.Claim{Node: node, Scope: everything("was"), Max: 10})), []int64(nil))
		b.wantAll(f.claimAs(driver.Claim{Node: node, Scope: everything("was", "is"), Max: 10}), jobs, "is")
	})
	for _, column := range []string{"queue", "tenant"} {
		b.test(t, "nor under a "+column+" that it no longer has", func(f *fixture, b *tail) {
			kind := "in-another-" + column
			node, job := f.join(), f.enqueue(with(ofKind(kind)))
			b.warm(node)
			b.exec("update fairlead_lane set %s = 'now' where kind = '%s'", column, kind)
			var claimed []*fairlead.Job
			f.eventually("it is claimed", func() bool {
				claimed = f.claimAs(driver.Claim{Node: node, Scope: everything(kind), Max: 1})
				return len(claimed) > 0
			})
			f.equal("what was claimed", ids(claimed), []int64{job.ID})
			f.equal("its "+column, map[string]string{"queue": claimed[0].Queue, "tenant": claimed[0].Tenant}[column], "now")
		})
	}
	b.test(t, "nor is it if several lanes are claimed from", func(f *fixture, b *tail) {
		node, jobs := f.join(), many(3, ofKind("was-one"))
		f.enqueue(append(jobs, with(ofKind("stays")))...)
		f.enqueue(with(ofKind("more")))
		b.warm(node)
		b.exec("update fairlead_lane set kind = 'is-one' where kind = 'was-one'")
		claimed := f.claimAs(driver.Claim{Node: node, Scope: everything("was-one", "stays", "more"), Max: 10})
		f.equal("kinds of what was claimed", kindsOf(claimed), map[string]int{"stays": 1, "more": 1})
		b.wantAll(f.claimAs(driver.Claim{Node: node, Scope: everything("was-one", "is-one"), Max: 10}), jobs, "is-one")
	})
	for _, column := range []string{"queue", "tenant"} {
		b.test(t, "nor under a "+column+" that it no longer has, if several lanes are claimed from", func(f *fixture, b *tail) {
			kind := "beside-another-" + column
			node, job := f.join(), f.enqueue(with(ofKind(kind)))
			beside := f.enqueue(with(ofKind(kind + "-stays")))
			b.warm(node)
			b.exec("update fairlead_lane set %s = 'now' where kind = '%s'", column, kind)
			claimed := map[int64]*fairlead.Job{}
			f.eventually("both are claimed", func() bool {
				for _, job := range f.claimAs(driver.Claim{Node: node, Scope: everything(kind, kind+"-stays"), Max: 10}) {
					claimed[job.ID] = job
				}
				return claimed[job.ID] != nil && claimed[beside.ID] != nil
			})
			f.equal("its "+column, map[string]string{"queue": claimed[job.ID].Queue, "tenant": claimed[job.ID].Tenant}[column], "now")
		})
	}
	b.test(t, "nor is it under limits", func(f *fixture, b *tail) {
		node, jobs := f.join(), many(3, ofKind("was-two"))
		f.cap(fairlead.LimitKind, "was-two", 5)
		f.cap(fairlead.LimitKind, "is-two", 5)
		f.enqueue(append(jobs, with(ofKind("stays-too")))...)
		b.warm(node)
		b.exec("update fairlead_lane set kind = 'is-two' where kind = 'was-two'")
		claimed := f.claimAs(driver.Claim{Node: node, Scope: everything("was-two", "stays-too"), Max: 10})
		f.equal("kinds of what was claimed", kindsOf(claimed), map[string]int{"stays-too": 1})
		b.wantAll(f.claimAs(driver.Claim{Node: node, Scope: everything("was-two", "is-two"), Max: 10}), jobs, "is-two")
		f.wantUse(fairlead.LimitKind, "is-two", 3)
		f.cap(fairlead.LimitKind, "was-two", 0)
		f.cap(fairlead.LimitKind, "is-two", 0)
	})
}

// warm makes a claim that finds nothing: the store has then read all lanes, and does not
// read them again for a moment.
func (b *tail) warm(node fairlead.NodeID) {
	b.fixture.Helper()
	b.fixture.wantClaim(node, everything("nothing of this kind"))
}

// wantAll checks that jobs were claimed with a kind.
func (b *tail) wantAll(claimed, jobs []*fairlead.Job, kind string) {
	b.fixture.Helper()
	b.fixture.equal("what was claimed", ids(claimed), ids(jobs))
	b.fixture.equal("kinds of what was claimed", kindsOf(claimed), map[string]int{kind: len(jobs)})
}

// kindsOf counts jobs by kind.
func kindsOf(jobs []*fairlead.Job) map[string]int {
	kinds := map[string]int{}
	for _, job := range jobs {
		kinds[job.Kind]++
	}
	return kinds
}
