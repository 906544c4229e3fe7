package console

import "fmt"

const (
	shardWidth = 1000.0 // of the picture of a shard
	shardLeast = 4.0    // width of what is there and could not be seen
)

// shardPicture is where a shard stands: all of it above, and below the window behind its
// mark, enlarged.
type shardPicture struct {
	Known    bool    // where the shard ends
	Mark     float64 // where the mark is
	Window   float64 // how wide the window is
	Lens     string  // corners of what leads from the window to its enlargement
	Filled   float64 // how wide what is done in the enlarged window is
	InWindow int64   // items behind the mark that are done
	Size     int64   // items that the window has room for
}

// pictureShard draws a shard of items from to to, whose mark is where everything before
// is done, of which ended items have ended, with a window of so many.
func pictureShard(from, to, mark, ended, window int64) shardPicture {
	p := shardPicture{Known: to > from, InWindow: max(0, ended-(mark-from)), Size: window}
	if p.Known {
		p.Size = max(0, min(window, to-mark))
		scale := shardWidth / float64(to-from)
		p.Mark = min(shardWidth, max(0, float64(mark-from)*scale))
		if p.Size > 0 {
			p.Mark = min(p.Mark, shardWidth-shardLeast)
			p.Window = min(shardWidth-p.Mark, max(shardLeast, float64(p.Size)*scale))
		}
	}
	if p.Size > 0 {
		p.InWindow = min(p.InWindow, p.Size)
		p.Filled = shardWidth * float64(p.InWindow) / float64(p.Size)
		if p.InWindow > 0 {
			p.Filled = max(shardLeast, p.Filled)
		}
	}
	p.Lens = fmt.Sprintf("%.1f,14 %.1f,14 %.0f,24 0,24", p.Mark, p.Mark+p.Window, shardWidth)
	return p
}
