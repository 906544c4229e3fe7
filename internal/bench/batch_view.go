package bench

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/fairlead-io/fairlead"
)

// views is how long it took to look at a batch while it ran. The machine is busy
// then: so every look is followed by one at the list of nodes, a single row, which
// tells what of it is waiting for a core.
type views struct {
	batch, nodes []time.Duration
}

// viewFigures is what came of them, in milliseconds.
type viewFigures struct {
	ViewMillis float64 `json:"view_ms"` // the median
	ViewP99    float64 `json:"view_p99_ms"`
	ViewMax    float64 `json:"view_max_ms"`
	NodeMillis float64 `json:"nodes_ms"`
	NodeP99    float64 `json:"nodes_p99_ms"`
	NodeMax    float64 `json:"nodes_max_ms"`
	ViewIdle   float64 `json:"view_idle_ms"` // the median when all is done
}

// followBatch looks at a batch until it has completed.
func (b Batches) followBatch(ctx context.Context, client *fairlead.Client, id int64) (views, error) {
	const between = 50 * time.Millisecond
	var v views
	for {
		ended, err := v.look(ctx, client, id)
		if err != nil || ended {
			return v, err
		}
		began := time.Now()
		if _, err := b.Store.Nodes(ctx); err != nil {
			return v, err
		}
		v.nodes = append(v.nodes, time.Since(began))
		if err := pause(ctx, between); err != nil {
			return v, err
		}
	}
}

// look looks at a batch, and tells whether it has completed.
func (v *views) look(ctx context.Context, client *fairlead.Client, id int64) (ended bool, err error) {
	began := time.Now()
	batch, err := client.Batch(ctx, id)
	if err != nil {
		return false, err
	}
	v.batch = append(v.batch, time.Since(began))
	if batch.EndedAt.IsZero() {
		return false, nil
	}
	if state := batch.State(); state != fairlead.BatchSuccess {
		return false, fmt.Errorf("the batch ended as %s: %+v", state, batch.Tally)
	}
	return true, nil
}

// idleView is the median of looks at a batch when nothing else is done.
func idleView(ctx context.Context, client *fairlead.Client, id int64) (float64, error) {
	const looks = 50
	var v views
	for range looks {
		if _, err := v.look(ctx, client, id); err != nil {
			return 0, err
		}
	}
	return v.figures().ViewMillis, nil
}

func (v *views) figures() viewFigures {
	return viewFigures{
		ViewMillis: millis(quantile(v.batch, 0.50)), ViewP99: millis(quantile(v.batch, 0.99)), ViewMax: millis(quantile(v.batch, 1)),
		NodeMillis: millis(quantile(v.nodes, 0.50)), NodeP99: millis(quantile(v.nodes, 0.99)), NodeMax: millis(quantile(v.nodes, 1)),
	}
}

func (f *viewFigures) writeViews(w io.Writer) {
	fmt.Fprintf(w, "view\t%.2f ms, p99 %.2f ms, at most %.2f ms; when all is done %.2f ms\n", f.ViewMillis, f.ViewP99, f.ViewMax, f.ViewIdle)
	fmt.Fprintf(w, "list of nodes\t%.2f ms, p99 %.2f ms, at most %.2f ms\n", f.NodeMillis, f.NodeP99, f.NodeMax)
}
