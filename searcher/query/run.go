package query

// Runs returns the runs of adjacent words of a query: single words anywhere on a page that are
// neither in quotes nor excluded, with the text of each as typed. Anything else ends a run.
func (n *Node) Runs() (runs [][]*Node) {
	if n == nil {
		return nil
	}
	kids := n.Kids
	if n.Op == Words {
		kids = []*Node{n}
	} else if n.Op != And && n.Op != Most {
		return nil
	}
	var run []*Node
	for _, kid := range kids {
		if kid.Op == Words && len(kid.Words) == 1 && kid.In == Anywhere && !kid.Exact {
			run = append(run, kid)
			continue
		}
		runs, run = append(runs, run), nil
		if kid.Op == Most {
			runs = append(runs, kid.Runs()...)
		}
	}
	return append(runs, run)
}
