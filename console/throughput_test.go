package console

import (
	"encoding/json"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

func TestSamplesAreAveragedAndMissingOnesAreGaps(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	var samples []*fairleadv1.Sample
	for _, s := range []struct {
		at      int64
		started float64
		running int32
	}{{1010, 1, 2}, {1020, 3, 4}, {1030, 5, 6}, {1060, 7, 8}} {
		samples = append(samples, &fairleadv1.Sample{At: timestamppb.New(at(s.at)), Started: s.started, Running: s.running})
	}
	for step, want := range map[time.Duration]string{
		10 * time.Second: `[[1010,1020,1030,1040,1050,1060],[1,3,5,null,null,7],[2,4,6,null,null,8]]`,
		20 * time.Second: `[[1020,1040,1060],[2,5,7],[3,6,8]]`,
	} {
		got, err := json.Marshal(averageSamples(samples, at(1000), at(1065), step))
		if err != nil || string(got) != want {
			t.Errorf("%v: %s, %v, want %s", step, got, err, want)
		}
	}
}
