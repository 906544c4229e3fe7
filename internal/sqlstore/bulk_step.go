package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/bulk"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/verdict"
)

// operationOf returns the operation that a bulk applies to each job.
func operationOf(b *bulk.Bulk) *verdict.Operation {
	ops := map[bulk.Action]fairlead.Op{
		bulk.Cancel: fairlead.OpCancel, bulk.Retry: fairlead.OpReopen, bulk.Run: fairlead.OpRunNow,
		bulk.Delete: fairlead.OpDelete, bulk.Prioritize: fairlead.OpSetPriority, bulk.Move: fairlead.OpSetQueue,
	}
	op := fairlead.Operation{Op: ops[b.Action], Reason: CleanText(b.Reason), Priority: b.Priority, Queue: b.Queue}
	return &verdict.Operation{Operation: op, Among: b.Filter.States}
}

// StepBulk applies the action of a bulk to some jobs.
func (s *bulkStore) StepBulk(ctx context.Context, step bulk.Step) (bulk.Bulk, error) {
	step.Jobs, step.GiveUp = slices.Clone(step.Jobs), slices.Clone(step.GiveUp)
	if len(step.Jobs) > bulk.MaxStep {
		return bulk.Bulk{}, fmt.Errorf("step bulk: %d jobs exceed the maximum of %d: %w", len(step.Jobs), bulk.MaxStep, fairlead.ErrInvalid)
	}
	var after []bulk.Bulk
	_, err := s.acting.Act(MayWait(ctx), "step bulk", Subject{"bulk", step.Bulk}, true, func(ctx context.Context, tx JobTx) error {
		if err := s.step(ctx, tx, &step); err != nil {
			return err
		}
		var err error
		after, err = list(ctx, tx, scanBulk, s.sql.Bulks, step.Bulk, step.Bulk, 1)
		return err
	})
	if err != nil {
		return bulk.Bulk{}, err
	}
	return after[0], nil
}

// lockedBulk is a bulk with its row locked for a step.
type lockedBulk struct {
	bulk.Bulk
	ended, held bool
}

// step applies one step. It does nothing if another step was made meanwhile or the bulk has
// ended.
func (s *bulkStore) step(ctx context.Context, tx JobTx, step *bulk.Step) error {
	locked, err := list(ctx, tx, func(row Scanner) (b lockedBulk, err error) {
		var body []byte
		b.ID = step.Bulk
		if err := row.Scan(&b.Cursor, &b.ended, &b.Stopping, &body, &b.held); err != nil {
			return b, err
		}
		return b, decodeBulk(&b.Bulk, body)
	}, s.sql.LockBulk, step.Bulk, step.Fence)
	if err != nil {
		return err
	}
	if len(locked) == 0 {
		return bulk.NoSuchBulk(step.Bulk)
	}
	switch b := &locked[0]; {
	case !b.held:
		return driver.LeaseLost(step.Bulk)
	case b.ended || b.Cursor != step.Cursor:
		return nil
	case b.Stopping:
		tx.Queue(s.sql.AdvanceBulk, step.Bulk, b.Cursor, 0, 0, true, true)
		return nil
	default:
		return s.act(ctx, tx, &b.Bulk, step)
	}
}

// act applies the operation of a step to its jobs and records the result.
func (s *bulkStore) act(ctx context.Context, tx JobTx, b *bulk.Bulk, step *bulk.Step) error {
	ids := make([]int64, len(step.Jobs))
	op := operationOf(b)
	if b.Cause != "" {
		op.Fences = make(map[int64]int64, len(step.Jobs))
	}
	for i, job := range step.Jobs {
		if ids[i] = job.ID; b.Cause != "" {
			op.Fences[job.ID] = job.Fence
		}
	}
	refused, err := tx.Operate(ctx, ids, op)
	if err != nil {
		return err
	}
	after, err := json.Marshal(struct {
		Bulk     int64  `json:"bulk"`
		Reason   string `json:"reason,omitempty"`
		Priority *int   `json:"priority,omitempty"`
		Queue    string `json:"queue,omitempty"`
	}{b.ID, b.Reason, priorityOf(b), b.Queue})
	if err != nil {
		return fmt.Errorf("describe bulk action %d: %w", b.ID, err)
	}
	var entries []access.Entry
	misses := step.GiveUp
	for _, job := range step.Jobs {
		if refusal := refused[job.ID]; refusal != nil {
			misses = append(misses, bulk.Miss{Job: job.ID, Why: whyMissed(refusal)})
			continue
		}
		entries = append(entries, access.Entry{
			Actor: b.Actor, Role: b.Role, From: b.From, Action: b.Action.Method(), Subject: fmt.Sprintf("job:%d", job.ID), Tenant: job.Tenant, After: after,
		})
	}
	var rows Rows
	for _, miss := range misses {
		rows.Add(b.ID, miss.Job, cut(miss.Why, maxSubject))
	}
	tx.Queue(s.audit.AddEntries, entryRows(entries))
	tx.Queue(s.sql.AddMisses, &rows)
	tx.Queue(s.sql.AdvanceBulk, b.ID, step.Next, len(entries), len(misses), step.Next == 0, false)
	return nil
}

func priorityOf(b *bulk.Bulk) *int {
	if b.Action != bulk.Prioritize {
		return nil
	}
	return &b.Priority
}

// whyMissed returns the text of a refusal without its error class.
func whyMissed(refusal error) string {
	text := refusal.Error()
	for _, sort := range []error{fairlead.ErrConflict, fairlead.ErrNotFound} {
		if rest, cut := strings.CutSuffix(text, ": "+sort.Error()); cut {
			if sort == fairlead.ErrNotFound {
				return rest + " is gone"
			}
			return rest
		}
	}
	return text
}
