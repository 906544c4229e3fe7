package server

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/message"
	"github.com/fairlead-io/fairlead/internal/paged"
	"github.com/fairlead-io/fairlead/server/internal/caller"
	"github.com/fairlead-io/fairlead/server/internal/masks"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/scope"
	"github.com/fairlead-io/fairlead/sweep"
)

// Sweeps implements the SweepService.
type Sweeps struct {
	store    Store
	client   *sweep.Client
	business business
	checks   SweepChecks
	stopping <-chan struct{}

	kinds     *fairlead.Mux // kinds that run in this process; nil = unknown
	databases []string      // databases whose tables this process reads
	masks     *masks.Masks  // confidential fields; nil = none
}

// NewSweeps returns a SweepService backed by store. When stopping is closed, all watches
// end.
func NewSweeps(store Store, stopping <-chan struct{}) *Sweeps {
	return &Sweeps{store: store, client: sweep.NewClient(store), stopping: stopping}
}

// find returns the sweep with an ID or a name. An ID takes precedence over a name that
// looks like an ID.
func (s *Sweeps) find(ctx context.Context, ref string) (sweep.Record, error) {
	if id, err := strconv.ParseInt(ref, 10, 64); err == nil {
		found, err := sweepRecord(ctx, s.store, sweep.Filter{IDs: []int64{id}}, ref)
		if !errors.Is(err, fairlead.ErrNotFound) {
			return found, err
		}
	}
	return sweepRecord(ctx, s.store, sweep.Filter{Names: []string{ref}}, strconv.Quote(ref))
}

// sweepRecord returns a sweep including its ledger, which contains AskedAt for responses,
// or ErrNotFound.
func sweepRecord(ctx context.Context, store Store, filter sweep.Filter, what string) (sweep.Record, error) {
	found, err := store.Sweeps(ctx, filter)
	if err != nil {
		return sweep.Record{}, err
	}
	if len(found) == 0 {
		return sweep.Record{}, fmt.Errorf("sweep %s: %w", what, fairlead.ErrNotFound)
	}
	return found[0], nil
}

// shown converts a sweep to its API form.
func (s *Sweeps) shown(ctx context.Context, record sweep.Record) (*fairleadv1.Sweep, error) {
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := s.store.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	return warned(&record, nodes, now), nil
}

// warned converts a sweep to its API form, including a warning about problems.
func warned(record *sweep.Record, nodes []fairlead.Node, now time.Time) *fairleadv1.Sweep {
	out := message.Sweep(record, now)
	if record.State == sweep.Finished {
		return out
	}
	if o := record.Unhandled(nodes, now); o != nil {
		out.Warning = o.Text + "; " + handled(o.Kinds)
	}
	return out
}

// handled describes the kinds of items that live nodes handle.
func handled(kinds []fairlead.KindCount) string {
	if len(kinds) == 0 {
		return "start one that does: no live node handles items of any kind"
	}
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = strconv.Quote(kind.Kind)
	}
	return "start one that does, or correct the kind: live nodes handle " + strings.Join(names, ", ")
}

// after returns the API form of a sweep after an action on it.
func (s *Sweeps) after(ctx context.Context, after sweep.Sweep, err error) (*fairleadv1.Sweep, error) {
	if err != nil {
		return nil, err
	}
	record, err := sweepRecord(ctx, s.store, sweep.Filter{IDs: []int64{after.ID}}, strconv.FormatInt(after.ID, 10))
	if err != nil && !errors.Is(err, fairlead.ErrNotFound) { // it may have been deleted in the meantime
		return nil, err
	}
	record.Sweep = after
	return s.shown(ctx, record)
}

// CreateSweep stores a sweep, unless the sweep's gate refuses it.
func (s *Sweeps) CreateSweep(ctx context.Context, in *fairleadv1.Sweep) (*fairleadv1.Sweep, error) {
	switch {
	case in.GetVersion() != 0:
		return nil, rest.InvalidField("version", "is set by the server; omit it")
	case in.GetRef() != "":
		return nil, rest.InvalidField("ref", "applies only to existing sweeps; omit it")
	}
	sw := message.SweepOf(in)
	if err := sweep.Normalize(&sw); err != nil {
		return nil, err
	}
	if err := s.checks.check(&sw); err != nil {
		return nil, err
	}
	if err := scope.CheckSweep(ctx, &sw, nil); err != nil {
		return nil, err // before a gate is called in its name
	}
	if err := s.knowDatabase(&sw); err != nil {
		return nil, err
	}
	if err := s.business.agree(ctx, &sw); err != nil {
		return nil, err
	}
	stored, err := s.client.Put(ctx, sw)
	if err == nil {
		_ = s.client.Note(ctx, stored.ID, caller.Of(ctx).Identity.Name, "create", "") // the audit log has it too
	}
	return s.after(ctx, stored, err)
}

