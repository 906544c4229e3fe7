package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
)

// Fair is the workload that measures how tenants share starts by weight, and the cost of
// that.
const Fair = "fair"

// Fairness measures how tenants with unlimited work share the starts of four nodes, and
// compares the cost of fair dispatch with that of dispatch by deadline.
type Fairness struct {
	Open     func(ctx context.Context) (driver.Store, error) // one store per node
	Server   Server
	Progress *Progress
	Jobs     int // starts per measurement; default 50,000
	Pairs    int // alternating measurements by deadline and with fair dispatch; default 5
}

// FairResult contains the results with fair dispatch, and by deadline.
type FairResult struct {
	Result           // with fair dispatch
	Deadline Result  `json:"deadline"`
	Loss     float64 `json:"loss_percent"`     // by rate
	CPULoss  float64 `json:"cpu_loss_percent"` // by CPU time per job, on both sides

	Shares []FairShare `json:"shares"`
	Off    float64     `json:"off_percent"` // largest relative deviation of a share from the expected one
}

// FairShare is a tenant's share of the starts.
type FairShare struct {
	Tenant           string  `json:"tenant"`
	Parent           string  `json:"parent,omitempty"`
	Weight           int     `json:"weight"`
	Wanted           float64 `json:"wanted"` // share of all starts
	Had              float64 `json:"had"`
	HadByDeadline    float64 `json:"had_by_deadline"`
	fair, byDeadline int64
}

const (
	fairNodes = 4
	// spare is the number of jobs of a tenant relative to its starts: no tenant may run out of
	// jobs while starts are counted.
	spare = 1.5
)

// fairTenants returns the measured tenants: two without a parent, and one with a parent.
func fairTenants() []FairShare {
	return []FairShare{
		{Tenant: "heavy", Weight: 3, Wanted: 3.0 / 6},
		{Tenant: "light", Weight: 1, Wanted: 1.0 / 6},
		{Tenant: "child", Parent: "parent", Weight: 2, Wanted: 2.0 / 6},
	}
}

// Run performs the measurement.
func (f Fairness) Run(ctx context.Context) (FairResult, error) {
	f.Jobs, f.Pairs = orElse(f.Jobs, 50_000), orElse(f.Pairs, 5)
	out := FairResult{Shares: fairTenants()}
	part, err := inPairs(f.Pairs, func(fair bool) (Result, error) { return f.measure(ctx, fair, out.Shares) })
	if err != nil {
		return FairResult{}, fmt.Errorf("%s: %w", Fair, err)
	}
	out.Result, out.Deadline = part.Result, *part.Without
	out.Workload, out.Store = Fair, f.Server.Name()
	out.Deadline.Workload, out.Deadline.Store = Fair, out.Store
	out.Loss = round(100*(1-out.Rate/out.Deadline.Rate), 1)
	out.CPULoss = round(100*(out.TotalMicros()/out.Deadline.TotalMicros()-1), 1)
	all := float64(f.Jobs * f.Pairs)
	for i := range out.Shares {
		s := &out.Shares[i]
		s.Wanted, s.Had, s.HadByDeadline = round(s.Wanted, 4), round(float64(s.fair)/all, 4), round(float64(s.byDeadline)/all, 4)
		out.Off = max(out.Off, round(100*math.Abs(s.Had/s.Wanted-1), 1))
	}
	return out, nil
}

// measure runs jobs of all tenants, and counts the first starts of each.
func (f Fairness) measure(ctx context.Context, fair bool, shares []FairShare) (_ Result, err error) {
	t := &Tenancy{Open: f.Open, Server: f.Server, Progress: f.Progress}
	r, err := t.newRun(ctx, fairNodes, len(shares))
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	undo, err := r.share(ctx, fair, shares)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, undo()) }()
	var counting sync.Mutex
	started := 0
	r.started = func(job *fairlead.Job, _ Args) {
		counting.Lock()
		defer counting.Unlock()
		if started++; started > f.Jobs {
			return
		}
		for i := range shares {
			switch {
			case r.tenants[i] != job.Tenant:
			case fair:
				shares[i].fair++
			default:
				shares[i].byDeadline++
			}
		}
	}
	backlog := int(spare * float64(f.Jobs) / 2) // per tenant: the largest share is one half
	if err := r.fill(ctx, backlog*len(shares), r.tenants); err != nil {
		return Result{}, err
	}
	time.Sleep(settleTime)
	return r.drainFirst(ctx, f.Jobs, backlog*len(shares))
}

