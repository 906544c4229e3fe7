package dispatch

import "time"

// Spent counts the picks that fall under each limit.
func Spent(picks []Pick) map[*Limit]int {
	spent := map[*Limit]int{}
	for _, pick := range picks {
		for _, limit := range pick.Lane.Limits {
			spent[limit]++
		}
	}
	return spent
}

// NextToken returns the time until a job that is held back only by a rate may start,
// assuming that the picks have started. The result is negative if there is no such job.
// NextToken ignores jobs that wait for a slot, because the call that frees a slot wakes the
// nodes.
func NextToken(lanes []*Lane, picks []Pick) time.Duration {
	spent, taken := Spent(picks), map[*Lane]int{}
	for _, pick := range picks {
		taken[pick.Lane]++
	}
	next := time.Duration(-1)
	for _, lane := range lanes {
		if _, _, more := lane.next(taken[lane]); !more {
			continue
		}
		if wait := lane.wait(spent); wait > 0 && (next < 0 || wait < next) {
			next = wait
		}
	}
	return next
}

// wait returns how long the rates hold back the lane's next job, or zero if they do not, or
// if it waits for a slot.
func (l *Lane) wait(spent map[*Limit]int) (longest time.Duration) {
	for _, limit := range l.Limits {
		after := *limit
		after.Used += spent[limit]
		after.Tokens -= float64(spent[limit])
		if after.Full() {
			return 0
		}
		longest = max(longest, after.NextToken())
	}
	return longest
}
