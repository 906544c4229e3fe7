package pages

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/console"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/internal/bench/lists"
	"github.com/fairlead-io/fairlead/internal/reads"
	"github.com/fairlead-io/fairlead/server"
)

const (
	mostRows = 500 // maximum number of rows on a page
	// constant is the number of reads allowed for a page in addition to those for its rows: a
	// second query where few of very many jobs match (4,500), and five counts of tabs, each of
	// which reads about 1,000 jobs, with up to three rows each (15,000); the remainder is for
	// other parts of the page. With a million jobs, the maximum observed was 31,000.
	constant = 30_000
)

// Pages measures the console of a store.
type Pages struct {
	lists.Lists // location and amount of the data
}

// Run fills the store and measures every page.
func (p Pages) Run(ctx context.Context) ([]lists.Figure, error) {
	stored, err := p.Fill(ctx)
	if err != nil {
		return nil, err
	}
	return p.measure(ctx, asksOf(stored))
}

// measure requests each page three times: the first request fills caches, the second is
// timed, and the third is metered.
func (p Pages) measure(ctx context.Context, asks []ask) ([]lists.Figure, error) {
	service, err := newService(p.Store)
	if err != nil {
		return nil, err
	}
	usage, err := p.usage(ctx)
	if err != nil {
		return nil, err
	}
	figures := []lists.Figure{usage}
	for _, a := range asks {
		if _, err := service.rows(ctx, a.path); err != nil {
			return figures, err
		}
		began := time.Now()
		if _, err := service.rows(ctx, a.path); err != nil {
			return figures, err
		}
		took := time.Since(began)
		measured, meter := reads.With(ctx)
		rows, err := service.rows(measured, a.path)
		if err != nil {
			return figures, err
		}
		figure := lists.NewFigure(a.path, rows, a.page, constant, meter.Read(), took)
		figure.Above = figure.Above || rows > mostRows
		figures = append(figures, figure)
	}
	return figures, nil
}

// usage measures the count of all live jobs. A process caches it for a period that grows
// with their number, and all pages share it, so it has a figure of its own.
func (p Pages) usage(ctx context.Context) (lists.Figure, error) {
	measured, meter := reads.With(ctx)
	for {
		began := time.Now()
		report, err := p.Store.Usage(measured)
		if err != nil {
			return lists.Figure{}, err
		}
		if all := report.All; meter.Read() > 0 {
			live := all.Scheduled + all.Parked + all.Ready + all.Running + all.Waiting
			return lists.NewFigure("the usage of all tenants, which pages share", len(report.Tenants), live, constant, meter.Read(), time.Since(began)), nil
		}
		select {
		case <-ctx.Done():
			return lists.Figure{}, ctx.Err()
		case <-time.After(10 * time.Millisecond): // wait until the cached count expires
		}
	}
}

// usageApart is a store whose count of live jobs is not measured with a page.
type usageApart struct{ lists.Store }

// Usage implements fairlead.Store.
func (s usageApart) Usage(ctx context.Context) (fairlead.UsageReport, error) {
	return s.Store.Usage(reads.Without(ctx))
}

// service is the API of a node that is not running.
type service struct{ api http.Handler }

func newService(store lists.Store) (*service, error) {
	log := slog.New(slog.DiscardHandler)
	kinds := fairlead.NewMux()
	kinds.Handle("bench", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil })) // a node must have a kind
	node, err := engine.New(store, kinds, engine.Options{Name: "bench", Logger: log})
	if err != nil {
		return nil, err
	}
	api, err := server.New(node, usageApart{store}, server.Options{Version: "bench", Log: log, Kinds: kinds})
	return &service{api: api}, err
}

// row matches the start of an element that is a row of a list.
var row = regexp.MustCompile(`<[a-z]+[^<>]* data-row[ >=]`)

// rows asks for a page as an admin, and counts the rows in it.
func (s *service) rows(ctx context.Context, path string) (int, error) {
	body, err := s.get(ctx, path)
	return len(row.FindAll(body, -1)), err
}

// get asks for a page as an admin. The console is a new one: another would answer with what it
// has asked for already.
func (s *service) get(ctx context.Context, path string) ([]byte, error) {
	pages, err := console.New(s.api, console.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.RemoteAddr = "127.0.0.1:1"
	answer := &answer{header: http.Header{}, status: http.StatusOK}
	pages.ServeHTTP(answer, request)
	if answer.status != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %s", path, answer.status, answer.body.Bytes())
	}
	return answer.body.Bytes(), nil
}

// WriteTable writes figures as a table for people.
func WriteTable(w io.Writer, figures []lists.Figure) error {
	return lists.WriteFigures(w, figures, constant)
}
