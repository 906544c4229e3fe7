package console

import (
	"cmp"
	"slices"
	"time"
)

// waitShare is the part of a job's wait that is due to one cause.
type waitShare struct {
	Code   string
	Text   string // what the job waited for, if that was the same all the time
	Length time.Duration
	whole  time.Duration
}

// Percent returns the share of the whole wait: at least 1, and at most 99 if there are
// other shares.
func (s waitShare) Percent() int64 {
	if s.Length >= s.whole {
		return 100
	}
	return min(99, max(1, int64(100*float64(s.Length)/float64(s.whole)+0.5)))
}

// waitShares adds up the times that a job waited for the same cause, longest first. If
// causes overlap, only the first one counts, because it alone held the job back.
func waitShares(lines []waitedLine) (shares []waitShare) {
	whole, places := time.Duration(0), map[string]int{}
	for _, line := range lines {
		cause := waitCause{Code: "in_line"}
		if len(line.Causes) > 0 {
			cause = line.Causes[0]
		}
		place, known := places[cause.Code]
		if !known {
			place, places[cause.Code] = len(shares), len(shares)
			shares = append(shares, waitShare{Code: cause.Code, Text: cause.Text})
		}
		share := &shares[place]
		if share.Length += line.Length(); share.Text != cause.Text {
			share.Text = ""
		}
		whole += line.Length()
	}
	for i := range shares {
		shares[i].whole = max(whole, 1)
	}
	slices.SortStableFunc(shares, func(a, b waitShare) int { return cmp.Compare(b.Length, a.Length) })
	return shares
}
