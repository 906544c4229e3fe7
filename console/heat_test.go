package console

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
)

// plansOf returns schedules with the given cron expressions.
func plansOf(t *testing.T, crons ...string) (plans []*plan) {
	t.Helper()
	for i, expr := range crons {
		s := &fairleadv1.Schedule{Id: strconv.Itoa(i + 1), Name: proto.String(fmt.Sprint("plan-", i+1)), Cron: &expr, Timezone: proto.String("UTC")}
		p, err := planOf(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, p)
	}
	return plans
}

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func TestAWeekBeginsWithTheViewersHourAndEndsWithItAWeekLater(t *testing.T) {
	for zone, want := range map[string][2]string{
		"UTC":          {"2026-03-26 05:00 +0000", "2026-04-02 05:00 +0000"},
		"Asia/Kolkata": {"2026-03-26 11:00 +0530", "2026-04-02 11:00 +0530"},
		"Europe/Paris": {"2026-03-26 06:00 +0100", "2026-04-02 06:00 +0200"}, // clocks go forward in between
	} {
		from, to := weekFrom(time.Date(2026, 3, 26, 5, 42, 13, 7, time.UTC), zoneOf(t, zone))
		if got := [2]string{from.Format("2006-01-02 15:04 -0700"), to.Format("2006-01-02 15:04 -0700")}; got != want {
			t.Errorf("%s: %v, want %v", zone, got, want)
		}
	}
}

func TestFiresAreCountedUnderTheViewersWeekdaysAndHours(t *testing.T) {
	zone := zoneOf(t, "Asia/Kolkata")
	from, to := weekFrom(time.Date(2026, 11, 17, 4, 0, 0, 0, time.UTC), zone) // a Tuesday, 09:00 there
	h := heatOf(plansOf(t, "0 3 * * 2", "10 3 * * *"), from, from, to)        // Tuesdays 08:30 there, and daily 08:40
	if n := len(h.Days); n != 8 || h.Days[0].Date.Weekday() != time.Tuesday || h.Days[7].Date.Weekday() != time.Tuesday {
		t.Fatalf("there are %d days from a %v to a %v", n, h.Days[0].Date.Weekday(), h.Days[n-1].Date.Weekday())
	}
	if today := h.Days[0].Cells; !today[8].Outside || today[9].Outside || today[8].N != 0 {
		t.Errorf("today has %+v at 8 and %+v at 9", today[8], today[9])
	}
	cell := h.Days[7].Cells[8]
	if last := h.Days[7].Cells[9]; cell.Outside || !last.Outside {
		t.Errorf("the Tuesday to come has %+v at 9", last)
	}
	if cell.N != 2 || cell.From.Format("01-02 15:04") != "11-24 08:00" || cell.To.Format("15:04") != "09:00" {
		t.Errorf("the Tuesday to come has %+v at 8", cell)
	}
	if wednesday := h.Days[1].Cells[8]; wednesday.N != 1 || wednesday.Level == cell.Level {
		t.Errorf("Wednesday has %+v at 8", wednesday)
	}
	if h.Minutes[30].N != 1 || h.Minutes[40].N != 7 || h.Minutes[0].N != 0 {
		t.Errorf("the minutes are %+v", h.Minutes)
	}
}

func TestAllFiresAreInTheCellsThoughClocksAreChanged(t *testing.T) {
	for _, now := range []time.Time{time.Date(2026, 3, 26, 5, 0, 0, 0, time.UTC), time.Date(2026, 10, 22, 5, 0, 0, 0, time.UTC)} {
		from, to := weekFrom(now, zoneOf(t, "Europe/Paris"))
		h := heatOf(plansOf(t, "* * * * *"), from, from, to)
		hours, minutes, blank := int64(0), int64(0), 0
		for _, day := range h.Days {
			for _, cell := range day.Cells {
				hours += cell.N
				if cell.From.IsZero() && !cell.Outside {
					blank++
				}
			}
		}
		for _, cell := range h.Minutes {
			minutes += cell.N
		}
		want := int64(to.Sub(from) / time.Minute)
		if hours != want || minutes != want {
			t.Errorf("%v: the hours have %d fires and the minutes %d, want %d", now, hours, minutes, want)
		}
		if spring := now.Month() == time.March; (blank == 1) != spring {
			t.Errorf("%v: %d hours do not exist", now, blank)
		}
	}
}

