package main

// sharedBugs returns bugs in packages that all stores use.
func sharedBugs() []bug {
	return []bug{
		{
			Name: "A deletion does not compare what its caller has seen", Breaks: "A job that was retried is not deleted by a caller who saw it failed.",
			Database: "postgres", File: "internal/sqlstore/operate.go",
			Was:   "Action: verdict.ToDelete, Among: []fairlead.State{seen.State}, Fences: map[int64]int64{seen.ID: seen.Fence},",
			Is:    "Action: verdict.ToDelete,",
			Pairs: []string{"failed: retry × delete as seen"},
		},
	}
}
