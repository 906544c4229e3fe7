package authn

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// leftOf uses up what look-ups an address has left at once, and returns how many.
func (f *Failures) leftOf(address string) (n int) {
	for own := true; own; n++ {
		own, _ = f.Spend(address)
	}
	return n - 1
}

func TestAnAddressGuessesSoOftenAtOnceAndThenAtARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFailures()
		if n := f.leftOf("a"); n != addressBurst {
			t.Errorf("an address has %d guesses, want %d", n, addressBurst)
		}
		if n := f.leftOf("b"); n != addressBurst {
			t.Errorf("another has %d guesses, want %d", n, addressBurst)
		}
		time.Sleep(3 * addressEvery)
		if n := f.leftOf("a"); n != 3 {
			t.Errorf("it has %d more after a while, want 3", n)
		}
		time.Sleep(1000 * addressEvery)
		if n := f.leftOf("a"); n != addressBurst {
			t.Errorf("it has %d after a long while, want %d", n, addressBurst)
		}
	})
}

func TestAllAddressesTogetherGuessSoOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, together := NewFailures(), 0
		for i := range 2 * everywhereBurst {
			own, all := f.Spend(fmt.Sprint(i))
			if !own {
				t.Fatal("an address cannot guess because others did")
			}
			if all {
				together++
			}
		}
		if together != everywhereBurst {
			t.Errorf("%d were looked up by themselves, want %d", together, everywhereBurst)
		}
		time.Sleep(everywhereEvery)
		if _, all := f.Spend("later"); !all {
			t.Error("none is looked up by itself any more")
		}
	})
}

func TestWhatAKnownTokenSpentIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFailures()
		for range 2 * everywhereBurst {
			own, all := f.Spend("a")
			if !own || !all {
				t.Fatal("known tokens use up what an address may guess")
			}
			f.giveBack("a", own, all)
		}
		f.giveBack("a", true, true) // never more than the whole
		if n := f.leftOf("a"); n != addressBurst {
			t.Errorf("it has %d guesses, want %d", n, addressBurst)
		}
		f.giveBack("a", false, false)
		if n := f.leftOf("a"); n != 0 {
			t.Errorf("what was not spent is given back: %d", n)
		}
		f.giveBack("unheard of", true, false)
	})
}

// Very many addresses are not remembered permanently. An address that continues to guess is
// remembered while there is room.
func TestQuietAddressesMakeRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFailures()
		f.leftOf("busy")
		for i := range MaxAddresses - 1 {
			f.Spend(fmt.Sprint("quiet ", i))
		}
		time.Sleep(2 * addressEvery)
		f.Spend("new")
		if n := len(f.from); n != 2 {
			t.Errorf("%d addresses are remembered, want 2", n)
		}
		if n := f.leftOf("busy"); n != 2 {
			t.Errorf("who went on guessing has %d guesses, want 2", n)
		}
		for i := range MaxAddresses {
			f.Spend(fmt.Sprint("busy ", i))
		}
		if n := len(f.from); n > MaxAddresses {
			t.Errorf("%d addresses are remembered, at most %d should be", n, MaxAddresses)
		}
	})
}
