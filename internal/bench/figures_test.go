package bench

import (
	"os"
	"testing"
	"time"
)

func TestGrouped(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 999.4: "999", 999.5: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := Grouped(value); got != want {
			t.Errorf("Grouped(%v) = %q, want %q", value, got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	var samples []time.Duration
	for i := 100; i > 0; i-- {
		samples = append(samples, time.Duration(i))
	}
	if got := quantile(samples, 0.5); got != 51 {
		t.Errorf("the median of 1…100 is %d", got)
	}
	if got := quantile(samples, 0.99); got != 100 {
		t.Errorf("the 99th percentile of 1…100 is %d", got)
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("the median of nothing is %d", got)
	}
}

func TestThirdsShowDecay(t *testing.T) {
	var c course
	for i := range 31 { // 1000/s in the first third, 500/s in the last
		at := time.Duration(i) * 100 * time.Millisecond
		count := int64(i * 100)
		if i > 20 {
			count = int64(2000 + (i-20)*50)
		}
		c.points = append(c.points, point{at, count})
	}
	if first, last := c.thirds(); first != 1000 || last != 500 {
		t.Errorf("thirds() = %v, %v, want 1000, 500", first, last)
	}
}

func TestProcStatOfAProcessWithAStrangeName(t *testing.T) {
	raw := "42 (a) b (c) S 7 1 1 0 -1 4194560 1 2 3 4 100 20 3 1 20 0 1 0 1 2 3"
	stat, err := parseProcStat([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if want := (procStat{parent: 7, own: 1200 * time.Millisecond, cpu: 1240 * time.Millisecond}); stat != want {
		t.Errorf("got %+v, want %+v", stat, want)
	}
	if _, err := parseProcStat([]byte("42 (a) S 7")); err == nil {
		t.Error("a short line was accepted")
	}
}

func TestServerTimeCountsChildren(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc here")
	}
	own, err := readProcStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	parent, err := ServerTime(own.parent)
	if err != nil {
		t.Fatal(err)
	}
	if parent < own.cpu {
		t.Errorf("the parent with all its children used %v, this child alone %v", parent, own.cpu)
	}
}

func TestOnThisMachine(t *testing.T) {
	for host, want := range map[string]bool{"": true, "localhost": true, "/run/postgresql": true, "127.0.0.1": true, "::1": true, "203.0.113.7": false, "db.example.com": false} {
		if got := onThisMachine(host); got != want {
			t.Errorf("onThisMachine(%q) = %v", host, got)
		}
	}
}

// Where nothing was measured there is no figure, rather than none that JSON knows.
func TestARatioToNothingIsLeftOut(t *testing.T) {
	for _, figure := range []float64{0, 1} {
		if got := ratio(figure, 0); got != 0 {
			t.Errorf("%v to nothing is %v", figure, got)
		}
	}
}
