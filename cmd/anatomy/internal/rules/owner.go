package rules

import (
	"errors"
	"reflect"
	"slices"

	"anatomy/config"
)

// CheckOwnerKeys returns a problem for each key that differs between two files and may be changed only
// by editing the file itself: a key that names files, programs or networks of the machine, or decides
// who may read the collection.
func CheckOwnerKeys(was, now *config.Config) (all []*config.Problem) {
	why := errors.New("it can only be changed in the file itself, because it names files, programs or networks of the server")
	for _, name := range ownerKeys {
		if !reflect.DeepEqual(was.Crawl[name], now.Crawl[name]) {
			all = append(all, now.Problem(why, "crawl", name))
		}
	}
	if was.Search.Synonyms != now.Search.Synonyms {
		all = append(all, now.Problem(why, "search", "synonyms"))
	}
	if was.Search.Logo != now.Search.Logo {
		all = append(all, now.Problem(why, "search", "logo"))
	}
	if was.Search.Login != now.Search.Login {
		why := errors.New("it can only be changed in the file itself, because it decides who may read the collection")
		all = append(all, now.Problem(why, "search", "login"))
	}
	if !slices.Equal(was.Search.Origins, now.Search.Origins) {
		why := errors.New("it can only be changed in the file itself, because it lets other sites read the collection")
		all = append(all, now.Problem(why, "search", originsKey))
	}
	return all
}
