package window_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fairlead-io/fairlead/internal/window"
)

func TestTheMarkMovesWhenTheHeadIsDone(t *testing.T) {
	w := window.New(4, 10)
	w.Done(12)
	w.Done(11)
	if w.Mark() != 10 || w.Free() != 1 || w.Fits(14) {
		t.Fatalf("mark %d, free %d, 14 fits: %v", w.Mark(), w.Free(), w.Fits(14))
	}
	w.Done(10)
	if w.Mark() != 13 || w.Free() != 4 || !w.Fits(16) || w.Fits(17) {
		t.Fatalf("mark %d, free %d", w.Mark(), w.Free())
	}
}

func TestTheLargestWindowIsKeptInTwoKilobytes(t *testing.T) {
	w := window.New(window.MaxSize, 1_000_000_000_000_000_001)
	w.Done(w.Limit() - 1)
	want := []int64{w.Mark()}
	for i := w.Mark() + 1; i < w.Limit()-1; i++ {
		if rand.N(2) == 0 {
			w.Done(i)
		} else {
			want = append(want, i)
		}
	}
	mark, bitmap := w.Encode()
	if len(bitmap) > 2048 {
		t.Fatalf("the bitmap has %d bytes", len(bitmap))
	}
	restored := window.New(window.MaxSize, 0)
	if err := restored.Restore(mark, bitmap); err != nil {
		t.Fatal(err)
	}
	if got := slices.Collect(restored.Pending); !slices.Equal(got, want) {
		t.Fatalf("%d items are pending, want %d", len(got), len(want))
	}
}

func TestAWindowInOrderHasNoBitmap(t *testing.T) {
	w := window.New(1024, 0)
	w.DoneRange(0, 1000)
	if mark, bitmap := w.Encode(); mark != 1000 || len(bitmap) != 0 {
		t.Fatalf("mark %d, bitmap %v", mark, bitmap)
	}
}

func TestWhatDoesNotFitPanics(t *testing.T) {
	for name, misuse := range map[string]func(){
		"an item beyond":   func() { window.New(8, 0).Done(8) },
		"a range beyond":   func() { window.New(8, 0).DoneRange(0, 9) },
		"no size":          func() { window.New(0, 0) },
		"too large a size": func() { window.New(window.MaxSize+1, 0) },
		"too large a mark": func() { window.New(1, window.MaxIndex+1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("nothing happened")
				}
			}()
			misuse()
		})
	}
}

func TestBitmapsThatCannotBeAreRefused(t *testing.T) {
	full := slices.Repeat([]byte{255}, window.MaxEncoded)
	for name, c := range map[string]struct {
		mark   int64
		bitmap []byte
	}{
		"too long":        {0, append(full, 1)},
		"one item more":   {0, full},
		"zero at the end": {0, []byte{1, 0}},
		"mark beyond":     {window.MaxIndex + 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := window.New(8, 0)
			if err := w.Restore(c.mark, c.bitmap); err == nil {
				t.Error("it was taken")
			}
			if w.Mark() != 0 || w.High() != 0 {
				t.Errorf("it changed the window to [%d, %d)", w.Mark(), w.High())
			}
		})
	}
}

func TestNothingIsAllocatedPerItem(t *testing.T) {
	w := window.New(1024, 0)
	if allocs := testing.AllocsPerRun(100, func() {
		base := w.Mark()
		for i := base + 1; i < base+100; i++ {
			w.Done(i)
		}
		w.Done(base)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// BenchmarkDone ends items out of order, as far as the window allows.
func BenchmarkDone(b *testing.B) {
	const size = 16_384
	order := rand.Perm(size)
	w := window.New(size, 0)
	b.ReportAllocs()
	for b.Loop() {
		base := w.Mark()
		for _, i := range order {
			w.Done(base + int64(i))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/item")
}

// BenchmarkDoneRange ends items in groups of the size that workers take.
func BenchmarkDoneRange(b *testing.B) {
	const size, piece = 16_384, 64
	order := rand.Perm(size / piece)
	w := window.New(size, 0)
	b.ReportAllocs()
	for b.Loop() {
		base := w.Mark()
		for _, i := range order {
			w.DoneRange(base+int64(i*piece), base+int64((i+1)*piece))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/item")
}

func BenchmarkEncode(b *testing.B) {
	w := window.New(window.MaxSize, 3)
	for i := w.Mark() + 1; i < w.Limit(); i += 2 {
		w.Done(i)
	}
	buffer := make([]byte, 0, window.MaxEncoded+64)
	b.ReportAllocs()
	for b.Loop() {
		buffer = w.AppendBitmap(buffer[:0])
	}
}

func TestAWindowThatSkipsIntoTheMiddleForgetsWhatIsBefore(t *testing.T) {
	w := window.New(window.MaxSize, 0)
	for _, i := range []int64{1, 4, 5, 7} {
		w.Done(i)
	}
	w.Skip(3)
	if w.Mark() != 3 || w.High() != 8 {
		t.Fatalf("it is [%d, %d)", w.Mark(), w.High())
	}
	w.Done(window.MaxSize + 2) // the last item that fits
	for i, want := range map[int64]bool{2: true, 3: false, 4: true, 6: false, 7: true, window.MaxSize: false, window.MaxSize + 1: false} {
		if w.IsDone(i) != want {
			t.Errorf("item %d is done: %v", i, !want)
		}
	}
	w.Skip(4)
	if w.Mark() != 6 {
		t.Errorf("the mark is %d, want that of the next item that is not done", w.Mark())
	}
	w.Skip(2)
	if w.Mark() != 6 {
		t.Errorf("the mark moved backwards to %d", w.Mark())
	}
	var seen []int64
	w.Pending(func(i int64) bool { seen = append(seen, i); return len(seen) < 2 })
	if !slices.Equal(seen, []int64{6, 8}) {
		t.Errorf("the first that are pending are %v", seen)
	}
}

func TestAWindowThatJoinsAnOlderOneKeepsItsMark(t *testing.T) {
	w := window.New(64, 0)
	w.DoneRange(0, 10)
	if err := w.Restore(2, []byte{0xff, 0xff}); err != nil { // items 3 to 18
		t.Fatal(err)
	}
	if w.Mark() != 19 || w.High() != 19 {
		t.Errorf("it is [%d, %d)", w.Mark(), w.High())
	}
	w.Done(19 + 63)
	if w.IsDone(20) || w.IsDone(2+window.MaxSize) {
		t.Error("an item is done that was never begun")
	}
}
