# What the events of `swift test` say (version 0, a JSON object a line). $unsteady is .ci/unsteady.

def payloads: inputs | select(.kind == "event") | .payload;

# Target.Suite/name(), without the place in the source.
def name: .testID | sub("/[^/]*\\.swift:[0-9:]+$"; "");

# Failures, without those that a test expects.
def issues: payloads | select(.kind == "issueRecorded" and (.issue.isKnown | not));

# Target.Suite of the tests that failed.
def failed: [issues | name | sub("/.*"; "")] | unique;

# {Target.Suite: reason}.
def known:
  $unsteady / "\n" | map(select(test("^[A-Za-z]")) | capture("^(?<key>\\S+)\\s+(?<value>.*)"))
  | from_entries;

# The failed suites as arguments of swift test, if all of them are known to be unsteady.
def repeatable:
  failed | select(. - (known | keys) == []) | map("--filter ^\(.)/") | join(" ");

# The failed suites with the reasons for repeating them.
def reasons: known as $known | failed[] | "  \(.): \($known[.])";

# What went wrong, a few lines a failure.
def failures:
  [limit(60; issues | name, (.messages[].text | gsub("\n"; "\n    ") | "    " + .[0:400]))]
  | "failed:", .[];

# One line for each suite and reason. Skipped suites name each of their tests, too.
def skipped:
  [payloads | select(.kind == "testSkipped" and (.testID | test("/")))]
  | "\n\(length) tests were skipped.",
    (group_by([(.testID | sub("/.*"; "")), ._comments[0]])[]
      | "\(length) \(.[0].testID | sub("/.*"; "")): \(.[0]._comments[0])");
