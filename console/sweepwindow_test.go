package console

import "testing"

func TestTheWindowStandsBehindTheMark(t *testing.T) {
	p := pictureShard(100, 1100, 600, 550, 200)
	if !p.Known || p.Mark != 500 || p.Window != 200 || p.InWindow != 50 || p.Size != 200 || p.Filled != 250 {
		t.Errorf("got %+v", p)
	}
	if p.Lens != "500.0,14 700.0,14 1000,24 0,24" {
		t.Errorf("the lens is %s", p.Lens)
	}
}

func TestATinyWindowOfAHugeShardCanBeSeen(t *testing.T) {
	p := pictureShard(0, 10_000_000_000, 9_999_999_999, 9_999_999_999, 1024)
	if p.Window < shardLeast || p.Mark+p.Window > shardWidth {
		t.Errorf("got %+v", p)
	}
	if p.Size != 1 {
		t.Errorf("one item is left, and the window has %d", p.Size)
	}
}

func TestAShardThatIsDoneHasNoWindow(t *testing.T) {
	p := pictureShard(0, 100, 100, 100, 1024)
	if p.Mark != shardWidth || p.Window != 0 || p.Size != 0 || p.InWindow != 0 {
		t.Errorf("got %+v", p)
	}
}

func TestAShardWithoutAnEndShowsItsWindowOnly(t *testing.T) {
	p := pictureShard(0, 0, 5000, 5512, 1024)
	if p.Known || p.Window != 0 || p.InWindow != 512 || p.Filled != 500 {
		t.Errorf("got %+v", p)
	}
}
