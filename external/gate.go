package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-io/fairlead"
)

// gateCall is what the gate of a sweep gets.
type gateCall struct {
	ID        string          `json:"id"` // the same however often it is sent
	Event     string          `json:"event"`
	SweepID   string          `json:"sweep_id"`
	SweepName string          `json:"sweep_name"`
	Tenant    string          `json:"tenant"`
	Run       int             `json:"run"`
	Data      json.RawMessage `json:"data,omitempty"`
	OpenURL   string          `json:"open_url"`
}

// askGate tells the business that a sweep waits for it, or runs on elsewhere.
func (c *Courier) askGate(ctx context.Context, job *fairlead.Job) error {
	var told fairlead.GateCall
	if err := json.Unmarshal(job.Args, &told); err != nil {
		return fairlead.Fatal(fmt.Errorf("args: %w", err))
	}
	sweep, err := c.client.SweepByID(ctx, told.Sweep)
	if errors.Is(err, fairlead.ErrNotFound) {
		return fairlead.Fatal(err)
	}
	if err != nil {
		return err
	}
	if sweep.Tenant != job.Tenant || sweep.Gate.BeforeRun == "" || sweep.Gate.BeforeRun != told.URL || told.Run < 1 || told.Run > sweep.Run {
		// A program with a Client may enqueue such a job; only a sweep may speak in our name.
		return fairlead.Fatal(fmt.Errorf("sweep %d asks nobody there", sweep.ID))
	}
	event, awaited := "sweep_waiting", fairlead.SweepWaiting
	if told.Again {
		event, awaited = "sweep_resumed", fairlead.SweepRunning
	}
	if sweep.State != awaited || sweep.Run != told.Run {
		return nil // it has gone on meanwhile
	}
	key, err := c.client.SigningKey(ctx, sweep.Tenant)
	if err != nil {
		return err
	}
	id := fmt.Sprintf("sweep-%d-%d-%d", sweep.ID, told.Run, job.ID)
	number := strconv.FormatInt(sweep.ID, 10)
	return c.postAs(ctx, id, recipient{key: key}, told.URL, job, "fairlead-"+id, gateCall{
		ID: id, Event: event, SweepID: number, SweepName: sweep.Name, Tenant: sweep.Tenant, Run: told.Run, Data: sweep.Data,
		OpenURL: strings.TrimRight(c.options.PublicURL, "/") + "/api/v1/sweeps/" + number + "/open",
	})
}
