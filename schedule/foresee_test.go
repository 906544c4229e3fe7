package schedule

import (
	"runtime"
	"testing"
	"time"

	"github.com/fairlead-io/fairlead"
)

// A viewer may ask what would become of many schedules, each with hundreds of instants. To
// read a large calendar takes as long as hundreds of decisions.
func TestAForecastReadsItsCalendarOnce(t *testing.T) {
	calendar := &Calendar{Name: "c", Version: 1}
	for day := range maxCalendarDays {
		calendar.Dates = append(calendar.Dates, november.AddDate(1, 0, day).Format(time.DateOnly))
	}
	s := hourly(func(s *Schedule) { s.Calendar = "c" })
	timing, err := NewTiming(&s, calendar)
	if err != nil {
		t.Fatal(err)
	}
	s.Cursor = timing.Begin(november)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := s.foresee(View{Now: november, Calendar: calendar}, fairlead.MaxForecast)
	runtime.ReadMemStats(&after)
	if err != nil || len(found) != fairlead.MaxForecast {
		t.Fatalf("%d instants: %v", len(found), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 10<<20 {
		t.Errorf("a forecast of %d instants allocates %d MiB", len(found), used>>20)
	}
}
