package sweep

import (
	"context"
	"encoding/json"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/internal/reserved"
)

// GateKind is the kind of jobs that notify the business system of a waiting sweep.
const GateKind = reserved.Gate

// GateCall holds the arguments of a job of kind GateKind.
type GateCall struct {
	URL   string          `json:"url"`             // the gate's BeforeRun
	Sweep int64           `json:"sweep_id"`        // ID of the sweep
	Name  string          `json:"name"`            // name of the sweep
	Run   int             `json:"run"`             // number of the run
	Data  json.RawMessage `json:"data,omitempty"`  // the sweep's data
	Again bool            `json:"again,omitempty"` // a node resumed a shard that another node had begun
}

// Resume notifies the business system that a node has resumed a shard that another node had
// begun, if the sweep is running and has a BeforeRun gate. The sweep continues in the
// meantime.
func Resume(ctx context.Context, store Store, id int64) error {
	_, err := steer(ctx, store, id, true, "", func(ctx context.Context, s *steering) error {
		if s.State != Running || s.Gate.BeforeRun == "" {
			return nil
		}
		return s.callGate(ctx, true)
	})
	return err
}

// ask sends the business a message that the sweep waits for it, unless it sent one lately.
func (s *steering) ask(ctx context.Context) error {
	if !s.AskedAt.IsZero() && s.tx.Now().Sub(s.AskedAt) < s.Gate.Timeout {
		return nil
	}
	s.AskedAt = s.tx.Now()
	return s.callGate(ctx, false)
}

func (s *steering) callGate(ctx context.Context, again bool) error {
	args, err := json.Marshal(GateCall{URL: s.Gate.BeforeRun, Sweep: s.ID, Name: s.Name, Run: s.Run, Data: s.Data, Again: again})
	if err != nil {
		return err
	}
	jobs := []*fairlead.Job{{Kind: GateKind, Args: args, Queue: s.Queue, Tenant: s.Tenant, Priority: s.Priority}}
	if err := fairlead.NormalizeJobs(jobs); err != nil {
		return err
	}
	return s.tx.Enqueue(ctx, jobs)
}
