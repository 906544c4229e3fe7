package sqlite

import "github.com/fairlead-io/fairlead/internal/sqlstore"

// counter names a number that only grows. There are more than these: statements count on
// those of rows that only they make, as {{new_token}}.
type counter string

const (
	jobCounter    counter = "job"
	fenceCounter  counter = "fence"
	nodeCounter   counter = "node"
	workCounter   counter = "work"   // commits that made jobs ready
	laterCounter  counter = "later"  // commits that scheduled jobs
	cancelCounter counter = "cancel" // commits that asked running jobs to stop
	limitsCounter counter = "rules"  // changes of what is paused and limited
	lanesCounter  counter = "lanes"  // changes of which lanes are in use

	scheduleCounter counter = "schedule"
)

// counters are read once per transaction, counted in memory, and written back before
// the commit.
type counters struct {
	read, now map[counter]int64
}

// next advances a counter by n and returns the first of the new numbers.
func (t *txn) next(name counter, n int64) (int64, error) {
	if t.counters.now == nil {
		if err := t.readCounters(); err != nil {
			return 0, err
		}
	}
	first := t.counters.now[name] + 1
	t.counters.now[name] += n
	t.wrote = true
	return first, nil
}

// raise makes a counter continue above a number. It returns the new value.
func (t *txn) raise(name counter, to int64) (int64, error) {
	before, err := t.next(name, 0)
	if err != nil || before-1 >= to {
		return before - 1, err
	}
	t.counters.now[name] = to
	return to, nil
}

func (t *txn) readCounters() error {
	t.counters = counters{read: map[counter]int64{}, now: map[counter]int64{}}
	return t.each(t.sql.Counters, nil, func(row sqlstore.Scanner) error {
		var name counter
		var value int64
		if err := row.Scan(&name, &value); err != nil {
			return err
		}
		t.counters.read[name], t.counters.now[name] = value, value
		return nil
	})
}

// writeCounters makes the numbers given out, and the wakes, part of the transaction.
func (t *txn) writeCounters() error {
	for name, is := range map[counter]bool{
		workCounter:   t.wakes.all || t.wakes.freed || len(t.wakes.work) > 0,
		laterCounter:  t.wakes.later,
		cancelCounter: t.wakes.cancel,
	} {
		if !is {
			continue
		}
		if _, err := t.next(name, 1); err != nil {
			return err
		}
	}
	for name, value := range t.counters.now {
		if value == t.counters.read[name] {
			continue
		}
		if err := t.must(1, t.sql.SetCounter, value, string(name)); err != nil {
			return err
		}
	}
	return nil
}
