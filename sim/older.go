package sim

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Older configures workers of another version of this program.
type Older struct {
	Program string // path of the program; empty = no such workers
	Workers int
}

// names returns the names of the older workers' processes.
func (o Older) names() (names []string) {
	for i := range o.Workers {
		names = append(names, fmt.Sprintf("old%d", i+1))
	}
	return names
}

// startOlder starts the older workers, one after the other, because the first one creates
// the tables. It returns when all of them have joined.
func (s *Scenario) startOlder(ctx context.Context) ([]*process, error) {
	var workers []*process
	if s.Older.Program == "" {
		return nil, nil
	}
	for _, name := range s.Older.names() {
		p, err := startProcess(s.Older.Program, s.orders(name))
		if err == nil {
			workers = append(workers, p)
			err = s.joined(ctx, p)
		}
		if err != nil {
			return nil, errors.Join(err, killAll(workers))
		}
	}
	return workers, nil
}

// joined waits until a worker has recorded that it joined.
func (s *Scenario) joined(ctx context.Context, p *process) error {
	const look = 20 * time.Millisecond
	for begun := time.Now(); ; {
		events, err := ReadHistory(s.Dir)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Process == p.name && e.What == Granted {
				return nil
			}
		}
		if p.exited() || time.Since(begun) > GiveUp {
			return fmt.Errorf("worker %s did not join; its log ends with:\n%s", p.name, p.tail())
		}
		if err := rest(ctx, look); err != nil {
			return err
		}
	}
}

func killAll(workers []*process) error {
	var errs []error
	for _, p := range workers {
		if !p.exited() {
			errs = append(errs, p.kill())
		}
	}
	return errors.Join(errs...)
}
