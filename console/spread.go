package console

import (
	"regexp"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// spread is a jitter that separates schedules that fire in the same minute.
type spread struct {
	Jitter time.Duration
	Most   int     // largest percentage of the schedules that would still fire in one minute, rounded up
	Plans  []*plan // schedules that should get the jitter
}

// spreads lists the jitters to try, shortest first.
var spreads = []time.Duration{2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute}

// spreadOf finds the shortest jitter that leaves at most a quarter of the movable schedules
// in one minute, in addition to the others. Each schedule's part of a jitter depends only
// on its name, so the outcome is exact. Schedules stay in place if they have a jitter, are
// due more often than once an hour, or have unpredictable instants.
func spreadOf(plans []*plan, minute time.Time) *spread {
	var movable []*plan
	for _, p := range plans {
		if p.own.Jitter == 0 && !p.unforeseeable() && p.timing.Next(minute.Add(time.Minute-time.Microsecond)).Sub(minute) >= 59*time.Minute {
			movable = append(movable, p)
		}
	}
	if len(movable) < hotLeast {
		return nil
	}
	for _, jitter := range spreads {
		stay := len(plans) - len(movable)
		perMinute := map[int]int{0: stay}
		for _, p := range movable {
			due := p.timing.Next(instantBefore(minute))
			perMinute[int(due.Sub(minute)+p.offset(jitter))/int(time.Minute)]++
		}
		most := 0
		for _, n := range perMinute {
			most = max(most, n)
		}
		if most <= stay+(len(movable)+3)/4 {
			return &spread{Jitter: jitter, Most: (100*most + len(plans) - 1) / len(plans), Plans: movable}
		}
	}
	return nil
}

// offset returns the part of a jitter that a schedule would get.
func (p *plan) offset(jitter time.Duration) time.Duration {
	other := p.own
	other.Jitter = jitter
	timing, err := schedule.NewTiming(&other, nil)
	if err != nil {
		return 0 // the timing was already parsed successfully
	}
	return timing.Offset()
}

// plainName matches names that need no quoting in a shell and cannot be mistaken for an ID
// or a flag.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`)

// Commands returns the commands that set the jitter of the schedules, one per line. Names
// may be chosen by others and the lines are intended for a shell, so names that are not
// plain are replaced by IDs.
func (s *spread) Commands() string {
	var lines []string
	for _, p := range s.Plans {
		name := p.GetName()
		if !plainName.MatchString(name) {
			name = p.GetId()
		}
		lines = append(lines, "fairlead schedule update "+name+" --jitter "+shortDuration(s.Jitter))
	}
	return strings.Join(lines, "\n")
}
