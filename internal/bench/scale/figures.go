package scale

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/fairlead-io/fairlead/internal/bench"
)

// Figures contains the results of a simulated cluster. Programs read it as JSON, so names
// are stable.
type Figures struct {
	Nodes   int `json:"nodes"`
	Tenants int `json:"tenants"`
	Busy    int `json:"busy_tenants"`
	Seconds int `json:"seconds"`

	Starts       float64 `json:"starts_per_second"`
	ClaimMicros  float64 `json:"client_us_per_claim"` // CPU time for choosing, including all attempts
	ShareMicros  float64 `json:"client_us_per_share"` // CPU time for processing the starts of other nodes
	Tries        float64 `json:"tries_per_claim"`
	Got          float64 `json:"started_per_claim"`
	LanesRead    float64 `json:"lanes_read_per_claim"`
	Beyond       float64 `json:"beyond_entitlement_percent"` // starts that a tenant got beyond its share, rounded up
	Worst        float64 `json:"worst_excess"`               // maximum number of starts that any tenant got beyond its share
	ClaimRows    float64 `json:"claim_rows_per_second"`      // read by claims
	ShareRead    float64 `json:"fair_start_rows_read_per_second"`
	ShareSent    float64 `json:"fair_start_rows_sent_per_second"`
	ShareWritten float64 `json:"fair_start_rows_written_per_second"`
	Beats        float64 `json:"beats_per_second"`
	Notices      float64 `json:"notifications_per_second"` // if every node stores as many jobs as it starts, one by one
	Wakes        float64 `json:"wakes_per_second"`         // each notification reaches all other nodes
}

const (
	beatEvery   = 2 * time.Second       // default of a node
	notifyEvery = 20 * time.Millisecond // time between two notifications of a busy process
)

func (s *simulation) figures() Figures {
	var all Count
	for _, n := range s.nodes {
		all.add(n.counts)
	}
	seconds, claims, nodes := float64(s.spec.Seconds), float64(all.Claims), float64(s.spec.Nodes)
	per := func(n int64, of float64) float64 { return digits(float64(n) / max(1, of)) }
	f := Figures{
		Nodes: s.spec.Nodes, Tenants: s.spec.Tenants, Busy: s.spec.Busy, Seconds: s.spec.Seconds,
		Starts:       per(all.Started, seconds),
		ClaimMicros:  digits(float64(s.claimCPU.Microseconds()) / max(1, claims)),
		ShareMicros:  digits(float64(s.sharesCPU.Microseconds()) / max(1, float64(all.Shares))),
		Tries:        per(all.Tries, claims),
		Got:          per(all.Started, claims),
		LanesRead:    per(all.LanesRead, claims),
		ClaimRows:    per(all.SurveyRows+all.HeadRows+all.KeyRows, seconds),
		ShareRead:    per(all.ShareRead, seconds),
		ShareSent:    per(all.ShareSent, seconds),
		ShareWritten: per(all.ShareWritten, seconds),
		Beats:        digits(nodes / beatEvery.Seconds()),
	}
	each := min(f.Starts/nodes, 1/notifyEvery.Seconds())
	f.Notices = digits(nodes * each)
	f.Wakes = digits(f.Notices * (nodes - 1))
	f.Beyond, f.Worst = s.beyond(all.Started)
	return f
}

// beyond compares the starts of tenants with their shares by weight.
func (s *simulation) beyond(started int64) (percent, worst float64) {
	weights := 0
	for i := range s.lanes {
		if s.lanes[i].busy {
			weights += s.lanes[i].weight
		}
	}
	sum := 0.0
	for i := range s.lanes {
		if l := &s.lanes[i]; l.busy {
			entitled := float64(started) * float64(l.weight) / float64(weights)
			sum += max(0, float64(l.taken)-math.Ceil(entitled))
			worst = max(worst, float64(l.taken)-entitled)
		}
	}
	return digits(100 * sum / max(1, float64(started))), digits(worst)
}

// digits rounds a small number to three digits, and a large one to an integer.
func digits(v float64) float64 {
	if math.Abs(v) >= 100 {
		return math.Round(v)
	}
	return math.Round(v*100) / 100
}

// Report contains the figures of several clusters.
type Report []Figures

// WriteJSON writes one line per cluster.
func (r Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	for _, f := range r {
		if err := encoder.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// WriteTable writes a table for people: first the work of nodes, then that of the database.
func (r Report) WriteTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...any) {
		for _, cell := range cells {
			if number, ok := cell.(float64); ok {
				cell = short(number)
			}
			fmt.Fprintf(table, "%v\t", cell)
		}
		fmt.Fprintln(table)
	}
	row("nodes", "tenants", "busy", "starts/s", "µs/claim", "tries/claim", "got/claim", "lanes/claim", "µs/share", "beyond %", "worst")
	for _, f := range r {
		row(f.Nodes, f.Tenants, f.Busy, f.Starts, f.ClaimMicros, f.Tries, f.Got, f.LanesRead, f.ShareMicros, f.Beyond, f.Worst)
	}
	fmt.Fprintln(table)
	row("nodes", "tenants", "busy", "claim rows/s", "fair read/s", "fair sent/s", "fair written/s", "beats/s", "notices/s", "wakes/s")
	for _, f := range r {
		row(f.Nodes, f.Tenants, f.Busy, f.ClaimRows, f.ShareRead, f.ShareSent, f.ShareWritten, f.Beats, f.Notices, f.Wakes)
	}
	return table.Flush()
}

func short(v float64) string {
	if math.Abs(v) >= 100 {
		return bench.Grouped(v)
	}
	return fmt.Sprintf("%.2f", v)
}
