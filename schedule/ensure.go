package schedule

import (
	"context"
	"errors"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/internal/ensure"
)

// Ensured is the result of Ensure.
type Ensured struct {
	Schedule                       // the schedule as it is stored now
	Created  bool                  // no schedule of this name existed before
	Changed  []fairlead.Difference // fields that were set back to their declared values
}

// Ensure creates the declared schedule, or restores the stored schedule of the same name to
// the declared state. Programs call it at startup. Any number of programs may call it
// concurrently.
//
// Ensure owns the fields that are set in declared. It owns each field of the job separately,
// and the timing as a whole. A zero field keeps its stored value. In particular, a schedule
// that an operator has disabled stays disabled. If the stored value of an owned field
// differs, Ensure restores the declared value and lists the field in Changed. The audit log
// records creations and changes under the actor "ensure".
//
// Ensure never deletes a schedule: a schedule that the program no longer declares stays
// until a user deletes it. Ensure returns ErrInvalid under the same conditions as Put.
func (c *Client) Ensure(ctx context.Context, declared Schedule) (Ensured, error) {
	return ensure.Retry(func() (Ensured, error) { return c.ensure(ctx, declared) }, fairlead.ErrConflict, fairlead.ErrNotFound)
}

// Ensure ensures a schedule in the transaction, like Client.Ensure. It returns ErrConflict
// if another transaction changes the schedule at the same time. The caller must then roll
// back and retry.
func (c *TxClient) Ensure(ctx context.Context, declared Schedule) (Ensured, error) {
	return c.ensure(ctx, declared)
}

func (d operations) ensure(ctx context.Context, declared Schedule) (Ensured, error) {
	checked := declared
	if err := Normalize(&checked); err != nil {
		return Ensured{}, err
	}
	record := func(changed []fairlead.Difference) error {
		return access.RecordEnsured(ctx, d.tx, "EnsureSchedule", "schedule:"+declared.Name, checked.Job.Tenant, changed)
	}
	stored, err := d.named(ctx, declared.Name)
	if errors.Is(err, fairlead.ErrNotFound) {
		declared.ID, declared.Version = 0, 0
		created, err := d.put(ctx, declared)
		if err == nil {
			err = record(nil)
		}
		return Ensured{Schedule: created, Created: true}, err
	}
	if err != nil {
		return Ensured{}, err
	}
	owned := ensure.Owned(declared, "ID", "Version", "CreatedAt", "UpdatedAt", "Outdated", "Broken", "Cursor", "Job.ID", "Job.Status")
	merged := stored
	merged.Cron, merged.Every, merged.Delay, merged.Daily, merged.At = declared.Cron, declared.Every, declared.Delay, declared.Daily, declared.At
	ensure.Copy(&merged, &declared, owned)
	if err := Normalize(&merged); err != nil {
		return Ensured{}, err
	}
	changed := ensure.Differences[fairlead.Difference](&stored, &merged, timingAnd(owned))
	if len(changed) == 0 && stored.Broken == "" {
		return Ensured{Schedule: stored}, nil
	}
	now, err := d.put(ctx, merged)
	if err == nil {
		err = record(changed)
	}
	return Ensured{Schedule: now, Changed: changed}, err
}

// timingAnd adds the ways to be due that a declaration leaves out because it has chosen
// another one.
func timingAnd(owned []string) []string {
	paths := []string{"Cron", "Every", "Delay", "Daily", "At"}
	for _, path := range owned {
		switch path {
		case "Cron", "Every", "Delay", "Daily", "At":
		default:
			paths = append(paths, path)
		}
	}
	return paths
}
