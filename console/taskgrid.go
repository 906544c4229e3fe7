package console

// cell is a square of a grid of tasks.
type cell struct {
	Tone, Title string
	Href        string // empty: it leads nowhere
	ID          string // empty: it stands for several tasks
}

// gridCells is how many squares a grid has at most.
const gridCells = 400

// share is a state and how many tasks are in it.
type share struct {
	State string
	N     int64
}

// proportions is how many of so many cells each share gets, in their order. A share that
// is not empty gets at least one, and there are never more cells than tasks.
func proportions(shares []share, cells int64) []int64 {
	all := make([]int64, len(shares))
	total := int64(0)
	for _, one := range shares {
		total += one.N
	}
	if total <= cells {
		for i, one := range shares {
			all[i] = one.N
		}
		return all
	}
	left, largest := cells, 0
	for i, one := range shares {
		if one.N > 0 {
			all[i] = max(1, int64(float64(cells)*float64(one.N)/float64(total)))
		}
		if left -= all[i]; one.N > shares[largest].N {
			largest = i
		}
	}
	all[largest] += left // what rounding has left over, or taken too much
	return all
}
