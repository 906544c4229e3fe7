package httpcall

import (
	"net/http"
	"strconv"
	"time"

	"github.com/fairlead-io/fairlead"
)

// longestAsked is how long a target may ask a job to stay away.
const longestAsked = time.Hour

// pauseAsked is the pause before the next attempt if a target that has enough to
// do said when to come back: not sooner than the job's own policy has it, and not
// later than in an hour unless that has it so.
func pauseAsked(job *fairlead.Job, reply Reply, now time.Time) (time.Duration, bool) {
	if reply.Status != http.StatusTooManyRequests && reply.Status != http.StatusServiceUnavailable {
		return 0, false
	}
	asked, ok := parseRetryAfter(reply.Header.Get("Retry-After"), now)
	if !ok {
		return 0, false
	}
	return max(min(asked, longestAsked), job.Retry.Delay(job.Failures+1)), true
}

// parseRetryAfter reads seconds or a date.
func parseRetryAfter(text string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return max(at.Sub(now), 0), true
}
