package fairlead

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// refused names the fields of an InvalidError.
func refused(t *testing.T, err error) []string {
	t.Helper()
	var invalid *InvalidError
	if err == nil {
		return nil
	}
	if !errors.As(err, &invalid) {
		t.Fatalf("got %v", err)
	}
	var fields []string
	for _, f := range invalid.Fields {
		fields = append(fields, f.Field)
	}
	return fields
}

func TestNormalizeTenantNamesWhatItRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		tenant Tenant
		want   []string
	}{
		{"fine", Tenant{Name: "a", Parent: "b", MaxRunning: 3, MinRunning: 3, Rate: 2.5, Burst: 1, MaxPending: 5, Weight: 1}, nil},
		{"no name", Tenant{}, []string{"name"}},
		{"long name", Tenant{Name: strings.Repeat("x", MaxName+1)}, []string{"name"}},
		{"own parent", Tenant{Name: "a", Parent: "a"}, []string{"parent"}},
		{"negative numbers", Tenant{Name: "a", MaxRunning: -1, MinRunning: -1, MaxPending: -1, Weight: -1}, []string{"max_running", "min_running", "max_pending", "weight"}},
		{"minimum above the cap", Tenant{Name: "a", MaxRunning: 2, MinRunning: 3}, []string{"min_running"}},
		{"no number", Tenant{Name: "a", Rate: math.NaN()}, []string{"rate"}},
		{"too fast", Tenant{Name: "a", Rate: math.Inf(1)}, []string{"rate"}},
		{"burst without rate", Tenant{Name: "a", Burst: 3}, []string{"burst"}},
		{"label that is no text", Tenant{Name: "a", Labels: map[string]string{"k": "\xff"}}, []string{"labels"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := refused(t, NormalizeTenant(&test.tenant)); !slices.Equal(got, test.want) {
				t.Errorf("refused %v, want %v", got, test.want)
			}
		})
	}
}

func TestNormalizeFillsInTheBurst(t *testing.T) {
	for rate, want := range map[float64]int{0: 0, 0.1: 1, 9: 1, 10: 1, 25: 2, 1000: 100} {
		limit := Limit{Scope: LimitGlobal, Rate: rate}
		if err := NormalizeLimit(&limit); err != nil || limit.Burst != want {
			t.Errorf("rate %v gets burst %d (%v), want %d", rate, limit.Burst, err, want)
		}
	}
}

func TestNormalizeLimitNamesWhatItRefuses(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit Limit
		want  []string
	}{
		{"global", Limit{Scope: LimitGlobal, MaxRunning: 1}, nil},
		{"of a queue", Limit{Scope: LimitQueue, Name: "q"}, nil},
		{"global with a name", Limit{Scope: LimitGlobal, Name: "x"}, []string{"name"}},
		{"of no queue", Limit{Scope: LimitQueue}, []string{"name"}},
		{"of a tenant", Limit{Scope: LimitTenant, Name: "a"}, []string{"scope"}},
		{"of nothing", Limit{}, []string{"scope"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := refused(t, NormalizeLimit(&test.limit)); !slices.Equal(got, test.want) {
				t.Errorf("refused %v, want %v", got, test.want)
			}
		})
	}
}
