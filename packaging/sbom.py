"""Prints the software bill of materials of Debian packages as SPDX 2.3.

    sbom.py VERSION SECONDS PACKAGE.deb…

What is inside the programs, and the libraries that they load, by the names of Debian's packages.
"""

import hashlib
import json
import subprocess
import sys
import time

INSIDE = [
    ("swift-runtime", "Apache-2.0 WITH Swift-exception", "Swift's runtime and standard library"),
    ("libstdc++", "GPL-3.0-or-later WITH GCC-exception-3.1", "GCC's C++ library"),
]


def field(path, name):
    output = subprocess.run(["dpkg-deb", "--field", path, name], check=True, capture_output=True)
    return output.stdout.decode().strip()


def package(name, version, license_id, comment):
    # SPDX has no identifier for Swift's exception: the license is then a reference.
    return {
        "SPDXID": "SPDXRef-" + "".join(c if c.isalnum() else "-" for c in name),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": license_id,
        "licenseDeclared": license_id,
        "copyrightText": "NOASSERTION",
        "comment": comment,
    }


def dependencies(path):
    names = set()
    for kind in ("Depends", "Recommends"):
        for alternatives in field(path, kind).split(","):
            name = alternatives.split("|")[0].split("(")[0].strip()
            if name:
                names.add(name)
    return names


def relationship(first, kind, second):
    return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}


def main(version, seconds, paths):
    packages, relationships = {}, []
    for name, license_id, comment in INSIDE:
        license_id = "LicenseRef-Swift" if "Swift" in license_id else license_id
        packages[name] = package(name, "NOASSERTION", license_id, comment)
        del packages[name]["versionInfo"]
    for path in sorted(paths):
        name = field(path, "Package")
        own = package(name, version, "Apache-2.0", field(path, "Description").split("\n")[0])
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        own["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
        own["packageFileName"] = path.removeprefix("./")
        packages[name] = own
        relationships.append(relationship("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"]))
        for inside, _, _ in INSIDE:
            relationships.append(
                relationship(own["SPDXID"], "CONTAINS", packages[inside]["SPDXID"]))
        for other in sorted(dependencies(path)):
            if other not in packages:
                packages[other] = package(
                    other, "NOASSERTION", "NOASSERTION", "Debian's package, not part of the file")
                del packages[other]["versionInfo"]
            relationships.append(
                relationship(own["SPDXID"], "DEPENDS_ON", packages[other]["SPDXID"]))
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds)))
    content = json.dumps([packages, relationships], sort_keys=True)
    json.dump(
        {
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"siwa-{version}",
            "documentNamespace": "https://example.org/spdx/siwa-"
            + f"{version}-{hashlib.sha256(content.encode()).hexdigest()[:16]}",
            "creationInfo": {"created": created, "creators": ["Tool: siwa-packaging"]},
            "hasExtractedLicensingInfos": [
                {
                    "licenseId": "LicenseRef-Swift",
                    "name": "Apache License 2.0 with the Swift Runtime Library Exception",
                    "extractedText": "Apache License, Version 2.0, with the Runtime Library "
                    "Exception of the Swift project (swift.org/LICENSE.txt).",
                }
            ],
            "packages": [packages[name] for name in sorted(packages)],
            "relationships": relationships,
        },
        sys.stdout,
        indent=2,
    )
    print()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
