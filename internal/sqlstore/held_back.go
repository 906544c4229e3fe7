package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/hold"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// holdSource is the part of a store that holdStore uses: the same data that claims read.
type holdSource interface {
	Nodes(ctx context.Context) ([]fairlead.Node, error)
	// LimitConfig returns the current pauses and limits.
	LimitConfig(ctx context.Context) (*LimitConfig, error)
	// NameLane returns the key of the lane of jobs that were just read.
	NameLane(ctx context.Context, db DB, id int32) (LaneKey, error)
}

// waitingGate is a gate with parked jobs.
type waitingGate struct {
	lane LaneKey
	key  string
	used int
}

// HeldBack returns what keeps ready and parked jobs from starting, lane by lane. It uses
// what Explain would report for a job at the head of each lane.
func (s *holdStore) HeldBack(ctx context.Context, after hold.Place) (hold.Sight, error) {
	sight, lanes, gates, err := s.waiting(ctx, after)
	if err != nil || !sight.Waits {
		return sight, err
	}
	facts := Facts{Now: sight.Now}
	if facts.LimitConfig, err = s.of.LimitConfig(ctx); err != nil {
		return hold.Sight{}, fmt.Errorf("read waiting jobs: %w", err)
	}
	if facts.Limits, err = s.limitsOf(ctx, facts.LimitConfig, lanes); err != nil {
		return hold.Sight{}, err
	}
	if facts.Nodes, err = s.of.Nodes(ctx); err != nil {
		return hold.Sight{}, fmt.Errorf("read waiting jobs: %w", err)
	}
	sight.Seen = causes(facts, lanes, gates)
	return sight, nil
}

// waiting reads the next lanes with ready jobs and the next gates with parked jobs. Each
// has its own position in the place; the round ends when both have reached their end.
func (s *holdStore) waiting(ctx context.Context, after hold.Place) (sight hold.Sight, lanes []LaneKey, gates []waitingGate, err error) {
	type answer struct {
		sight hold.Sight
		lanes []LaneKey
		gates []waitingGate
	}
	// reset on every attempt of the transaction
	var found answer
	err = s.db.Read(ctx, "read what waits", func(ctx context.Context, db DB) error {
		found = answer{}
		now, err := s.clock.Clock(ctx, db)
		if err != nil {
			return err
		}
		found.sight.Now, found.sight.Next = Time(now), after
		ids := queueList(db, scanNumber, s.sql.ReadyLanes, after.Lane, hold.LanesPerLook)
		type gateRow struct {
			gate   int64
			lane   int32
			policy []byte
			used   int
		}
		rows, err := list(ctx, db, func(row Scanner) (g gateRow, err error) {
			err = row.Scan(&g.gate, &g.lane, &g.policy, &g.used)
			return g, err
		}, s.sql.BusyGatesAfter, after.Gate, hold.GatesPerLook)
		if err != nil {
			return err
		}
		for _, id := range *ids {
			lane, err := s.of.NameLane(ctx, db, int32(id))
			if err != nil {
				return err
			}
			found.lanes, found.sight.Next.Lane = append(found.lanes, lane), int32(id)
		}
		for _, row := range rows {
			lane, err := s.of.NameLane(ctx, db, row.lane)
			if err != nil {
				return err
			}
			policy, err := readPolicy(row.policy)
			if err != nil {
				return fmt.Errorf("gate %d: %w", row.gate, err)
			}
			found.gates, found.sight.Next.Gate = append(found.gates, waitingGate{lane, policy.Gate, row.used}), row.gate
		}
		found.sight.Waits = len(found.lanes)+len(found.gates) > 0
		found.sight.Whole = len(found.lanes) < hold.LanesPerLook && len(found.gates) < hold.GatesPerLook
		return nil
	})
	return found.sight, found.lanes, found.gates, err
}

// limitsOf reads the current usage of the limits of some lanes, by ID. It does not read the
// limits of other lanes, which may be numerous.
func (s *holdStore) limitsOf(ctx context.Context, config *LimitConfig, lanes []LaneKey) (map[int32]*dispatch.Limit, error) {
	ids := List[int32]{}
	for _, lane := range lanes {
		ids = append(ids, config.Of(lane)...)
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return nil, nil
	}
	var limits map[int32]*dispatch.Limit // reset on every attempt of the transaction
	err := s.db.Read(ctx, "read limits", func(ctx context.Context, db DB) error {
		limits = make(map[int32]*dispatch.Limit, len(ids))
		db.QueueEach(func(row Scanner) error {
			var limit dispatch.Limit
			var age int64
			if err := row.Scan(&limit.ID, &limit.Used, &limit.Tokens, &age); err != nil {
				return err
			}
			stored := config.ByID[limit.ID]
			limit.Cap, limit.Min, limit.Rate, limit.Burst = stored.Limit.MaxRunning, stored.Min, stored.Limit.Rate, stored.Limit.Burst
			limit.Refill(micros(age))
			limits[limit.ID] = &limit
			return nil
		}, s.sql.LimitsNow, ids)
		if s.sql.InUse == "" { // the limits are already counted
			return db.Flush(ctx)
		}
		held, err := list(ctx, db, func(row Scanner) (c laneCount, err error) {
			err = row.Scan(&c.lane, &c.n)
			return c, err
		}, s.sql.InUse)
		for _, c := range held {
			lane, err := s.of.NameLane(ctx, db, c.lane)
			if err != nil {
				return err
			}
			for _, id := range config.Of(lane) {
				if limit := limits[id]; limit != nil {
					limit.Used += c.n
				}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return limits, nil
}
