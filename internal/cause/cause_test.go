package cause

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestErrorsOfTheSameCauseAreNormalisedToTheSameText(t *testing.T) {
	for want, texts := range map[string][]string{
		`order N not found`:            {"order 17 not found", "order 4711 not found", "  order 1,024 not found\nstack of it"},
		`dial tcp ADDRESS: refused`:    {"dial tcp 10.0.0.7:8080: refused", "dial tcp [::1]:80: refused", "dial tcp db-3.internal:5432: refused"},
		`GET URL: status N`:            {"GET https://shop.example/orders/17?x=1: status 503", "GET http://a.b:81/: status 500"},
		`unknown field "…"`:            {`unknown field "colour"`, `unknown field "a \"quoted\" one"`},
		`can't read '…' of ID`:         {"can't read 'name' of 123e4567-e89b-12d3-a456-426614174000", "can't read 'x' of 00000000-0000-0000-0000-000000000000"},
		`commit ID is gone since TIME`: {"commit 9f86d081884c7d65 is gone since 2026-01-31T12:00:00.123Z", "commit 1e240deadbeef is gone since 2025-12-01 08:00:00 +0100"},
		`no mail to ADDRESS`:           {"no mail to ada@example.org", "no mail to b.c+d@mail.example.com"},
		`took Nms of Ns`:               {"took 12ms of 1.5s", "took 900ms of 30s"},
		`panic: nil at ID`:             {"panic: nil at 0xc000012345", "panic: nil at 0x0"},
		noErrorText:                    {"", " \n\t"},
	} {
		for _, text := range texts {
			if got := Of(text); got != want {
				t.Errorf("%q is normalised to %q, want %q", text, got, want)
			}
		}
	}
}

func TestErrorsOfDifferentCausesStayApart(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"connection refused", "connection reset", "deadline exceeded", "bad face", "dead added", "don't know", "can't know"} {
		if other, there := seen[Of(text)]; there {
			t.Errorf("%q and %q are both %q", text, other, Of(text))
		}
		seen[Of(text)] = text
	}
}

func TestANormalisedErrorIsShortAndValid(t *testing.T) {
	for _, text := range []string{strings.Repeat("界 ", 100_000), "\xff\xfe broken", strings.Repeat("a", 5000)} {
		got := Of(text)
		if n := utf8.RuneCountInString(got); n > normalisedLength+1 || !utf8.ValidString(got) {
			t.Errorf("it has %d characters: %q", n, got[:20])
		}
	}
}

func TestACauseIsItsOwnCause(t *testing.T) {
	for _, text := range []string{
		"", "order 17 not found", `GET https://shop.example/orders/17?x=1: unknown "field" of 'x' at 10.0.0.7:80, 2026-01-31T12:00:00Z`,
		"mail to ada@example.org: 0xc000012345 9f86d081884c7d65", strings.Repeat("word 17 ", 500), "17://x", "[::1]://x",
		strings.Repeat("w ", 146) + "soo a:// is", // what is cut off is marked by a character that an address may have
	} {
		if once := Of(text); Of(once) != once {
			t.Errorf("%q becomes %q, and that %q", text, once, Of(once))
		}
	}
}

// TestEveryCauseIsItsOwnCause checks that the cause of a cause is that cause. Its random
// texts are composed of typical parts of particulars.
func TestEveryCauseIsItsOwnCause(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"://", "@", ":", ".", "-", " ", "17", "a", "fe"}),
		rapid.SampledFrom([]string{
			"\n", "\"", "'", "`", "\\", "[", "]", "(", "=", ",", "…", "é", "N", "URL", "ADDRESS", "0x1f", "10.0.0.7:80", "[::1]", "2026-01-31", "T12:00:00Z", "a@b.c",
			"http://x", "123e4567-e89b-12d3-a456-426614174000", "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa", strings.Repeat("w", 250),
		}),
		rapid.StringN(0, 5, -1),
	)
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		if once := Of(text); Of(once) != once {
			t.Fatalf("%q becomes %q, and that %q", text, once, Of(once))
		}
	})
}
