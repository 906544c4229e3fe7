package audit

import (
	"fmt"
	"testing"

	"github.com/fairlead-io/fairlead/server/internal/authn"
)

// An attacker can have any number of addresses, but the audit log must stay small.
func TestRefusalsOfVeryManyAddressesAreOneSum(t *testing.T) {
	s := NewSums()
	for i := range authn.MaxAddresses + 5 {
		s.Refused(fmt.Sprint(i), "Callback", "unknown token")
	}
	if n := len(s.sum); n != authn.MaxAddresses+1 {
		t.Errorf("there are %d sums", n)
	}
	if sum := s.sum[summedCall{action: "Callback", refusal: "unknown token"}]; sum == nil || sum.Requests != 5 {
		t.Errorf("those of the others are %+v", sum)
	}
	if entries := s.take(); len(entries) != authn.MaxAddresses+1 || len(s.take()) != 0 {
		t.Errorf("%d are written down", len(entries))
	}
}
