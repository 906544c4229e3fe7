package httpcall

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSecretsAreHiddenWhereWhatIsKeptEnds(t *testing.T) {
	const secret = "s3cr3t-ünd-länger"
	hide := newMasker([]string{secret, "other"})
	for before := keptBody - 2*len(secret); before <= keptBody+len(secret); before++ {
		text := strings.Repeat("x", before) + secret + strings.Repeat("y", maxBody/64)
		var kept Message
		kept.setBody(hide.Beginning(text, keptBody))
		if !kept.Truncated || len(kept.Body) > keptBody || !utf8.ValidString(kept.Body) || strings.Contains(kept.Body, "s3c") || strings.ContainsRune(kept.Body, utf8.RuneError) {
			t.Fatalf("with %d bytes before the secret %d are kept, which end with %q", before, len(kept.Body), kept.Body[len(kept.Body)-40:])
		}
	}
}

func TestNoMoreIsLookedAtForSecretsThanIsKept(t *testing.T) {
	hide := newMasker([]string{strings.Repeat("a", maxURL) + "b"})
	hidden, cut := hide.Beginning(strings.Repeat("a", maxBody), keptBody)
	if !cut || len(hidden) > keptBody+4*maxURL {
		t.Errorf("%d bytes were looked at (cut %t)", len(hidden), cut)
	}
}
