package dispatch

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
)

// What a choice takes must not depend on how far lanes were read before: one claim
// remembers more of them than another, and who asks what claims would do remembers nothing.
func TestSharesAreGivenAlikeHoweverFarLanesWereRead(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		shares := NewPastStarts().Open()
		limits := []*Limit{{ID: 1, Cap: rapid.IntRange(1, 9).Draw(t, "cap")}, {ID: 2, Cap: rapid.IntRange(1, 9).Draw(t, "another cap"), Min: 1}}
		var whole, begun []*Lane
		keys, id := map[int32][]Key{}, int64(0)
		for i := range rapid.IntRange(1, 8).Draw(t, "lanes") {
			lane := &Lane{ID: int32(i + 1)}
			if rapid.Bool().Draw(t, "shared") {
				p := alone(fmt.Sprint("tenant ", rapid.IntRange(0, 3).Draw(t, "tenant")), 1)
				if rapid.Bool().Draw(t, "child") {
					p.Family = "parent"
				}
				p.Scope = rapid.SampledFrom([]string{"", "queue"}).Draw(t, "scope")
				lane.Share = shares.Of(p)
			}
			for _, limit := range limits {
				if rapid.Bool().Draw(t, "limited") {
					lane.Limits = append(lane.Limits, limit)
				}
			}
			if slices.Contains(lane.Limits, limits[1]) {
				lane.Tenant = limits[1]
			}
			var all []Key
			for range rapid.IntRange(1, 4).Draw(t, "jobs") {
				id++
				all = append(all, Key{Turn: int16(rapid.IntRange(0, 1).Draw(t, "turn")), StartBy: rapid.Int64Range(0, 3).Draw(t, "start by"), ID: id})
			}
			slices.SortFunc(all, Key.Compare)
			keys[lane.ID] = all
			known := *lane
			known.Keys, known.All = all, true
			lane.From, lane.Keys = all[0], all[:1:1]
			whole, begun = append(whole, &known), append(begun, lane)
		}
		ask := Ask{Max: rapid.IntRange(1, 12).Draw(t, "max")}
		want, _ := Choose(whole, ask)
		got, err := ChooseReading(begun, ask, func(lane *Lane) error {
			n := min(len(lane.Keys)+1, len(keys[lane.ID]))
			lane.All, lane.Keys = n == len(lane.Keys), keys[lane.ID][:n:n]
			return nil
		})
		if err != nil || !slices.EqualFunc(got, want, func(a, b Pick) bool { return a.Key == b.Key }) {
			t.Fatalf("chose %v, want %v (%v)", got, want, err)
		}
	})
}

// A tenant at its limit that has had less than another of its family hides the other's next
// job. The family competes by that job all the same, however much is known of the tenant.
func TestALaneThatIsClosedDoesNotStandForItsFamily(t *testing.T) {
	for _, known := range [][]Key{nil, {{StartBy: 3, ID: 3}}} {
		shares := NewPastStarts().Open()
		hidden := shares.Of(child("parent", 1, "hidden", 1))
		hidden.Had = startCost
		lanes := []*Lane{
			{ID: 1, Share: hidden, All: true, Keys: []Key{{StartBy: 1, ID: 1}}},
			{ID: 2, Share: shares.Of(child("parent", 1, "closed", 1)), From: Key{StartBy: 3}, Keys: known, Limits: []*Limit{{Cap: 1, Used: 1}}},
			{ID: 3, Share: shares.Of(alone("rival", 1)), All: true, Keys: []Key{{StartBy: 2, ID: 2}}},
		}
		if picks, _ := Choose(lanes, Ask{Max: 1}); len(picks) != 1 || picks[0].ID != 1 {
			t.Errorf("with %v known of the closed lane it chose %v", known, picks)
		}
	}
}

func TestALaneThatIsAloneInItsScopeIsReadWhenItsTurnComes(t *testing.T) {
	unread := &Lane{ID: 1, Share: NewPastStarts().Open().Of(alone("a", 1)), From: Key{StartBy: 9}}
	plain := &Lane{ID: 2, All: true, Keys: []Key{{StartBy: 1, ID: 1}}}
	if picks, toRead := Choose([]*Lane{unread, plain}, Ask{Max: 1}); len(picks) != 1 {
		t.Errorf("asked for %v", toRead)
	}
	if _, toRead := Choose([]*Lane{unread, plain}, Ask{Max: 2}); len(toRead) != 1 || toRead[0] != unread {
		t.Errorf("asked for %v", toRead)
	}
}
