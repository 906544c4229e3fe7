package server

import (
	"context"

	"github.com/fairlead-io/fairlead/sweep"
)

// SweepChecks say, for kinds of sweeps whose args are known, which can never be
// accepted: with an *fairlead.InvalidError whose fields begin with args. Who creates
// such a sweep hears of it at once, and not when it runs.
type SweepChecks map[string]func(sweep *sweep.Sweep) error

// check refuses a sweep whose args can never be accepted. Where the business is asked
// before it runs, it may say only then what they are.
func (c SweepChecks) check(sweep *sweep.Sweep) error {
	known := c[sweep.Kind]
	if known == nil || len(sweep.Data) == 0 && sweep.Gate.BeforeRun != "" {
		return nil
	}
	return known(sweep)
}

// checkData refuses other args of a sweep that can never be accepted.
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
