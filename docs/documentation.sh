#!/usr/bin/env bash
# Builds the products' documentation as a static site: docs/documentation.sh FOLDER-OF-MODULES
# The toolchain's own tools do it, so that nothing has to be fetched.
set -euo pipefail
modules=$1
site=.build/documentation
parts=.build/documentation-parts
rm -rf "$site" "$parts"

maps=()
for map in Sources/*/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$PWD/$map"); done

archives=()
for product in SignInWithApple SignInWithAppleCurl SignInWithAppleVault SignInWithAppleEmulator; do
    graphs=$parts/$product
    mkdir -p "$graphs"
    swift symbolgraph-extract -module-name "$product" -I "$modules" "${maps[@]}" \
        -target "$(uname -m)-unknown-linux-gnu" -minimum-access-level public \
        -skip-synthesized-members -output-dir "$graphs"
    docc convert "Sources/$product/$product.docc" --additional-symbol-graph-dir "$graphs" \
        --fallback-display-name "$product" --fallback-bundle-identifier "$product" \
        --warnings-as-errors --output-path "$graphs.doccarchive"
    archives+=("$graphs.doccarchive")
done
docc merge "${archives[@]}" --synthesized-landing-page-name siwa --output-path "$site"
# DocC's own first page is empty. This one leads on when it is served; DocC's pages need a server, so
# from a file it shows the articles as they are written.
{
    printf '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>siwa: the library</title>\n'
    printf '<script>if (location.protocol !== "file:") location.replace("documentation/")</script>\n'
    printf '<h1>siwa: the library</h1>\n'
    printf '<p>The reference needs a web server: <code>%s</code></p>\n' \
        'python3 -m http.server --bind 127.0.0.1 --directory FOLDER'
    printf '<p>It is then at <a href="documentation/">documentation/</a>. The articles, as text:</p>\n<ul>\n'
    for page in Sources/SignInWithApple*/*.docc/*.md; do
        name=${page##*/}
        title=$(sed -n 's/^# //p;T;q' "$page" | tr -d '\`')
        mkdir -p "$site/articles"
        cp "$page" "$site/articles/${name%.md}.txt"
        printf '<li><a href="articles/%s.txt">%s</a></li>\n' "${name%.md}" "$title"
    done
    printf '</ul>\n</html>\n'
} >"$site/index.html"

printf 'documentation: %s\nto read it: python3 -m http.server --bind 127.0.0.1 --directory %s\n' "$site" "$site"
echo 'then open http://127.0.0.1:8000/'
