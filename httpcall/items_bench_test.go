package httpcall_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
)

// emptyTarget answers everything alike, with as little work as it can.
func emptyTarget(b *testing.B) (address string) {
	listener, err := new(net.ListenConfig).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = listener.Close() })
	answer := func(conn net.Conn) {
		defer conn.Close()
		lines := bufio.NewReader(conn)
		for {
			line, err := lines.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) > 2 { // the request goes on
				continue
			}
			if _, err := io.WriteString(conn, "HTTP/1.1 204 No Content\r\nDate: Sun, 15 Nov 2026 12:00:00 GMT\r\n\r\n"); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn)
		}
	}()
	return listener.Addr().String()
}

// CPU time is that of the target too.
func BenchmarkItemsCall(b *testing.B) {
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		b.Fatal(err)
	}
	handler := httpcall.New(httpcall.Options{Guard: guard, MaxRunning: 256, MaxFailures: 20})
	call, err := handler.ForItems(json.RawMessage(`{"method":"GET","url":"http://`+emptyTarget(b)+`/{{args.item.index}}"}`), 1)
	if err != nil {
		b.Fatal(err)
	}
	job := &fairlead.Job{ID: 1, Tenant: "default"}
	run := call.Under(job, 3, 1, 0, func(items []httpcall.CallItem) string {
		return "fairlead-sweep-3-" + strconv.FormatInt(items[0].Index, 10)
	})
	var next atomic.Int64
	before := cpuTime()
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			index := next.Add(1)
			item := []httpcall.CallItem{{Index: index, Attempt: 1}}
			if _, err := run.Do(b.Context(), item); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N)/1000, "cpu-µs/op")
}

func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
