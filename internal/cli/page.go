package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

const (
	defaultLimit = 100
	largestPage  = 1000
)

func limits(cmd *cobra.Command, limit *int) {
	cmd.Flags().IntVar(limit, "limit", defaultLimit, "maximum number of entries to show (0 = all)")
}

// paged is a page of a list.
type paged[Item any] interface {
	GetItems() []Item
	GetNextPageToken() string
}

// pages fetches pages until it has the wanted number of items or there are no more. next is
// the token of the following page, or "" if there is none.
func pages[Item any, Page paged[Item]](limit int, fetch func(size int32, token string) (Page, error)) (items []Item, next string, err error) {
	if limit < 0 {
		return nil, "", Usagef("--limit %d must be positive, or 0 for all entries", limit)
	}
	for {
		size := largestPage
		if limit > 0 {
			size = min(limit-len(items), largestPage)
		}
		page, err := fetch(int32(size), next)
		if err != nil {
			return nil, "", err
		}
		items, next = append(items, page.GetItems()...), page.GetNextPageToken()
		if next == "" || limit > 0 && len(items) >= limit {
			return items, next, nil
		}
	}
}

// noteMore reports, for table output, that there are more entries.
func (c *call) noteMore(next string, limit int) {
	if next != "" && c.format == "table" {
		fmt.Fprintf(c.errors.Out, "showing the first %d; use --limit 0 to show all\n", limit)
	}
}
