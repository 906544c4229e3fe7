package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/sweep/items"
)

// Register registers handlers for the demo's jobs with a node's mux. It must be called
// before the node starts.
func (d *Demo) Register(mux *fairlead.Mux, options items.Options) {
	fairlead.NewKind[invoice](invoiceKind).Handle(mux, sendInvoice)
	fairlead.NewKind[feed](importKind).HandleWith(mux, fairlead.HandlerOptions{MaxAttempts: 3, Retry: fairlead.Exponential(4*time.Second, 30*time.Second)}, importFeed)
	fairlead.NewKind[report](reportKind).HandleWith(mux, fairlead.HandlerOptions{Timeout: time.Minute}, writeReport)
	fairlead.NewKind[posting](ledgerKind).Handle(mux, post)
	d.registerRollout(mux)
	d.registerSweep(mux, options)
}

// work sleeps for a duration, unless the context ends earlier.
func work(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

type invoice struct {
	Number   int64  `json:"number"`
	Customer string `json:"customer"`
	Cents    int64  `json:"cents"`
}

// sendInvoice is a short job.
func sendInvoice(ctx context.Context, job *fairlead.Job, in invoice) error {
	if err := work(ctx, time.Duration(5+job.ID%40)*time.Millisecond); err != nil {
		return err
	}
	return fairlead.SetOutput(ctx, map[string]any{"document": fmt.Sprintf("INV-%d.pdf", in.Number), "pages": 1 + job.ID%4})
}

type feed struct {
	File string `json:"file"`
	Line string `json:"line"`
}

// importFeed always fails, in a way that depends on the job. One of the ways is a bug in
// the handler.
func importFeed(_ context.Context, job *fairlead.Job, in feed) error {
	switch job.ID % 4 {
	case 0:
		return fmt.Errorf("import %s: dial tcp 10.20.0.7:5432: connect: connection refused", in.File)
	case 1:
		return fmt.Errorf("import %s: line 1042: price is %q; it must be a decimal number", in.File, "12,5o")
	case 2:
		return fairlead.Fatal(fmt.Errorf("import %s: the file has the schema of version 3; version 4 is needed", in.File))
	default:
		return fmt.Errorf("import %s: price %s", in.File, priceOf(in.Line))
	}
}

// priceOf assumes that a line has four columns, which the lines of the demo lack: its panic
// shows a stack trace.
func priceOf(line string) string { return strings.Split(line, ";")[3] }

type report struct {
	Title string `json:"title"`
	Parts int    `json:"parts"`
}

// writeReport takes about ten seconds and reports its progress.
func writeReport(ctx context.Context, job *fairlead.Job, in report) error {
	parts := max(1, in.Parts)
	for part := range parts {
		if err := work(ctx, time.Duration(8000+job.ID%4000)*time.Millisecond/time.Duration(parts)); err != nil {
			return err
		}
		if err := fairlead.Progress(ctx, map[string]any{"part": part + 1, "of": parts}); err != nil {
			return err
		}
	}
	return fairlead.SetOutput(ctx, map[string]any{"title": in.Title, "bytes": 180_000 + job.ID%9_000})
}

type posting struct {
	Account *big.Int `json:"account"`
	Lines   []struct {
		Text    string              `json:"text"`
		Amounts map[string]*big.Int `json:"amounts"`
	} `json:"lines"`
	Meta json.RawMessage `json:"meta"`
}

// post adds up integers beyond the range of a float64.
func post(ctx context.Context, _ *fairlead.Job, in posting) error {
	sums := map[string]*big.Int{}
	for _, line := range in.Lines {
		for currency, amount := range line.Amounts {
			if sums[currency] == nil {
				sums[currency] = new(big.Int)
			}
			sums[currency].Add(sums[currency], amount)
		}
	}
	return fairlead.SetOutput(ctx, map[string]any{
		"account": in.Account, "sums": sums, "lines": len(in.Lines),
		"audit": map[string]any{"checked": true, "by": []string{"balance", "limits"}, "meta": in.Meta},
	})
}
