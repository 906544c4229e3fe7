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
	cmd.Flags().IntVar(limit, "limit", defaultLimit, "how many to show, at most; 0: all")
}

// pages fetches pages until there are as many as wanted, or no more.
func pages(limit int, fetch func(size int32) (more bool, got int, err error)) error {
	if limit < 0 {
		return Usagef("--limit %d: it must be positive, or 0 for all", limit)
	}
	for left := limit; ; {
		size := largestPage
		if limit > 0 {
			size = min(left, largestPage)
		}
		more, got, err := fetch(int32(size))
		if left -= got; err != nil || !more || limit > 0 && left <= 0 {
			return err
		}
	}
}

// noteMore tells people that there is more than they see.
func (c *call) noteMore(next string, limit int) {
	if next != "" && c.format == "table" {
		fmt.Fprintf(c.errors.Out, "the first %d are shown; --limit 0 shows all\n", limit)
	}
}
