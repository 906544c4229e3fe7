package console

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// heat contains the number of fires in the coming week, in the viewer's time zone. It is
// shared by viewers, and immutable.
type heat struct {
	From, To time.Time
	Days     []heatDay
	Minutes  []heatCell // per minute of the hour
	Hot      []hotSpot

	DayScale, MinuteScale []heatStep
}

// heatDay is a date, hour by hour. The first and the last date of a week that begins in the
// middle of a day have the same weekday, and each its own row.
type heatDay struct {
	Date  time.Time
	Cells []heatCell
}

// heatCell is the number of fires in an hour, or in a minute of all hours.
type heatCell struct {
	From, To time.Time // of an hour; zero outside of the span and if a clock change skips the hour
	Partial  bool      // whether the hour has already begun; N then excludes its past fires
	Outside  bool      // before or after the span
	Minute   int       // of the hour
	N        int64
	Level    int
}

// heatStep is a color of the scale with its range of numbers.
type heatStep struct {
	Level    int
	From, To int64
}

// heatLevels is the number of colors, without the one for zero.
const heatLevels = 6

// weekFrom returns the displayed period: from the start of the current hour in the viewer's
// time zone to the same hour a week later.
func weekFrom(now time.Time, zone *time.Location) (from, to time.Time) {
	local := now.In(zone)
	from = local.Add(-time.Duration(local.Minute())*time.Minute - time.Duration(local.Second())*time.Second - time.Duration(local.Nanosecond()))
	return from, from.AddDate(0, 0, 7)
}

// heatOf counts the fires of schedules in a period of one week, whose ends are full hours
// of the viewer's zone. Hot spots only include future minutes.
func heatOf(plans []*plan, now, from, to time.Time) *heat {
	m := countMinutes(plans, from, to)
	h := &heat{From: from, To: to}
	rows := map[string]int{} // by date
	for at := from; at.Before(to); at = midnightAfter(at) {
		rows[at.Format(time.DateOnly)] = len(h.Days)
		h.Days = append(h.Days, newHeatDay(at, from, to))
	}
	h.Minutes = make([]heatCell, 60)
	for i := range h.Minutes {
		h.Minutes[i].Minute = i
	}
	for i, n := range m.fires {
		at := from.Add(time.Duration(i) * time.Minute)
		cell := &h.Days[rows[at.Format(time.DateOnly)]].Cells[at.Hour()]
		cell.Partial = cell.Partial || at.Truncate(time.Minute).Before(now)
		if cell.From.IsZero() {
			cell.From = at
		}
		cell.To = at.Add(time.Minute)
		cell.N += n
		h.Minutes[at.Minute()].N += n
	}
	var hours []*heatCell
	for d := range h.Days {
		for c := range h.Days[d].Cells {
			hours = append(hours, &h.Days[d].Cells[c])
		}
	}
	h.DayScale = colour(hours)
	var minutes []*heatCell
	for i := range h.Minutes {
		minutes = append(minutes, &h.Minutes[i])
	}
	h.MinuteScale = colour(minutes)
	h.Hot = m.hot(now)
	return h
}

// midnightAfter returns the beginning of the next date.
func midnightAfter(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, at.Location())
}

// newHeatDay returns the row of a date, without fires.
func newHeatDay(date, from, to time.Time) heatDay {
	day := heatDay{Date: date, Cells: make([]heatCell, 24)}
	for hour := range day.Cells {
		begin := time.Date(date.Year(), date.Month(), date.Day(), hour, 0, 0, 0, date.Location())
		day.Cells[hour].Outside = begin.Before(from) || !begin.Before(to)
	}
	return day
}

