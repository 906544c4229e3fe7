package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/internal/reserved"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/rest"
)

const (
	eraseJobs    = 1000 // approximate number of jobs that a call reads
	eraseBatches = 20   // number of batches that a call reads
	eraseListed  = 100  // maximum number of remaining jobs listed in a response
)

// finalStates lists the states of jobs that Erase deletes.
var finalStates = []fairlead.State{fairlead.Succeeded, fairlead.Failed, fairlead.Cancelled, fairlead.Skipped}

// Erase deletes the stored data of finished jobs. Each call deletes only some of the jobs,
// so it returns soon even if there is a lot of data. A caller that starts over continues
// where the earlier calls stopped, because deleted data is not found again.
func (s *System) Erase(ctx context.Context, in *fairleadv1.EraseRequest) (*fairleadv1.EraseResponse, error) {
	who := caller.Of(ctx).Identity
	switch {
	case in.GetTenant() == "" && in.GetKey() == "":
		return nil, rest.InvalidField("tenant", "is empty, and so is key; set tenant, key or both to select the jobs to remove")
	case in.GetTenant() != "" && !who.MayAccess(in.GetTenant()):
		return nil, caller.ErrTenant(in.GetTenant())
	}
	e := &eraser{system: s, key: in.GetKey(), dryRun: in.GetDryRun(), kinds: map[string]int64{}, out: &fairleadv1.EraseResponse{Tenant: in.GetTenant()}}
	if in.GetTenant() != "" {
		e.tenants = []string{in.GetTenant()}
	}
	if err := e.run(ctx, in.GetPageToken()); err != nil {
		return nil, err
	}
	for kind, jobs := range e.kinds {
		e.out.Kinds = append(e.out.Kinds, &fairleadv1.ErasedKind{Kind: kind, Jobs: jobs})
	}
	slices.SortFunc(e.out.Kinds, func(a, b *fairleadv1.ErasedKind) int { return cmp.Compare(a.GetKind(), b.GetKind()) })
	return e.out, nil
}

// eraser is one call of Erase.
type eraser struct {
	system  *System
	tenants []string // nil = all tenants that the caller may access
	key     string   // empty = jobs with any key
	dryRun  bool

	kinds map[string]int64
	out   *fairleadv1.EraseResponse
}

// erasePhases contains the steps of an erasure, as the first letters of their page tokens.
// A batch is deleted before its tasks, which it then no longer needs. Notices are deleted
// last, because a job that was still running when the erasure began may have caused one in
// the meantime.
const erasePhases = "bjnu"

// run continues at the position in a page token. It goes through the phases until one of
// them has more work than fits into a call.
func (e *eraser) run(ctx context.Context, token string) error {
	phase, below := 0, int64(0)
	if token != "" {
		var err error
		phase = strings.IndexByte(erasePhases, token[0])
		if below, err = pageBelow(token[1:]); err != nil || phase < 0 {
			return rest.InvalidField("page_token", "is not a valid page token; omit it to begin")
		}
	}
	for ; phase < len(erasePhases); phase, below = phase+1, 0 {
		erase := []func(context.Context, int64) (int64, error){e.batches, e.jobs, e.notices, e.bulks}[phase]
		next, err := erase(ctx, below)
		if err != nil {
			return err
		}
		if next != 0 {
			e.out.NextPageToken = erasePhases[phase:phase+1] + pageToken(next)
			return nil
		}
	}
	return e.remains(ctx)
}

// batches deletes completed batches of the tenant. Callers do not choose the keys of tasks.
func (e *eraser) batches(ctx context.Context, below int64) (next int64, err error) {
	if e.key != "" {
		return 0, nil
	}
	found, err := e.system.batches.List(ctx, batch.Filter{Tenants: e.tenants, Below: below, Limit: eraseBatches + 1})
	if err != nil {
		return 0, err
	}
	found, next = page(found, eraseBatches, func(b batch.Batch) int64 { return b.ID })
	for i := range found {
		if found[i].EndedAt.IsZero() {
			continue // reported by remains
		}
		if !e.dryRun {
			err := e.system.batches.Delete(ctx, found[i].ID)
			if errors.Is(err, fairlead.ErrConflict) || errors.Is(err, fairlead.ErrNotFound) {
				continue // reopened or deleted
			}
			if err != nil {
				return 0, err
			}
		}
		e.out.Batches++
	}
	return next, nil
}

