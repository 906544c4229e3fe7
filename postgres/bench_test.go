package postgres

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
)

// Figures per job: CPU time of this process and of the server in
// microseconds, and bytes of write-ahead log. Run with -benchtime=200000x.

func BenchmarkEnqueueBatch(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			bench := newBench(b)
			batches := make([][]*fairlead.Job, 0, b.N/size+1)
			for left := b.N; left > 0; left -= size {
				batches = append(batches, bench.jobs(min(left, size), 1))
			}
			bench.measure(func() {
				for _, jobs := range batches {
					bench.enqueue(jobs)
				}
			})
		})
	}
}

func BenchmarkEnqueueCallers(b *testing.B) {
	for _, callers := range []int{32} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			bench := newBench(b)
			jobs := bench.jobs(b.N, 1)
			bench.measure(func() {
				var next atomic.Int64
				var group sync.WaitGroup
				for range callers {
					group.Go(func() {
						for i := next.Add(1); i <= int64(len(jobs)); i = next.Add(1) {
							bench.enqueue(jobs[i-1 : i])
						}
					})
				}
				group.Wait()
			})
		})
	}
}

func BenchmarkDrain(b *testing.B) {
	for _, lanes := range []int{1, 20, 100} {
		for _, size := range []int{50, 500} {
			b.Run(fmt.Sprintf("lanes=%d/claim=%d", lanes, size), func(b *testing.B) {
				bench := newBench(b)
				bench.fill(b.N, lanes)
				bench.measure(func() { bench.drain(size) })
			})
		}
	}
}

// Caps that never bind, against none: what counting costs.
func BenchmarkDrainLimited(b *testing.B) {
	for _, limit := range []int{0, 100} {
		b.Run(fmt.Sprintf("cap=%d", limit), func(b *testing.B) {
			const tenants, size = 20, 500
			bench := newBench(b)
			for i := range tenants {
				if _, err := bench.store.PutTenant(b.Context(), fairlead.Tenant{Name: fmt.Sprint("tenant ", i), MaxRunning: limit}); err != nil {
					b.Fatal(err)
				}
			}
			bench.fill(b.N, tenants)
			bench.measure(func() { bench.drain(size) })
		})
	}
}

func BenchmarkDrainBesideLongTransaction(b *testing.B) {
	bench := newBench(b)
	bench.fill(b.N, 1)
	tx, err := bench.conn.BeginTx(b.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err == nil {
		_, err = tx.Exec(b.Context(), "select count(*) from pg_class")
	}
	if err != nil {
		b.Fatal(err)
	}
	bench.measure(func() { bench.drain(500) })
}

func BenchmarkSustained(b *testing.B) {
	for _, size := range []int{50, 500} {
		b.Run(fmt.Sprintf("claim=%d", size), func(b *testing.B) {
			bench := newBench(b)
			jobs := bench.jobs(b.N, 1)
			bench.measure(func() {
				var group sync.WaitGroup
				var stored, done atomic.Int64
				group.Go(func() {
					for i := 0; i < len(jobs); i += 100 {
						for stored.Load()-done.Load() > 10_000 {
							time.Sleep(time.Millisecond)
						}
						batch := jobs[i:min(i+100, len(jobs))]
						bench.enqueue(batch)
						stored.Add(int64(len(batch)))
					}
				})
				for done.Load() < int64(len(jobs)) {
					if stored.Load()-done.Load() < int64(size) && stored.Load() < int64(len(jobs)) {
						time.Sleep(time.Millisecond)
						continue
					}
					done.Add(int64(bench.work(size)))
				}
				group.Wait()
			})
		})
	}
}

type bench struct {
	*testing.B
	store *Store
	conn  *pgx.Conn
	node  fairlead.NodeID
	scope *driver.Scope
}

func newBench(b *testing.B) *bench {
	b.Helper()
	server, err := testdb.StartPostgres(b.Context(), testdb.Options{Durable: true})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = server.Stop() })
	made := &bench{B: b, store: open(b, server.URL(), Options{}), conn: connect(b, server.URL()), scope: &driver.Scope{Kinds: []string{"bench"}}}
	if made.node, err = made.store.Join(b.Context(), fairlead.Node{Name: "bench"}, time.Hour); err != nil {
		b.Fatal(err)
	}
	return made
}

