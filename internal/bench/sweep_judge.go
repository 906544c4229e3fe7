package bench

// judge compares what was begun in ticks with a rate.
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

// extremes are the least and the most in any so many ticks in a row.
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

// firstFairSecond finds the first tick from which on a second has had what is fair, but
// for a hundredth or one item.
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
