package mysql_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/internal/testdb"
	"github.com/fairlead-io/fairlead/mysql"
)

// The benchmarks move jobs through the store alone, without an engine, on a
// server of their own with the durability of production. Besides the time they
// report the processor time per job that this process (client-µs/job) and the
// server (server-µs/job) use, which says more on a busy machine.

func BenchmarkEnqueue(b *testing.B) {
	for _, batch := range []int{1, 1000} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			bench := newBench(b, 1)
			bench.measure(b, func(jobs int) {
				for n := 0; n < jobs; n += batch {
					bench.enqueue(b, min(batch, jobs-n))
				}
			})
		})
	}
}

func BenchmarkDrain(b *testing.B) {
	for _, lanes := range []int{1, 20} {
		for _, batch := range []int{500, 50, 1} {
			b.Run(fmt.Sprint("lanes=", lanes, "/batch=", batch), func(b *testing.B) {
				bench := newBench(b, lanes)
				for n := 0; n < b.N; n += 1000 {
					bench.enqueue(b, min(1000, b.N-n))
				}
				bench.measure(b, func(jobs int) {
					for n := 0; n < jobs; {
						n += bench.run(b, batch)
					}
				})
			})
		}
	}
}

// BenchmarkLimits shows what it costs that jobs count against the caps of their
// tenants, and those and a global one, though none of them is reached.
func BenchmarkLimits(b *testing.B) {
	const lanes, batch = 20, 500
	for _, caps := range []string{"none", "tenants", "tenants+global"} {
		b.Run("caps="+caps, func(b *testing.B) {
			bench := newBench(b, lanes)
			if caps != "none" {
				bench.capTenants(b, 100)
			}
			if caps == "tenants+global" {
				if err := bench.store.SetLimit(context.Background(), fairlead.Limit{Scope: fairlead.LimitGlobal, MaxRunning: lanes * 100}); err != nil {
					b.Fatal(err)
				}
			}
			for n := 0; n < b.N; n += 1000 {
				bench.enqueue(b, min(1000, b.N-n))
			}
			bench.measure(b, func(jobs int) {
				for n := 0; n < jobs; {
					n += bench.run(b, batch)
				}
			})
		})
	}
}

// BenchmarkSustained enqueues, claims and settles by turns.
func BenchmarkSustained(b *testing.B) {
	for _, batch := range []int{500, 50} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			bench := newBench(b, 1)
			bench.measure(b, func(jobs int) {
				for n := 0; n < jobs; {
					bench.enqueue(b, min(batch, jobs-n))
					n += bench.run(b, batch)
				}
			})
		})
	}
}

type bench struct {
	store *mysql.Store
	url   string
	pid   int
	node  fairlead.NodeID
	scope *driver.Scope
	lanes int
}

func newBench(b *testing.B, lanes int) *bench {
	b.Helper()
	ctx := context.Background()
	server, err := testdb.StartMySQL(ctx, testdb.Options{Durable: true})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = server.Stop() })
	store, err := mysql.Open(ctx, server.URL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	node, err := store.Join(ctx, fairlead.Node{Name: "bench"}, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	return &bench{store: store, url: server.URL(), pid: server.PID(), node: node, scope: &driver.Scope{Kinds: []string{"bench"}}, lanes: lanes}
}

func (s *bench) enqueue(b *testing.B, n int) {
	b.Helper()
	jobs := make([]*fairlead.Job, n)
	for i := range jobs {
		random := make([]byte, 49)
		for j := range random {
			random[j] = byte(rand.Uint32())
		}
		args := append(hex.AppendEncode([]byte{'"'}, random), '"')
		jobs[i] = &fairlead.Job{Kind: "bench", Tenant: fmt.Sprint("tenant ", i%s.lanes), Args: args}
	}
	if err := fairlead.NormalizeJobs(jobs); err != nil {
		b.Fatal(err)
	}
	if err := s.store.Enqueue(context.Background(), jobs); err != nil {
		b.Fatal(err)
	}
}

// capTenants gives every tenant a cap.
func (s *bench) capTenants(b *testing.B, most int) {
	b.Helper()
	for i := range s.lanes {
		if _, err := s.store.PutTenant(context.Background(), fairlead.Tenant{Name: fmt.Sprint("tenant ", i), MaxRunning: most}); err != nil {
			b.Fatal(err)
		}
	}
}

// run claims and settles once.
func (s *bench) run(b *testing.B, batch int) int {
	b.Helper()
	jobs, err := s.store.Claim(context.Background(), driver.Claim{Node: s.node, Scope: s.scope, Max: batch})
	if err != nil {
		b.Fatal(err)
	}
	settlements := make([]fairlead.Settlement, len(jobs))
	for i, job := range jobs {
		settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed}
	}
	if _, err := s.store.Settle(context.Background(), settlements); err != nil {
		b.Fatal(err)
	}
	return len(jobs)
}

func (s *bench) measure(b *testing.B, work func(jobs int)) {
	b.Helper()
	client, server := ownCPU(b), processCPU(b, s.pid)
	b.ResetTimer()
	work(b.N)
	b.StopTimer()
	jobs := float64(b.N)
	perClient, perServer := float64(ownCPU(b)-client)/1e3/jobs, float64(processCPU(b, s.pid)-server)/1e3/jobs
	b.ReportMetric(perClient, "client-µs/job")
	b.ReportMetric(perServer, "server-µs/job")
	b.ReportMetric(2e6/(perClient+perServer), "jobs/s-on-2-cores")
}

func ownCPU(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// processCPU is the processor time of another process, which the kernel counts
// in hundredths of a second.
func processCPU(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip(err)
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(string(field))
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
