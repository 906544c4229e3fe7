package source

import (
	"context"
	"fmt"
)

// blob is bytes that can be read from any offset.
type blob interface {
	// identify asks what the content is now.
	identify(ctx context.Context) (identity, error)
	// expect makes readAt fail with ErrChanged if the content is another one.
	expect(identity)
	// readAt fills p from an offset. It returns fewer bytes only with an error,
	// which is io.EOF at the end.
	readAt(ctx context.Context, p []byte, offset int64) (int, error)
	// blockSize is how much is best read at once.
	blockSize() int
	close()
}

// identity is by what a change of the content is noticed. What is not known is
// empty.
type identity struct {
	Size     int64  `json:"size"`               // -1 if the server does not say
	Modified string `json:"modified,omitempty"` // the file's time, or Last-Modified
	ETag     string `json:"etag,omitempty"`
	Head     string `json:"head,omitempty"` // hash of the beginning, of files
	Ranges   bool   `json:"ranges,omitempty"`
}

// mustBe fails with ErrChanged unless the other is the same content.
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

// differ is false if one of them is not known: a server need not repeat in
// each part what it said of the whole.
func differ(a, b string) bool { return a != "" && b != "" && a != b }
