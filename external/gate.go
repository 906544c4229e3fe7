package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep"
)

// gateCall is the message sent to the gate of a sweep.
type gateCall struct {
	ID        string          `json:"id"` // the same on every delivery
	Event     string          `json:"event"`
	SweepID   string          `json:"sweep_id"`
	SweepName string          `json:"sweep_name"`
	Tenant    string          `json:"tenant"`
	Run       int             `json:"run"`
	Data      json.RawMessage `json:"data,omitempty"`
	OpenURL   string          `json:"open_url"`
}

// askGate notifies the tenant's service that a sweep waits for its gate to open, or that
// another node has resumed a shard of the sweep.
func (c *Courier) askGate(ctx context.Context, job *fairlead.Job) error {
	var call sweep.GateCall
	if err := json.Unmarshal(job.Args, &call); err != nil {
		return fairlead.Fatal(fmt.Errorf("args: %w", err))
	}
	s, err := c.sweeps.ByID(ctx, call.Sweep)
	if errors.Is(err, fairlead.ErrNotFound) {
		return fairlead.Fatal(err)
	}
	if err != nil {
		return err
	}
	if s.Tenant != job.Tenant || s.Gate.BeforeRun == "" || s.Gate.BeforeRun != call.URL || call.Run < 1 || call.Run > s.Run {
		// A program with a Client may enqueue such a job, but only a sweep may send messages in
		// the service's name.
		return fairlead.Fatal(fmt.Errorf("sweep %d is not waiting at a gate with this URL", s.ID))
	}
	event, awaited := "sweep_waiting", sweep.Waiting
	if call.Again {
		event, awaited = "sweep_resumed", sweep.Running
	}
	if s.State != awaited || s.Run != call.Run {
		return nil // the sweep has continued in the meantime
	}
	key, err := c.client.SigningKey(ctx, s.Tenant)
	if err != nil {
		return err
	}
	id := fmt.Sprintf("sweep-%d-%d-%d", s.ID, call.Run, job.ID)
	number := strconv.FormatInt(s.ID, 10)
	return c.postAs(ctx, id, recipient{key: key}, call.URL, job, "fairlead-"+id, gateCall{
		ID: id, Event: event, SweepID: number, SweepName: s.Name, Tenant: s.Tenant, Run: call.Run, Data: s.Data,
		OpenURL: strings.TrimRight(c.options.PublicURL, "/") + "/api/v1/sweeps/" + number + "/open",
	})
}
