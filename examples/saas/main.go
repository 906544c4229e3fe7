// Command saas shares one node among the customers of a service. One customer floods the
// node with jobs, and the others are not delayed by it.
//
//	go run ./examples/saas
//
// For each customer, it prints the share of the first starts, the maximum number of
// concurrent jobs, and the time at which the last job was done. Tenants, limits and jobs
// are stored in the file saas.db.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/sqlite"
)

// Render is the kind of job that the service runs. Each job takes a moment.
var Render = fairlead.NewKind[struct{}]("saas.render")

// customers lists the tenants, parents first, and the number of their jobs.
var customers = []struct {
	fairlead.Tenant
	jobs int
}{
	{fairlead.Tenant{Name: "noisy", Weight: 1}, 2000},                // far more than its share
	{fairlead.Tenant{Name: "gold", Weight: 3, MinRunning: 2}, 150},   // three times the share, and two slots whenever it has jobs
	{fairlead.Tenant{Name: "acme", Weight: 2, MaxRunning: 4}, 0},     // a company whose teams share its weight and its cap
	{fairlead.Tenant{Name: "acme-eu", Parent: "acme"}, 50},           //
	{fairlead.Tenant{Name: "acme-us", Parent: "acme"}, 50},           //
	{fairlead.Tenant{Name: "free", Weight: 1, Rate: 5, Burst: 1}, 8}, // five starts per second, however many slots are free
}

// Stats records each tenant's job starts, concurrent jobs and last finish time.
type Stats struct {
	mu      sync.Mutex
	began   time.Time
	starts  []string // tenants in order of their starts
	running map[string]int
	most    map[string]int           // maximum number of concurrent jobs
	last    map[string]time.Duration // time at which the last job was done
}

// work handles a job by taking a slot for a moment.
func (d *Stats) work(ctx context.Context, job *fairlead.Job, _ struct{}) error {
	d.count(job.Tenant, 1)
	defer d.count(job.Tenant, -1)
	select {
	case <-time.After(10 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *Stats) count(tenant string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n > 0 {
		d.starts = append(d.starts, tenant)
	}
	d.running[tenant] += n
	d.most[tenant] = max(d.most[tenant], d.running[tenant])
	d.last[tenant] = time.Since(d.began)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	stats, err := run(ctx, "saas.db")
	if err != nil {
		log.Fatal(err)
	}
	stats.print(os.Stdout)
}

// run declares the tenants, enqueues their jobs and runs a node until all jobs are done.
func run(ctx context.Context, file string) (stats *Stats, err error) {
	store, err := sqlite.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	client := fairlead.NewClient(store)
	if _, err := client.EnsureLimit(ctx, fairlead.Limit{Scope: fairlead.LimitGlobal, Order: fairlead.OrderFair}); err != nil {
		return nil, err
	}
	var jobs []*fairlead.Job
	for _, customer := range customers { // the noisy tenant comes first
		if _, err := client.EnsureTenant(ctx, customer.Tenant); err != nil {
			return nil, err
		}
		for range customer.jobs {
			job := Render.Job(struct{}{})
			job.Tenant = customer.Name
			jobs = append(jobs, job)
		}
	}
	if err := client.Enqueue(ctx, jobs...); err != nil {
		return nil, err
	}
	stats = &Stats{began: time.Now(), running: map[string]int{}, most: map[string]int{}, last: map[string]time.Duration{}}
	mux := fairlead.NewMux()
	Render.Handle(mux, stats.work)
	running, stopNode := context.WithCancel(ctx)
	ended := make(chan error, 1)
	// Jobs claimed ahead would count against caps, so the node claims only for free slots.
	go func() { ended <- engine.Run(running, store, mux, engine.Options{Slots: 8, SlotsOnly: true}) }()
	for _, job := range jobs {
		if _, err = client.Wait(ctx, job.ID); err != nil {
			break
		}
	}
	stopNode()
	return stats, errors.Join(err, <-ended)
}

// print prints the starts by tenant.
func (d *Stats) print(out io.Writer) {
	const first = 200
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "tenant\tjobs\tof the first %d starts\tmost at once\tdone after\t\n", first)
	for _, customer := range customers {
		if name := customer.Name; customer.jobs > 0 {
			fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t\n", name, customer.jobs, d.among(name, first), d.most[name], d.last[name].Round(10*time.Millisecond))
		}
	}
	_ = table.Flush() // a closed terminal reads nothing
}

// among returns the number of a tenant's starts among the first starts.
func (d *Stats) among(tenant string, first int) (starts int) {
	for _, other := range d.starts[:min(first, len(d.starts))] {
		if other == tenant {
			starts++
		}
	}
	return starts
}
