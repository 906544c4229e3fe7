package tier_test

import (
	"strings"
	"testing"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// recorder records the attributes of a test and whether it was skipped.
type recorder struct {
	testing.TB
	attributes map[string]string
	skipped    bool
}

func newRecorder(t *testing.T) *recorder { return &recorder{TB: t, attributes: map[string]string{}} }

func (r *recorder) Attr(key, value string) { r.attributes[key] = value }
func (r *recorder) Skipf(string, ...any)   { r.skipped = true }

func TestLongTestsAreSkippedInTheFirstTierOnly(t *testing.T) {
	r := newRecorder(t)
	tier.Long(r, "slow")
	if r.skipped != testing.Short() || r.attributes[tier.LongAttr] != "slow" {
		t.Errorf("skipped: %t, attributes: %v", r.skipped, r.attributes)
	}
}

func TestSizeDependsOnTheTier(t *testing.T) {
	r := newRecorder(t)
	want := map[bool]int{true: 5, false: 20}[testing.Short()]
	if got := tier.Size(r, 5, 20, "many"); got != want || r.attributes[tier.LongAttr] != "many" {
		t.Errorf("got %d, want %d; attributes: %v", got, want, r.attributes)
	}
}

func TestTheReportedSeedDrawsTheSameAgain(t *testing.T) {
	const variable = "FAIRLEAD_TIER_TEST_SEED"
	r := newRecorder(t)
	drawn := tier.Seed(r, variable)
	name, value, _ := strings.Cut(r.attributes[tier.SeedAttr], "=")
	if name != variable {
		t.Fatalf("reported %q", r.attributes[tier.SeedAttr])
	}
	t.Setenv(variable, value)
	if again := tier.Seed(newRecorder(t), variable); again != drawn {
		t.Errorf("drew %d, then %d", drawn, again)
	}
}
