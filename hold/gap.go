package hold

import (
	"cmp"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead"
)

// Gaps returns the holds for a period in which no node looked. While no node had a lease, no
// job could start. The rest of the period is unrecorded.
func Gaps(from, to time.Time, nodes []fairlead.Node) []Hold {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b fairlead.Node) int { return cmp.Compare(a.JoinedAt.UnixMicro(), b.JoinedAt.UnixMicro()) })
	var gaps []Hold
	add := func(code fairlead.ObstacleCode, until time.Time) {
		if until.After(to) {
			until = to
		}
		if !until.After(from) {
			return
		}
		if last := len(gaps) - 1; last >= 0 && gaps[last].Code == code {
			gaps[last].Until = until
		} else {
			gaps = append(gaps, Hold{Cause: Cause{Code: code}, From: from, Until: until})
		}
		from = until
	}
	for i := range nodes {
		add(fairlead.NoNode, nodes[i].JoinedAt)
		add(Unrecorded, nodes[i].Until)
	}
	add(fairlead.NoNode, to)
	return gaps
}
