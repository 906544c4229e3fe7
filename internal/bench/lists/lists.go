package lists

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/access"
	"github.com/fairlead-io/fairlead/batch"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/reads"
	"github.com/fairlead-io/fairlead/schedule"
	"github.com/fairlead-io/fairlead/sweep"
)

const (
	perRow   = 50   // maximum number of reads per row of a page
	constant = 2000 // maximum number of additional reads for a list
)

// Lists measures a store.
type Lists struct {
	URL   string // URL of a database without jobs
	Store Store
	Jobs  int // zero = one million

	// Watch displays the progress of filling until stop is called; nil = no display.
	Watch func(what string, total int64, count func() int64) (stop func())
}

// Figure contains the reads of one list or count.
type Figure struct {
	Name   string  `json:"list"`
	Rows   int     `json:"rows"`    // number of rows in the result
	Read   int64   `json:"read"`    // rows, or pages in SQLite
	PerRow float64 `json:"per_row"` // reads per row of the page
	Above  bool    `json:"above"`   // whether it reads more than its page allows
	Millis float64 `json:"ms"`
}

// NewFigure judges the reads for some rows by the maximum number of rows on the page and by
// the allowed additional reads.
func NewFigure(name string, rows, page, besides int, read int64, took time.Duration) Figure {
	of := max(rows, page)
	return Figure{
		Name: name, Rows: rows, Read: read, PerRow: float64(read) / float64(max(1, of)), Millis: float64(took.Microseconds()) / 1000,
		Above: read > int64(perRow*of+besides),
	}
}

// Run fills the store and measures every list.
func (l Lists) Run(ctx context.Context) ([]Figure, error) {
	s, err := l.fill(ctx)
	if err != nil {
		return nil, err
	}
	return s.measure(ctx)
}

// fill stores the data for the measurement.
func (l Lists) fill(ctx context.Context) (_ *stock, err error) {
	jobs := cmp.Or(l.Jobs, 1_000_000)
	into, err := openBulk(ctx, l.URL)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, into.Close()) }()
	now, err := l.Store.Now(ctx)
	if err != nil {
		return nil, err
	}
	s := &stock{mix: newMix(jobs, now), store: l.Store, client: fairlead.NewClient(l.Store), schedules: schedule.NewClient(l.Store), batches: batch.NewClient(l.Store), sweeps: sweep.NewClient(l.Store), into: into, side: max(1000, jobs/20)}
	var stored atomic.Int64
	if l.Watch != nil {
		defer l.Watch("jobs stored", int64(jobs), stored.Load)()
	}
	return s, s.fill(ctx, func() { stored.Add(1) })
}

// measure requests each list twice: the data that a process caches with the first request
// is not counted.
func (s *stock) measure(ctx context.Context) ([]Figure, error) {
	var figures []Figure
	for _, a := range s.asks() {
		if _, err := a.do(ctx); err != nil {
			return figures, fmt.Errorf("%s: %w", a.name, err)
		}
		began := time.Now()
		if _, err := a.do(ctx); err != nil {
			return figures, fmt.Errorf("%s: %w", a.name, err)
		}
		took := time.Since(began)
		measured, meter := reads.With(ctx)
		rows, err := a.do(measured)
		if err != nil {
			return figures, fmt.Errorf("%s: %w", a.name, err)
		}
		figures = append(figures, NewFigure(a.name, rows, a.page, constant, meter.Read(), took))
	}
	slices.SortStableFunc(figures, func(a, b Figure) int { return cmp.Compare(a.Name, b.Name) })
	return figures, nil
}

// WriteTable writes figures of lists as a table for people.
func WriteTable(w io.Writer, figures []Figure) error {
	return WriteFigures(w, figures, constant)
}

// WriteFigures writes figures as a table for people, with the limits by which they were
// judged.
func WriteFigures(w io.Writer, figures []Figure, besides int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "rows\tread\tper row\tms\t\t list\t")
	above := 0
	for _, f := range figures {
		mark := ""
		if f.Above {
			mark = "ABOVE"
			above++
		}
		fmt.Fprintf(table, "%d\t%d\t%.1f\t%.1f\t%s\t %s\t\n", f.Rows, f.Read, f.PerRow, f.Millis, mark, f.Name)
	}
	fmt.Fprintf(table, "%d of %d read more than %d for each row of their page plus %d\t\n", above, len(figures), perRow, besides)
	return table.Flush()
}

// Store combines all interfaces with lists.
type Store interface {
	driver.Store
	access.Store
}
