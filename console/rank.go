package console

import (
	"cmp"
	"strings"
)

// rank is the quality of a match. Lower values are better.
type rank int

const (
	rankExact rank = iota
	rankPrefix
	rankSubstring
	rankSubsequence
	rankNone
)

// compareHits orders hits by rank. Within a rank, a shorter title is closer to the query;
// exact matches keep their order.
func compareHits(a, b hit) int {
	if a.rank != b.rank || a.rank == rankExact {
		return cmp.Compare(a.rank, b.rank)
	}
	return cmp.Compare(len(a.Title), len(b.Title))
}

// rankOf returns how well a name matches a query. Case is ignored.
func rankOf(name, query string) rank {
	name, query = strings.ToLower(name), strings.ToLower(query)
	switch {
	case name == query:
		return rankExact
	case strings.HasPrefix(name, query):
		return rankPrefix
	case strings.Contains(name, query):
		return rankSubstring
	case hasSubsequence(name, query):
		return rankSubsequence
	}
	return rankNone
}

// hasSubsequence reports whether a name contains the characters of a query in their order.
func hasSubsequence(name, query string) bool {
	left := []rune(query)
	for _, char := range name {
		if len(left) > 0 && char == left[0] {
			left = left[1:]
		}
	}
	return len(left) == 0
}
