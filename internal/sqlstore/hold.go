package sqlstore

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fairlead-io/fairlead/hold"
)

// holdOpen is the value of hold.until_at for an ongoing hold.
const holdOpen = math.MaxInt64

// holdStore stores holds: records of what kept jobs waiting.
type holdStore struct {
	db    Database
	of    holdSource
	sql   *HoldStatements
	clock *ClockStatements
}

// HoldStatements holds the SQL statements of holdStore and historyStore.
type HoldStatements struct {
	HoldLook       string `sql:"hold_look"`
	BeginHoldLooks string `sql:"begin_hold_looks"`
	KeepHoldLook   string `sql:"keep_hold_look"`
	BeginHolds     string `sql:"begin_holds"`
	EndHolds       string `sql:"end_holds"`
	OpenHolds      string `sql:"open_holds"`
	Holds          string `sql:"holds"`
	LastKeptHold   string `sql:"last_kept_hold"`
	ForgetBefore   string `sql:"forget_before"`
	PruneHolds     string `sql:"prune_holds"`
	ReadyLanes     string `sql:"ready_lanes"`
	BusyGatesAfter string `sql:"busy_gates_after"`
	LimitsNow      string `sql:"limits_now"`
	InUse          string `sql:"in_use"`
}

// HoldLook reads the state of looks.
func (s *holdStore) HoldLook(ctx context.Context) (hold.LookState, error) {
	found, err := readList(ctx, s.db.Read, "read the last look", scanStanding, s.sql.HoldLook)
	if err != nil {
		return hold.LookState{}, err
	}
	return found[0], nil
}

func scanStanding(row Scanner) (s hold.LookState, err error) {
	var at, due, since, now int64
	err = row.Scan(&s.Version, &at, &due, &since, &s.LastID, &now)
	s.At, s.Due, s.Since, s.Now = Time(at), Time(due), Time(since), Time(now)
	return s, err
}

// OpenHolds lists ongoing holds.
func (s *holdStore) OpenHolds(ctx context.Context) ([]hold.Hold, error) {
	return readList(ctx, s.db.Read, "list holds that last", scanHold, s.sql.OpenHolds, hold.MaxOpen)
}

func scanHold(row Scanner) (h hold.Hold, err error) {
	var from, until int64
	err = row.Scan(&h.ID, &h.Code, &h.Scope, &h.Queue, &h.Tenant, &h.Kind, &h.Gate, &from, &until, &h.Used, &h.Cap)
	if h.From = Time(from); until != holdOpen {
		h.Until = Time(until)
	}
	return h, err
}

// KeepHolds stores the results of a look.
func (s *holdStore) KeepHolds(ctx context.Context, found hold.Found) (bool, error) {
	begun, last := &Rows{}, int64(0)
	for _, h := range found.Begun {
		begun.Add(h.ID, string(h.Code), string(h.Scope), h.Queue, h.Tenant, h.Kind, h.Gate, Micros(h.From), endOf(h.Until), int64(h.Used), int64(h.Cap))
		last = max(last, h.ID)
	}
	ended := map[int64]List[int64]{}
	for _, h := range found.Ended {
		until := Micros(h.Until)
		ended[until] = append(ended[until], h.ID)
	}
	kept := false
	err := s.db.InTx(ctx, "keep holds", func(ctx context.Context, db DB) error {
		due := Micros(found.Now.Add(found.Due))
		statement, args := s.sql.BeginHoldLooks, []any{found.Next, Micros(found.Now), due, last}
		if found.Version != 0 {
			statement, args = s.sql.KeepHoldLook, append(args, found.Version)
		}
		hit, err := db.Exec(ctx, statement, args...)
		if kept = hit > 0; err != nil || !kept {
			return err
		}
		for _, until := range slices.Sorted(maps.Keys(ended)) {
			db.Queue(s.sql.EndHolds, until, ended[until])
		}
		db.Queue(s.sql.BeginHolds, begun)
		return nil
	})
	return err == nil && kept, err
}

// endOf returns the value of hold.until_at.
func endOf(until time.Time) int64 {
	if until.IsZero() {
		return holdOpen
	}
	return Micros(until)
}

// PruneHolds removes old holds after recording the time from which all holds are kept.
func (s *holdStore) PruneHolds(ctx context.Context, keep time.Duration, most, limit int) (int, error) {
	removed := int64(0)
	err := s.db.InTx(ctx, "prune holds", func(ctx context.Context, db DB) error {
		now, err := s.clock.Clock(ctx, db)
		if err != nil {
			return err
		}
		excess, err := list(ctx, db, scanNumber, s.sql.LastKeptHold, most)
		if err != nil {
			return err
		}
		before := now - keep.Microseconds()
		if !mortal(keep) {
			before = 0
		}
		if len(excess) > 0 {
			before = max(before, excess[0])
		}
		db.Queue(s.sql.ForgetBefore, before)
		removed, err = db.Exec(ctx, s.sql.PruneHolds, before, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(removed), nil
}
