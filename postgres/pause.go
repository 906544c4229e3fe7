package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// pauseCache is what this process believes to be paused. A claim says what it
// believes and gets nothing if that is not so, so that it may be wrong but
// never harmful.
type pauseCache struct {
	current atomic.Pointer[pauseSet]
}

// pauseSet does not change once made.
type pauseSet struct {
	list   []string // scope:name, in order
	paused map[fairlead.Pause]bool
}

func newPauseSet(list []string) *pauseSet {
	set := &pauseSet{list: list, paused: map[fairlead.Pause]bool{}}
	for _, entry := range list {
		scope, name, _ := strings.Cut(entry, ":")
		set.paused[fairlead.Pause{Scope: fairlead.PauseScope(scope), Name: name}] = true
	}
	return set
}

func (p *pauseCache) load() *pauseSet {
	if set := p.current.Load(); set != nil {
		return set
	}
	return newPauseSet([]string{})
}

func (p *pauseSet) covers(lane sqlstore.LaneKey) bool {
	return len(p.list) > 0 &&
		(p.paused[fairlead.Pause{Scope: fairlead.PauseQueue, Name: lane.Queue}] || p.paused[fairlead.Pause{Scope: fairlead.PauseKind, Name: lane.Kind}])
}

// checkStanding finds out why a claim came back empty: it fails with
// ErrLeaseLost if the node is not alive, and reports whether the pauses were
// not those it knew.
func (c *claiming) checkStanding(ctx context.Context, known *pauseSet) (changed bool, err error) {
	var alive bool
	var list []string
	err = c.run(ctx, call{sql: c.sql.Standing, args: []any{int64(c.claim.Node)}, each: func(row sqlstore.Scanner) error {
		list = nil
		return row.Scan(&alive, &list)
	}})
	switch {
	case err != nil:
		return false, err
	case !alive:
		return false, fmt.Errorf("node %d: %w", c.claim.Node, fairlead.ErrLeaseLost)
	case slices.Equal(list, known.list):
		return false, nil
	}
	c.pauses.current.Store(newPauseSet(list))
	return true, nil
}

// Pause stops jobs of a queue or kind from being claimed.
func (s *Store) Pause(ctx context.Context, pause fairlead.Pause) error {
	if pause.Scope != fairlead.PauseQueue && pause.Scope != fairlead.PauseKind {
		return &fairlead.InvalidError{Fields: []fairlead.FieldError{{Field: "scope", Message: fmt.Sprintf("is %q; it must be queue or kind", pause.Scope)}}}
	}
	err := s.run(ctx,
		call{sql: s.sql.ExcludeClaims, args: []any{s.pauseLock}},
		call{sql: s.sql.Pause, args: []any{string(pause.Scope), pause.Name}})
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}

// Resume undoes Pause and wakes nodes.
func (s *Store) Resume(ctx context.Context, pause fairlead.Pause) error {
	if err := s.run(ctx, call{sql: s.sql.Resume, args: []any{string(pause.Scope), pause.Name}}); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	s.waker.everything()
	return nil
}
