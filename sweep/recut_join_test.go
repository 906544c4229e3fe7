package sweep

import "testing"

func TestWhatASourceHasLearnedIsKeptWhenShardsAreJoined(t *testing.T) {
	shard := func(from, mark, to int64, source string) Shard {
		return Shard{From: from, Mark: mark, To: to, Source: []byte(source)}
	}
	for name, c := range map[string]struct {
		first, second Shard
		want          string
	}{
		"the first is over, both know":           {shard(0, 10, 10, "a"), shard(10, 15, 20, "b"), "b"},
		"the first is over, the first knows":     {shard(0, 10, 10, "a"), shard(10, 15, 20, ""), "a"},
		"the first is over, the second knows":    {shard(0, 10, 10, ""), shard(10, 15, 20, "b"), "b"},
		"the second is untouched, both know":     {shard(0, 5, 10, "a"), shard(10, 10, 20, "b"), "a"},
		"the second is untouched and alone does": {shard(0, 5, 10, ""), shard(10, 10, 20, "b"), "b"},
	} {
		joined := recut([]Shard{c.first, c.second}, 1)
		if len(joined) != 1 || string(joined[0].Source) != c.want || joined[0].From != 0 || joined[0].To != 20 {
			t.Errorf("%s: got %+v, want the source %q", name, joined, c.want)
		}
	}
}
