package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/sqlite"
)

// perJob reports the rate, and the processor time that one job took.
func perJob(b *testing.B, jobs int, work func()) {
	before := processorTime(b)
	b.ResetTimer()
	work()
	b.StopTimer()
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/1e3/float64(jobs), "cpu-µs/job")
	b.ReportMetric(0, "ns/op")
}

func processorTime(b testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func benchStore(b *testing.B) *sqlite.Store {
	return open(b, filepath.Join(b.TempDir(), "jobs.db"), sqlite.Options{})
}

func benchJobs(n int) []*fairlead.Job {
	jobs := make([]*fairlead.Job, n)
	args := []byte(`{"text":"` + strings.Repeat("x", 90) + `"}`)
	for i := range jobs {
		jobs[i] = &fairlead.Job{Kind: "bench", Args: args}
	}
	if err := fairlead.NormalizeJobs(jobs); err != nil {
		panic(err)
	}
	return jobs
}

func BenchmarkEnqueueBatch1000(b *testing.B) {
	s, jobs := benchStore(b), benchJobs(1000)
	perJob(b, b.N*len(jobs), func() {
		for range b.N {
			must(b, s.Enqueue(b.Context(), jobs))
		}
	})
}

func BenchmarkEnqueueSinglesFrom32(b *testing.B) {
	s := benchStore(b)
	perJob(b, b.N, func() {
		var left atomic.Int64
		left.Store(int64(b.N))
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				for jobs := benchJobs(1); left.Add(-1) >= 0; {
					must(b, s.Enqueue(b.Context(), jobs))
				}
			})
		}
		all.Wait()
	})
}

const drained = 500

// drain claims and settles until nothing is left.
func drain(b *testing.B, s *sqlite.Store) {
	node, err := s.Join(b.Context(), fairlead.Node{}, time.Hour)
	must(b, err)
	for scope := (&driver.Scope{Kinds: []string{"bench"}}); ; {
		jobs, err := s.Claim(b.Context(), driver.Claim{Node: node, Scope: scope, Max: drained})
		must(b, err)
		if len(jobs) == 0 {
			return
		}
		settlements := make([]fairlead.Settlement, len(jobs))
		for i, job := range jobs {
			settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Succeed, FreeKey: job.ConcurrencyKey != ""}
		}
		_, err = s.Settle(b.Context(), settlements)
		must(b, err)
	}
}

func BenchmarkDrain500(b *testing.B) {
	s := benchStore(b)
	for range b.N {
		must(b, s.Enqueue(b.Context(), benchJobs(1000)))
	}
	perJob(b, b.N*1000, func() { drain(b, s) })
}

// BenchmarkSustained is jobs that are enqueued, claimed and settled at once.
func BenchmarkSustained(b *testing.B) {
	s, jobs := benchStore(b), benchJobs(1000)
	perJob(b, b.N*len(jobs), func() {
		var done atomic.Bool
		var producer sync.WaitGroup
		producer.Go(func() {
			for range b.N {
				must(b, s.Enqueue(b.Context(), jobs))
			}
			done.Store(true)
		})
		for !done.Load() {
			drain(b, s)
		}
		drain(b, s)
		producer.Wait()
	})
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkGet(b *testing.B) {
	s, jobs := benchStore(b), benchJobs(1000)
	must(b, s.Enqueue(b.Context(), jobs))
	for i := range b.N {
		_, err := s.Get(b.Context(), jobs[i%len(jobs)].ID)
		must(b, err)
	}
}

func BenchmarkOpen(b *testing.B) {
	for range b.N {
		s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "jobs.db"))
		must(b, err)
		must(b, s.Close())
	}
}

func BenchmarkOpenMemory(b *testing.B) {
	for range b.N {
		s, err := sqlite.Open(b.Context(), ":memory:")
		must(b, err)
		must(b, s.Close())
	}
}

// BenchmarkIdleListening is the processor time of a store whose listener hears
// nothing, per second.
func BenchmarkIdleListening(b *testing.B) {
	listen(b, benchStore(b))
	time.Sleep(2 * time.Second)
	before := processorTime(b)
	b.ResetTimer()
	for range b.N {
		time.Sleep(time.Second)
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N)/1e4, "%core")
}

// BenchmarkRetry500 is jobs that are claimed and fail, again and again.
func BenchmarkRetry500(b *testing.B) {
	s := benchStore(b)
	must(b, s.Enqueue(b.Context(), benchJobs(2*drained)))
	node, err := s.Join(b.Context(), fairlead.Node{}, time.Hour)
	must(b, err)
	scope := &driver.Scope{Kinds: []string{"bench"}}
	perJob(b, b.N*drained, func() {
		for range b.N {
			jobs, err := s.Claim(b.Context(), driver.Claim{Node: node, Scope: scope, Max: drained})
			must(b, err)
			settlements := make([]fairlead.Settlement, len(jobs))
			for i, job := range jobs {
				settlements[i] = fairlead.Settlement{ID: job.ID, Fence: job.Fence, Move: fairlead.Again, Reason: fairlead.ReasonError, Error: "no luck"}
			}
			_, err = s.Settle(b.Context(), settlements)
			must(b, err)
		}
	})
}

// BenchmarkGated is jobs that pass gates with one place each: every job that
// ends admits another.
func BenchmarkGated(b *testing.B) {
	for _, gates := range []int{1, 100} {
		b.Run(fmt.Sprint(gates, " gates"), func(b *testing.B) {
			s := benchStore(b)
			jobs := benchJobs(1000)
			for i, job := range jobs {
				job.ConcurrencyKey = fmt.Sprint(i % gates)
			}
			perJob(b, b.N*len(jobs), func() {
				for range b.N {
					must(b, s.Enqueue(b.Context(), jobs))
				}
				drain(b, s)
			})
		})
	}
}
