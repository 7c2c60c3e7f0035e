package rig

import (
	"fmt"
	"strconv"
	"strings"
)

// Numbers returns the numbers in a list that commas separate. It has an error if one is not above 0.
func Numbers(list string) (all []int, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%q is not a number above 0", text)
			}
			all = append(all, n)
		}
	}
	return all, nil
}
