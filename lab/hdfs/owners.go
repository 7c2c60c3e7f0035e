package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"anatomy/cluster/lease"
	"anatomy/cluster/replica"
)

const (
	silence = 8 * time.Second     // after which an owner is taken for dead
	longer  = silence + silence/2 // so that it would have been
)

// reports starts two nodes and reads cluster status.
func (b *bench) reports() (done string, err error) {
	b.site.allow(firstPages + 40)
	if b.a, err = b.start("owner"); err != nil {
		return "", err
	}
	if err := b.hear(b.a, ownsText, 1); err != nil {
		return "", err
	}
	if b.b, err = b.start("standby"); err != nil {
		return "", err
	}
	if err := b.hear(b.b, standsText, 1); err != nil {
		return "", err
	}
	return "cluster status lists the owner and a node that stands by, with the age of their generations",
		b.until("both nodes announce themselves", func() (bool, error) {
			out, err := b.cluster("status")
			return strings.Contains(out, "  owner  ") && strings.Contains(out, "  standby  "), err
		})
}

// upToDate waits until the bucket has a number of pages, and a member the newest generation.
func (b *bench) upToDate(m *member, pages int) error {
	err := b.until(fmt.Sprintf("%d pages are in the bucket", pages), func() (bool, error) {
		if err := b.copied.Follow(b.ctx); err != nil {
			return false, err
		}
		n, err := b.pages("copy")
		return n >= pages, err
	})
	if err != nil {
		return err
	}
	return b.until(m.folder+" is up to date", func() (bool, error) {
		name, _ := replica.Last(b.path(m.folder))
		return name.String() >= b.copied.Status().Generation, nil
	})
}

// heartbeats kills the owner.
func (b *bench) heartbeats() (string, error) {
	const had, want = firstPages + 40, firstPages + 60
	if err := b.upToDate(b.b, had); err != nil {
		return "", err
	}
	b.a.kill()
	killed := time.Now()
	if err := b.hear(b.b, ownsText, 1); err != nil {
		return "", err
	}
	took := time.Since(killed)
	b.site.allow(want)
	return fmt.Sprintf("the owner was killed: the other node owned the collection after %.1f s, with all %d pages, and crawled on to %d",
		took.Seconds(), had, want), b.crawledOn(want)
}

// crawledOn waits until the bucket has a number of pages.
func (b *bench) crawledOn(pages int) error {
	return b.upToDate(&member{folder: "copy"}, pages)
}

// fencing suspends the owner until another one is there, and wakes it.
func (b *bench) fencing() (done string, err error) {
	if b.a, err = b.start("owner"); err != nil {
		return "", err
	}
	if err := b.hear(b.a, standsText, 1); err != nil {
		return "", err
	}
	old, err := lease.Find(b.ctx, b.bucket)
	if err != nil {
		return "", err
	}
	b.b.process.Process.Signal(syscall.SIGSTOP)
	err = b.hear(b.a, ownsText, 1)
	b.b.process.Process.Signal(syscall.SIGCONT)
	if err == nil {
		err = b.hear(b.b, lostText, 1)
	}
	if err != nil {
		return "", err
	}
	b.site.allow(firstPages + 80)
	if err := b.crawledOn(firstPages + 80); err != nil {
		return "", err
	}
	now, err := replica.Newest(b.ctx, b.bucket)
	if err == nil && now.Epoch <= old.Epoch {
		err = fmt.Errorf("the newest generation is of epoch %d", now.Epoch)
	}
	if err == nil {
		err = b.until("the old owner keeps a copy", func() (bool, error) {
			at, _ := replica.Last(b.path(b.b.folder))
			return at.Epoch > old.Epoch, nil
		})
	}
	return fmt.Sprintf("the owner of epoch %d was suspended and woken: it says that it was replaced, and keeps a copy of epoch %d",
		old.Epoch, now.Epoch), err
}

// safeMode takes the bucket away and kills the owner.
func (b *bench) safeMode() (string, error) {
	err := b.until("the copies are the same", func() (bool, error) { return b.compareCopies() == nil, b.copied.Follow(b.ctx) })
	if err != nil {
		return "", err
	}
	before, err := b.objects("objects/")
	if err != nil {
		return "", err
	}
	owned := b.b.says(ownsText)
	restore, err := b.hide()
	if err != nil {
		return "", err
	}
	b.a.kill()
	time.Sleep(longer)
	err = b.compareCopies()
	if b.b.says(ownsText) != owned {
		err = errors.Join(err, errors.New("a node owns the collection without the bucket"))
	}
	if err := errors.Join(err, restore()); err != nil {
		return "", err
	}
	came := time.Now()
	after, err := b.objects("objects/")
	if err != nil {
		return "", err
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			return "", fmt.Errorf("%s was deleted", name)
		}
	}
	if err := b.hear(b.b, ownsText, owned+1); err != nil {
		return "", err
	}
	took := time.Since(came)
	if took < silence/2 {
		err = fmt.Errorf("the owner was replaced %v after the bucket came back", took)
	}
	return fmt.Sprintf("bucket away and owner killed: no new owner in %v, nothing deleted, copies answer; "+
		"the bucket came back: the other node took over after %.1f s", longer, took.Seconds()), err
}

// compareCopies fails unless the node that stands by and the copy give the same answers.
func (b *bench) compareCopies() error {
	said, err := b.answers("copy")
	if err == nil {
		err = b.compare(b.b.folder, said)
	}
	return err
}

// disks crawls into a folder with a second disk, and takes that away.
func (b *bench) disks() (string, error) {
	disk := b.path("disk")
	if _, err := b.anatomy(b.crawl("spread", "--data", disk)...); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(disk, "repository", "*.repo"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("no pages are on the second disk: %w", err)
	}
	if err := os.Rename(disk, disk+".away"); err != nil {
		return "", err
	}
	for _, command := range []string{"check", "crawl"} {
		out, err := b.anatomy(command, "--data", b.path("spread"))
		if err == nil || !strings.Contains(out, disk+" is missing or not mounted") {
			return "", fmt.Errorf("the disk is away, and %s says %w\n%s", command, err, out)
		}
	}
	if err := os.Rename(disk+".away", disk); err != nil {
		return "", err
	}
	_, err = b.anatomy("check", "--data", b.path("spread"))
	return fmt.Sprintf("a crawl put %d pages on a second disk, which was taken away: check and crawl name it, and all is whole when it is back",
		sitePages), err
}

// drain has the owner hand over, which completes the crawl.
func (b *bench) drain() (done string, err error) {
	if b.a, err = b.start("owner"); err != nil {
		return "", err
	}
	if err := b.hear(b.a, standsText, 1); err != nil {
		return "", err
	}
	began := time.Now()
	if _, err := b.cluster("drain"); err != nil {
		return "", err
	}
	if err := b.hear(b.a, ownsText, 1); err != nil {
		return "", err
	}
	took := time.Since(began)
	b.site.allow(sitePages)
	if err := b.crawledOn(sitePages); err != nil {
		return "", err
	}
	b.b.stop()
	b.a.stop()
	if err := b.copied.Follow(b.ctx); err != nil {
		return "", err
	}
	if b.said, err = b.answers("copy"); err != nil {
		return "", err
	}
	return fmt.Sprintf("the owner handed over in %.1f s, and the crawl was completed: %d pages", took.Seconds(), sitePages),
		b.compare("owner", b.said)
}
