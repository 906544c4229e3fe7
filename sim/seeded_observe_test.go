package sim

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// settled observes what the store has made of a settlement.
func (w *world) settled(p *peer, x fairlead.Settlement, answer fairlead.Settled) {
	result := map[fairlead.Settled]string{fairlead.SettledAsAsked: OK, fairlead.SettledCancelled: Cancelled, fairlead.SettledLost: Lost}[answer]
	if result == "" {
		return // held by a transaction: nothing was changed
	}
	w.note(Event{What: Settled, Process: p.name, Job: x.ID, Fence: x.Fence, Move: x.Move, Result: result})
	switch {
	case result == Lost:
		w.counts.add(lostLease)
	case x.Move == fairlead.Succeed && result == OK:
		w.succeeded(x.ID, x.Fence)
	case x.Move == fairlead.MoveAwait:
		w.answered(x.ID, x.Fence)
	}
}

// answered observes whether an answer has ended a job.
func (w *world) answered(id, fence int64) {
	job, err := w.store.Get(context.Background(), id)
	if err == nil && job.State == fairlead.Succeeded && job.Fence == fence {
		w.succeeded(id, fence)
	}
}

// succeeded notes that a job has succeeded under a fence. It must not under two.
func (w *world) succeeded(id, fence int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.successes[id] == nil {
		w.successes[id] = map[int64]bool{}
	}
	w.successes[id][fence] = true
	if len(w.successes[id]) > 1 {
		w.violations = append(w.violations, fmt.Sprintf("job %d has succeeded under the fences %v", id, w.successes[id]))
	}
}

// judgeClaim checks right after a claim that it took no paused job and that the limits hold.
func (w *world) judgeClaim(ctx context.Context, jobs []*fairlead.Job) {
	anyCapped, anyBounded := false, false
	for _, job := range jobs {
		for _, pause := range []fairlead.Pause{
			{Scope: fairlead.PauseQueue, Name: job.Queue}, {Scope: fairlead.PauseKind, Name: job.Kind}, {Scope: fairlead.PauseTenant, Name: job.Tenant},
		} {
			if w.paused[pause] {
				w.violated("job %d was claimed while the %s %q was paused", job.ID, pause.Scope, pause.Name)
			}
		}
		anyCapped = anyCapped || job.Kind == capped.Name()
		anyBounded = anyBounded || job.Tenant == bounded
	}
	var ofKind, ofTenant, all int
	err := w.store.DB().QueryRowContext(ctx, `select coalesce(sum(l.kind = ?), 0), coalesce(sum(l.tenant = ?), 0), count(*) from
		(select lane from fairlead_running union all select lane from fairlead_waiting) p join fairlead_lane l on l.id = p.lane`, capped.Name(), bounded).
		Scan(&ofKind, &ofTenant, &all)
	if err != nil {
		w.t.Fatal(err)
	}
	if anyCapped && ofKind > w.book.cap {
		w.violated("%d jobs of kind %s run, and the cap is %d", ofKind, capped.Name(), w.book.cap)
	}
	if anyBounded && ofTenant > tenantCap {
		w.violated("%d jobs of tenant %s run, and the cap is %d", ofTenant, bounded, tenantCap)
	}
	if all > globalCap {
		w.violated("%d jobs run, and the cap is %d", all, globalCap)
	}
}

// places are all tables that a job can be in.
const places = `(select id from fairlead_later union all select id from fairlead_ready union all select id from fairlead_parked
	union all select id from fairlead_running union all select id from fairlead_waiting union all select id from fairlead_done)`

// audits are queries that return nothing as long as the database is consistent.
var audits = []struct{ wrong, query string }{
	{"jobs that are not in exactly one place", `select j.id from fairlead_job j left join ` + places + ` p on p.id = j.id group by j.id having count(p.id) <> 1`},
	{"places without a job", `select p.id from ` + places + ` p left join fairlead_job j on j.id = p.id where j.id is null`},
	{"keys that several live jobs have", `select j.job_key from fairlead_job j join fairlead_lane l on l.id = j.lane
		where j.job_key is not null and j.id not in (select id from fairlead_done) group by l.tenant, j.job_key having count(*) > 1`},
	{"live jobs without their key", `select j.id from fairlead_job j where j.job_key is not null and j.id not in (select id from fairlead_done)
		and j.id not in (select id from fairlead_jobkey)`},
	{"keys of jobs that do not exist", `select id from fairlead_jobkey where id not in (select id from fairlead_job)`},
	{"gates with too many jobs", fmt.Sprintf(`select gate from fairlead_admitted group by gate having count(*) > %d`, placesPerKey)},
	{"jobs that run without a place at their gate", `select r.id from (select id from fairlead_running union all select id from fairlead_waiting union all
		select id from fairlead_ready) r join fairlead_job j on j.id = r.id where j.gate is not null and not exists
		(select 1 from fairlead_admitted a where a.gate = j.gate and a.id = j.id)`},
	{"places at gates of jobs that have ended", `select id from fairlead_admitted where id in (select id from fairlead_done)`},
}

// audit checks the tables, and the tallies of batches.
func (w *world) audit(ctx context.Context) {
	if w.gate.held() != nil {
		return // a transaction is open
	}
	for _, audit := range audits {
		if found := w.strings(ctx, audit.query); len(found) > 0 {
			w.violated("%s: %s", audit.wrong, strings.Join(found, ", "))
		}
	}
	drift, err := w.store.Verify(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(drift) > 0 {
		w.violated("wrong counts: %v", drift)
	}
}

// strings returns the first column of a query.
func (w *world) strings(ctx context.Context, query string) (found []string) {
	rows, err := w.store.DB().QueryContext(ctx, query)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.NullString
		if err := rows.Scan(&text); err != nil {
			w.t.Fatal(err)
		}
		found = append(found, text.String)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return found
}
