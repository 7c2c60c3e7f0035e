package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"anatomy/cluster/bucket"
)

// metadata loses all that is not a generation, and restores from these.
func (b *bench) metadata() (string, error) {
	for _, name := range []string{"bucket/owners", "bucket/nodes", "bucket/clock", "owner", "standby", "second", "noisy"} {
		if err := os.RemoveAll(b.path(name)); err != nil {
			return "", err
		}
	}
	if _, err := b.cluster("restore", "--data", b.path("restored")); err != nil {
		return "", err
	}
	if err := b.compare("restored", b.said); err != nil {
		return "", err
	}
	_, err := b.anatomy("check", "--data", b.path("restored"))
	return "all claims, announcements and data folders of nodes were deleted: cluster restore makes a folder that answers as the last owner did", err
}

// images damages the newest generation.
func (b *bench) images() (string, error) {
	names, err := b.generations()
	if err != nil {
		return "", err
	}
	newest, before := names[len(names)-1], names[len(names)-2]
	restore, err := b.change(newest, flip)
	if err != nil {
		return "", err
	}
	if out, err := b.cluster("restore", "--data", b.path("damaged")); err == nil || !strings.Contains(out, newest) {
		return "", fmt.Errorf("%s is damaged, and restore says %w\n%s", newest, err, out)
	}
	_, err = b.cluster("restore", "--data", b.path("earlier"), "--generation", before)
	if err == nil {
		_, err = b.anatomy("check", "--data", b.path("earlier"))
	}
	return "a bit of the newest generation was flipped: restore names it, and restores the one before with --generation",
		errors.Join(err, restore())
}

// generations returns the names of all generations.
func (b *bench) generations() (names []string, err error) {
	for o, err := range b.bucket.List(b.ctx, "generations/", "") {
		if err != nil {
			return nil, err
		}
		names = append(names, o.Name)
	}
	if len(names) < 2 {
		return nil, fmt.Errorf("the bucket has %d generations", len(names))
	}
	return names, nil
}

// snapshots restores the first generation.
func (b *bench) snapshots() (string, error) {
	if _, err := b.cluster("restore", "--data", b.path("then"), "--generation", b.first); err != nil {
		return "", err
	}
	n, err := b.pages("then")
	if err == nil && n != firstPages {
		err = fmt.Errorf("the folder has %d pages, and the first crawl had %d", n, firstPages)
	}
	return fmt.Sprintf("the first of the generations was restored: %d pages of %d", firstPages, sitePages), err
}

// trash removes a page permanently, restores it, and lets a day pass.
func (b *bench) trash() (string, error) {
	before, _, err := b.newest()
	if err != nil {
		return "", err
	}
	if _, err := b.anatomy("remove", "--purge", "--data", b.path("restored"), b.removed()); err != nil {
		return "", err
	}
	if err := b.collect(); err != nil {
		return "", err
	}
	all, err := b.objects("objects/")
	if err != nil {
		return "", err
	}
	if err := b.undelete(before); err != nil {
		return "", err
	}
	if gone, err := b.pass(23*time.Hour, all); err != nil || gone > 0 {
		return "", fmt.Errorf("after 23 h %d of %d objects are gone: %w", gone, len(all), err)
	}
	_, g, err := b.newest()
	if err != nil {
		return "", err
	}
	unneeded, needed := 0, needs(g)
	for name := range all {
		if !needed[name] {
			unneeded++
		}
	}
	gone, err := b.pass(2*time.Hour, all)
	if err == nil && (gone != unneeded || gone == 0) {
		err = fmt.Errorf("after 25 h %d of %d objects are gone, and %d are not needed", gone, len(all), unneeded)
	}
	if err == nil {
		_, err = b.cluster("check")
	}
	return fmt.Sprintf("a page was removed permanently, and restored with the generation before; files were aged: "+
		"after 23 h all %d objects are there, after 25 h the %d are gone that no generation needs", len(all), gone), err
}

// removed returns the URL of the page that is removed.
func (b *bench) removed() string { return strings.TrimSuffix(b.address, "0") + "7" }

// collect publishes the restored folder, and deletes what nobody needs any more.
func (b *bench) collect() error {
	p, err := b.publisher("restored")
	if err == nil {
		err = p.Publish(b.ctx)
	}
	return err
}

// pass lets time pass and collects. It returns how many of the objects are gone.
func (b *bench) pass(d time.Duration, all map[string]bucket.Object) (gone int, err error) {
	if err := b.age(d); err != nil {
		return 0, err
	}
	if err := b.collect(); err != nil {
		return 0, err
	}
	left, err := b.objects("objects/")
	for name := range all {
		if _, ok := left[name]; !ok {
			gone++
		}
	}
	return gone, err
}

// undelete restores a generation from before the page was removed.
func (b *bench) undelete(generation string) error {
	if _, err := b.cluster("restore", "--data", b.path("undeleted"), "--generation", generation); err != nil {
		return err
	}
	for folder, has := range map[string]bool{"restored": false, "undeleted": true} {
		out, err := b.anatomy("search", "--data", b.path(folder), "rare7")
		if err != nil || strings.Contains(out, b.removed()) != has {
			return fmt.Errorf("%s: %w\n%s", folder, err, out)
		}
	}
	return b.compare("undeleted", b.said)
}