// colour gives each cell its level, and returns the scale: equal steps from the smallest
// number above zero to the largest, or to a quarter more than the smallest. A schedule that
// fires all the time raises both ends and does not darken every cell, and small differences
// stay small.
func colour(cells []*heatCell) (scale []heatStep) {
	least, most := int64(math.MaxInt64), int64(0)
	for _, cell := range cells {
		if most = max(most, cell.N); cell.N > 0 && !cell.Partial {
			least = min(least, cell.N)
		}
	}
	if most == 0 {
		return nil
	}
	least = min(least, most) // if all cells are partial
	span := max(most, least+least/4) - least + 1
	levels := min(span, heatLevels)
	for level := int64(1); level <= levels; level++ {
		step := heatStep{Level: int(level), From: least + (level-1)*span/levels, To: least + level*span/levels - 1}
		if levels > 1 { // few levels are spread over the colors
			step.Level = 1 + int((level-1)*(heatLevels-1)/(levels-1))
		}
		if scale = append(scale, step); step.To >= most {
			break
		}
	}
	for _, cell := range cells {
		if cell.Partial && cell.N > 0 {
			cell.Level = scale[0].Level
		}
		for _, step := range scale {
			if step.From <= cell.N && cell.N <= step.To {
				cell.Level = step.Level
			}
		}
	}
	return scale
}

// minuteCounts contains the fires of schedules by minute.
type minuteCounts struct {
	plans []*plan
	from  time.Time
	fires []int64
	who   []int      // number of schedules that fire in each minute
	set   []uint64   // hash of the set of schedules that fire in each minute
	fired [][]uint64 // one bit per minute for each schedule
}

func countMinutes(plans []*plan, from, to time.Time) *minuteCounts {
	minutes := int(to.Sub(from) / time.Minute)
	m := &minuteCounts{plans: plans, from: from, fires: make([]int64, minutes), who: make([]int, minutes), set: make([]uint64, minutes)}
	for i, p := range plans {
		fired := make([]uint64, minutes/64+1)
		p.fires(from, to, func(minute, n int) {
			m.fires[minute] += int64(n)
			if bit := uint64(1) << (minute % 64); fired[minute/64]&bit == 0 {
				fired[minute/64] |= bit
				m.who[minute]++
				m.set[minute] ^= scatter(uint64(i) + 1)
			}
		})
		m.fired = append(m.fired, fired)
	}
	return m
}

// scatter returns numbers that identify sets by their exclusive or: the finalizer of
// SplitMix64.
func scatter(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// in returns the schedules that fire in a minute.
func (m *minuteCounts) in(minute int) (some []*plan) {
	for i, fired := range m.fired {
		if fired[minute/64]>>(minute%64)&1 != 0 {
			some = append(some, m.plans[i])
		}
	}
	return some
}

const (
	hotSpots = 8 // maximum number of hot spots shown, worst first
	hotLeast = 3 // number of schedules above that of an ordinary minute that makes a hot spot
)

// hotSpot is a set of schedules that fire in the same minute, once or several times in the
// week.
type hotSpot struct {
	Plans    []*plan
	From, To time.Time // first such minute
	Times    int       // number of such minutes in the week
	Spread   *spread   // nil = no jitter helps
}

// hot finds the minutes in which the most schedules fire, with a margin above an ordinary
// minute. Minutes with the same schedules form one hot spot; minutes that have already
// begun do not count.
func (m *minuteCounts) hot(now time.Time) (worst []hotSpot) {
	if len(m.who) == 0 {
		return nil
	}
	ordinary := slices.Sorted(slices.Values(m.who))[len(m.who)/2]
	type group struct{ first, times int }
	groups := map[uint64]*group{}
	for minute, n := range m.who {
		if n < ordinary+hotLeast || m.from.Add(time.Duration(minute)*time.Minute).Before(now) {
			continue
		}
		if known, there := groups[m.set[minute]]; there {
			known.times++
		} else {
			groups[m.set[minute]] = &group{minute, 1}
		}
	}
	var order []*group
	for _, g := range groups {
		order = append(order, g)
	}
	slices.SortFunc(order, func(a, b *group) int {
		return cmp.Or(cmp.Compare(m.who[b.first], m.who[a.first]), cmp.Compare(b.times, a.times), cmp.Compare(a.first, b.first))
	})
	for _, g := range order[:min(len(order), hotSpots)] {
		at := m.from.Add(time.Duration(g.first) * time.Minute)
		plans := m.in(g.first)
		worst = append(worst, hotSpot{Plans: plans, From: at, To: at.Add(time.Minute), Times: g.times, Spread: spreadOf(plans, at)})
	}
	return worst
}
