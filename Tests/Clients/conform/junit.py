"""Checks a JUnit report against an XML schema, as far as the schema of junit-10.xsd goes.

    junit.py SCHEMA REPORT
"""
import re, sys
import xml.etree.ElementTree as ET

XS = "{http://www.w3.org/2001/XMLSchema}"


class Schema:
    def __init__(self, path):
        root = ET.parse(path).getroot()
        self.elements = {e.get("name"): e for e in root.findall(XS + "element")}
        self.types = {t.get("name"): t for t in root if t.tag in (XS + "complexType", XS + "simpleType")}

    def faults(self, path):
        """What is wrong with a document; empty if it is valid."""
        root = ET.parse(path).getroot()
        if root.tag not in self.elements:
            return [f"<{root.tag}> is not declared"]
        return self.of(root, self.elements[root.tag], root.tag)

    def of(self, element, declaration, place):
        if declaration.get("ref"):
            declaration = self.elements[declaration.get("ref")]
        kind = declaration.find(XS + "complexType")
        if kind is None:
            kind = self.types.get(declaration.get("type"))
        if kind is None or kind.tag == XS + "simpleType":
            return [f"{place} must be a text"] if len(element) or element.attrib else []
        found = self.attributes(element, kind, place)
        if kind.get("mixed") != "true":
            texts = [element.text] + [child.tail for child in element]
            found += [f"{place} has text" for text in texts if (text or "").strip()]
        particles = [p for p in kind if p.tag in (XS + "sequence", XS + "choice")]
        model = "".join(map(self.model, particles))
        names = "".join(child.tag + " " for child in element)
        if not re.fullmatch(model, names):
            found.append(f"{place} has the children {names or 'none'}")
        within = {d.get("ref") or d.get("name"): d for p in particles for d in p.iter(XS + "element")}
        for child in element:
            if child.tag in within:
                found += self.of(child, within[child.tag], f"{place}/{child.tag}")
        return found

    def attributes(self, element, kind, place):
        declared = {a.get("name"): a for a in kind.findall(XS + "attribute")}
        found = [f"{place} has the attribute {name}" for name in element.attrib if name not in declared]
        for name, attribute in declared.items():
            if attribute.get("use") == "required" and name not in element.attrib:
                found.append(f"{place} lacks the attribute {name}")
            kind = self.types.get(attribute.get("type"))
            for pattern in kind.iter(XS + "pattern") if kind is not None and name in element.attrib else []:
                if not re.fullmatch(pattern.get("value"), element.get(name)):
                    found.append(f"{place}: {name} is {element.get(name)!r}")
        return found

    def model(self, particle):
        """A regular expression of the names that a particle allows, each with a space behind it."""
        if particle.tag == XS + "element":
            inner = re.escape((particle.get("ref") or particle.get("name")) + " ")
        else:
            inner = ("|" if particle.tag == XS + "choice" else "").join(map(self.model, particle))
        least, most = particle.get("minOccurs", "1"), particle.get("maxOccurs", "1")
        return f"(?:{inner}){{{least},{'' if most == 'unbounded' else most}}}"


if __name__ == "__main__":
    found = Schema(sys.argv[1]).faults(sys.argv[2])
    print(*(found or ["valid"]), sep="\n")
    sys.exit(1 if found else 0)
