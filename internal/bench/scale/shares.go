package scale

import (
	"cmp"
	"slices"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// fairStarts is the table through which nodes share their starts: one row for each bucket,
// node and tenant. A node reads totals by tenant.
type fairStarts struct {
	rows map[int64]map[startRow]int64 // by bucket
	sums map[int64]map[string]*startSum
}

type startRow struct {
	node   int
	tenant string
}

type startSum struct {
	started int64
	nodes   int
}

func newFairStarts() fairStarts {
	return fairStarts{rows: map[int64]map[startRow]int64{}, sums: map[int64]map[string]*startSum{}}
}

// put stores totals of a node.
func (f *fairStarts) put(node int, counts []dispatch.Count) {
	for _, count := range counts {
		if f.rows[count.Bucket] == nil {
			f.rows[count.Bucket], f.sums[count.Bucket] = map[startRow]int64{}, map[string]*startSum{}
		}
		rows, sums := f.rows[count.Bucket], f.sums[count.Bucket]
		sum := sums[count.Tenant]
		if sum == nil {
			sum = &startSum{}
			sums[count.Tenant] = sum
		}
		row := startRow{node, count.Tenant}
		before, known := rows[row]
		if !known {
			sum.nodes++
		}
		sum.started += count.Started - before
		rows[row] = count.Started
	}
}

// others returns the starts of other nodes in a bucket and the one before, and the number
// of rows that the database scans for that.
func (f *fairStarts) others(node int, bucket int64) (counts []dispatch.Count, rows int) {
	for b := bucket - 1; b <= bucket; b++ {
		rows += len(f.rows[b])
		for tenant, sum := range f.sums[b] {
			own, mine := f.rows[b][startRow{node, tenant}]
			nodes := sum.nodes
			if mine {
				nodes--
			}
			if nodes > 0 {
				counts = append(counts, dispatch.Count{Tenant: tenant, Bucket: b, Started: sum.started - own, Nodes: nodes})
			}
		}
	}
	// Sort, because sums of floating-point numbers depend on the order.
	slices.SortFunc(counts, func(a, b dispatch.Count) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Tenant, b.Tenant))
	})
	return counts, rows
}

// forget removes buckets that are too old to be read.
func (f *fairStarts) forget(bucket int64) {
	for b := range f.rows {
		if b < bucket-1 {
			delete(f.rows, b)
			delete(f.sums, b)
		}
	}
}
