package console

import (
	"encoding/json"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// throughputPoints bounds the points of a chart: the samples of longer spans are averaged.
const throughputPoints = 360

// throughput returns the figures for a chart of starts and running jobs. For the whole
// cluster these are recorded, whether or not a page is open; for the tenants of a bound
// viewer, the console remembers the numbers already shown.
func (v *visit) throughput(total *fairleadv1.Usage, period *period) (figures, series string, err error) {
	if v.Bound() {
		return v.watchedThroughput("", total)
	}
	history, err := v.system.GetStatsHistory(v.ctx, &fairleadv1.GetStatsHistoryRequest{From: timestamppb.New(period.From), To: timestamppb.New(period.To)})
	if err != nil {
		return "", "", err
	}
	step := max(history.GetEvery().AsDuration(), period.To.Sub(period.From)/throughputPoints)
	columns := averageSamples(history.GetItems(), period.From, period.To, step)
	raw, err := json.Marshal(columns)
	if err != nil {
		return "", "", err
	}
	names, err := json.Marshal(v.throughputNames())
	return string(raw), string(names), err
}

func (v *visit) throughputNames() []string {
	return []string{v.T("starts per second"), v.T("running")}
}

// watchedThroughput returns the figures of a part of the jobs from what this console has
// shown in the last half hour.
func (v *visit) watchedThroughput(part string, total *fairleadv1.Usage) (figures, series string, err error) {
	return v.chart("cluster\x00"+v.scope+"\x00"+part, v.throughputNames(), total.GetStarted(), float64(total.GetRunning()))
}

// averageSamples returns the columns of a chart: times, starts and running jobs, the mean of
// the samples of each step. A step without samples is a gap.
func averageSamples(samples []*fairleadv1.Sample, from, to time.Time, step time.Duration) [][]any {
	columns := [][]any{{}, {}, {}}
	from = from.Truncate(step)
	for at := from.Add(step); !at.After(to); at = at.Add(step) {
		started, running, n := 0.0, 0.0, 0.0
		for ; len(samples) > 0 && !moment(samples[0].GetAt()).After(at); samples = samples[1:] {
			started, running, n = started+samples[0].GetStarted(), running+float64(samples[0].GetRunning()), n+1
		}
		columns[0] = append(columns[0], at.Unix())
		if n == 0 {
			columns[1], columns[2] = append(columns[1], nil), append(columns[2], nil)
			continue
		}
		columns[1], columns[2] = append(columns[1], started/n), append(columns[2], running/n)
	}
	return columns
}
