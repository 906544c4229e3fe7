package seal_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/seal"
)

func newKeys(t testing.TB, all ...seal.Key) *seal.Keys {
	t.Helper()
	keys, err := seal.NewKeys(all[0], all[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestWhatIsSealedIsOpenedByTheSameKeyOnly(t *testing.T) {
	one, other := seal.Key{ID: "k", Secret: seal.NewSecret()}, seal.Key{ID: "k", Secret: seal.NewSecret()}
	keys := newKeys(t, one)
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(r *rapid.T) {
		plain, label := []byte(rapid.String().Draw(r, "plain")), rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "label")
		sealed, err := keys.Seal(plain, label)
		if err != nil {
			r.Fatal(err)
		}
		if opened, err := keys.Open(sealed); err != nil || !bytes.Equal(opened, plain) {
			r.Fatalf("opened as %q, %v, want %q", opened, err, plain)
		}
		again, err := keys.Seal(plain, label)
		if err != nil || bytes.Equal(again, sealed) != (label != "") {
			r.Fatalf("with the label %q it is sealed as %x and then as %x: %v", label, sealed, again, err)
		}
		if _, err := newKeys(t, other).Open(sealed); err == nil {
			r.Fatal("another key has opened it")
		}
		sealed[rapid.IntRange(0, len(sealed)-1).Draw(r, "changed")] ^= 1
		if opened, err := keys.Open(sealed); err == nil {
			r.Fatalf("what was changed is opened as %q", opened)
		}
	})
}

func TestKeysAreRotatedWhileJobsGoOn(t *testing.T) {
	old, young := seal.Key{ID: "2026-05", Secret: seal.NewSecret()}, seal.Key{ID: "2026-11", Secret: seal.NewSecret()}
	before, prepared, after, done := newKeys(t, old), newKeys(t, old, young), newKeys(t, young, old), newKeys(t, young)
	by := func(k *seal.Keys) []byte {
		sealed, err := k.Seal([]byte("x"), "")
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	for what, c := range map[string]struct {
		sealed []byte
		opener *seal.Keys
	}{"a prepared program reads the old": {by(before), prepared}, "and the new": {by(after), prepared}, "one that has changed reads the old": {by(prepared), after}, "at the end the new": {by(after), done}} {
		if _, err := c.opener.Open(c.sealed); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := done.Open(by(before)); err == nil || !strings.Contains(err.Error(), `no key with the ID "2026-05" is configured`) {
		t.Errorf("a key that was removed: %v", err)
	}
}

func TestKeysThatCannotBeMeantAreRefused(t *testing.T) {
	good := seal.NewSecret()
	for want, all := range map[string][]seal.Key{
		"it must have 1 to 255":      {{ID: "", Secret: good}},
		"has 5 bytes; AES-256 needs": {{ID: "a", Secret: []byte("short")}},
		`duplicate key ID "a"`:       {{ID: "a", Secret: good}, {ID: "a", Secret: good}},
	} {
		if _, err := seal.NewKeys(all[0], all[1:]...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := newKeys(t, seal.Key{ID: "a", Secret: good}).Open(nil); err == nil {
		t.Error("nothing is opened")
	}
}
