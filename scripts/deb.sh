#!/bin/sh
# Make a package for Debian and Ubuntu of what is built: BUILD/assay_VERSION-1_ARCH.deb.
#
#   deb.sh BUILD VERSION cuda|host
#
# What it depends on is what its program is linked to, as dpkg-shlibdeps tells on
# this machine: a package is for the release that it was made on. The same sources
# and tools give the same package, byte for byte.
set -eu
build=$1 version=$2 kind=$3

architecture=$(dpkg --print-architecture)
package=$build/assay_$version-1_$architecture.deb
maintainer=${DEB_MAINTAINER:-The authors of Assay <assay@example.invalid>}
work=$build/deb
root=$work/root
# Times in the package: of the commit, or of the newest note of changes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
export SOURCE_DATE_EPOCH

rm -rf "$work"
mkdir -p "$work/debian" "$root/DEBIAN"
umask 022
# Built it is: -o, so that it is not built again with other flags.
make --no-print-directory -s -o "$build/assay" -o "$build/assay.1" install BUILD="$build" CUDA=0 \
    DESTDIR="$root" PREFIX=/usr ZSH_COMPLETIONS=share/zsh/vendor-completions >/dev/null
strip --strip-unneeded "$root/usr/bin/assay"

# What Debian's policy asks of a package's documents.
doc=$root/usr/share/doc/assay
gzip -9n "$root/usr/share/man/man1/assay.1" "$doc/CHANGELOG.md"
mv "$doc/CHANGELOG.md.gz" "$doc/changelog.gz"
rm "$doc/LICENSE"
gzip -9n >"$doc/changelog.Debian.gz" <<END
assay ($version-1) unstable; urgency=low

  * As it is upstream: see changelog.gz.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: assay

Files: *
Copyright: 2026 the authors of Assay
License: Apache-2.0
 On Debian systems the whole text is in /usr/share/common-licenses/Apache-2.0.

Files: usr/bin/assay
Copyright: 2014-2022 Chart.js contributors, 2018-2021 Jukka Kurkela
License: Expat
 The program has Chart.js in it, for the charts of reports, whose foot has the whole text.
END

# dpkg-shlibdeps looks for the folder of a source package around it.
printf 'Source: assay\n\nPackage: assay\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/assay | sed -n 's/^shlibs:Depends=//p')
# STRICT tables, which its symbols do not tell of.
depends=$(echo "$depends" | sed 's/libsqlite3-0[^,]*/libsqlite3-0 (>= 3.37)/')
# What it loads when it runs has no say in that, and it runs without.
recommends=gnuplot-nox
"$build/assay" --version | grep -q '^OpenBLAS: built without' || recommends="$recommends, libopenblas0"
[ -n "$depends" ] || { echo "deb.sh: what the program depends on is not known" >&2; exit 2; }

case $kind in
    cuda) what="It is built for NVIDIA GPUs and uses the driver, CUPTI, NVML and cuBLAS where
 they are installed; without them it measures on the CPU." ;;
    *) what="This build measures on the CPU only." ;;
esac
cat >"$root/DEBIAN/control" <<END
Package: assay
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f 1)
Depends: $depends
Recommends: $recommends
Suggests: bash-completion, libpq5, sqlite3
Section: utils
Priority: optional
Description: benchmark harness for GPU kernels
 Assay measures GPU kernels against vendor baselines, checks every answer it
 times, keeps every sample in SQLite, and says with statistics what is faster
 than what: tables, plots, reports, and a gate for continuous integration.
 .
 $what
END
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >/dev/null
echo "$package"
