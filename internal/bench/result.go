package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"
)

// Result contains the results. Programs read it as JSON, so names are stable.
type Result struct {
	Workload string  `json:"workload"`
	Store    string  `json:"store"`
	Jobs     int64   `json:"jobs"`
	Seconds  float64 `json:"seconds"`
	Rate     float64 `json:"rate"` // jobs per second

	ClientMicros float64 `json:"client_us_per_job"` // CPU time of this process and its children
	ServerMicros float64 `json:"server_us_per_job"` // CPU time of the database server; 0 if it is unknown

	P50Millis        float64 `json:"p50_ms,omitempty"`
	P99Millis        float64 `json:"p99_ms,omitempty"`
	EnqueueP50Millis float64 `json:"enqueue_p50_ms,omitempty"` // part of P50Millis spent in Enqueue

	WALBytes   float64 `json:"wal_bytes_per_job,omitempty"`  // in the server's log; for SQLite, everything written by this process
	Statements float64 `json:"statements_per_job,omitempty"` // executed by the server; 0 if it does not count them

	RateFirstThird float64 `json:"rate_first_third,omitempty"`
	RateLastThird  float64 `json:"rate_last_third,omitempty"`

	Clients   int `json:"clients,omitempty"`
	Batch     int `json:"batch,omitempty"`
	Processes int `json:"processes,omitempty"`
}

// TotalMicros returns the CPU time of a job on both sides.
func (r Result) TotalMicros() float64 { return r.ClientMicros + r.ServerMicros }

// perJob divides the used resources by the number of jobs.
func (u use) perJob(jobs int64) Result {
	each := max(1, float64(jobs))
	return Result{
		Jobs:         jobs,
		Seconds:      round(u.elapsed.Seconds(), 3),
		Rate:         round(float64(jobs)/max(u.elapsed.Seconds(), 1e-9), 1),
		ClientMicros: round(micros(u.client)/each, 2),
		ServerMicros: round(micros(u.server)/each, 2),
		WALBytes:     round(float64(u.wal)/each, 3),
		Statements:   round(float64(u.statements)/each, 4),
	}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func millis(d time.Duration) float64 { return round(float64(d)/float64(time.Millisecond), 3) }

// round removes insignificant digits.
func round(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}

// ratio returns the ratio of two figures, or zero, which is omitted, if the other figure
// was too small to be measured.
func ratio(figure, other float64) float64 {
	if other == 0 {
		return 0
	}
	return round(figure/other, 3)
}

// WriteJSON writes the result as one line.
func (r Result) WriteJSON(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// WriteTable writes the result as a table for people.
func (r Result) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, values ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, values...))
	}
	row("workload", "%s", r.Workload)
	row("store", "%s", r.Store)
	if r.Clients > 0 {
		row("clients", "%d", r.Clients)
	}
	if r.Processes > 0 {
		row("processes", "%d", r.Processes)
	}
	row("jobs", "%s", Grouped(float64(r.Jobs)))
	row("time", "%.2f s", r.Seconds)
	row("rate", "%s jobs/s", Grouped(r.Rate))
	if r.RateFirstThird > 0 {
		row("first third", "%s jobs/s", Grouped(r.RateFirstThird))
		row("last third", "%s jobs/s", Grouped(r.RateLastThird))
	}
	if r.P50Millis > 0 {
		row("p50", "%.2f ms, of which enqueue %.2f ms", r.P50Millis, r.EnqueueP50Millis)
		row("p99", "%.2f ms", r.P99Millis)
	}
	row("client CPU", "%.1f µs/job", r.ClientMicros)
	row("server CPU", "%.1f µs/job", r.ServerMicros)
	if r.WALBytes > 0 {
		row("log", "%s B/job", Grouped(r.WALBytes))
	}
	if r.Statements > 0 {
		row("statements", "%.4f /job", r.Statements)
	}
	return table.Flush()
}

// Grouped formats a number without its fraction as 1,234,567.
func Grouped(v float64) string {
	digits := strconv.FormatInt(int64(math.Round(v)), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
