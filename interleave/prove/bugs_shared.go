package main

// sharedBugs returns bugs in packages that all stores use.
func sharedBugs() []bug {
	return []bug{
		{
			Name: "A task of a batch is retried without its batch", Breaks: "A batch counts each end of a task once.",
			Database: "mysql", File: "internal/sqlstore/reopen.go",
			Was:   "if policy.Batch == 0 {",
			Is:    "if policy.Batch >= 0 {",
			Pairs: []string{"a batch that failed in part: retry × retry the batch", "a batch with a task that ended: retry × conduct the batch", "a batch that failed in part: retry × conduct the batch"},
		},
		{
			Name: "An answer to an earlier run counts", Breaks: "An answer belongs to the run that asked for it.",
			Database: "postgres", File: "internal/verdict/answer.go",
			Was:   "case at.Fence != answer.Fence || at.Fence == 0:",
			Is:    "case at.Fence < answer.Fence || at.Fence == 0:",
			Pairs: []string{"orphaned: answer: success × take over"},
		},
		{
			Name: "A deletion does not compare what its caller has seen", Breaks: "A job that was retried is not deleted by a caller who saw it failed.",
			Database: "postgres", File: "internal/verdict/operation.go",
			Was:   "op.Among, op.Fences = []fairlead.State{seen.State}, map[int64]int64{id: seen.Fence}",
			Is:    "",
			Pairs: []string{"failed: retry × delete as seen"},
		},
	}
}