func TestAScaleReachesFromTheSmallestToTheLargestNumberWithoutGaps(t *testing.T) {
	for _, most := range []int64{1, 2, 5, 6, 7, 100, 12345} {
		cells := []*heatCell{{N: 0}, {N: most}, {N: (most + 1) / 2}}
		scale := colour(cells)
		if scale[0].From != (most+1)/2 || scale[len(scale)-1].To < most || most > 1 && scale[len(scale)-1].Level != heatLevels || len(scale) > heatLevels {
			t.Errorf("the scale up to %d is %+v", most, scale)
		}
		for i := 1; i < len(scale); i++ {
			if scale[i].From != scale[i-1].To+1 || scale[i].Level <= scale[i-1].Level {
				t.Errorf("the scale up to %d has a gap: %+v", most, scale)
			}
		}
		if cells[0].Level != 0 || cells[1].Level != scale[len(scale)-1].Level || cells[2].Level == 0 {
			t.Errorf("the cells are %+v %+v %+v", *cells[0], *cells[1], *cells[2])
		}
	}
	frequent := []*heatCell{{N: 700, Partial: true}, {N: 3600}, {N: 3601}, {N: 5000}}
	if colour(frequent); frequent[0].Level != 1 || frequent[1].Level != 1 || frequent[2].Level != 1 || frequent[3].Level != heatLevels {
		t.Errorf("with a frequent schedule the cells are %+v %+v %+v %+v", *frequent[0], *frequent[1], *frequent[2], *frequent[3])
	}
	if even := []*heatCell{{N: 900}, {N: 901}}; len(colour(even)) != 1 {
		t.Errorf("a small difference has two colors: %+v %+v", *even[0], *even[1])
	}
	if scale := colour([]*heatCell{{}}); scale != nil {
		t.Errorf("nothing has the scale %v", scale)
	}
}

func TestMinutesWithTheSameSchedulesAreOneHotSpot(t *testing.T) {
	from := time.Date(2026, 11, 17, 4, 0, 0, 0, time.UTC)
	plans := plansOf(t, "0 3 * * *", "0 3 * * *", "0 3 * * *", "0 3 * * *", "30 * * * *", "30 * * * *", "30 * * * *", "15 7 * * *", "15 7 * * *", "* * * * *")
	hot := countMinutes(plans, from, from.AddDate(0, 0, 7)).hot(from)
	if len(hot) != 2 {
		t.Fatalf("there are %d hot spots: %+v", len(hot), hot)
	}
	night, half := hot[0], hot[1]
	if len(night.Plans) != 5 || night.Times != 7 || night.From.Format("01-02 15:04") != "11-18 03:00" || night.To.Sub(night.From) != time.Minute {
		t.Errorf("at night it is %d schedules, %d times, from %v", len(night.Plans), night.Times, night.From)
	}
	if len(half.Plans) != 4 || half.Times != 7*24 || half.From.Minute() != 30 {
		t.Errorf("at half past it is %d schedules, %d times, from %v", len(half.Plans), half.Times, half.From)
	}
}

func TestAHotSpotIsStillToCome(t *testing.T) {
	from := time.Date(2026, 11, 17, 4, 0, 0, 0, time.UTC)
	counts := countMinutes(plansOf(t, "10 * * * *", "10 * * * *", "10 * * * *"), from, from.AddDate(0, 0, 7))
	hot := counts.hot(from.Add(25 * time.Minute))
	if len(hot) != 1 || hot[0].From.Format("15:04") != "05:10" || hot[0].Times != 7*24-1 {
		t.Errorf("at 04:25 the hot spots are %+v", hot)
	}
}

func TestASpreadIsComputedFromTheNames(t *testing.T) {
	crons := make([]string, 12)
	for i := range crons {
		crons[i] = "0 3 * * *"
	}
	plans := append(plansOf(t, crons...), plansOf(t, "* * * * *")...) // the last stays where it is
	minute := time.Date(2026, 11, 18, 3, 0, 0, 0, time.UTC)
	s := spreadOf(plans, minute)
	if s == nil || len(s.Plans) != 12 {
		t.Fatalf("the spread is %+v", s)
	}
	perMinute, most := map[time.Duration]int{0: 1}, 0
	for _, p := range s.Plans {
		moved := proto.CloneOf(p.Schedule)
		moved.Jitter = durationpb.New(s.Jitter)
		after, err := planOf(moved, nil)
		if err != nil {
			t.Fatal(err)
		}
		perMinute[after.timing.Offset().Truncate(time.Minute)]++
	}
	for _, n := range perMinute {
		most = max(most, n)
	}
	if share := (100*most + len(plans) - 1) / len(plans); share != s.Most || most > 1+12/4 {
		t.Errorf("the jitter %v leaves %d %% in one minute, and %d %% were promised", s.Jitter, share, s.Most)
	}
	if few := spreadOf(plans[:2], minute); few != nil {
		t.Errorf("two schedules are spread by %+v", few)
	}
}

func TestCommandsHoldNoNameThatAShellWouldRun(t *testing.T) {
	plans := plansOf(t, "0 3 * * *", "0 3 * * *", "0 3 * * *", "0 3 * * *")
	plans[1].Name, plans[2].Name, plans[3].Name = proto.String("$(reboot)"), proto.String("1"), proto.String("--all")
	s := &spread{Jitter: 5 * time.Minute, Plans: plans}
	want := []string{"plan-1", "2", "3", "4"}
	for i, line := range strings.Split(s.Commands(), "\n") {
		if line != "fairlead schedule update "+want[i]+" --jitter 5m" {
			t.Errorf("line %d is %q", i, line)
		}
	}
}
