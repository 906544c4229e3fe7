package console

import (
	"slices"
	"testing"
)

func TestEveryStateHasACellAndAllCellsAreUsed(t *testing.T) {
	for _, test := range []struct {
		shares []share
		want   []int64
	}{
		{[]share{{"success", 3}, {"fail", 1}}, []int64{3, 1}},
		{[]share{{"success", 500_000}, {"fail", 500_000}}, []int64{200, 200}},
		{[]share{{"success", 999_998}, {"fail", 1}, {"running", 0}, {"pending", 1}}, []int64{398, 1, 0, 1}},
		{[]share{{"success", 1}, {"pending", 400}}, []int64{1, 399}},
		{[]share{{"success", 0}, {"pending", 0}}, []int64{0, 0}},
		{nil, []int64{}},
	} {
		if got := proportions(test.shares, gridCells); !slices.Equal(got, test.want) {
			t.Errorf("%v: got %v, want %v", test.shares, got, test.want)
		}
	}
}
