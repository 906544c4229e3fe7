package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead-io/fairlead/internal/mutants/active"
)

// reach is the record of a unit.
type reach struct {
	unit
	Seconds float64
	Fails   bool     `json:",omitempty"` // fails without a mutant, so it is useless
	Split   bool     `json:",omitempty"` // split into its parts, which replace it
	Reached []string // names of places and of uses of statements
}

// record contains the records of all units.
type record struct {
	file  string
	mu    sync.Mutex
	known map[unit]reach
}

// notAsked matches tests that are not used: they compare costs and plans, which a mutant
// may change without breaking anything, take minutes, or duplicate others.
var notAsked = regexp.MustCompile(`StoreInMemory|ThroughPgBouncer|StoreWithMarks|Plan|Cost|Idle|Bench|Hostile|Failover|Restore|Standby|Galera|Storm|Rollout|StoresOwnTimeout|OnAMillion`)

const (
	longTest   = 2 * time.Second // a longer test is split into its parts, if it has any
	recordTime = 4 * time.Minute // a longer test is not used
)

func openRecord(file string) (*record, error) {
	r := &record{file: file, known: map[unit]reach{}}
	return r, readLines(file, func(known reach) { r.known[known.unit] = known })
}

func (r *record) add(known reach) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[known.unit] = known
	return appendLine(r.file, known)
}

// complete records the units of packages that have no record yet.
func (r *record) complete(ctx context.Context, w *workshop, p *project, packages []string, atOnce int, out io.Writer) error {
	var missing []unit
	for _, pkg := range packages {
		tests, err := w.tests(ctx, pkg)
		if err != nil {
			return err
		}
		for _, test := range tests {
			if notAsked.MatchString(test.Test) {
				continue
			}
			if _, ok := r.known[test]; !ok {
				missing = append(missing, test)
			}
		}
	}
	fmt.Fprintf(out, "%d tests are known, %d are recorded\n", len(r.known), len(missing))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, u := range missing {
		group.Go(func() error { return r.learn(ctx, w, p.names, u) })
	}
	return group.Wait()
}

// learn runs a unit, and its parts if it takes long.
func (r *record) learn(ctx context.Context, w *workshop, names map[int]string, u unit) error {
	trace, err := os.CreateTemp(w.dir, "trace")
	if err != nil {
		return err
	}
	defer os.Remove(trace.Name()) // otherwise one more file stays in bin
	if err := trace.Close(); err != nil {
		return err
	}
	played, err := w.play(ctx, []unit{u}, recordTime, active.Trace+"="+trace.Name())
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	known := reach{unit: u, Seconds: played.seconds, Fails: !played.passed}
	if known.Reached, err = readTrace(trace.Name(), names); err != nil {
		return err
	}
	parts := u.parts(played.output)
	known.Split = u.Part == "" && !u.Long && played.passed && len(parts) > 2 && played.seconds > longTest.Seconds()
	if known.Split {
		known.Reached = nil
		for _, part := range parts {
			if _, ok := r.known[part]; ok {
				continue
			}
			if err := r.learn(ctx, w, names, part); err != nil {
				return err
			}
		}
	} else if !u.Long {
		for _, long := range u.longTests(played.output) {
			if err := r.learn(ctx, w, names, long); err != nil {
				return err
			}
		}
	}
	return r.add(known)
}

func readTrace(file string, names map[int]string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var reached []string
	for line := range strings.Lines(string(text)) {
		if number, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			reached = append(reached, names[number])
		}
	}
	slices.Sort(reached)
	return slices.Compact(reached), nil
}

// asked returns the units that reach a place: first tier before second tier, cheapest
// first.
func (r *record) asked(p *project, at *place) []reach {
	var wanted []string
	for _, number := range at.reaches() {
		wanted = append(wanted, p.names[number])
	}
	var found []reach
	for _, known := range r.known {
		if known.Fails || known.Split || !at.area.protects(known.Package) {
			continue
		}
		if slices.ContainsFunc(wanted, func(name string) bool {
			_, ok := slices.BinarySearch(known.Reached, name)
			return ok
		}) {
			found = append(found, known)
		}
	}
	slices.SortFunc(found, func(a, b reach) int {
		if a.Long != b.Long {
			return map[bool]int{false: -1, true: 1}[a.Long]
		}
		return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.String(), b.String()))
	})
	return found
}

// appendLine appends a value as a line of JSON, so that finished work survives any
// interruption.
func appendLine(file string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return errors.Join(err, out.Close())
}

// readLines reads the values written by appendLine, or none if the file does not exist.
func readLines[Value any](file string, keep func(Value)) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		var value Value
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		keep(value)
	}
	return nil
}
