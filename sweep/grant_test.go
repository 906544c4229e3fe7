package sweep

import "testing"

func TestAShareGrowsByWhatIsFreeUpToWhatIsFair(t *testing.T) {
	for name, c := range map[string]struct {
		free, held, fair, want, left Share
	}{
		"all of it":                  {Share{10, 16}, Share{}, Share{5, 8}, Share{5, 8}, Share{5, 8}},
		"some of it":                 {Share{3, 2}, Share{1, 1}, Share{5, 8}, Share{4, 3}, Share{0, 0}},
		"what it has":                {Share{0, 0}, Share{5, 8}, Share{5, 8}, Share{5, 8}, Share{0, 0}},
		"less than it has":           {Share{0, 0}, Share{10, 16}, Share{5, 8}, Share{5, 8}, Share{0, 0}},
		"more than is there":         {Share{-3, -2}, Share{1, 1}, Share{5, 8}, Share{1, 1}, Share{-3, -2}},
		"nothing, without a rate":    {Share{0, 0}, Share{}, Share{5, 8}, Share{}, Share{0, 0}},
		"nothing, with the least":    {Share{0, 0}, Share{Rate: LeastRate}, Share{5, 8}, Share{}, Share{0, 0}},
		"any rate, if there is none": {Share{0, 16}, Share{}, Share{0, 8}, Share{0, 8}, Share{0, 8}},
	} {
		left := c.free
		if got := left.grant(c.held, c.fair); got != c.want || left != c.left {
			t.Errorf("%s: it gets %+v and leaves %+v, want %+v and %+v", name, got, left, c.want, c.left)
		}
	}
}