func (b *bench) jobs(n, lanes int) []*fairlead.Job {
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		data := make([]byte, 50)
		for k := range data {
			data[k] = byte(rand.Uint32())
		}
		jobs[i] = &fairlead.Job{Kind: "bench", Tenant: fmt.Sprint("tenant ", i%lanes), Args: json.RawMessage(fmt.Sprintf(`{"data":"%x"}`, data))}
	}
	if err := fairlead.NormalizeJobs(jobs); err != nil {
		b.Fatal(err)
	}
	return jobs
}

func (b *bench) enqueue(jobs []*fairlead.Job) {
	if err := b.store.Enqueue(b.Context(), jobs); err != nil {
		b.Error(err)
	}
}

func (b *bench) fill(n, lanes int) {
	for ; n > 0; n -= 1000 {
		b.enqueue(b.jobs(min(n, 1000), lanes))
	}
}

func (b *bench) drain(size int) {
	for b.work(size) > 0 {
		continue
	}
}

// work claims and settles once, as a node does.
func (b *bench) work(size int) int {
	jobs, err := b.store.Claim(b.Context(), driver.Claim{Node: b.node, Scope: b.scope, Max: size})
	if err != nil {
		b.Fatal(err)
	}
	settlements := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}
	}
	if _, err := b.store.Settle(b.Context(), settlements); err != nil {
		b.Fatal(err)
	}
	return len(jobs)
}

func (b *bench) measure(work func()) {
	b.Helper()
	var backend int
	if err := b.conn.QueryRow(b.Context(), "select pg_backend_pid()").Scan(&backend); err != nil {
		b.Fatal(err)
	}
	server := parentOf(b, backend)
	runtime.GC()
	wal, client, own := b.wal(), clientTime(b), serverTime(b, server)
	b.ResetTimer()
	work()
	b.StopTimer()
	n := float64(b.N)
	clientUsed, serverUsed := float64(clientTime(b)-client)/1e3/n, float64(serverTime(b, server)-own)/1e3/n
	b.ReportMetric(clientUsed, "client-µs/job")
	b.ReportMetric(serverUsed, "server-µs/job")
	b.ReportMetric(2e6/(clientUsed+serverUsed), "cap/s")
	b.ReportMetric(n/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(b.wal()-wal)/n, "wal-B/job")
	b.ReportMetric(0, "ns/op")
}

func (b *bench) wal() int64 {
	var position int64
	if err := b.conn.QueryRow(b.Context(), "select (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&position); err != nil {
		b.Fatal(err)
	}
	return position
}

func clientTime(b *bench) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// serverTime is the CPU time of a process and its children, those that have
// ended included.
func serverTime(b *bench, pid int) time.Duration {
	b.Helper()
	total := cpuOf(procStat(b, pid), 11, 15)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || child == pid {
			continue
		}
		if fields := procStat(b, child); len(fields) > 12 && fields[1] == strconv.Itoa(pid) {
			total += cpuOf(fields, 11, 13)
		}
	}
	return total
}

func parentOf(b *bench, pid int) int {
	b.Helper()
	fields := procStat(b, pid)
	if len(fields) < 2 {
		b.Skip("the server is not on this machine")
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// procStat is what stands behind the name in /proc/<pid>/stat, from the state
// on.
func procStat(b *bench, pid int) []string {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return strings.Fields(rest)
}

func cpuOf(fields []string, from, to int) time.Duration {
	const tick = 10 * time.Millisecond
	total := time.Duration(0)
	for i := from; i < to && i < len(fields); i++ {
		ticks, _ := strconv.ParseInt(fields[i], 10, 64)
		total += time.Duration(ticks) * tick
	}
	return total
}
