// Package tag selects the tag of a repository that a container should move to.
//
// It is pure: text in, selection out. Compile turns the rules of a container into a
// Selector, Select answers with the best tag, and Explain gives the same answer with
// the reason for every tag. A Selector never changes and may be used concurrently.
//
// Files in the order of a selection: selector.go and compiler.go (rules), pattern.go and filter.go (include,
// exclude, transform), parse.go, parsesuffix.go, prerelease.go, parsedate.go, calendar.go and number.go (a tag is
// read), base.go, distribution.go, floating.go and rolling.go (what its parts stand for), compare.go (versions
// compare), search.go, judge.go and family.go (which tags are eligible), leap.go and path.go (a jump that is
// implausible, and the steps on the way), best.go and select.go (the best), explain.go (why).
//
// # How a tag is read
//
// A tag is a prefix, numbers and a suffix: "php", 8.2, "-fpm-alpine3.19".
//
//   - The numbers begin at the first digit that is not part of a name such as amd64 or
//     sha256, nor of a word before the version (pg14-v0.2.0, alpine3.19-1.2.3), and go on
//     while dots join them. Leading zeros do not matter: 22.04 and 2024.01 are versions. A
//     dashed date (2024-01-15) is three numbers. The count of a date that was built again
//     (20240114.1) makes it no more precise.
//
//   - These are no versions: one number with a leading zero, a number above 2^53-1, a
//     commit hash (abc1234, and 1234567, which can be one), a pull request (pr-123), and a
//     channel whose number says what it is for (latest-pg16, lts-alpine3.20).
//
//   - A prerelease word in the suffix (or in the prefix: nightly-1.2) makes a
//     prerelease. In rising order, words on one line being equal:
//
//     exp, experimental;
//     pr;
//     dev, develop, development;
//     nightly, daily;
//     canary;
//     edge;
//     unstable;
//     insider, insiders;
//     next;
//     snapshot;
//     alpha, and a as in 1.0a1 or -a.1;
//     beta, and b as in 2022.2.0b1 or -b.52;
//     milestone, and m as in -M3;
//     pre, preview, prerelease;
//     ea;
//     rc, cr, candidate, and c as in 1.0c1.
//
//     Everything else is not: -perl, -ls45, -r5, -1, -devel, -b12. The numbers after
//     the word belong to it. Without a number, the words before snapshot name a channel
//     (1.25-dev), which is a family.
//
//   - The words hotfix, patch, post and security with a number (2.15.0.post1) mend the
//     release of the same numbers.
//
//   - What then remains of the suffix, its numbers folded, is the family of the tag:
//     -alpine3.19 and -alpine3.20 are one family, -alpine and -bookworm are two. Some
//     numbers are not folded, because another one is another product: those of
//     architectures (arm32v7, arm64v8) and, unless an include pattern takes over, of
//     runtimes and hosts (jdk17, pg16, cuda12.1, ltsc2022). A commit hash in the suffix
//     counts for nothing. A lone letter after the numbers (10.49.1c) is one number more.
//
//   - The number of a distribution in the suffix (alpine3.19, ubuntu22.04, debian-11, ubi8)
//     names the base of the image. So does a bare number of two digits (3.1.14-18) when the
//     same version is there with other ones that do not count through (16 and 20, but not
//     17, 19 or 1) and such a number is there with two versions. Where nothing but the number
//     moves, it counts builds (7.9-46, 7.9-49), unless all are even and none is left out (16, 18,
//     20). All other numbers of a suffix count builds: -ls245, -r10, -1.
//
// # How tags compare
//
// Every number compares as a number, whatever its length: first the numbers, missing
// ones being zero; then a prerelease is below its release, which is below what mends it,
// and prereleases go by word and number; then the numbers of the suffix. With a
// transform, all this looks at the transformed text.
//
// The step between two tags is the largest of their versions: a suffix may have some, of what
// else is in the image (16-3.4, 14-vectorchord0.3.0). Numbers that dots do not join, bases,
// months and dates are none.
//
// # Which tags are eligible
//
// A tag must
//
//   - be no signature or attestation, and pass include and exclude;
//   - have the prefix of the current one but for upper case, unless an include pattern
//     takes over;
//   - have as many numbers;
//   - be of the same family, or of what is left of it without a leading revision
//     (10.8.13-1 may be followed by 10.9.0, but not the other way round);
//   - be no prerelease, unless the current one is a prerelease of the same or an earlier
//     word, or the rules allow it;
//   - be the same kind of date or none;
//   - not begin with a year, a year and a month (22.04) or a number of six digits if the
//     current one does not, unless an include pattern admits it. A 23.10 is a year and a month
//     when a 22.04 came before it, or when all versions are years and months;
//   - be strictly newer: on the same base, or a newer version on another one.
//
// An include pattern that admits neither the current tag nor any tag of its family asks
// for another family, and then gets it.
//
// A newer version on the base of the current tag wins over a still newer one on another
// base. Only when there is none, the base counts as dropped, and the newest version on
// another base is offered, of equal ones that on the next base. A floating tag
// (16-alpine3.19) keeps its version, and is left for that on another base when more precise
// tags (16.6-alpine3.21) show that the publisher has moved on. A container whose
// current tag include or exclude rules out is not kept on its base.
//
// A path leaves out no release line, or no stop: what is beyond the next one is not eligible.
//
// Without a path, selection is transitive, and what it chooses has no successor on its base among the same
// tags.
//
// The rules and what WUD does instead are recorded in the divergences of the project
// ("Which tag is newer"); each has a test of its name here.
package tag
