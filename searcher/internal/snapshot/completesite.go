package snapshot

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"anatomy/weburl"
)

// maxSiteHosts bounds the hosts that are examined to complete site: in one segment.
const maxSiteHosts = 1000

// ProposeSites completes a site: at the end of the typed text with hosts of some parts: first hosts that
// begin with it, then hosts with another label that begins with it, shorter names first. It returns nil
// if the text ends with something else.
func ProposeSites(parts iter.Seq[*Part], typed string) (all []string) {
	at := strings.LastIndexAny(typed, " (") + 1
	begin, ok := strings.CutPrefix(strings.ToLower(typed[at:]), "site:")
	word := begin[:len(begin)-len(strings.TrimLeftFunc(begin, func(r rune) bool { return r != '.' && r != '-' }))]
	if !ok || word == "" {
		return nil
	}
	rank := map[string]int{}
	for part := range parts {
		labels := part.HostLabels()
		from, _ := slices.BinarySearchFunc(labels, word, func(l HostLabel, word string) int {
			return cmp.Compare(l.Word, word)
		})
		for _, l := range labels[from:min(from+maxSiteHosts, len(labels))] {
			if !strings.HasPrefix(l.Word, word) {
				break
			}
			switch host := weburl.HostOfKey(l.Host); {
			case strings.HasPrefix(strings.TrimPrefix(host, "www."), begin), strings.HasPrefix(host, begin):
				rank[host] = 0
			case strings.Contains(host, "."+begin), strings.Contains(host, "-"+begin):
				rank[host] = 1
			}
		}
	}
	for host := range rank {
		all = append(all, host)
	}
	slices.SortFunc(all, func(x, y string) int {
		return cmp.Or(cmp.Compare(rank[x], rank[y]), cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
	for i, host := range all {
		all[i] = typed[:at] + "site:" + host
	}
	return all
}
