package main

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead/internal/mutants/active"
)

// Verdicts on mutants.
const (
	killed     = "killed"
	survived   = "survived"
	equivalent = "equivalent"
	invalid    = "invalid"   // rejected by the database, so the result is meaningless
	unreached  = "unreached" // not reached by any test, which is no better than survived
)

// verdict is the result for a mutant.
type verdict struct {
	Place   string
	Area    string
	Kind    string
	Verdict string
	By      string // the test that killed it, or the reason why it is equivalent
	Second  bool   `json:",omitempty"` // killed by the second tier, after the first did not notice it
	Tests   int    // number of test runs
	Seconds float64
	CPU     float64
}

// hunter judges mutants.
type hunter struct {
	workshop *workshop
	project  *project
	record   *record
}

const (
	firstRound = 3.0  // seconds of tests in the first batch; each batch has twice as many
	lastRound  = 60.0 // maximum seconds of tests in a batch
)

// misunderstood matches the errors of databases and drivers for statements that a mutation
// has made invalid.
var misunderstood = regexp.MustCompile(`SQLSTATE 42(?:601|P0[128]|703|804|883|P18)|SQLSTATE 0A000|Error 1064|Error 1054|syntax error|no such column|incomplete input|could not determine data type`)

// judge runs tests with one mutant until one fails.
func (h *hunter) judge(ctx context.Context, at *place) (verdict, error) {
	v := verdict{Place: at.name(), Area: at.area.name, Kind: at.kind, Verdict: survived}
	environment, clean, err := h.environment(at)
	if err != nil {
		return v, err
	}
	defer clean()
	units := h.record.asked(h.project, at)
	if len(units) == 0 {
		v.Verdict = unreached
		return v, nil
	}
	begun := time.Now()
	for budget := firstRound; len(units) > 0; budget = min(2*budget, lastRound) {
		var round []reach
		round, units = take(units, budget)
		for _, together := range bundles(round) {
			played, err := h.workshop.play(ctx, together.units, together.limit(), environment...)
			if err != nil || ctx.Err() != nil {
				return v, err
			}
			v.Tests += len(together.units)
			v.CPU += played.cpu.Seconds()
			if played.passed {
				continue
			}
			again, err := h.confirm(ctx, together, &played, environment)
			if err != nil || ctx.Err() != nil {
				return v, err
			}
			v.CPU += again.cpu.Seconds()
			if again.passed {
				continue
			}
			v.Seconds = time.Since(begun).Seconds()
			v.Verdict, v.By, v.Second = killed, together.units[0].Package+" "+played.failed(), together.units[0].Long
			switch {
			case at.statement != nil && misunderstood.MatchString(played.output):
				v.Verdict, v.By = invalid, misunderstood.FindString(played.output)
			case played.hung:
				v.By = together.units[0].String() + " hangs"
			}
			return v, nil
		}
	}
	v.Seconds = time.Since(begun).Seconds()
	return v, nil
}

// confirm repeats a failed test: a test that occasionally fails without a mutant has not
// noticed anything.
func (h *hunter) confirm(ctx context.Context, together *bundle, played *run, environment []string) (run, error) {
	units := together.units
	for _, u := range units {
		if failed := u.Package + " " + played.failed(); failed == u.String() || strings.HasPrefix(failed, u.String()+"/") {
			units = []unit{u}
		}
	}
	return h.workshop.play(ctx, units, together.limit(), environment...)
}

// environment returns the variables that enable a mutant.
func (h *hunter) environment(at *place) (variables []string, clean func(), err error) {
	if at.statement == nil {
		return []string{active.Number + "=" + strconv.Itoa(at.number)}, func() {}, nil
	}
	file, err := os.CreateTemp(h.workshop.dir, "statement")
	if err != nil {
		return nil, nil, err
	}
	clean = func() { _ = os.Remove(file.Name()) }
	if err := json.NewEncoder(file).Encode(at.statement); err != nil {
		return nil, clean, err
	}
	return []string{active.Statement + "=" + file.Name()}, clean, file.Close()
}

// take splits off the first units: as many as fit into some seconds, at least one, and all
// of one tier.
func take(units []reach, seconds float64) (first, rest []reach) {
	for i, u := range units {
		if seconds -= u.Seconds; i > 0 && (seconds < 0 || u.Long != units[0].Long) {
			return units[:i], units[i:]
		}
	}
	return units, nil
}

// bundle is a list of units that one process runs.
type bundle struct {
	units   []unit
	seconds float64
}

// limit returns the duration after which a bundle counts as hanging.
func (b *bundle) limit() time.Duration {
	return 20*time.Second + time.Duration(5*b.seconds*float64(time.Second))
}

// bundles groups units by package.
func bundles(units []reach) []*bundle {
	var all []*bundle
	known := map[string]*bundle{}
	for _, u := range units {
		key := u.Package
		b := known[key]
		if b == nil {
			b = &bundle{}
			known[key] = b
			all = append(all, b)
		}
		b.units, b.seconds = append(b.units, u.unit), b.seconds+u.Seconds
	}
	return all
}
