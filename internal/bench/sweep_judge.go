package bench

// judge compares the number of items begun in ticks with a rate.
func judge(rate float64, ticks []int64) SweepRateFigures {
	seconds := float64(len(ticks)) / float64(ticksPerSecond)
	sum := int64(0)
	for _, n := range ticks {
		sum += n
	}
	f := SweepRateFigures{SetRate: rate, Seconds: round(seconds, 2)}
	if seconds == 0 {
		return f
	}
	f.Rate = round(float64(sum)/seconds, 2)
	f.ErrorPercent = round((float64(sum)/seconds/rate-1)*100, 3)
	_, tenth := extremes(ticks, int(ticksPerSecond)/10)
	least, most := extremes(ticks, int(ticksPerSecond))
	f.LargestTenth = round(float64(tenth)*10/rate, 3)
	f.LowestSecond, f.HighestSecond = round(float64(least)/rate, 3), round(float64(most)/rate, 3)
	return f
}

// extremes returns the minimum and maximum sum over any span consecutive ticks.
func extremes(ticks []int64, span int) (least, most int64) {
	sum := int64(0)
	for i, n := range ticks {
		if sum += n; i >= span {
			sum -= ticks[i-span]
		}
		if i < span-1 {
			continue
		}
		if i == span-1 || sum < least {
			least = sum
		}
		most = max(most, sum)
	}
	return least, most
}

// firstFairSecond returns the first tick at which a second begins that reaches the rate,
// with a tolerance of one percent or one item.
func firstFairSecond(rate float64, ticks []int64) (at int, found bool) {
	enough := min(rate*0.99, rate-1)
	span := int(ticksPerSecond)
	sum := int64(0)
	for i, n := range ticks {
		if sum += n; i >= span {
			sum -= ticks[i-span]
		}
		if i >= span-1 && float64(sum) >= enough {
			return i - span + 1, true
		}
	}
	return 0, false
}
