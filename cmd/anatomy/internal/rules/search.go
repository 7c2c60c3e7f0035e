package rules

import "anatomy/searcher"

// OpenSearch sets the options that searches take from the anatomy.toml of a data folder, and follow while
// they run: synonyms, pins, the rank vector, languages and labels. onError receives the errors of later
// versions, which are not used: stays says which part stays as it was.
func OpenSearch(dir string, o *searcher.Options, onError func(stays string, err error)) (err error) {
	report := func(stays string) func(error) {
		return func(err error) { onError(stays, err) }
	}
	if o.Synonyms, err = openSynonyms(dir, report("the synonyms stay as they were")); err != nil {
		return err
	}
	if o.Pins, err = openPins(dir, report("the pins stay as they were")); err != nil {
		return err
	}
	if o.Ranking, err = openRanking(dir, report("the rank vector of searches stays as it was")); err != nil {
		return err
	}
	if o.Languages, err = openLanguages(dir, report("the languages stay as they were")); err != nil {
		return err
	}
	o.Labels, err = openLabels(dir, report("the products and versions stay as they were"))
	return err
}
