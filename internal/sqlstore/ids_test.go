package sqlstore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/fairlead-io/fairlead/internal/tier"
)

func TestIDsAscendWithinACallAndAreNeverGivenTwice(t *testing.T) {
	t.Attr(tier.LongAttr, "rapid draws five times as many cases")
	rapid.Check(t, func(t *rapid.T) {
		next := int64(1)
		size := rapid.Int64Range(1, 5).Draw(t, "block size")
		ids := &IDs{Size: size, Alloc: func(_ context.Context, n int) ([]int64, error) {
			blocks := make([]int64, n)
			for i := range blocks {
				blocks[i] = next
				next += size * rapid.Int64Range(1, 3).Draw(t, "blocks that others took")
			}
			return blocks, nil
		}}
		given := map[int64]bool{}
		for range rapid.IntRange(1, 10).Draw(t, "calls") {
			got := make([]int64, rapid.IntRange(0, 20).Draw(t, "ids"))
			if len(got) > 0 && int64(len(got)) <= size && rapid.Bool().Draw(t, "in a run") {
				first, err := ids.Run(t.Context(), len(got))
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					got[i] = first + int64(i)
				}
			} else if err := ids.Fill(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(got) {
				t.Fatalf("%v do not ascend", got)
			}
			for _, id := range got {
				if given[id] {
					t.Fatalf("%d was given twice", id)
				}
				given[id] = true
			}
		}
	})
}

func TestAFailedAllocationGivesNothing(t *testing.T) {
	broken := errors.New("no connection")
	ids := &IDs{Size: 10, Alloc: func(context.Context, int) ([]int64, error) { return nil, broken }}
	got := make([]int64, 3)
	if err := ids.Fill(t.Context(), got); !errors.Is(err, broken) || !slices.Equal(got, []int64{0, 0, 0}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestWhoWaitsForIDsMayGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := &IDs{Size: 10, Alloc: func(ctx context.Context, _ int) ([]int64, error) {
			<-ctx.Done() // the database does not respond
			return nil, ctx.Err()
		}}
		patient, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		go func() { _ = ids.Fill(patient, make([]int64, 1)) }()
		synctest.Wait()
		hasty, cancelHasty := context.WithTimeout(t.Context(), time.Second)
		defer cancelHasty()
		began := time.Now()
		if err := ids.Fill(hasty, make([]int64, 1)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
		cancel()
	})
}

func TestARunLongerThanABlockIsRefused(t *testing.T) {
	ids := &IDs{Size: 10, Alloc: func(context.Context, int) ([]int64, error) { return []int64{1}, nil }}
	if _, err := ids.Run(t.Context(), 11); err == nil {
		t.Error("11 ids of a block of 10 were given")
	}
	if first, err := ids.Run(t.Context(), 10); err != nil || first != 1 {
		t.Errorf("got %d, %v", first, err)
	}
}

func TestIDsThatWereDroppedAreNotGiven(t *testing.T) {
	next := int64(1)
	ids := &IDs{Size: 10, Alloc: func(context.Context, int) ([]int64, error) {
		first := next
		next += 100
		return []int64{first}, nil
	}}
	got := make([]int64, 1)
	for _, want := range []int64{1, 101} {
		if err := ids.Fill(t.Context(), got); err != nil || got[0] != want || ids.Highest() != want+9 {
			t.Errorf("got %v up to %d, %v", got, ids.Highest(), err)
		}
		ids.Drop()
	}
	if first, err := ids.Run(t.Context(), 2); err != nil || first != 201 {
		t.Errorf("a run begins with %d, %v", first, err)
	}
}

// Lists by creation time rely on this.
func TestIDsThatWereSetAsideLongAgoAreNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := int64(1)
		ids := &IDs{Size: 1000, Alloc: func(context.Context, int) ([]int64, error) {
			first := next
			next += 1000
			return []int64{first}, nil
		}}
		take := func() int64 {
			t.Helper()
			got := make([]int64, 1)
			if err := ids.Fill(t.Context(), got); err != nil {
				t.Fatal(err)
			}
			return got[0]
		}
		run := func() int64 {
			t.Helper()
			first, err := ids.Run(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			return first
		}
		got := []int64{take()}
		time.Sleep(idsHeld)
		got = append(got, take())
		time.Sleep(time.Millisecond)
		got = append(got, take(), run())
		time.Sleep(idsHeld + time.Millisecond)
		got = append(got, run())
		if want := []int64{1, 2, 1001, 1002, 2001}; !slices.Equal(got, want) {
			t.Errorf("the ids are %v, not %v", got, want)
		}
	})
}

func TestABlockIsUsedUpBeforeAnotherIsReserved(t *testing.T) {
	reserved := int64(0)
	ids := &IDs{Size: 10, Alloc: func(_ context.Context, n int) ([]int64, error) {
		blocks := make([]int64, n)
		for i := range blocks {
			blocks[i] = 1 + 10*reserved
			reserved++
		}
		return blocks, nil
	}}
	for call, want := range []int64{1, 1, 3} { // blocks, after 4, 10 and 30 ids
		if err := ids.Fill(t.Context(), make([]int64, []int{4, 6, 20}[call])); err != nil || reserved != want {
			t.Errorf("call %d: %d blocks are reserved, want %d: %v", call, reserved, want, err)
		}
	}
	for range 2 {
		if _, err := ids.Run(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
	}
	if reserved != 4 {
		t.Errorf("two runs of half a block took %d blocks", reserved-3)
	}
}
