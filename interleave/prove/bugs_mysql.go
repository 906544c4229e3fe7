package main

// mysqlBugs returns bugs in the store of MySQL and MariaDB.
func mysqlBugs() []bug {
	const sql = "mysql/sql/"
	all := []bug{
		{
			Name: "A wish to cancel reads the run without a lock", Breaks: "A job that was cancelled while it ran does not run again.",
			File:  sql + "settle.sql",
			Was:   "where id in ({{ids}})\nfor update;",
			Is:    "where id in ({{ids}});",
			Pairs: []string{"running: cancel × settle: again at once", "running: settle: await × answer: success"},
		},
		{
			Name: "A settlement reads the run without a lock", Breaks: "A run is settled once.",
			File:  sql + "settle.sql",
			Was:   "where id in ({{ids}})\nfor update skip locked;",
			Is:    "where id in ({{ids}});",
			Pairs: []string{"running: settle: succeed × settle: fail", "running: cancel × settle: again at once"},
		},
		{
			Name: "A job's definition is read without a lock", Breaks: "Changes of a job take effect one after the other.",
			File:  sql + "operate.sql",
			Was:   "flags, coalesce(gate, 0)\nfrom {{job}}\nwhere id = ?\nfor update;",
			Is:    "flags, coalesce(gate, 0)\nfrom {{job}}\nwhere id = ?;",
			Pairs: []string{"scheduled: reschedule × set the priority", "ready: set the priority × move to another queue"},
		},
		{
			Name: "A scheduled job is read without a lock", Breaks: "A job is in one place.",
			File:  sql + "operate.sql",
			Was:   "from {{later}} where id = ? for update;",
			Is:    "from {{later}} where id = ?;",
			Pairs: []string{"due: cancel × promote"},
		},
		{
			Name: "Gates are not locked while they admit", Breaks: "No gate admits more jobs than it has places.",
			File:  "mysql/gate_admit.go",
			Was:   "return gates, t.insert(ctx, t.sql.LockGates, &wanted)",
			Is:    "return gates, nil",
			Pairs: []string{"running at a gate: enqueue behind the gate × settle: succeed", "parked: enqueue behind the gate × widen the gate"},
		},
		{
			Name: "An admission forgets a gate whose parked job is locked", Breaks: "A parked job is admitted when its gate has a place.",
			File:  "mysql/gate_admit.go",
			Was:   "case slices.Contains(busy, id):",
			Is:    "case slices.Contains(busy, -id):",
			Pairs: []string{"parked: run now × widen the gate"},
		},
		{
			Name: "A claim counts a cap without locking it", Breaks: "No cap is ever exceeded.",
			File:  sql + "claim_limits.sql",
			Was:   "where id in ({{ids}})\norder by id\nfor update {{wait}};",
			Is:    "where id in ({{ids}}) -- {{wait}}\norder by id;",
			Pairs: []string{"two ready at a cap: claim × claim from the spare queue"},
		},
		{
			Name: "Due schedules are not locked", Breaks: "Each due instant has one run.",
			File:  sql + "schedule.sql",
			Was:   "order by next_fire, id\nlimit ?\nfor update skip locked;",
			Is:    "order by next_fire, id\nlimit ?;",
			Pairs: []string{"a due schedule: tick × tick", "a due schedule: tick × trigger the schedule"},
		},
		{
			Name: "An operation on a schedule does not lock it", Breaks: "An overlap policy sees every earlier run.",
			File:  sql + "schedule.sql",
			Was:   "where id in ({{list}})\nfor update;",
			Is:    "where id in ({{list}});",
			Pairs: []string{"a due schedule that skips: tick × trigger the schedule", "a due schedule: tick × trigger the schedule"},
		},
		{
			Name: "An operation on a batch does not lock it", Breaks: "Operations on a batch take effect one after the other.",
			File:  sql + "batch.sql",
			Was:   "from {{batch}} force index (primary) where id = ? for update;",
			Is:    "from {{batch}} force index (primary) where id = ?;",
			Pairs: []string{"a batch with a running task: cancel the batch × pause the batch", "a batch with a running task: cancel the batch × roll the batch back"},
		},
		{
			Name: "An operation on a sweep does not lock it", Breaks: "Operations on a sweep take effect one after the other.",
			File:  sql + "sweep.sql",
			Was:   "from {{sweep}} force index (primary) where id = ? for update;",
			Is:    "from {{sweep}} force index (primary) where id = ?;",
			Pairs: []string{"a new sweep: start the sweep × delete the sweep", "a starting sweep: steer the sweep × stop the sweep"},
		},
		{
			Name: "A step of a bulk does not lock it", Breaks: "A bulk counts each of its jobs once.",
			File:  sql + "bulk.sql",
			Was:   "where b.id = ?1\nfor update;",
			Is:    "where b.id = ?1;",
			Pairs: []string{"in a bulk: step of a bulk × step of a bulk"},
		},
		{
			Name: "A node is marked as alive after its crashes were taken back", Breaks: "A node that was slow does not count as crashed.",
			File:  "mysql/lived.go",
			Was:   "if _, err := s.execQuickly(ctx, s.sql.MarkLived, node); err != nil {",
			Is:    "defer func() { _, _ = s.execQuickly(ctx, s.sql.MarkLived, node) }()\n\tif err := ctx.Err(); err != nil {",
			Pairs: []string{"orphaned: reap × lived"},
		},
	}
	all = append(all, []bug{
		{
			Name: "Two nodes promote the same job", Breaks: "A job is in one place.",
			File:  sql + "keep.sql",
			Was:   "where not_before <= ?\norder by not_before, id\nlimit ?\nfor update skip locked;",
			Is:    "where not_before <= ?\norder by not_before, id\nlimit ?;",
			Pairs: []string{"due: promote × promote", "due: reschedule × promote"},
		},
		{
			Name: "Two nodes end the same wait", Breaks: "A wait ends once.",
			File:  sql + "keep.sql",
			Was:   "held, deadline, retry_after\nfrom {{waiting}} force index (primary)\nwhere id in ({{ids}})\nfor update skip locked;",
			Is:    "held, deadline, retry_after\nfrom {{waiting}} force index (primary)\nwhere id in ({{ids}});",
			Pairs: []string{"overdue: expire × expire", "overdue: cancel × expire"},
		},
		{
			Name: "A job of a claim that came too late counts as crashed", Breaks: "A job that did not start has no failed attempt.",
			File:  "mysql/reap.go",
			Was:   "orphan.Late = n.held != nil && !slices.Contains(",
			Is:    "orphan.Late = n.held == nil && !slices.Contains(",
			Pairs: []string{"ready: claim as the holder × leave"},
		},
		{
			Name: "A settlement does not compare its fence", Breaks: "A node that has lost its lease is refused.",
			File:  "mysql/settle.go",
			Was:   "if p == nil || !verdict.Current(s, p.state, p.fence) {",
			Is:    "if p == nil {",
			Pairs: []string{"orphaned: settle: fail × take over"},
		},
		{
			Name: "A save does not compare its fence", Breaks: "A node that has lost its lease is refused.",
			File:  "mysql/node.go",
			Was:   "if p.fence != save.Fence {",
			Is:    "if p.fence < save.Fence {",
			Pairs: []string{"orphaned: save × take over"},
		},
		{
			Name: "A checkpoint does not compare its fence", Breaks: "A node that has lost a shard does not move its mark.",
			File:  sql + "sweep.sql",
			Was:   "where r.id = ? and r.fence = ? and p.mark <= ?;",
			Is:    "where r.id = ? and r.fence >= ? and p.mark <= ?;",
			Pairs: []string{"a sweep with a running shard: take over the shard × checkpoint"},
		},
		{
			Name: "A reaper does not compare the node of the run that it takes", Breaks: "A job is not taken from a live node.",
			File:  "mysql/reap.go",
			Was:   "if p.node != orphans[id] {",
			Is:    "if p.node < 0 {",
			Pairs: []string{"orphaned: reap × take over"},
		},
	}...)
	for i := range all {
		all[i].Database = "mysql"
	}
	return all
}
