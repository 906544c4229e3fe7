package server

import (
	"context"

	"github.com/fairlead-io/fairlead/sweep"
)

// SweepChecks contains validation functions for kinds of sweeps with known args. A function
// returns an *fairlead.InvalidError whose fields begin with args if the args can never be
// accepted. The caller who creates such a sweep gets the error immediately instead of when
// the sweep runs.
type SweepChecks map[string]func(sweep *sweep.Sweep) error

// check rejects a sweep with args that can never be accepted. A gate that is called before
// a run may supply the args only then.
func (c SweepChecks) check(sweep *sweep.Sweep) error {
	known := c[sweep.Kind]
	if known == nil || len(sweep.Data) == 0 && sweep.Gate.BeforeRun != "" {
		return nil
	}
	return known(sweep)
}

// checkData rejects new args of a sweep that can never be accepted.
func (s *Sweeps) checkData(ctx context.Context, id int64, data []byte) error {
	if len(s.checks) == 0 && !mayBeMasked(data) {
		return nil
	}
	found, err := s.client.ByID(ctx, id)
	if err != nil {
		return err
	}
	if err := unmasked(ctx, s.store.Confidential, "args", sweep.KindOf(found.Kind), data); err != nil {
		return err
	}
	found.Data = data
	return s.checks.check(&found)
}
