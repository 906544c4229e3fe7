package console

// cell is a cell in a grid of tasks.
type cell struct {
	Tone, Title string
	Href        string // empty = no link
	ID          string // empty = the cell stands for several tasks
}

// gridCells limits the number of cells in a grid.
const gridCells = 400

// share is the number of tasks in a state.
type share struct {
	State string
	N     int64
}

// proportions returns the number of cells for each share, in order. A nonempty share gets
// at least one cell, and there are never more cells than tasks.
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
	all[largest] += left // compensates for rounding
	return all
}