// share declares the tenants and sets the order of the queue. undo removes both.
func (r *tenantRun) share(ctx context.Context, fair bool, shares []FairShare) (undo func() error, err error) {
	order := fairlead.Limit{Scope: fairlead.LimitQueue, Name: r.queue}
	var declared []string
	undo = func() error {
		ctx := context.WithoutCancel(ctx)
		order.Order = ""
		errs := []error{r.client.SetLimit(ctx, order)}
		for i := range declared {
			errs = append(errs, r.client.DeleteTenant(ctx, declared[len(declared)-1-i])) // children before parents
		}
		return errors.Join(errs...)
	}
	declare := func(tenant fairlead.Tenant) error {
		_, err := r.client.PutTenant(ctx, tenant)
		if err == nil {
			declared = append(declared, tenant.Name)
		}
		return err
	}
	for i, s := range shares {
		tenant := fairlead.Tenant{Name: r.tenants[i], Weight: s.Weight}
		if s.Parent != "" {
			tenant.Parent = r.queue + "-" + s.Parent
			err = declare(fairlead.Tenant{Name: tenant.Parent, Weight: s.Weight})
		}
		if err == nil {
			err = declare(tenant)
		}
		if err != nil {
			return nil, errors.Join(err, undo())
		}
	}
	if fair {
		order.Order = fairlead.OrderFair
		if err := r.client.SetLimit(ctx, order); err != nil {
			return nil, errors.Join(err, undo())
		}
	}
	return undo, nil
}

// drainFirst measures the run of the first of many jobs, and then runs the rest.
func (r *tenantRun) drainFirst(ctx context.Context, jobs, all int) (Result, error) {
	defer r.Progress.watch(Fair, int64(all), r.tally.ended.Load)()
	m, err := startMeter(ctx, r.Server)
	if err != nil {
		return Result{}, err
	}
	working, stop := r.start(ctx)
	err = r.tally.await(working, int64(jobs))
	ended := r.tally.ended.Load()
	used, measureErr := m.stop()
	if err == nil {
		err = r.tally.await(working, int64(all))
	}
	if err := firstError(stop(), err, measureErr); err != nil {
		return Result{}, err
	}
	return used.perJob(ended), nil
}

// WriteJSON writes the result as one line.
func (r FairResult) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteTable writes the result as a table for people.
func (r FairResult) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "store\t%s, %d nodes\n", r.Store, fairNodes)
	for _, s := range r.Shares {
		name := s.Tenant
		if s.Parent != "" {
			name += " of " + s.Parent
		}
		fmt.Fprintf(table, "%s\tweight %d\ttarget %.1f %%\tactual %.1f %%\tby deadline %.1f %%\n", name, s.Weight, 100*s.Wanted, 100*s.Had, 100*s.HadByDeadline)
	}
	fmt.Fprintf(table, "largest difference\t%.1f %%\n", r.Off)
	for _, order := range []struct {
		name   string
		result Result
	}{{"deadline", r.Deadline}, {"fair", r.Result}} {
		fmt.Fprintf(table, "%s\t%s jobs/s\tclient %.1f µs/job\tserver %.1f µs/job\n", order.name, Grouped(order.result.Rate), order.result.ClientMicros, order.result.ServerMicros)
	}
	fmt.Fprintf(table, "cost of fair\t%.1f %% of the rate\t%.1f %% of CPU time\n", r.Loss, r.CPULoss)
	return table.Flush()
}