// jobs deletes finished jobs.
func (e *eraser) jobs(ctx context.Context, below int64) (int64, error) {
	filter := fairlead.Filter{Tenants: e.tenants, Key: e.key, States: finalStates, Below: below}
	return e.each(ctx, e.system.client, filter, func(job *fairlead.Job) error {
		attempts, err := e.system.client.Attempts(ctx, job.ID)
		if err != nil {
			return err
		}
		removed, err := e.remove(ctx, e.system.client, job)
		if removed {
			e.out.Jobs, e.out.Attempts = e.out.Jobs+1, e.out.Attempts+int64(len(attempts))
			e.kinds[job.Kind]++
		}
		return err
	})
}

// notices deletes finished notices and alerts that name jobs of the tenant, or with the
// key. Notices are jobs of a separate tenant, which callers bound to tenants cannot see.
func (e *eraser) notices(ctx context.Context, below int64) (int64, error) {
	client := fairlead.NewClient(e.system.all)
	filter := fairlead.Filter{Tenants: []string{reserved.NoticeTenant}, States: finalStates, Below: below}
	return e.each(ctx, client, filter, func(job *fairlead.Job) error {
		if !e.meant(ctx, job.Args) {
			return nil
		}
		removed, err := e.remove(ctx, client, job)
		if removed {
			e.out.Notices++
		}
		return err
	})
}

// named identifies a job in a notice or an alert.
type named struct{ Tenant, Key string }

// meant reports whether the args of a notice or an alert name a job that is to be erased.
// An alert may name jobs of several tenants; only callers with access to all of them may
// erase it.
func (e *eraser) meant(ctx context.Context, args json.RawMessage) (meant bool) {
	var told struct {
		named
		Vars struct{ Examples []named }
	}
	if json.Unmarshal(args, &told) != nil {
		return false
	}
	jobs := told.Vars.Examples
	if told.Tenant != "" {
		jobs = append(jobs, told.named)
	}
	for _, job := range jobs {
		if !caller.Of(ctx).Identity.MayAccess(job.Tenant) {
			return false
		}
		meant = meant || (e.tenants == nil || slices.Contains(e.tenants, job.Tenant)) && (e.key == "" || job.Key == e.key)
	}
	return meant
}

// each calls do for matching jobs, approximately as many as fit into a call. It returns the
// position to continue at, or zero if all jobs were processed.
func (e *eraser) each(ctx context.Context, client *fairlead.Client, filter fairlead.Filter, do func(*fairlead.Job) error) (next int64, err error) {
	for seen := 0; seen < eraseJobs; {
		page, err := findPage(ctx, client, filter)
		if err != nil {
			return 0, err
		}
		for _, job := range page.Jobs {
			if err := do(job); err != nil {
				return 0, err
			}
		}
		if filter.Below = page.Next; page.Next == 0 {
			return 0, nil
		}
		seen += max(len(page.Jobs), fairlead.DefaultPage) // a short page has read many jobs
	}
	return filter.Below, nil
}

// remove deletes a job and reports whether the job is gone. A job that is still needed is
// listed as remaining.
func (e *eraser) remove(ctx context.Context, client *fairlead.Client, job *fairlead.Job) (bool, error) {
	if e.dryRun {
		return true, nil
	}
	err := client.DeleteSeen(ctx, job)
	switch {
	case errors.Is(err, fairlead.ErrNotFound):
		return false, nil
	case errors.Is(err, fairlead.ErrConflict):
		e.left(job, err.Error())
		return false, nil
	}
	return err == nil, err
}

func (e *eraser) left(job *fairlead.Job, why string) {
	if len(e.out.Left) < eraseListed {
		e.out.Left = append(e.out.Left, &fairleadv1.LeftJob{Id: job.ID, Kind: job.Kind, State: string(job.State), Why: why})
	}
}
