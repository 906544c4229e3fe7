package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/schedule"
)

// SchedulesWorkload is the name of the workload that measures schedules.
const SchedulesWorkload = "schedules"

// Schedules measures the punctuality of schedules, and the cost of schedules that are not
// due.
type Schedules struct {
	Store    driver.Store
	Server   Server
	Progress *Progress
	Items    int     // number of stored schedules that are not due; default 1,000,000
	Rate     int     // runs per second; default 500
	Seconds  float64 // duration of each measurement; default 20
	AtOnce   bool    // whether all runs of a second are due at its start, instead of spread over it
	Slots    int     // slots of the node; zero = the engine's default
}

// ScheduleFigures contains the results. Programs read it as JSON, so names are stable.
type ScheduleFigures struct {
	Result // for the runs

	Items           int     `json:"items"`
	CreateSeconds   float64 `json:"create_seconds"`
	CreatedBy       string  `json:"created_by"`       // calls of PutSchedule, or copies by SQL
	LatenessP50     float64 `json:"lateness_p50_ms"`  // from the due instant to the start of the handler
	LatenessP99     float64 `json:"lateness_p99_ms"`  // likewise
	LatenessMax     float64 `json:"lateness_max_ms"`  // likewise
	IdlePercent     float64 `json:"idle_cpu_percent"` // share of a core, node and server together, with all items and nothing due
	IdleNode        float64 `json:"idle_node_cpu_percent"`
	IdleServer      float64 `json:"idle_server_cpu_percent"`
	FewItems        int     `json:"few_items"`
	FewPercent      float64 `json:"few_idle_cpu_percent"` // likewise with few items
	FewNode         float64 `json:"few_idle_node_cpu_percent"`
	FewServer       float64 `json:"few_idle_server_cpu_percent"`
	MorePercent     float64 `json:"idle_cpu_percent_more"` // additional cost of all items over few
	IdleSeconds     float64 `json:"idle_seconds"`
	IdleLog         float64 `json:"idle_log_bytes_per_minute,omitempty"` // with all items, like IdlePercent
	IdleStatements  float64 `json:"idle_statements_per_minute,omitempty"`
	SchedulesFiring int     `json:"schedules_firing"`
	RunsDue         int64   `json:"runs_due"` // larger than the number of ended runs if the machine did not keep up
}

// fewItems is the number of schedules to which the cost of many is compared.
const fewItems = 1000

// Run performs the measurement.
func (s Schedules) Run(ctx context.Context) (ScheduleFigures, error) {
	s.Items, s.Rate = orElse(s.Items, 1_000_000), orElse(s.Rate, 500)
	if s.Seconds == 0 {
		s.Seconds = 20
	}
	figures, err := s.measure(ctx)
	if err != nil {
		return ScheduleFigures{}, fmt.Errorf("%s: %w", SchedulesWorkload, err)
	}
	figures.Workload, figures.Store = SchedulesWorkload, s.Server.Name()
	return figures, nil
}

func (s Schedules) measure(ctx context.Context) (f ScheduleFigures, err error) {
	if err := s.checkEmpty(ctx); err != nil {
		return f, err
	}
	stock := newStock(&s)
	f.Items, f.FewItems, f.IdleSeconds, f.CreatedBy = s.Items, min(s.Items, fewItems), s.Seconds, stock.way()
	began := time.Now()
	if err := stock.fill(ctx, f.FewItems); err != nil {
		return f, err
	}
	took := time.Since(began)
	few, err := s.idle(ctx, stock.queue)
	if err != nil {
		return f, err
	}
	began = time.Now()
	if err := stock.fill(ctx, s.Items); err != nil {
		return f, err
	}
	f.CreateSeconds = round((took + time.Since(began)).Seconds(), 1)
	all, err := s.idle(ctx, stock.queue)
	if err != nil {
		return f, err
	}
	f.FewNode, f.FewServer = few.percent()
	f.IdleNode, f.IdleServer = all.percent()
	f.FewPercent, f.IdlePercent = round(f.FewNode+f.FewServer, 2), round(f.IdleNode+f.IdleServer, 2)
	f.IdleLog, f.IdleStatements = round(all.perMinute(all.wal), 0), round(all.perMinute(all.statements), 1)
	f.MorePercent = round(f.IdlePercent-f.FewPercent, 2)
	err = s.punctual(ctx, stock.queue, &f)
	return f, err
}

// checkEmpty rejects a database with schedules that would be measured too.
func (s *Schedules) checkEmpty(ctx context.Context) error {
	found, err := s.Store.Schedules(ctx, schedule.Filter{Limit: 1})
	if err == nil && len(found) > 0 {
		err = errors.New("the database already contains schedules, which would distort the results: use an empty database")
	}
	return err
}

// idle measures an idle node.
func (s *Schedules) idle(ctx context.Context, queue string) (use, error) {
	if server, ok := s.Server.(scheduleCopier); ok {
		if err := server.tidySchedules(ctx); err != nil {
			return use{}, err
		}
	}
	working, stop := startWork(ctx, s.node(queue, func(*fairlead.Job) {}), Events{Ended: func() {}})
	// A node does additional work after it joins.
	const warm = 3 * time.Second
	used, err := s.used(working, warm)
	return used, firstError(stop(), err)
}

func (s *Schedules) used(working context.Context, warm time.Duration) (use, error) {
	if err := pass(working, warm); err != nil {
		return use{}, err
	}
	m, err := startMeter(working, s.Server)
	if err != nil {
		return use{}, err
	}
	if err := pass(working, s.duration()); err != nil {
		return use{}, err
	}
	return m.stop()
}

func (s *Schedules) duration() time.Duration { return time.Duration(s.Seconds * float64(time.Second)) }

// percent returns the CPU time of both sides as a percentage of a core.
func (u use) percent() (client, server float64) {
	of := func(d time.Duration) float64 { return round(100*d.Seconds()/max(u.elapsed.Seconds(), 1e-9), 2) }
	return of(u.client), of(u.server)
}

// perMinute converts an amount to the amount per minute.
func (u use) perMinute(n int64) float64 { return float64(n) / max(u.elapsed.Minutes(), 1e-9) }

// WriteTable writes the figures as a table for people.
func (f ScheduleFigures) WriteTable(w io.Writer) error {
	if err := f.Result.WriteTable(w); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	row("schedules", "%s stored in %.1f s (%s), %s others firing", Grouped(float64(f.Items)), f.CreateSeconds, f.CreatedBy, Grouped(float64(f.SchedulesFiring)))
	if late := f.RunsDue - f.Jobs; late > 0 {
		row("not run", "%s of %s due runs: the machine could not keep up", Grouped(float64(late)), Grouped(float64(f.RunsDue)))
	}
	row("lateness", "p50 %.2f ms, p99 %.2f ms, max %.2f ms", f.LatenessP50, f.LatenessP99, f.LatenessMax)
	idle := func(items int, all, node, server float64) {
		row("idle", "%.2f %% of a core with %s schedules: node %.2f %%, server %.2f %%", all, Grouped(float64(items)), node, server)
	}
	idle(f.FewItems, f.FewPercent, f.FewNode, f.FewServer)
	idle(f.Items, f.IdlePercent, f.IdleNode, f.IdleServer)
	if f.IdleLog > 0 {
		row("idle log", "%s B/minute", Grouped(f.IdleLog))
	}
	if f.IdleStatements > 0 {
		row("idle statements", "%s /minute", Grouped(f.IdleStatements))
	}
	return table.Flush()
}
