package mysql

import (
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/internal/dispatch"
)

// What a claim goes on with if some of what it chose comes before what it has locked.
func TestWithoutTheFirstPicksOtherTenantsGoOn(t *testing.T) {
	heavy, light, child := &dispatch.Share{}, &dispatch.Share{}, &dispatch.Share{}
	pick := func(id int64, turn int16, share *dispatch.Share) dispatch.Pick {
		return dispatch.Pick{Lane: &dispatch.Lane{Share: share}, Key: dispatch.Key{Turn: turn, ID: id}}
	}
	promised := pick(1, 0, heavy)
	promised.Lane.Tenant = &dispatch.Limit{Min: 1}
	for name, test := range map[string]struct {
		picks []dispatch.Pick
		first int
		want  []int64
	}{
		"none is left":                            {[]dispatch.Pick{pick(1, 0, heavy), pick(2, 0, nil)}, 0, []int64{1, 2}},
		"later jobs of the tenant are left too":   {[]dispatch.Pick{pick(1, 0, light), pick(2, 0, heavy), pick(3, 0, light), pick(4, 0, child)}, 1, []int64{2, 4}},
		"a lower priority has to wait":            {[]dispatch.Pick{pick(1, 0, light), pick(2, 0, heavy), pick(3, 1, child)}, 1, []int64{2}},
		"jobs that go by key have to wait":        {[]dispatch.Pick{pick(1, 0, light), pick(2, 0, heavy), pick(3, 0, nil)}, 1, []int64{2}},
		"a job that goes by key is not passed":    {[]dispatch.Pick{pick(1, 0, nil), pick(2, 0, heavy)}, 1, nil},
		"a tenant with a minimum is not passed":   {[]dispatch.Pick{promised, pick(2, 0, light)}, 1, nil},
		"all that was chosen comes before others": {[]dispatch.Pick{pick(1, 0, heavy), pick(2, 0, light)}, 2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int64
			for _, pick := range withoutParties(test.picks, test.first) {
				got = append(got, pick.ID)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
