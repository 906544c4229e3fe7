package window_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
	"github.com/fairlead-io/fairlead/internal/window"
)

// model is a window implemented with a map.
type model struct {
	size, mark, high int64
	done             map[int64]bool
}

func newModel(size int, mark int64) *model {
	return &model{size: int64(size), mark: mark, high: mark, done: map[int64]bool{}}
}

func (m *model) limit() int64 { return max(m.mark+m.size, m.high) }

func (m *model) set(i int64) {
	if i < m.mark {
		return
	}
	m.done[i] = true
	m.high = max(m.high, i+1)
	m.settle()
}

func (m *model) skip(mark int64) {
	for i := range m.done {
		if i < mark {
			delete(m.done, i)
		}
	}
	m.mark = max(m.mark, mark)
	m.high = max(m.high, m.mark)
	m.settle()
}

func (m *model) settle() {
	for m.done[m.mark] {
		delete(m.done, m.mark)
		m.mark++
	}
}

func (m *model) isDone(i int64) bool { return i < m.mark || m.done[i] }

func (m *model) pending() []int64 {
	var all []int64
	for i := m.mark; i < m.high; i++ {
		if !m.done[i] {
			all = append(all, i)
		}
	}
	return all
}

// fatal is the common interface of tests, fuzz targets and properties.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

func compare(t fatal, w *window.Window, m *model) {
	t.Helper()
	if w.Mark() != m.mark || w.High() != m.high || w.Limit() != m.limit() {
		t.Fatalf("mark, high, limit are %d, %d, %d; want %d, %d, %d", w.Mark(), w.High(), w.Limit(), m.mark, m.high, m.limit())
	}
	if got, want := slices.Collect(w.Pending), m.pending(); !slices.Equal(got, want) {
		t.Fatalf("pending are %v, want %v", got, want)
	}
}

// compareItems compares each item around the window and the gap at that item.
func compareItems(t fatal, w *window.Window, m *model) {
	t.Helper()
	for i := m.mark - 2; i < m.limit()+2; i++ {
		if w.IsDone(i) != m.isDone(i) {
			t.Fatalf("item %d is done: %v, want %v", i, w.IsDone(i), m.isDone(i))
		}
		if w.Fits(i) != (i < m.limit()) {
			t.Fatalf("item %d fits: %v", i, w.Fits(i))
		}
		start := i
		for start < m.high && m.isDone(start) {
			start++
		}
		end := start
		for end < m.limit() && !m.isDone(end) {
			end++
		}
		if gotStart, gotEnd := w.Gap(i); gotStart != start || gotEnd != end {
			t.Fatalf("the gap from %d is [%d, %d), want [%d, %d)", i, gotStart, gotEnd, start, end)
		}
	}
}

// play applies the operations encoded in a script to a window and to the model.
func play(t fatal, script []byte) {
	if len(script) < 4 {
		return
	}
	largest := 300 // most errors show up quickly in small windows
	if script[2]%4 == 0 {
		largest = window.MaxSize
	}
	size := 1 + int(binary.LittleEndian.Uint16(script))%largest
	start := int64(int8(script[2])) * 37
	w, m := window.New(size, start), newModel(size, start)
	for script = script[3:]; len(script) >= 4; script = script[4:] {
		at := int64(binary.LittleEndian.Uint16(script[1:]))
		length := int64(script[3])
		before := m.mark
		switch op := script[0] % 8; op {
		case 0, 1, 2:
			i := m.mark - 3 + at%(m.limit()-m.mark+3)
			news := !m.isDone(i)
			m.set(i)
			if w.Done(i) != news {
				t.Fatalf("Done(%d) says %v", i, !news)
			}
		case 3, 4:
			from := m.mark - 3 + at%(m.limit()-m.mark+3)
			to := min(from+length, m.limit())
			for i := from; i < to; i++ {
				m.set(i)
			}
			w.DoneRange(from, to)
		case 5: // the head
			m.set(m.mark)
			w.Done(w.Mark())
		case 6:
			to := m.mark - 3 + at
			m.skip(to)
			w.Skip(to)
		case 7: // a crash, and a size of its own
			mark, bitmap := w.Encode()
			if len(bitmap) > window.MaxEncoded {
				t.Fatalf("the bitmap has %d bytes", len(bitmap))
			}
			size := 1 + int(at)%largest
			w, m.size = window.New(size, start), int64(size)
			if err := w.Restore(mark, bitmap); err != nil {
				t.Fatalf("restore: %v", err)
			}
		}
		compare(t, w, m)
		if w.Mark() < before {
			t.Fatalf("the mark moved back from %d to %d", before, w.Mark())
		}
	}
	if m.limit()-m.mark < 2000 {
		compareItems(t, w, m)
	}
}

func FuzzAWindowDoesWhatAMapDoes(f *testing.F) {
	f.Add([]byte{100, 0, 0, 0, 5, 0, 0, 5, 0, 0, 0, 7, 10, 0, 0})
	f.Add([]byte{255, 63, 200, 3, 255, 63, 255, 0, 0, 0, 0, 7, 1, 0, 0, 5, 0, 0, 0})
	f.Add([]byte{1, 0, 1, 5, 0, 0, 0, 6, 255, 255, 0, 3, 0, 0, 9})
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 400 {
			return
		}
		play(t, script)
	})
}

func TestAWindowDoesWhatAMapDoes(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		play(t, rapid.SliceOfN(rapid.Byte(), 4, 120).Draw(t, "script"))
	})
}

// External input is rejected or accepted, and never moves the mark back.
func FuzzAnyBitmapIsTakenOrRefused(f *testing.F) {
	f.Add(int64(5), []byte{1}, int64(3), []byte{0, 0, 7})
	f.Add(int64(0), make([]byte, window.MaxEncoded+1), int64(0), []byte{0})
	f.Fuzz(func(t *testing.T, mark1 int64, bitmap1 []byte, mark2 int64, bitmap2 []byte) {
		w := window.New(64, -window.MaxIndex)
		if w.Restore(mark1, bitmap1) != nil {
			return
		}
		before := w.Mark()
		if before != mark1 {
			t.Fatalf("the mark is %d, was %d", before, mark1)
		}
		done := map[int64]bool{}
		for i := before; i < w.High(); i++ {
			done[i] = w.IsDone(i)
		}
		if err := w.Restore(mark2, bitmap2); err != nil && (w.Mark() != before || len(done) != int(w.High()-before)) {
			t.Fatalf("a refused bitmap changed the window: %v", err)
		}
		if w.Mark() < before || w.Mark() < mark2 && w.Mark() != before {
			t.Fatalf("the mark is %d after %d and %d", w.Mark(), before, mark2)
		}
		for i, was := range done {
			if was && !w.IsDone(i) {
				t.Fatalf("item %d is no longer done", i)
			}
		}
		again := window.New(64, -window.MaxIndex)
		mark, bitmap := w.Encode()
		if err := again.Restore(mark, bitmap); err != nil {
			t.Fatal(err)
		}
		if again.Mark() != w.Mark() || again.High() != w.High() {
			t.Fatalf("[%d, %d) came back as [%d, %d)", w.Mark(), w.High(), again.Mark(), again.High())
		}
	})
}
