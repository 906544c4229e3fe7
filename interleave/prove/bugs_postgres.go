package main

// postgresBugs returns bugs in the store of PostgreSQL.
func postgresBugs() []bug {
	const sql = "postgres/sql/"
	all := []bug{
		{
			Name: "An answer reads the waiting job without a lock", Breaks: "An answer that was acknowledged is kept.",
			File:  sql + "resolve.sql",
			Was:   "select fence, deadline, retry_after from {{waiting}} where id = $1::bigint for update;",
			Is:    "select fence, deadline, retry_after from {{waiting}} where id = $1::bigint;",
			Pairs: []string{"waiting: cancel × answer: success", "overdue: answer: success × expire", "waiting: answer: success × answer: failure"},
		},
		{
			Name: "An early answer reads the run without a lock", Breaks: "An answer that was acknowledged is kept.",
			File:  sql + "resolve.sql",
			Was:   "select fence, answer from {{running}} where id = $1::bigint for update;",
			Is:    "select fence, answer from {{running}} where id = $1::bigint;",
			Pairs: []string{"running: settle: await × answer: success", "running: settle: succeed × answer: success"},
		},
		{
			Name: "A run begins to wait although its answer is there", Breaks: "An answer that arrives before the wait ends it.",
			File:  sql + "settle.sql",
			Was:   "where r.id = any (array[a.id]) and r.fence = a.fence and r.answer is null",
			Is:    "where r.id = any (array[a.id]) and r.fence = a.fence",
			Pairs: []string{"running: settle: await × answer: success"},
		},
		{
			Name: "A retry reads the ended job without a lock", Breaks: "A job whose retry was acknowledged runs again.",
			File:  sql + "operate.sql",
			Was:   "for update of d;",
			Is:    ";",
			Pairs: []string{"failed: retry × prune", "failed: retry × delete", "failed: retry × retry"},
		},
		{
			Name: "A key that becomes free during an enqueue counts as taken", Breaks: "A job that was acknowledged is stored.",
			File: "postgres/enqueue_keyed.go",
			Was:  "case !held: // the holder gave it back meanwhile",
			Is:   "case !held && job.ID < 0:",
			Pairs: []string{
				"running with a key: enqueue, keep a duplicate × settle: succeed", "running with a key: settle: succeed × a caller keeps a duplicate and commits",
				"ready with a key: enqueue, keep a duplicate × cancel",
			},
		},
		{
			Name: "A settlement with a successor waits for a caller's transaction", Breaks: "A caller's open transaction does not stop a node.",
			File:  "postgres/settle.go",
			Was:   "if len(held) > 0 {\n\t\t\t\tall.settled[i] = fairlead.SettledHeld",
			Is:    "if len(held) < 0 {\n\t\t\t\tall.settled[i] = fairlead.SettledHeld",
			Pairs: []string{"running: settle: replace × a caller completes the job and stays open"},
		},
		{
			Name: "A settlement waits for a caller's transaction", Breaks: "A caller's open transaction does not stop a node.",
			File:  "postgres/settle_held.go",
			Was:   "return heldOr(r.sendOnce(ctx, r.pool, call{sql: r.pin() + r.sql.BoundLocks}, calls))",
			Is:    "return heldOr(r.sendOnce(ctx, r.pool, call{sql: r.pin()}, calls))",
			Pairs: []string{"running: settle: succeed × a caller completes the job and stays open"},
		},
		{
			Name: "An operation on a batch does not lock it", Breaks: "Operations on a batch take effect one after the other.",
			File:  sql + "batch.sql",
			Was:   "where id = $1::bigint for no key update;",
			Is:    "where id = $1::bigint;",
			Pairs: []string{"a batch with a running task: cancel the batch × pause the batch", "a batch with a running task: conduct the batch × cancel the batch"},
		},
		{
			Name: "A look at a batch does not lock it", Breaks: "Two nodes never release the same task.",
			File:  sql + "batch.sql",
			Was:   "where id = $1::bigint for no key update skip locked;",
			Is:    "where id = $1::bigint;",
			Pairs: []string{"a batch with a task that ended: conduct the batch × conduct the batch", "a batch with a task that ended: conduct the batch × cancel the batch"},
		},
		{
			Name: "An operation on a sweep does not lock it", Breaks: "Operations on a sweep take effect one after the other.",
			File: sql + "sweep.sql",
			Was:  "where id = $1::bigint for no key update;",
			Is:   "where id = $1::bigint;",
			Pairs: []string{
				"a new sweep: start the sweep × delete the sweep", "a starting sweep: steer the sweep × stop the sweep", "a sweep with a running shard: stop the sweep × retry items",
			},
		},
		{
			Name: "A node steers a sweep without locking it", Breaks: "Each shard has one run.",
			File:  sql + "sweep.sql",
			Was:   "where id = $1::bigint for no key update skip locked;",
			Is:    "where id = $1::bigint;",
			Pairs: []string{"a starting sweep: steer the sweep × steer the sweep", "a starting sweep: steer the sweep × stop the sweep"},
		},
		{
			Name: "Due schedules are not locked", Breaks: "Each due instant has one run.",
			File:  sql + "fire.sql",
			Was:   "order by fire_at, schedule limit $1::int for update skip locked;",
			Is:    "order by fire_at, schedule limit $1::int;",
			Pairs: []string{"a due schedule: tick × tick", "a due schedule: tick × change the schedule"},
		},
		{
			Name: "An operation on a schedule does not lock it", Breaks: "An overlap policy sees every earlier run.",
			File: sql + "schedule.sql",
			Was:  "select schedule from {{cursor}} where schedule = any ($1::bigint[]) for update;",
			Is:   "select schedule from {{cursor}} where schedule = any ($1::bigint[]);",
			Pairs: []string{
				"a due schedule that queues: trigger the schedule × trigger the schedule", "a due schedule that skips: tick × trigger the schedule", "a due schedule: tick × delete the schedule",
			},
		},
		{
			Name: "A retry of a run does not lock its schedule", Breaks: "A schedule never exceeds its limit of active runs.",
			File:  sql + "fire.sql",
			Was:   "for update of k;",
			Is:    ";",
			Pairs: []string{"a schedule with a failed run that retries: retry × tick", "a schedule with a failed run that retries: retry × trigger the schedule"},
		},
		{
			Name: "A step of a bulk does not lock it", Breaks: "A bulk counts each of its jobs once.",
			File:  sql + "bulk.sql",
			Was:   "for update of b;",
			Is:    ";",
			Pairs: []string{"in a bulk: step of a bulk × step of a bulk", "in a bulk: step of a bulk × stop the bulk"},
		},
		{
			Name: "A job is deleted by its ID after its state was compared", Breaks: "A job that was retried is not deleted by a caller who saw it failed.",
			File: "postgres/operate.go",
			Was:  "\tcase fairlead.OpDelete:\n\t\treturn o.delete(ctx, id, asked)",
			Is: "\tcase fairlead.OpDelete:\n\t\tif asked.Fences != nil {\n\t\t\tjob, err := o.store.Get(ctx, id)\n\t\t\tif err == nil {\n\t\t\t\terr = asked.PermitSeen(id, job.State, job.Fence)\n\t\t\t}\n" +
				"\t\t\tif err != nil {\n\t\t\t\treturn err\n\t\t\t}\n\t\t\tasked = &verdict.Operation{Operation: fairlead.Operation{Op: asked.Op}}\n\t\t}\n\t\treturn o.delete(ctx, id, asked)",
			Pairs: []string{"failed: retry × delete as seen"},
		},
		{
			Name: "A claim counts a cap without locking it", Breaks: "No cap is ever exceeded.",
			File:  sql + "claim_limits.sql",
			Was:   "from {{quota}} where id = any (array(select id from open)) for update skip locked",
			Is:    "from {{quota}} where id = any (array(select id from open))",
			Pairs: []string{"two ready at a cap: claim × claim from the spare queue"},
		},
		{
			Name: "A node is marked as alive after its crashes were taken back", Breaks: "A node that was slow does not count as crashed.",
			File:  "postgres/lived.go",
			Was:   "if err := s.run(ctx, call{sql: s.sql.MarkLived, args: []any{int64(node)}}); err != nil {",
			Is:    "defer func() { _ = s.run(ctx, call{sql: s.sql.MarkLived, args: []any{int64(node)}}) }()\n\tif err := ctx.Err(); err != nil {",
			Pairs: []string{"orphaned: reap × lived"},
		},
		{
			Name: "Prune removes tasks that their batch has not counted", Breaks: "A batch counts how each task ended.",
			File:  sql + "keep.sql",
			Was:   "({{counting_batch}}) is null\nand (select true from {{fire}} f",
			Is:    "(select true from {{fire}} f",
			Pairs: []string{"a batch with a task that ended: prune × conduct the batch"},
		},
		{
			Name: "A wait that expires keeps its key and its place", Breaks: "An ended job gives back its key and its place.",
			File:  sql + "keep.sql",
			Was:   "leaving as materialized (select id from moved where retry_after < 0),",
			Is:    "leaving as materialized (select id from moved where retry_after < -1),",
			Pairs: []string{"overdue: answer: success × expire", "overdue: cancel × expire"},
		},
		{
			Name: "A job that ends while it waits keeps its slot", Breaks: "Each cap counts the jobs that run.",
			File:  sql + "resolve.sql",
			Was:   "vacated as ({{vacate}})\nselect held is not null from moved;",
			Is:    "vacated as (select 1)\nselect held is not null from moved;",
			Pairs: []string{"waiting at a cap: cancel × answer: success", "waiting at a cap: answer: success × claim"},
		},
		{
			Name: "A release ignores a wish to cancel", Breaks: "A cancelled job does not run again.",
			File:  sql + "settle.sql",
			Was:   "from timed where wish is null and due > now",
			Is:    "from timed where due > now",
			Pairs: []string{"stopping: cancel × settle: again", "running: cancel × settle: again"},
		},
	}
	all = append(all, []bug{
		{
			Name: "A task whose run was released counts as one that never started", Breaks: "A rollback undoes what a task has changed.",
			File:  sql + "batch.sql",
			Was:   "with begun as materialized (select id from {{memo}} where id between $1::bigint and $2::bigint),",
			Is:    "with begun as materialized (select id from {{memo}} where id between $1::bigint and $2::bigint and memo is not null),",
			Pairs: []string{"a batch with a running task: settle: release × cancel the batch", "a batch with a running task: settle: release × pause the batch"},
		},
		{
			Name: "A settlement does not compare its fence", Breaks: "A node that has lost its lease is refused.",
			File:  sql + "settle.sql",
			Was:   "where r.id = any (array[a.id]) and r.fence = a.fence\n    returning r.id, r.fence, r.node, r.started_at, r.lane, r.attempt, r.failures, r.crashes, r.wish, r.held,\n",
			Is:    "where r.id = any (array[a.id])\n    returning r.id, a.fence, r.node, r.started_at, r.lane, r.attempt, r.failures, r.crashes, r.wish, r.held,\n",
			Pairs: []string{"orphaned: settle: fail × take over"},
		},
		{
			Name: "A release does not compare its fence", Breaks: "A node that has lost its lease is refused.",
			File:  sql + "settle.sql",
			Was:   "where r.id = any (array[a.id]) and r.fence = a.fence\n    returning r.id, r.fence, r.node, r.started_at, r.lane, r.attempt - (",
			Is:    "where r.id = any (array[a.id])\n    returning r.id, a.fence, r.node, r.started_at, r.lane, r.attempt - (",
			Pairs: []string{"orphaned: settle: again × take over"},
		},
		{
			Name: "A save does not compare its fence", Breaks: "A node that has lost its lease is refused.",
			File:  sql + "settle.sql",
			Was:   "update {{running}} set crashes = 0 where id = $1::bigint and fence = $2::bigint returning id",
			Is:    "update {{running}} set crashes = 0 where id = $1::bigint and fence >= $2::bigint returning id",
			Pairs: []string{"orphaned: save × take over"},
		},
		{
			Name: "A checkpoint does not compare its fence", Breaks: "A node that has lost a shard does not move its mark.",
			File:  sql + "sweep.sql",
			Was:   "update {{running}} set crashes = 0 where id = $3::bigint and fence = $4::bigint returning id",
			Is:    "update {{running}} set crashes = 0 where id = $3::bigint and fence >= $4::bigint returning id",
			Pairs: []string{"a sweep with a running shard: take over the shard × checkpoint"},
		},
		{
			Name: "A run that is deleted while its end is noticed stays", Breaks: "Nothing of a deleted run stays.",
			File:  sql + "fire.sql",
			Was:   "from closed c where c.gone or (select",
			Is:    "from closed c where (select",
			Pairs: []string{"a schedule with a failed run that retries: delete × tick"},
		},
	}...)
	for i := range all {
		all[i].Database = "postgres"
	}
	return all
}
