package console

import (
	"math"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead/console/internal/shared"
)

func TestAChartHasAGapWhereThereIsNoFigure(t *testing.T) {
	c := &Console{}
	at := time.Unix(1000, 0)
	for i, set := range []float64{math.NaN(), 5, 6} {
		v := &visit{console: c, Now: at.Add(time.Duration(i) * shared.TickLength)}
		data, series, err := v.chart("sweep 1", []string{"a", "b"}, float64(i), set)
		if err != nil || series != `["a","b"]` {
			t.Fatal(series, err)
		}
		if want := `[[1000,1002,1004],[0,1,2],[null,5,6]]`; i == 2 && data != want {
			t.Errorf("got %s, want %s", data, want)
		}
	}
}

func TestAChartHasAGapWhereNoPageWasOpen(t *testing.T) {
	c := &Console{}
	data := ""
	for _, second := range []int64{1000, 1002, 1100} {
		v := &visit{console: c, Now: time.Unix(second, 0)}
		var err error
		if data, _, err = v.chart("one", []string{"a"}, float64(second)); err != nil {
			t.Fatal(err)
		}
	}
	if want := `[[1000,1002,1004,1100],[1000,1002,null,1100]]`; data != want {
		t.Errorf("got %s, want %s", data, want)
	}
}

func TestAChartHasOneSamplePerTickAndSubject(t *testing.T) {
	v := &visit{console: &Console{}, Now: time.Unix(1000, 0)}
	for range 3 {
		if data, _, err := v.chart("one", []string{"a"}, 7); err != nil || data != `[[1000],[7]]` {
			t.Error(data, err)
		}
	}
	if data, _, err := v.chart("other", []string{"a"}, 8); err != nil || data != `[[1000],[8]]` {
		t.Error(data, err)
	}
}
