package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead/internal/reads"
)

// measure adds up how many rows the statements that only read have read, according to
// their plans. It executes each of them once more, the same way.
func (s *Store) measure(ctx context.Context, first call, calls []call, meter *reads.Meter) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if first.sql != "" {
			if _, err := tx.Exec(ctx, first.sql, first.args...); err != nil {
				return err
			}
		}
		for _, c := range calls {
			if !strings.HasPrefix(strings.TrimLeft(c.sql, " (\n"), "select") {
				continue
			}
			var raw []byte
			if err := tx.QueryRow(ctx, "explain (analyze, timing off, format json) "+c.sql, c.args...).Scan(&raw); err != nil {
				return fmt.Errorf("measure: %w", err)
			}
			var explained []struct{ Plan planNode }
			if err := json.Unmarshal(raw, &explained); err != nil {
				return fmt.Errorf("measure: %w", err)
			}
			for i := range explained {
				meter.Add(explained[i].Plan.read())
			}
		}
		return nil
	})
}

// planNode is the part of an executed plan's step that measure counts.
type planNode struct {
	Relation string     `json:"Relation Name"`
	Index    string     `json:"Index Name"`
	Rows     float64    `json:"Actual Rows"` // per loop
	Filtered float64    `json:"Rows Removed by Filter"`
	Recheck  float64    `json:"Rows Removed by Index Recheck"`
	Loops    float64    `json:"Actual Loops"`
	Plans    []planNode `json:"Plans"`
}

// read returns how many rows a step and those below it have read. An index look-up that
// finds nothing counts as one.
func (n *planNode) read() int64 {
	var total int64
	if n.Relation != "" || n.Index != "" {
		total = int64(math.Ceil(max((n.Rows+n.Filtered+n.Recheck)*n.Loops, n.Loops)))
	}
	for i := range n.Plans {
		total += n.Plans[i].read()
	}
	return total
}
