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
printf 'documentation: %s\nto read it: python3 -m http.server --bind 127.0.0.1 --directory %s\n' "$site" "$site"
echo 'then open http://127.0.0.1:8000/documentation/'
