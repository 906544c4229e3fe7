package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
)

// limitSets caches the sets of limits that jobs count against. Sets never change, but
// the database may lose one. A set is deleted only together with a limit that it
// contains, after which no job asks for it.
type limitSets struct {
	byName  sync.Map // members as text → int32
	members sync.Map // int32 → []int32
}

// noSet is the set of jobs without limits.
const noSet int32 = 0

// add remembers a committed set.
func (h *limitSets) add(set int32, name string) error {
	var members []int32
	for _, word := range strings.Fields(name) {
		limit, err := strconv.ParseInt(word, 10, 32)
		if err != nil {
			return fmt.Errorf("set of limits %d: %w", set, err)
		}
		members = append(members, int32(limit))
	}
	h.members.Store(set, members)
	h.byName.Store(name, set)
	return nil
}

// forget drops all sets.
func (h *limitSets) forget() {
	h.byName.Clear()
	h.members.Clear()
}

// of returns the set of some limits, sorted by id, if it is cached.
func (h *limitSets) of(limits []int32) (set int32, known bool) {
	if len(limits) == 0 {
		return noSet, true
	}
	found, known := h.byName.Load(sqlstore.HoldName(limits))
	if !known {
		return noSet, false
	}
	return found.(int32), true
}

// setsOf returns the sets of lists of limits, each sorted by id. It creates missing
// sets outside of the transaction, so that they do not disappear with it.
func (s *Store) setsOf(ctx context.Context, lists [][]int32) ([]int32, error) {
	missing := map[string]struct{}{}
	for _, limits := range lists {
		if _, known := s.sets.of(limits); !known {
			missing[sqlstore.HoldName(limits)] = struct{}{}
		}
	}
	if err := s.makeSets(ctx, missing); err != nil {
		return nil, fmt.Errorf("create sets of limits: %w", err)
	}
	sets := make([]int32, len(lists))
	for i, limits := range lists {
		set, known := s.sets.of(limits)
		if !known {
			return nil, errForgotten
		}
		sets[i] = set
	}
	return sets, nil
}

// makeSets looks sets up and creates those that do not exist, in order, so that two
// such processes wait for each other in one direction only.
func (s *Store) makeSets(ctx context.Context, missing map[string]struct{}) error {
	var names tuples
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		names.add().str(name).end()
	}
	for list := range names.chunks() {
		if err := s.readSets(ctx, fill(s.sql.SetsNamed, "rows", list)); err != nil {
			return err
		}
		if s.knowsSets(missing) {
			return nil
		}
		if _, err := s.execQuickly(ctx, fill(s.sql.AddSets, "rows", list)); err != nil {
			return err
		}
		if err := s.readSets(ctx, fill(s.sql.SetsNamed, "rows", list)); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) knowsSets(names map[string]struct{}) bool {
	for name := range names {
		if _, known := s.sets.byName.Load(name); !known {
			return false
		}
	}
	return true
}

// readSets adds the sets of an answer to the cache.
func (s *Store) readSets(ctx context.Context, statement string, args ...any) error {
	return each(ctx, s.lifeline, func(row *sql.Rows) error {
		var set int32
		var name string
		if err := row.Scan(&set, &name); err != nil {
			return err
		}
		return s.sets.add(set, name)
	}, statement, args...)
}

// membersOf returns the limits of a set. A caller's transaction may not see the set, so
// membersOf reads it on another connection.
func (s *Store) membersOf(ctx context.Context, set int32) ([]int32, error) {
	if members, known := s.sets.members.Load(set); known {
		return members.([]int32), nil
	}
	if err := s.readSets(ctx, s.sql.SetNumbered, set); err != nil {
		return nil, fmt.Errorf("read set of limits: %w", err)
	}
	members, known := s.sets.members.Load(set)
	if !known {
		return nil, fmt.Errorf("set of limits %d does not exist", set)
	}
	return members.([]int32), nil
}

// free gives back the slots of jobs that left running or waiting, given by the sets
// that they counted against. It only inserts, so it never waits for a claim: the next
// claim that locks the limit subtracts what was given back.
func (t *txn) free(ctx context.Context, jobs map[int32]int) error {
	if len(jobs) == 0 {
		return nil
	}
	freed := map[int32]int{}
	for set, n := range jobs {
		limits, err := t.membersOf(ctx, set)
		if err != nil {
			return err
		}
		for _, limit := range limits {
			freed[limit] += n
		}
	}
	var deltas tuples
	for _, limit := range slices.Sorted(maps.Keys(freed)) {
		deltas.add().ints(int64(limit), int64(freed[limit])).end()
	}
	t.wakes.room = true // a job may have waited for a slot
	return t.insert(ctx, t.sql.AddDeltas, &deltas)
}

// setsByLane returns the sets of limits that the jobs of a claim count against, without
// lanes that have no limits.
func (c *claimer) setsByLane(ctx context.Context) (map[int32]int32, error) {
	byLane := map[int32]int32{}
	var lanes []int32
	var lists [][]int32
	for _, t := range c.taken {
		limits := c.views[t.lane].limitIDs
		if _, seen := byLane[t.lane]; seen || len(limits) == 0 {
			continue
		}
		byLane[t.lane] = noSet
		lanes, lists = append(lanes, t.lane), append(lists, limits)
	}
	sets, err := c.setsOf(ctx, lists)
	if err != nil {
		return nil, err
	}
	for i, lane := range lanes {
		byLane[lane] = sets[i]
	}
	return byLane, nil
}

// setByLane returns an expression for the set that a job of column lane counts against.
func setByLane(sets map[int32]int32) string {
	if len(sets) == 0 {
		return decimal(noSet)
	}
	var b strings.Builder
	b.WriteString("case lane")
	for lane, set := range sets {
		b.WriteString(" when " + decimal(lane) + " then " + decimal(set))
	}
	b.WriteString(" else " + decimal(noSet) + " end")
	return b.String()
}
