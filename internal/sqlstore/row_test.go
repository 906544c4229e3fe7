package sqlstore_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/sqlstore"
	"github.com/fairlead-io/fairlead/internal/tier"
)

// longestText is the maximum stored size of a string in bytes, including the truncation
// mark.
const longestText = 8<<10 + len("…")

// TestCleanText cleans strings around the maximum size, built from parts that cleaning
// lengthens or shortens.
func TestCleanText(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, piece := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\x00", "\xff", "\xe8\xaa", "é", "語", "😀", "…"}), 1, 5).Draw(t, "pieces") {
			text += strings.Repeat(piece, rapid.IntRange(1, 4<<10).Draw(t, "times"))
		}
		clean := sqlstore.CleanText(text)
		if !utf8.ValidString(clean) || strings.Contains(clean, "\x00") {
			t.Fatalf("%q is not fit to be stored", clean)
		}
		if len(clean) > longestText {
			t.Fatalf("%d bytes are left", len(clean))
		}
		if again := sqlstore.CleanText(clean); again != clean {
			t.Fatalf("cleaned again, %d bytes became %d", len(clean), len(again))
		}
		if utf8.ValidString(text) && !strings.Contains(text, "\x00") && len(text) <= longestText && clean != text {
			t.Fatal("a text that was fit to be stored was changed")
		}
	})
}
