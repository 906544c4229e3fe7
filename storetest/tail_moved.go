package storetest

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/bulk"
)

// testMoved covers jobs of many tenants that move to lanes that differ from the store's
// cached version.
func (b *tail) testMoved(t *testing.T) {
	for _, spoiler := range []struct{ sentence, name, sql string }{
		{"jobs that are moved to lanes that were given up are in living lanes", "retired", "update fairlead_lane set retired_at = 1 where queue = '%s'"},
		{"jobs that are moved to lanes that are gone are in new ones", "gone", "delete from fairlead_lane where queue = '%s'"},
		{"jobs that are moved to lanes that have other ids by now are in those", "renumbered", "update fairlead_lane set id = id + 1000 where queue = '%s'"},
	} {
		b.test(t, spoiler.sentence, func(f *fixture, b *tail) {
			queue := "moved-" + spoiler.name
			jobs := ofTenants(30, inQueue("home-"+spoiler.name))
			f.enqueue(jobs...)
			for _, known := range jobs {
				f.ok(operations(f.store).SetQueue(f.ctx(), known.ID, queue))
				f.ok(operations(f.store).SetQueue(f.ctx(), known.ID, known.Queue))
			}
			b.exec(spoiler.sql, queue)
			run := f.begun(bulk.Bulk{Action: bulk.Move, Queue: queue})
			run.step(0, jobs...)
			run.wantCounts(30, 0)
			f.settle(to(fairlead.Succeed, run.job))
			right := b.count("select count(*) from fairlead_job j join fairlead_lane l on l.id = j.lane where l.queue = '%s' and l.retired_at = 0", queue)
			f.equal("jobs in the right lane", right, int64(len(jobs)))
		})
	}
}

// ofTenants returns n jobs of different tenants.
func ofTenants(n int, changes ...func(*fairlead.Job)) []*fairlead.Job {
	jobs := many(n, changes...)
	for i, job := range jobs {
		job.Tenant = fmt.Sprintf("tenant-%02d", i)
	}
	return jobs
}
