package console

import "fmt"

const (
	shardWidth = 1000.0 // width of a shard's picture
	shardLeast = 4.0    // minimum width of parts that would otherwise be invisible
)

// shardPicture shows the progress of a shard: the whole shard at the top, and below it the
// window behind its mark, enlarged.
type shardPicture struct {
	Known    bool    // whether the end of the shard is known
	Mark     float64 // position of the mark
	Window   float64 // width of the window
	Lens     string  // corners of the shape that connects the window with its enlargement
	Filled   float64 // width of the done part in the enlarged window
	InWindow int64   // number of done items behind the mark
	Size     int64   // number of items that fit into the window
}

// pictureShard draws a shard of the items [from, to). All items before mark are done, ended
// items have ended in total, and the window has room for window items.
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
