package sweep

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Bounds of a list that is stored with its sweep.
const (
	MaxListed     = 100_000  // number of items
	maxListedItem = 64 << 10 // bytes of one
	maxListed     = 12 << 20 // bytes of all
)

// checkList checks the items that are stored with the sweep, and finds out which list
// they are. A sweep over a list ends with it unless To says otherwise.
func (s *Sweep) checkList(c *complaints) {
	if len(s.Items) > 0 {
		s.Source.Listed, s.Source.Digest = int64(len(s.Items)), digestOf(s.Items)
	}
	switch {
	case len(s.Items) > MaxListed:
		c.Refuse("source.list", "has %d items; at most %d are stored with a sweep: put them in a file or serve them from a URL", len(s.Items), MaxListed)
	case s.Source.Listed > 0 && len(s.Items) == 0 && s.Version == 0:
		c.Refuse("source.list", "is missing; set it, and omit source.listed and source.digest, which are computed from it")
	case s.Source.Listed < 0 || s.Source.Listed == 0 && s.Source.Digest != "":
		c.Refuse("source.listed", "is %d; omit it: it is computed from the items", s.Source.Listed)
	}
	bytes := 0
	for i, item := range s.Items {
		if bytes += len(item); len(item) > maxListedItem {
			c.Refuse(fmt.Sprintf("source.list[%d]", i), "has %d bytes; at most %d are stored", len(item), maxListedItem)
			return // there may be very many
		}
		before := len(c.Found)
		if c.Text(fmt.Sprintf("source.list[%d]", i), item); len(c.Found) > before {
			return
		}
	}
	if bytes > maxListed {
		c.Refuse("source.list", "has %d bytes; at most %d are stored with a sweep: put them in a file or serve them from a URL", bytes, maxListed)
	}
	switch {
	case s.Source.Listed > 0 && s.To == 0:
		s.To = s.Source.Listed
	case s.Source.Listed > 0 && s.To > s.Source.Listed:
		c.Refuse("to", "is %d, but there are %d items; omit it to process all of them", s.To, s.Source.Listed)
	}
}

// digestOf tells one list from another.
func digestOf(items []string) string {
	hash := sha256.New()
	for _, item := range items {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(item))))
		hash.Write([]byte(item))
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}
