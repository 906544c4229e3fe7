package source

import (
	"context"
	"fmt"
)

// blob is content that can be read from any offset.
type blob interface {
	// identify returns the current identity of the content.
	identify(ctx context.Context) (identity, error)
	// expect makes readAt fail with ErrChanged if the content has a different identity.
	expect(identity)
	// readAt fills p from an offset. If it returns fewer bytes, it also returns an error,
	// which is io.EOF at the end.
	readAt(ctx context.Context, p []byte, offset int64) (int, error)
	// blockSize returns the preferred size of a read.
	blockSize() int
	close()
}

// identity identifies the content to detect changes. Unknown fields are empty.
type identity struct {
	Size     int64  `json:"size"`               // -1 if the server does not report it
	Modified string `json:"modified,omitempty"` // modification time of a file, or Last-Modified
	ETag     string `json:"etag,omitempty"`
	Head     string `json:"head,omitempty"` // hash of the beginning of a file
	Ranges   bool   `json:"ranges,omitempty"`
}

// mustBe returns ErrChanged if other identifies different content.
func (i identity) mustBe(other identity) error {
	var what string
	switch {
	case i.Size >= 0 && other.Size >= 0 && i.Size != other.Size:
		what = fmt.Sprintf("it had %d bytes and has %d", i.Size, other.Size)
	case differ(i.ETag, other.ETag):
		what = fmt.Sprintf("its ETag was %q and is %q", i.ETag, other.ETag)
	case differ(i.Modified, other.Modified):
		what = fmt.Sprintf("it was last modified at %s, now at %s", i.Modified, other.Modified)
	case differ(i.Head, other.Head):
		what = "its first bytes differ"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s; restore it or start a new sweep", ErrChanged, what)
}

// differ reports whether two known values differ. It returns false if one of them is
// unknown: a server need not repeat in each part what it reported for the whole.
func differ(a, b string) bool { return a != "" && b != "" && a != b }