// GetSweep returns a sweep.
func (s *Sweeps) GetSweep(ctx context.Context, in *fairleadv1.GetSweepRequest) (*fairleadv1.Sweep, error) {
	record, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	return s.shown(ctx, record)
}

// ListSweeps returns sweeps, newest first.
func (s *Sweeps) ListSweeps(ctx context.Context, in *fairleadv1.ListSweepsRequest) (*fairleadv1.ListSweepsResponse, error) {
	below, err := pageBelow(in.GetPageToken())
	if err != nil {
		return nil, err
	}
	size := pageSize(in.GetPageSize())
	bounded, bound := paged.Within(ctx, overload.PageBytes)
	sweeps, err := s.store.Sweeps(bounded, sweep.Filter{
		Names: in.GetName(), States: texts[sweep.State](in.GetState()), Tenants: in.GetTenant(),
		Below: below, Limit: size + 1, // one more to detect a next page
	})
	if err != nil {
		return nil, err
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	sweeps, next := boundedPage(bound, sweeps, size, func(record sweep.Record) int64 { return record.ID })
	nodes, err := s.store.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	shown := func(record sweep.Record) *fairleadv1.Sweep { return warned(&record, nodes, now) }
	return &fairleadv1.ListSweepsResponse{Items: items(sweeps, shown), NextPageToken: pageToken(next)}, nil
}

// PatchSweep changes the sweep fields given in the request.
func (s *Sweeps) PatchSweep(ctx context.Context, in *fairleadv1.Sweep) (*fairleadv1.Sweep, error) {
	current, err := s.find(ctx, in.GetRef())
	if err != nil {
		return nil, err
	}
	changed, note, err := patchSweep(current, in)
	if err != nil {
		return nil, err
	}
	if err := sweep.Normalize(&changed); err != nil {
		return nil, err
	}
	if err := s.checks.check(&changed); err != nil {
		return nil, err
	}
	if err := scope.CheckSweep(ctx, &changed, &current.Sweep); err != nil {
		return nil, err
	}
	if changed.Kind != current.Kind || !reflect.DeepEqual(changed.Source, current.Source) {
		if err := s.knowDatabase(&changed); err != nil {
			return nil, err
		}
	}
	stored, err := s.client.Put(ctx, changed)
	if err != nil {
		return nil, err
	}
	_ = s.client.Note(ctx, stored.ID, caller.Of(ctx).Identity.Name, "set", note) // the audit log has it too
	return s.GetSweep(ctx, &fairleadv1.GetSweepRequest{Id: strconv.FormatInt(stored.ID, 10)})
}

// DeleteSweep deletes a sweep.
func (s *Sweeps) DeleteSweep(ctx context.Context, in *fairleadv1.GetSweepRequest) (*fairleadv1.DeleteSweepResponse, error) {
	sweep, err := s.find(ctx, in.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.client.Delete(ctx, sweep.ID); err != nil {
		return nil, err
	}
	return &fairleadv1.DeleteSweepResponse{}, nil
}

// WatchSweep sends the sweep after every change until the sweep has stopped or finished.
func (s *Sweeps) WatchSweep(ctx context.Context, in *fairleadv1.GetSweepRequest, send func(*fairleadv1.Sweep) error) error {
	rests := func(sw *fairleadv1.Sweep) bool {
		state := sweep.State(sw.GetState())
		return state == sweep.Stopped || state == sweep.Finished
	}
	return watch(ctx, s.stopping, in, s.GetSweep, unforeseen, rests, send)
}

// unforeseen returns a copy of a sweep without fields that change only with time.
func unforeseen(sweep *fairleadv1.Sweep) *fairleadv1.Sweep {
	out := proto.CloneOf(sweep)
	out.GetProgress().Eta = nil
	return out
}
