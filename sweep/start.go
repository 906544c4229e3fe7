package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// StartKind is the kind of jobs that start a sweep. To run a sweep repeatedly, use such a
// job as a schedule's template.
const StartKind = reserved.Start

// StartArgs holds the arguments of a job of kind StartKind.
type StartArgs struct {
	Sweep string `json:"sweep"`           // name of the sweep
	Again bool   `json:"again,omitempty"` // restart a finished sweep from its first item
}

// StartHandler returns the handler for StartKind. A job fails if its sweep cannot be started
// now or belongs to another tenant.
func StartHandler(store Store) fairlead.Handler {
	client := NewClient(store)
	return fairlead.HandlerFunc(func(ctx context.Context, job *fairlead.Job) error {
		args, err := startArgs(job.Args)
		if err != nil {
			return fairlead.Fatal(err)
		}
		sweep, err := client.Get(ctx, args.Sweep)
		if errors.Is(err, fairlead.ErrNotFound) || err == nil && sweep.Tenant != job.Tenant { // the same for both: names of others are not shown
			err = fmt.Errorf("tenant %q has no sweep %q: %w", job.Tenant, args.Sweep, fairlead.ErrNotFound)
		}
		if err == nil {
			err = client.startFor(ctx, job, sweep.ID, args.Again)
		}
		if errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound) {
			return fairlead.Fatal(err)
		}
		return err
	})
}

// CheckStartArgs returns an *InvalidError if the args are invalid for a job of kind
// StartKind.
func CheckStartArgs(args json.RawMessage) error {
	_, err := startArgs(args)
	return err
}

func startArgs(args json.RawMessage) (StartArgs, error) {
	var a StartArgs
	var c complaints
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.DisallowUnknownFields()
	if decoder.Decode(&a) != nil {
		c.Refuse("args", "does not specify a sweep to start; send {\"sweep\":\"NAME\"}, and \"again\":true to start over")
	} else {
		c.Name("args.sweep", a.Sweep, fairlead.MaxName)
	}
	return a, fairlead.Invalid(c.Found...)
}

// startFor starts a sweep on behalf of a job. If an earlier run of the job did so and
// could not say so, that counts. The attempt number does not tell whether there was one:
// a run that is released gives its number back.
func (c *Client) startFor(ctx context.Context, job *fairlead.Job, id int64, again bool) error {
	by := fmt.Sprintf("job %d", job.ID)
	events, err := c.store.SweepEvents(ctx, EventFilter{Sweep: id})
	if err != nil {
		return err
	}
	for _, event := range events {
		if event.By == by {
			return nil
		}
	}
	if again {
		_, err = c.StartAgain(ctx, id, by)
	} else {
		_, err = c.Start(ctx, id, by)
	}
	return err
}

// startAgain starts a sweep, from its beginning if it has finished.
func (s *steering) startAgain(ctx context.Context) error {
	if s.State == Finished {
		if err := s.renew(ctx); err != nil {
			return err
		}
	}
	return s.start(ctx)
}

// renew brings a sweep to where it was when it was created. What it did before stays
// in its history, and in its lines.
func (s *steering) renew(ctx context.Context) error {
	if err := s.cut(ctx); err != nil {
		return err
	}
	if err := s.tx.Forget(ctx); err != nil {
		return err
	}
	s.StartedAt = time.Time{}
	return s.move(ctx, "renew", Created, "")
}
