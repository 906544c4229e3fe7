package server

import (
	"context"

	"github.com/fairlead-io/fairlead/server/internal/scope"
	"github.com/fairlead-io/fairlead/sweep"
)

// SweepChecks maps sweep kinds whose args are known to functions that validate these args.
// If the args can never be accepted, the function returns a *fairlead.InvalidError whose
// field names begin with args. The caller who creates the sweep then gets the error
// immediately, rather than when the sweep runs.
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
	if len(s.checks) == 0 && !scope.MayBeMasked(data) {
		return nil
	}
	found, err := s.client.ByID(ctx, id)
	if err != nil {
		return err
	}
	if err := scope.RefuseMasked(ctx, s.store.Confidential, "args", sweep.KindOf(found.Kind), data); err != nil {
		return err
	}
	found.Data = data
	return s.checks.check(&found)
}
