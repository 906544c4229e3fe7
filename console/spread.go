package console

import (
	"regexp"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/schedule"
)

// spread is a jitter that takes schedules apart which fire in the same minute.
type spread struct {
	Jitter time.Duration
	Most   int     // percent of all that fire in that minute that would still fire in one minute, rounded up
	Plans  []*plan // that are to be given the jitter
}

// spreads are the jitters that are tried, shortest first.
var spreads = []time.Duration{2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute}

// spreadOf finds the shortest jitter that leaves at most a quarter of the schedules that
// can be moved in one minute, beside those that stay. Each schedule's part of a jitter is fixed by its name, so that the outcome is
// computed, not guessed. Schedules that have a jitter, that are due more often than each
// hour, or whose next instants nothing foresees stay where they are.
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

// offset is the schedule's part of a jitter that it does not have yet.
func (p *plan) offset(jitter time.Duration) time.Duration {
	other := p.own
	other.Jitter = jitter
	timing, err := schedule.NewTiming(&other, nil)
	if err != nil {
		return 0 // it was read before
	}
	return timing.Offset()
}

// plainName is a name that a shell takes as it is, and that cannot be mistaken for an id or
// a flag.
var plainName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]*$`)

// Commands are what gives the schedules their jitter, line by line. Names come from others
// and the lines are for a shell: one that is not plain is replaced by the id.
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
