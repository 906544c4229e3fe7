package sqlstore

import (
	"context"
	"fmt"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// whatIfStore forecasts which jobs would start if limits and tenants were different.
type whatIfStore struct {
	db      Database
	of      explainSource
	sql     *WhatIfStatements
	clock   *ClockStatements
	tenants *TenantStatements
	pauses  *PauseStatements
}

// WhatIfStatements holds the SQL statements of whatIfStore. None of them takes locks.
type WhatIfStatements struct {
	LimitTokens  string `sql:"limit_tokens"`
	HeldLanes    string `sql:"held_lanes"`
	FirstOfLanes string `sql:"first_of_lanes"`
	FirstOfLane  string `sql:"first_of_lane"`
}

// WhatIf compares the jobs that would start now with those that would start after some
// changes.
func (s *whatIfStore) WhatIf(ctx context.Context, question fairlead.WhatIf) (fairlead.Forecast, error) {
	scene, err := s.look(ctx, question)
	if err != nil {
		return fairlead.Forecast{}, fmt.Errorf("what if: %w", err)
	}
	changed := scene.data.copy()
	for i, change := range question.Changes {
		if err := fairlead.InChange(i, len(question.Changes), scene.apply(changed, change)); err != nil {
			return fairlead.Forecast{}, err
		}
	}
	read := func(lane *forecastLane) error { return s.readLane(ctx, lane, question.Slots) }
	before, err := scene.foresee(scene.data, question.Slots, read)
	after := before
	if err == nil && len(question.Changes) > 0 {
		after, err = scene.foresee(changed, question.Slots, read)
	}
	if err != nil {
		return fairlead.Forecast{}, fmt.Errorf("what if: %w", err)
	}
	return scene.compare(before, after, question), nil
}

// look reads the data that a claim reads. Each statement has its own snapshot.
func (s *whatIfStore) look(ctx context.Context, question fairlead.WhatIf) (*scene, error) {
	found := &scene{}
	err := s.db.ReadAll(ctx, "read what claims decide by", func(ctx context.Context, db DB) (err error) {
		found, err = s.readScene(ctx, db, question)
		return err
	})
	if err != nil {
		return nil, err
	}
	nodes, err := s.of.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	found.meet(nodes)
	found.pastStarts, err = s.of.Fair().ask(ctx, found.nodes)
	return found, err
}

func (s *whatIfStore) readScene(ctx context.Context, db DB, question fairlead.WhatIf) (*scene, error) {
	data := &limitData{parents: map[string]string{}, weights: map[string]int{}}
	read := &scene{data: data, held: map[LaneKey]int{}, versions: map[string]int64{}}
	clock := queueList(db, scanNumber, s.clock.Now)
	pauses := queueList(db, ScanPause, s.pauses.Pauses)
	limits := queueList(db, scanLimitRow, s.sql.LimitTokens)
	lanes := queueList(db, scanForecastLane, s.sql.FirstOfLanes)
	db.QueueEach(func(row Scanner) error {
		var name, parent string
		err := row.Scan(&name, &parent)
		data.parents[name] = parent
		return err
	}, s.tenants.Parents)
	db.QueueEach(func(row Scanner) error { return ScanWeight(row, data.weights) }, s.tenants.Weights)
	db.QueueEach(func(row Scanner) error {
		var lane LaneKey
		var jobs int
		err := row.Scan(&lane.Queue, &lane.Tenant, &lane.Kind, &jobs)
		read.held[lane] += jobs
		return err
	}, s.sql.HeldLanes)
	for _, change := range question.Changes {
		if tenant := change.Tenant; tenant != nil {
			db.QueueEach(func(row Scanner) error {
				var version, createdAt int64
				var parent string
				err := row.Scan(&version, &parent, &createdAt)
				read.versions[tenant.Name] = version
				return err
			}, s.tenants.TenantVersion, tenant.Name)
		}
	}
	if err := db.Flush(ctx); err != nil {
		return nil, err
	}
	data.now, data.pauses, data.rows = (*clock)[0], *pauses, *limits
	for _, lane := range *lanes {
		if len(lane.keys) > 0 { // otherwise it contains only crash suspects
			read.lanes = append(read.lanes, lane)
		}
	}
	return read, nil
}

func scanLimitRow(row Scanner) (*limitRow, error) {
	q := &limitRow{}
	err := row.Scan(&q.ID, &q.Limit.Scope, &q.Limit.Name, &q.Limit.MaxRunning, &q.Min, &q.Limit.Rate, &q.Limit.Burst, &q.Limit.PerKey, &q.Limit.Order, &q.tokens, &q.refilledAt)
	return q, err
}

// scanForecastLane reads id, queue, tenant and kind of a lane, and the key of its first
// ready job, which is empty if there is none.
func scanForecastLane(row Scanner) (*forecastLane, error) {
	lane := &forecastLane{}
	var first string
	if err := row.Scan(&lane.ID, &lane.Queue, &lane.Tenant, &lane.Kind, &first); err != nil || first == "" {
		return lane, err
	}
	key, err := ParseKey([]byte(first))
	lane.keys = []dispatch.Key{key}
	return lane, err
}

// readLane reads as many of the first jobs of a lane as can start, and one more: the next
// job to wait. It ignores jobs that were added ahead of the first since that was read.
func (s *whatIfStore) readLane(ctx context.Context, lane *forecastLane, slots int) error {
	keys, err := readList(ctx, s.db.Read, "read a lane", func(row Scanner) (key dispatch.Key, err error) {
		err = row.Scan(&key.Turn, &key.StartBy, &key.ID)
		return key, err
	}, s.sql.FirstOfLane, lane.ID, slots+1)
	if err != nil {
		return err
	}
	first := lane.keys[0]
	lane.all = true
	for _, key := range keys {
		if key.Compare(first) > 0 {
			lane.keys = append(lane.keys, key)
		}
	}
	return nil
}
